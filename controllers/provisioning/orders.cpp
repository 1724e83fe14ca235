#include "controllers/provisioning/orders.hpp"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/machine_cost.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace controllers::provisioning {

using api::v1alpha1::NodeSmithClaim;

namespace {

std::string size_of(const Purchase& purchase) {
    return base::counted(purchase.size.cpuCores, "CPU") + " and " + std::to_string(purchase.size.memoryMiB) +
           " MiB";
}

}  // namespace

Orders::Orders(Informers& informers, kube::Client& client, base::Clock& clock, kube::EventRecorder& events,
               Reservations& reservations, std::function<bool()> may_mutate, Created created)
    : informers_(informers),
      client_(client),
      clock_(clock),
      events_(events),
      reservations_(reservations),
      may_mutate_(std::move(may_mutate)),
      created_(std::move(created)) {}

asio::awaitable<std::optional<ledger::LimitHit>> Orders::place(PoolPointer pool,
                                                               std::vector<Purchase> purchases) {
    std::vector<api::v1alpha1::Size> sizes;
    sizes.reserve(purchases.size());
    for (const auto& purchase : purchases) sizes.push_back(purchase.size);
    auto reservation = co_await reservations_.reserve(api::key_of(*pool), std::move(sizes));
    auto hit = reservation.limit_hit;

    auto& order = orders_.emplace_back();
    order.pool = pool;
    order.reservation = std::move(reservation);
    std::vector<std::size_t> granted;
    for (std::size_t i = 0; i < purchases.size() && i < order.reservation.granted.size(); ++i)
        if (order.reservation.granted[i]) granted.push_back(i);
    // Hosts are chosen in the order of the claims: the small ones would take what only the large ones need.
    std::ranges::sort(granted, {}, [&](std::size_t i) {
        const auto& size = purchases[i].size;
        return std::pair(-api::v1alpha1::cost_in_mib(size.cpuCores, size.memoryMiB), i);
    });
    auto sequence = order.reservation.first_sequence;
    for (const auto i : granted) order.left.push_back({sequence++, std::move(purchases[i])});
    co_await finish();
    co_return hit;
}

asio::awaitable<void> Orders::finish() {
    while (!orders_.empty()) {
        co_await work_off(orders_.front());
        orders_.pop_front();
    }
}

asio::awaitable<void> Orders::work_off(Order& order) {
    while (!order.left.empty()) {
        if (clock_.now() >= order.reservation.usable_until) {
            base::log::warning("Gave up creating claims: their reservation is too old",
                               {{"pool", api::key_of(*order.pool).str()}, {"claims", order.left.size()}});
            co_return;
        }
        if (!may_mutate_()) throw std::runtime_error("creating claims: this process may no longer lead");
        co_await create(order.pool, order.left.front());
        order.left.pop_front();
    }
    order.reservation.complete();
}

asio::awaitable<void> Orders::create(PoolPointer pool, Line line) {
    const auto wanted = make_claim(*pool, line.sequence, line.purchase);
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
    created_(*made, line.purchase);
    informers_.claims.observe(std::move(*made));
    events_.event(about, kube::EventType::normal, "Created",
                  "a machine with " + size_of(line.purchase) + " is created " + explain(line.purchase));
}

}  // namespace controllers::provisioning
