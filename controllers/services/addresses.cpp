#include "controllers/services/addresses.hpp"

#include <algorithm>
#include <stdexcept>

#include "controllers/cache/writes.hpp"
#include "controllers/services/address_ranges.hpp"

namespace controllers {

namespace {

bool share_addresses(const NodeSmithPool& a, const NodeSmithPool& b) {
    return a.metadata.namespace_ == b.metadata.namespace_ && a.spec.providerRef == b.spec.providerRef;
}

Addresses::Refusal exhausted(const api::v1alpha1::MachineNetwork& network) {
    return {kAddressesExhausted, "no address of network.addresses is free (of " +
                                     std::to_string(count_addresses(network.addresses)) +
                                     "): add some, or lower maxNodes"};
}

}  // namespace

std::string reserved_address(const NodeSmithPool& pool, const std::string& claim) {
    for (const auto& reservation : pool.status.addresses) {
        if (reservation.claim == claim) return reservation.address;
    }
    return {};
}

asio::awaitable<std::variant<std::string, Addresses::Refusal>> Addresses::reserve(
    kube::ObjectKey key, std::string claim, api::v1alpha1::MachineNetwork network) {
    const auto pool = informers_.pools.store().get(key);
    if (!pool) co_return Refusal{reasons::kPoolMissing, "there is no pool " + key.name};
    auto address = reserved_address(*pool, claim);
    if (address.empty()) {
        std::optional<std::string> chosen;
        std::string wrong;
        try {
            chosen = choose_address(network.addresses, taken(*pool, network));
        } catch (const std::invalid_argument& error) {
            wrong = error.what();
        }
        if (!wrong.empty()) co_return Refusal{kAddressesInvalid, wrong};
        if (!chosen) co_return exhausted(network);
        address = *chosen;
        auto after = *pool;
        after.status.addresses.push_back({address, claim});
        co_await write_status(client_, informers_.pools, *pool, std::move(after));
    }
    // Written first and read after it: of two pools that took the same address at least one sees the other.
    const bool is_safe = co_await holds_alone(key, claim, address);
    if (is_safe) co_return address;
    co_await give_back(key, claim);
    co_return Refusal{kAddressesExhausted,
                      "address " + address + " was taken by another pool; another is tried"};
}

std::set<std::string> Addresses::taken(const NodeSmithPool& pool,
                                       const api::v1alpha1::MachineNetwork& network) const {
    std::set<std::string> result;
    if (!network.gateway.empty()) result.insert(canonical_address(network.gateway));
    for (const auto& [key, other] : informers_.pools.store().all()) {
        if (!share_addresses(pool, *other)) continue;
        for (const auto& reservation : other->status.addresses) result.insert(reservation.address);
    }
    // Machines that were kept (deletionPolicy Retain) have no claim any more, but still their Node.
    for (const auto& [key, node] : informers_.nodes.store().all()) {
        for (const auto& address : node->status.addresses) {
            if (address.type == "InternalIP") result.insert(canonical_address(address.address));
        }
    }
    return result;
}

asio::awaitable<bool> Addresses::holds_alone(kube::ObjectKey key, std::string claim, std::string address) {
    kube::ListOptions options;
    options.namespace_ = key.namespace_;
    const auto pools = co_await client_.list<NodeSmithPool>(std::move(options));
    const auto own = std::ranges::find(pools, key.name, [](const auto& pool) { return pool.metadata.name; });
    if (own == pools.end()) co_return false;
    for (const auto& pool : pools) {
        if (!share_addresses(*own, pool)) continue;
        for (const auto& reservation : pool.status.addresses) {
            const bool is_own = pool.metadata.name == key.name && reservation.claim == claim;
            if (reservation.address == address && !is_own) co_return false;
        }
    }
    co_return reserved_address(*own, claim) == address;
}

asio::awaitable<void> Addresses::give_back(kube::ObjectKey key, std::string claim) {
    const auto pool = informers_.pools.store().get(key);
    if (!pool) co_return;
    auto after = *pool;
    std::erase_if(after.status.addresses, [&](const auto& entry) { return entry.claim == claim; });
    co_await write_status(client_, informers_.pools, *pool, std::move(after));
}

asio::awaitable<void> Addresses::release_unused(kube::ObjectKey key) {
    auto pool = informers_.pools.store().get(key);
    if (!pool || pool->status.addresses.empty()) co_return;
    std::set<std::string> unused;
    for (const auto& reservation : pool->status.addresses) {
        const kube::ObjectKey claim{key.namespace_, reservation.claim};
        const bool is_free = co_await is_unused(claim);
        if (is_free) unused.insert(reservation.claim);
    }
    pool = informers_.pools.store().get(key);
    if (unused.empty() || !pool) co_return;
    auto after = *pool;
    std::erase_if(after.status.addresses, [&](const auto& entry) { return unused.contains(entry.claim); });
    co_await write_status(client_, informers_.pools, *pool, std::move(after));
}

// A claim that the cache lacks may be younger than what the cache has seen: the API server decides.
asio::awaitable<bool> Addresses::is_unused(kube::ObjectKey key) {
    const auto known = informers_.claims.store().get(key);
    if (known) {
        const auto& list = known->status.conditions;
        // What is kept, stopped, uses none.
        const bool is_off = api::is_true(list, conditions::kMachineDeleted) || known->status.keptSince;
        co_return api::is_true(list, conditions::kFailed) && is_off;
    }
    const auto live = co_await client_.get<NodeSmithClaim>(key);
    co_return !live;
}

}  // namespace controllers
