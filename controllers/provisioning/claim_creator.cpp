#include "controllers/provisioning/claim_creator.hpp"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/common.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace controllers::provisioning {

namespace {

std::string size_of(const PlannedClaim& planned_claim) {
    return base::counted(planned_claim.size.cpuCores, "CPU") + " and " +
           std::to_string(planned_claim.size.memoryMiB) + " MiB";
}

}  // namespace

ClaimCreator::ClaimCreator(const Context& context, Reservations& reservations,
                           std::function<bool()> may_mutate, Created created)
    : InContext(context),
      reservations_(reservations),
      may_mutate_(std::move(may_mutate)),
      created_(std::move(created)) {}

asio::awaitable<std::optional<limits::LimitHit>> ClaimCreator::reserve_and_create(
    PoolPointer pool, std::vector<PlannedClaim> planned_claims) {
    std::vector<api::v1alpha1::Size> sizes;
    sizes.reserve(planned_claims.size());
    for (const auto& planned_claim : planned_claims) sizes.push_back(planned_claim.size);
    auto reservation = co_await reservations_.reserve(api::key_of(*pool), std::move(sizes));
    auto hit = reservation.limit_hit;

    auto& batch = batches_.emplace_back();
    batch.pool = pool;
    batch.reservation = std::move(reservation);
    std::vector<std::size_t> granted;
    for (std::size_t i = 0; i < planned_claims.size() && i < batch.reservation.granted.size(); ++i)
        if (batch.reservation.granted[i]) granted.push_back(i);
    // Hosts are chosen in the order of the claims: the small ones would take what only the large ones need.
    std::ranges::sort(granted, {}, [&](std::size_t i) {
        const auto& size = planned_claims[i].size;
        return std::pair(-api::v1alpha1::cost_in_mib(size.cpuCores, size.memoryMiB), i);
    });
    auto sequence = batch.reservation.first_sequence;
    for (const auto i : granted) batch.left.push_back({sequence++, std::move(planned_claims[i])});
    co_await finish();
    co_return hit;
}

asio::awaitable<void> ClaimCreator::finish() {
    while (!batches_.empty()) {
        co_await work_off(batches_.front());
        batches_.pop_front();
    }
}

asio::awaitable<void> ClaimCreator::work_off(Batch& batch) {
    while (!batch.left.empty()) {
        if (clock_.now() >= batch.reservation.usable_until) {
            base::log::warning("Gave up creating claims: their reservation is too old",
                               {{"pool", api::key_of(*batch.pool).str()}, {"claims", batch.left.size()}});
            co_return;
        }
        if (!may_mutate_()) throw std::runtime_error("creating claims: this process may no longer lead");
        co_await create(batch.pool, batch.left.front());
        batch.left.pop_front();
    }
    batch.reservation.complete();
}

asio::awaitable<void> ClaimCreator::create(PoolPointer pool, Line line) {
    const auto wanted = make_claim(*pool, line.sequence, line.planned_claim);
    std::optional<NodeSmithClaim> made;
    bool is_taken = false;
    try {
        made = co_await client_.create<NodeSmithClaim>(wanted);
    } catch (const kube::ApiError& error) {
        if (!error.is_already_exists()) throw;
        is_taken = true;
    }
    // An earlier try of ours whose answer was lost, or, very rarely, another claim of that name.
    if (is_taken) made = co_await client_.get<NodeSmithClaim>(api::key_of(wanted));
    if (!made || made->spec.idempotencyKey != wanted.spec.idempotencyKey) {
        base::log::warning("Skipped a claim: its name belongs to another claim",
                           {{"claim", api::key_of(wanted).str()}});
        co_return;
    }
    const auto about = kube::target_of(*made);
    created_(*made, line.planned_claim);
    informers_.claims.observe(std::move(*made));
    events_.event(
        about, kube::EventType::normal, "Created",
        "a machine with " + size_of(line.planned_claim) + " is created " + explain(line.planned_claim));
}

}  // namespace controllers::provisioning
