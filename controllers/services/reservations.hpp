// Reserves machines against the limits of a pool and of its ControlPlane, by compare-and-swap in their
// status, so that limits hold even if two operators believe that they lead (decisions: limits).
//
// status.reserved is what exists plus what was reserved and is still being created. It grows before claims
// are created and shrinks only to what a live list shows, and only when nobody can still be creating: after
// own reservations were completed, or kReservationSettles after another process's.
//
// Names of claims follow from the pool and a sequence. What another process reserved and did not create,
// because it died, is launched again under the same names: a request of it that arrives late makes no second
// machine, it makes ours, or finds that we have. So nothing needs to be waited for, but limits count both
// until it settles.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/state/limits.hpp"
#include "kube/client.hpp"

namespace controllers {

class Reservations;

// A place for some machines. Destroyed without complete(), it is believed until it settles by time: whoever
// was interrupted while creating claims doesn't know which of them exist.
class Reservation {
public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();

    std::vector<bool> granted;                  // for each wish, in order
    std::int64_t first_sequence = 0;            // of the pool's launches; one for each granted wish, in order
    base::TimePoint usable_until{};             // no claim may be created after it
    std::optional<limits::LimitHit> limit_hit;  // the first limit that refused a wish
    // Everything that will be created was created (or is known not to be).
    void complete();

private:
    friend class Reservations;
    Reservations* owner_ = nullptr;
    bool handed_out_ = false;  // claims may have been created
    kube::ObjectKey pool_;
    std::optional<kube::ObjectKey> control_plane_;
};

class Reservations {
public:
    Reservations(Informers& informers, kube::Client& client, base::Clock& clock);

    // Reserves as much of `wanted` as fits the limits. Throws ApiError 409 if somebody else was quicker: look
    // again and decide anew. Writes nothing if nothing fits.
    asio::awaitable<Reservation> reserve(kube::ObjectKey pool, std::vector<api::v1alpha1::Size> wanted);

    // For a claim that a user applied: reserves its place. On success the caller has to record the admission
    // (status.providerRef) before usable_until and then call complete().
    asio::awaitable<Reservation> admit(kube::ObjectKey pool, api::v1alpha1::Size size);

    // Lets status.reserved follow what exists. Returns when to call again, nullopt if it agrees already.
    asio::awaitable<std::optional<base::Duration>> settle_pool(kube::ObjectKey pool);
    asio::awaitable<std::optional<base::Duration>> settle_control_plane(kube::ObjectKey control_plane);

    // Limits and what is in use of them: what is reserved, and at least what is known to exist.
    limits::LimitUse use_of_pool(const NodeSmithPool& pool) const;
    limits::LimitUse use_of_control_plane(const NodeSmithControlPlane& control_plane) const;
    // Until when more may be on its way than is known, because a reservation of ours was interrupted;
    // nullopt: everything is known, or will be launched under the same names.
    std::optional<api::Time> unknown_until(const NodeSmithPool& pool) const;
    // Forgets a pool that is gone: another one of its name starts afresh.
    void forget_pool(const kube::ObjectKey& pool);
    void forget_control_plane(const kube::ObjectKey& control_plane);

    // Why claims for which places were reserved could not be created.
    ClaimRefusals& refusals() { return refusals_; }
    const ClaimRefusals& refusals() const { return refusals_; }

private:
    friend class Reservation;
    // What this process knows of one status.reserved.
    struct Own {
        int open = 0;                                 // own reservations in use now
        std::optional<api::v1alpha1::Reserved> last;  // the last value written here
        base::TimePoint settles_at{};  // from then on nobody can still be using a part of it unseen
        bool is_interrupted = false;   // before that, claims of ours may appear that are not known yet
    };
    using OwnBooks = std::map<kube::ObjectKey, Own>;

    asio::awaitable<void> write_control_plane(ControlPlanePointer before, limits::Usage total);
    asio::awaitable<void> write_pool(PoolPointer before, limits::Usage total, std::int64_t next_sequence);
    // The first of the sequences that were given out, but whose claims are not there.
    std::int64_t first_unseen(const NodeSmithPool& pool) const;
    api::v1alpha1::Reserved note(OwnBooks& books, const kube::ObjectKey& key,
                                 const api::v1alpha1::Reserved& before, const limits::Usage& total);
    limits::Usage known_usage(const NodeSmithPool& pool) const;
    asio::awaitable<limits::Usage> live_usage(std::vector<kube::ObjectKey> pools);
    base::Duration unsettled(const OwnBooks& books, const kube::ObjectKey& key,
                             const api::v1alpha1::Reserved& reserved) const;
    void end(const Reservation& reservation, bool completed);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    OwnBooks pools_;
    OwnBooks control_planes_;
    ClaimRefusals refusals_;
};

}  // namespace controllers
