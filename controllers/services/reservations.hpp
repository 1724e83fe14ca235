// Reserves machines against the limits of a pool and of its ControlPlane, by compare-and-swap in their
// status. So limits hold even if two operators believe that they lead (decisions: limits).
//
// status.reserved is what exists plus what was reserved and is still being created. It grows before claims
// are created. It shrinks only to what a live list shows, and only when no process can still be creating
// claims. That is after own reservations were completed, or kReservationSettles after another process's.
//
// Names of claims are derived from the pool and a sequence. If a process died before it created its
// reserved claims, they are launched again under the same names. So a late request of that process creates
// no second machine: it creates ours, or finds that it exists. Nothing must be waited for, but limits count
// both until the reservation settles.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "kube/client.hpp"

namespace controllers {

class Reservations;

// Reservation holds places for some machines. Without complete() it stays valid until it settles by time. An
// interrupted process does not know which of its claims exist.
class Reservation {
public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();

    std::vector<bool> granted;        // for each requested machine, in order
    std::int64_t first_sequence = 0;  // number in the pool's launches; one for each granted machine, in order
    base::TimePoint usable_until{};   // no claim may be created after it
    std::optional<limits::LimitHit> limit_hit;  // the first limit that refused a machine
    // Notes that everything was created that will be created.
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

    // Lets claims of which `may_have_machine` returns true take a place, whatever their status shows. A claim
    // may have lost the status that showed its admission.
    void count_also(std::function<bool(ClaimPointer)> may_have_machine);

    // Reserves as much of `wanted` as fits the limits. Throws ApiError 409 after a conflict: the caller must
    // decide again. Writes nothing if nothing fits.
    asio::awaitable<Reservation> reserve(kube::ObjectKey pool, std::vector<api::v1alpha1::Size> wanted);

    // Reserves a place for a claim that a user created. After success the caller must record the admission
    // (status.providerRef) before usable_until and then call complete().
    asio::awaitable<Reservation> admit(kube::ObjectKey pool, api::v1alpha1::Size size);

    // Adjusts status.reserved to what exists. Returns when to call again; nullopt if it agrees already.
    asio::awaitable<std::optional<base::Duration>> settle_pool(kube::ObjectKey pool);
    asio::awaitable<std::optional<base::Duration>> settle_control_plane(kube::ObjectKey control_plane);

    // Returns the limits and their use: what is reserved, and at least what is known to exist.
    limits::LimitUse use_of_pool(const NodeSmithPool& pool) const;
    limits::LimitUse use_of_control_plane(const NodeSmithControlPlane& control_plane) const;
    // Returns until when unknown claims may exist, because one of our reservations was interrupted; nullopt:
    // all are known, or will be launched under the same names.
    std::optional<api::Time> unknown_until(const NodeSmithPool& pool) const;
    // Forgets a pool that is gone, so that another one with its name starts without history.
    void forget_pool(const kube::ObjectKey& pool);
    void forget_control_plane(const kube::ObjectKey& control_plane);

    // Returns why claims with reserved places could not be created.
    ClaimRefusals& refusals() { return refusals_; }
    const ClaimRefusals& refusals() const { return refusals_; }

private:
    friend class Reservation;
    // Own holds what this process knows about one status.reserved.
    struct Own {
        int open = 0;                                 // own reservations in use now
        std::optional<api::v1alpha1::Reserved> last;  // the last value written here
        base::TimePoint settles_at{};    // from then on no process can still use a part of it unseen
        bool is_interrupted = false;     // before that, unknown claims of this process may appear
        std::int64_t next_sequence = 0;  // the highest of a pool that this process wrote
    };
    using OwnBooks = std::map<kube::ObjectKey, Own>;

    asio::awaitable<void> write_control_plane(ControlPlanePointer before, limits::Usage total);
    asio::awaitable<void> write_pool(PoolPointer before, limits::Usage total, std::int64_t next_sequence);
    // Returns the first sequence that was given out and whose claim does not exist. It may return the next
    // one instead.
    std::int64_t first_unseen(const NodeSmithPool& pool) const;
    api::v1alpha1::Reserved note(OwnBooks& books, const kube::ObjectKey& key,
                                 const api::v1alpha1::Reserved& before, const limits::Usage& total);
    limits::Usage known_usage(const NodeSmithPool& pool) const;
    // Returns known_usage() and the use of claims that may have lost their status.
    limits::Usage possible_usage(const NodeSmithPool& pool) const;
    asio::awaitable<limits::Usage> live_usage(std::vector<kube::ObjectKey> pools);
    base::Duration unsettled(const OwnBooks& books, const kube::ObjectKey& key,
                             const api::v1alpha1::Reserved& reserved) const;
    void end(const Reservation& reservation, bool completed);

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    std::function<bool(ClaimPointer)> may_have_machine_;
    OwnBooks pools_;
    OwnBooks control_planes_;
    ClaimRefusals refusals_;
};

}  // namespace controllers
