#include "controllers/services/reservations.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "controllers/cache/membership.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"

namespace controllers {

using api::v1alpha1::Reserved;
using api::v1alpha1::Size;

namespace {

Reserved written(const limits::Usage& usage, std::optional<api::Time> time) {
    return {usage.nodes, usage.cpuCores, usage.memoryMiB, time};
}

// Reports whether the name of a former claim is in use. Someone removed its finalizers, and
// its machine lives on as a Node or holds addresses. A new claim with this name could not
// join, and would get the same addresses.
bool is_name_in_use(const std::string& name, const NodeSmithPool& pool, const Informers& informers) {
    if (informers.nodes.store().get({"", name})) return true;
    return std::ranges::any_of(pool.status.addresses,
                               [&name](const auto& entry) { return entry.claim == name; });
}

}  // namespace

Reservation::Reservation(Reservation&& other) noexcept {
    *this = std::move(other);
}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
    if (this == &other) return *this;
    if (owner_) owner_->end(*this, !handed_out_);
    granted = std::move(other.granted);
    first_sequence = other.first_sequence;
    usable_until = other.usable_until;
    limit_hit = std::move(other.limit_hit);
    handed_out_ = other.handed_out_;
    pool_ = std::move(other.pool_);
    control_plane_ = std::move(other.control_plane_);
    owner_ = std::exchange(other.owner_, nullptr);
    return *this;
}

Reservation::~Reservation() {
    if (owner_) owner_->end(*this, !handed_out_);
}

void Reservation::complete() {
    if (auto* owner = std::exchange(owner_, nullptr)) owner->end(*this, true);
}

Reservations::Reservations(Informers& informers, kube::Client& client, base::Clock& clock)
    : informers_(informers), client_(client), clock_(clock), refusals_(clock) {}

void Reservations::count_also(std::function<bool(ClaimPointer)> may_have_machine) {
    may_have_machine_ = std::move(may_have_machine);
}

asio::awaitable<Reservation> Reservations::reserve(kube::ObjectKey key, std::vector<Size> wanted) {
    Reservation reservation;
    // Both objects are read once: the figures and the resourceVersions of the writes belong together.
    const auto pool = informers_.pools.store().get(key);
    if (!pool || pool->metadata.deletionTimestamp) co_return reservation;
    ControlPlanePointer control_plane;
    if (const auto* manager = manager_of(key, informers_.control_planes.store().all()))
        control_plane = informers_.control_planes.store().get(api::key_of(*manager));
    const auto pool_book = use_of_pool(*pool);
    const auto control_plane_book = control_plane ? use_of_control_plane(*control_plane) : limits::LimitUse{};
    const auto fits = limits::grant(wanted, pool_book, control_plane_book);
    reservation.granted = fits.granted;
    reservation.limit_hit = fits.limit_hit;
    if (fits.total.nodes == 0) co_return reservation;

    // The time starts before the writes, so that the time in the status is never older than what it permits.
    reservation.usable_until = clock_.now() + limits::kReservationUse;
    reservation.first_sequence = first_unseen(*pool);
    reservation.pool_ = key;
    reservation.owner_ = this;
    ++pools_[key].open;
    if (control_plane_book.limits.any()) {
        reservation.control_plane_ = api::key_of(*control_plane);
        ++control_planes_[*reservation.control_plane_].open;
        co_await write_control_plane(control_plane, control_plane_book.used + fits.total);
    }
    const auto next = std::max<base::Saturating>(pool->status.nextClaimSequence,
                                                 fits.total.nodes + reservation.first_sequence);
    co_await write_pool(pool, pool_book.used + fits.total, next);
    pools_[key].next_sequence = next;
    reservation.handed_out_ = true;
    co_return reservation;
}

asio::awaitable<Reservation> Reservations::admit(kube::ObjectKey pool, Size size) {
    std::vector<Size> wanted(1, size);
    return reserve(std::move(pool), std::move(wanted));
}

asio::awaitable<void> Reservations::write_control_plane(ControlPlanePointer before, limits::Usage total) {
    auto after = *before;
    after.status.reserved = note(control_planes_, api::key_of(*before), before->status.reserved, total);
    co_await write_status(client_, informers_.control_planes, *before, std::move(after));
}

asio::awaitable<void> Reservations::write_pool(PoolPointer before, limits::Usage total,
                                               std::int64_t next_sequence) {
    auto after = *before;
    after.status.reserved = note(pools_, api::key_of(*before), before->status.reserved, total);
    after.status.nextClaimSequence = next_sequence;
    after.status.lastScaleActivity = after.status.reserved.time;
    after.status.lastScaleUpTime = after.status.reserved.time;
    co_await write_status(client_, informers_.pools, *before, std::move(after));
}

std::int64_t Reservations::first_unseen(const NodeSmithPool& pool) const {
    const auto own = pools_.find(api::key_of(pool));
    // A backup was restored. Machines of claims that it lacks may still run under their names.
    if (own != pools_.end() && own->second.next_sequence > pool.status.nextClaimSequence)
        return own->second.next_sequence;
    // A reservation of this process is in use. Its claims have names already, although some may not exist
    // yet.
    if (own != pools_.end() && own->second.open > 0) return pool.status.nextClaimSequence;
    std::set<std::string> seen;
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, api::key_of(pool).str()))
        seen.insert(claim->spec.idempotencyKey);
    // Exceeds what a pool ever has simultaneously, because the status may contain any value.
    constexpr std::int64_t kMost = 100'000;
    const auto missing =
        std::min<base::Saturating>(pool.status.reserved.nodes - known_usage(pool).nodes, kMost);
    const auto next = pool.status.nextClaimSequence;
    const auto was_seen = [&](std::int64_t sequence) {
        return seen.contains(limits::idempotency_key(pool.metadata.uid, sequence)) ||
               is_name_in_use(provisioning::claim_name(pool, sequence), pool, informers_);
    };
    auto first = next;
    while (next - first < missing && first > 1 && !was_seen(first - 1)) --first;
    return first;
}

// Returns the value to write. Another process's reservation may be part of the previous
// value, and settles at its own time.
Reserved Reservations::note(OwnBooks& books, const kube::ObjectKey& key, const Reserved& before,
                            const limits::Usage& total) {
    const auto now = clock_.wall_now();
    auto& own = books[key];
    if (own.last != before) {
        own.settles_at = clock_.now() + limits::unsettled_for(before, now);
        own.is_interrupted = false;
    }
    auto reserved = written(total, api::Time(now));
    own.last = reserved;
    return reserved;
}

// Counts claims that are known but missing in the status too, because they
// were adopted or the status was lost.
limits::LimitUse Reservations::use_of_pool(const NodeSmithPool& pool) const {
    const auto used = limits::at_least(limits::usage_of(pool.status.reserved), possible_usage(pool));
    return {limits::limits_of(pool.spec), used};
}

limits::LimitUse Reservations::use_of_control_plane(const NodeSmithControlPlane& control_plane) const {
    limits::Usage known;
    const auto& stores = informers_;
    for (const auto* pool :
         pools_of(control_plane, stores.pools.store().all(), stores.control_planes.store().all()))
        known += possible_usage(*pool);
    const auto used = limits::at_least(limits::usage_of(control_plane.status.reserved), known);
    return {limits::limits_of(control_plane.spec), used};
}

std::optional<api::Time> Reservations::unknown_until(const NodeSmithPool& pool) const {
    const auto& reserved = pool.status.reserved;
    if (reserved.nodes <= known_usage(pool).nodes) return std::nullopt;
    const auto own = pools_.find(api::key_of(pool));
    const bool may_be_ours = own != pools_.end() && own->second.open == 0 && own->second.is_interrupted &&
                             own->second.last == reserved;
    const auto wait = may_be_ours ? own->second.settles_at - clock_.now() : base::Duration::zero();
    if (wait <= base::Duration::zero()) return std::nullopt;
    return api::Time(clock_.wall_now() + std::chrono::ceil<std::chrono::seconds>(wait));
}

limits::Usage Reservations::known_usage(const NodeSmithPool& pool) const {
    limits::Usage usage;
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, api::key_of(pool).str()))
        if (limits::counts(*claim)) usage += limits::one_machine(limits::size_of(claim->spec, &pool));
    return usage;
}

limits::Usage Reservations::possible_usage(const NodeSmithPool& pool) const {
    auto usage = known_usage(pool);
    if (!may_have_machine_) return usage;
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPool, api::key_of(pool).str()))
        if (!limits::counts(*claim) && may_have_machine_(claim))
            usage += limits::one_machine(limits::size_of(claim->spec, &pool));
    return usage;
}

asio::awaitable<std::optional<base::Duration>> Reservations::settle_pool(kube::ObjectKey key) {
    const auto before = informers_.pools.store().get(key);
    if (!before) co_return std::nullopt;
    if (limits::usage_of(before->status.reserved) == known_usage(*before)) co_return std::nullopt;
    const auto wait = unsettled(pools_, key, before->status.reserved);
    if (wait > base::Duration::zero()) co_return wait;

    std::vector<kube::ObjectKey> pools(1, key);
    const auto live = co_await live_usage(std::move(pools));
    auto after = *before;
    after.status.reserved = written(live, before->status.reserved.time);
    const auto reserved = after.status.reserved;
    co_await write_status(client_, informers_.pools, *before, std::move(after));
    pools_[key] = Own{pools_[key].open, reserved, clock_.now(), false};
    co_return std::nullopt;
}

asio::awaitable<std::optional<base::Duration>> Reservations::settle_control_plane(kube::ObjectKey key) {
    const auto before = informers_.control_planes.store().get(key);
    if (!before || !limits::limits_of(before->spec).any()) co_return std::nullopt;
    limits::Usage known;
    std::vector<kube::ObjectKey> pools;
    for (const auto* pool :
         pools_of(*before, informers_.pools.store().all(), informers_.control_planes.store().all())) {
        known += known_usage(*pool);
        pools.push_back(api::key_of(*pool));
    }
    if (limits::usage_of(before->status.reserved) == known) co_return std::nullopt;
    const auto wait = unsettled(control_planes_, key, before->status.reserved);
    if (wait > base::Duration::zero()) co_return wait;

    const auto live = co_await live_usage(std::move(pools));
    auto after = *before;
    after.status.reserved = written(live, before->status.reserved.time);
    const auto reserved = after.status.reserved;
    co_await write_status(client_, informers_.control_planes, *before, std::move(after));
    control_planes_[key] = Own{control_planes_[key].open, reserved, clock_.now(), false};
    co_return std::nullopt;
}

// Lists the claims of pools in one namespace. The list carries no
// resourceVersion, so it shows every earlier write.
asio::awaitable<limits::Usage> Reservations::live_usage(std::vector<kube::ObjectKey> pools) {
    limits::Usage usage;
    if (pools.empty()) co_return usage;
    kube::ListOptions options;
    options.namespace_ = pools.front().namespace_;
    const auto claims = co_await client_.list<NodeSmithClaim>(std::move(options));
    const auto add = [&](const NodeSmithClaim& claim) {
        const kube::ObjectKey pool(claim.metadata.namespace_, claim.spec.poolRef);
        if (std::ranges::find(pools, pool) == pools.end()) return;
        const auto known = informers_.pools.store().get(pool);
        usage += limits::one_machine(limits::size_of(claim.spec, known.get()));
    };
    for (const auto& claim : claims.objects)
        if (limits::counts(claim)) add(claim);
    // Its machine may exist, so it counts whatever its status says.
    for (const auto& claim : claims.undecodable) add(claim.rest);
    co_return usage;
}

base::Duration Reservations::unsettled(const OwnBooks& books, const kube::ObjectKey& key,
                                       const Reserved& reserved) const {
    const auto own = books.find(key);
    if (own != books.end() && own->second.open > 0) return std::chrono::seconds{1};
    if (own != books.end() && own->second.last == reserved)
        return std::max(own->second.settles_at - clock_.now(), base::Duration::zero());
    return limits::unsettled_for(reserved, clock_.wall_now());
}

void Reservations::forget_pool(const kube::ObjectKey& pool) {
    refusals_.forget(pool);
    // A reservation in use ends by itself, and needs its book until then.
    std::erase_if(pools_, [&pool](const auto& book) { return book.first == pool && book.second.open == 0; });
}

void Reservations::forget_control_plane(const kube::ObjectKey& control_plane) {
    std::erase_if(control_planes_, [&control_plane](const auto& book) {
        return book.first == control_plane && book.second.open == 0;
    });
}

void Reservations::end(const Reservation& reservation, bool completed) {
    const auto close = [this, completed](Own& own) {
        --own.open;
        if (completed) return;
        own.settles_at = std::max(own.settles_at, clock_.now() + limits::kReservationSettles);
        own.is_interrupted = true;
    };
    close(pools_[reservation.pool_]);
    if (reservation.control_plane_) close(control_planes_[*reservation.control_plane_]);
}

}  // namespace controllers
