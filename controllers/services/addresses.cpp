#include "controllers/services/addresses.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/log.hpp"
#include "bootstrap/network_config.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/services/address_networks.hpp"
#include "controllers/services/address_ranges.hpp"

namespace controllers {

namespace {

using api::v1alpha1::AddressReservation;
using api::v1alpha1::MachineNetwork;

// Book knows which addresses are taken on the networks of a pool's machines.
class Book {
public:
    Book(const NodeSmithPool& pool, const ProviderPointer& provider, const MachineNetwork& network) {
        for (const auto& one : bootstrap::by_interface(network)) {
            auto own = address_network(pool, provider.get(), one.interface);
            own.name = network_name(network, one.interface);
            own_.push_back(std::move(own));
        }
    }

    // Reports whether the reservation of `other` takes its address from this
    // pool. Its provider may be unknown.
    bool takes(const NodeSmithPool& other, const NodeSmithProvider* provider,
               const AddressReservation& reservation) const {
        const auto there = address_network(other, provider, interface_of(reservation));
        return std::ranges::any_of(own_, [&](const AddressNetwork& own) { return may_be_one(own, there); });
    }

private:
    std::vector<AddressNetwork> own_;
};

// AddressWish lists the addresses from which an interface of each machine gets one.
struct AddressWish {
    std::string interface;
    std::string field;
    std::vector<std::string> addresses;
    bool is_second = false;  // ipv6
};

std::vector<AddressWish> wishes_of(const MachineNetwork& network) {
    std::vector<AddressWish> ranges;
    for (const auto& one : bootstrap::by_interface(network)) {
        const bool is_own = one.interface == network.interface;
        const auto field = is_own ? "network." : "network.interfaces[" + one.interface + "].";
        if (one.mode == api::v1alpha1::NetworkMode::Static)
            ranges.push_back({one.interface, field + "addresses", one.addresses, false});
        if (one.ipv6) ranges.push_back({one.interface, field + "ipv6.addresses", one.ipv6->addresses, true});
    }
    return ranges;
}

// Checks that the first family is IPv4 if a second exists, because the family identifies an address's owner.
void check_families(const MachineNetwork& network) {
    for (const auto& one : bootstrap::by_interface(network)) {
        if (!one.ipv6) continue;
        if (std::ranges::any_of(one.addresses, bootstrap::is_ipv6))
            throw std::invalid_argument(
                "interface " + one.interface +
                " has IPv6 addresses in addresses and in ipv6.addresses: keep them in ipv6.addresses only");
        if (!std::ranges::all_of(one.ipv6->addresses, bootstrap::is_ipv6))
            throw std::invalid_argument("ipv6.addresses of interface " + one.interface +
                                        " contains an IPv4 address");
    }
}

Addresses::Refusal exhausted(const AddressWish& range) {
    return {reasons::kAddressesExhausted, "no address of " + range.field + " is free (of " +
                                              std::to_string(count_addresses(range.addresses)) +
                                              "): add some, or lower maxNodes"};
}

bool serves(const AddressReservation& reservation, const AddressWish& range, bool has_second) {
    const bool is_second = has_second && bootstrap::is_ipv6(reservation.address);
    return interface_of(reservation) == range.interface && is_second == range.is_second;
}

// Chooses addresses that `held` lacks and that `taken` does not contain.
std::variant<Addresses::Reserved, Addresses::Refusal> choose(const MachineNetwork& network,
                                                             const Addresses::Reserved& held,
                                                             const std::string& claim,
                                                             std::set<std::string> taken) {
    Addresses::Reserved chosen;
    const auto ranges = wishes_of(network);
    for (const auto& range : ranges) {
        const bool has_second = std::ranges::any_of(
            ranges, [&](const AddressWish& r) { return r.is_second && r.interface == range.interface; });
        const auto known = std::ranges::find_if(
            held, [&](const auto& reservation) { return serves(reservation, range, has_second); });
        if (known != held.end()) {
            chosen.push_back(*known);
            continue;
        }
        const auto address = choose_address(range.addresses, taken);
        if (!address) return exhausted(range);
        taken.insert(*address);
        chosen.push_back({*address, claim, range.interface});
    }
    return chosen;
}

Addresses::Reserved held_by(const NodeSmithPool& pool, const std::string& claim) {
    Addresses::Reserved held;
    std::ranges::copy_if(pool.status.addresses, std::back_inserter(held),
                         [&](const auto& reservation) { return reservation.claim == claim; });
    return held;
}

NodeSmithPool with_reservations(NodeSmithPool pool, const std::string& claim,
                                const Addresses::Reserved& reserved) {
    auto& all = pool.status.addresses;
    std::erase_if(all, [&](const auto& reservation) { return reservation.claim == claim; });
    all.insert(all.end(), reserved.begin(), reserved.end());
    return pool;
}

}  // namespace

std::string interface_of(const AddressReservation& reservation) {
    return reservation.interface.empty() ? "net0" : reservation.interface;
}

std::set<std::string> addresses_of_foreign(const Informers& informers, const api::Node& node) {
    const auto& claims = informers.claims.store();
    return claims.by_index(kClaimsByNode, node.metadata.name).empty() ? first_addresses_of(node)
                                                                      : std::set<std::string>();
}

std::set<std::string> first_addresses_of(const api::Node& node) {
    std::set<std::string> result;
    std::set<bool> families;
    for (const auto& address : node.status.addresses) {
        if (address.type != "InternalIP" || !is_address(address.address)) continue;
        if (families.insert(bootstrap::is_ipv6(address.address)).second)
            result.insert(canonical_address(address.address));
    }
    return result;
}

bool gives_addresses(const MachineNetwork& network) {
    return !wishes_of(network).empty();
}

std::string Addresses::obstacle(const NodeSmithPool& pool) const {
    const auto network = machine_network(pool, provider_of_pool(informers_, pool).get());
    if (!gives_addresses(network)) return {};
    try {
        const auto choice = choose(network, {}, "", taken(pool, network));
        const auto* refusal = std::get_if<Refusal>(&choice);
        return refusal ? refusal->message : std::string();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

asio::awaitable<std::variant<Addresses::Reserved, Addresses::Refusal>> Addresses::reserve(
    kube::ObjectKey key, std::string claim, MachineNetwork network) {
    const auto pool = informers_.pools.store().get(key);
    if (!pool) co_return Refusal{reasons::kPoolMissing, "there is no pool " + key.name};
    const auto held = held_by(*pool, claim);
    std::variant<Reserved, Refusal> choice;
    try {
        check_families(network);
        choice = choose(network, held, claim, taken(*pool, network));
    } catch (const std::invalid_argument& error) {
        choice = Refusal{kAddressesInvalid, error.what()};
    }
    if (std::holds_alternative<Refusal>(choice)) co_return choice;
    const auto& chosen = std::get<Reserved>(choice);
    if (chosen != held)
        co_await write_status(client_, informers_.pools, *pool, with_reservations(*pool, claim, chosen));
    // The write comes before the read. So if two pools took the same address, at
    // least one of them sees the other.
    const auto shared_one = co_await shared(key, claim, std::move(network), chosen);
    if (shared_one.empty()) co_return choice;
    co_await give_back(key, claim);
    co_return Refusal{reasons::kAddressesExhausted,
                      "address " + shared_one + " was taken by another pool; another is tried"};
}

std::set<std::string> Addresses::taken(const NodeSmithPool& pool, const MachineNetwork& network) const {
    std::set<std::string> result;
    const Book book(pool, provider_of_pool(informers_, pool), network);
    for (const auto& one : bootstrap::by_interface(network)) {
        if (!one.gateway.empty()) result.insert(canonical_address(one.gateway));
        if (one.ipv6 && !one.ipv6->gateway.empty()) result.insert(canonical_address(one.ipv6->gateway));
        for (const auto& route : one.routes) result.insert(canonical_address(route.via));
    }
    for (const auto& [key, other] : informers_.pools.store().all()) {
        const auto provider = provider_of_pool(informers_, *other);
        for (const auto& reservation : other->status.addresses)
            if (book.takes(*other, provider.get(), reservation)) result.insert(reservation.address);
    }
    // Machines that were kept (deletionPolicy Retain) no longer have a claim, but still their Node.
    for (const auto& [key, node] : informers_.nodes.store().all())
        result.merge(addresses_of_foreign(informers_, *node));
    return result;
}

asio::awaitable<std::string> Addresses::shared(kube::ObjectKey key, std::string claim, MachineNetwork network,
                                               Reserved reserved) {
    const kube::ListOptions everywhere;
    const auto pools = co_await client_.list<NodeSmithPool>(everywhere);
    const auto own =
        std::ranges::find(pools.objects, key, [](const auto& pool) { return api::key_of(pool); });
    if (own == pools.objects.end())
        co_return std::string("of pool " + key.name + ", which is gone or cannot be decoded,");
    const Book book(*own, provider_of_pool(informers_, *own), network);
    std::set<std::string> others;
    // A pool that cannot be decoded may share addresses with this one.
    for (const auto& pool : pools.undecodable)
        if (informers_.managed.contains(pool.rest.metadata.namespace_))
            for (const auto& reservation : pool.rest.status.addresses) others.insert(reservation.address);
    for (const auto& pool : pools.objects) {
        // Another operator tracks the addresses of a namespace that we do not manage.
        if (!informers_.managed.contains(pool.metadata.namespace_)) continue;
        const auto provider = provider_of_pool(informers_, pool);
        for (const auto& reservation : pool.status.addresses) {
            const bool is_own = api::key_of(pool) == key && reservation.claim == claim;
            if (!is_own && book.takes(pool, provider.get(), reservation)) others.insert(reservation.address);
        }
    }
    const auto held = held_by(*own, claim);
    for (const auto& reservation : reserved) {
        const bool is_held = std::ranges::find(held, reservation) != held.end();
        if (!is_held || others.contains(reservation.address)) co_return reservation.address;
    }
    co_return std::string();
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
        try {
            const bool is_free = co_await is_unused(claim);
            if (is_free) unused.insert(reservation.claim);
        } catch (const std::exception& error) {
            // The addresses of a claim that cannot be read stay taken; those of others are freed.
            base::log::warning("Cannot tell whether addresses are still used",
                               {{"claim", claim.str()}, {"error", error.what()}});
        }
    }
    pool = informers_.pools.store().get(key);
    if (unused.empty() || !pool) co_return;
    auto after = *pool;
    std::erase_if(after.status.addresses, [&](const auto& entry) { return unused.contains(entry.claim); });
    co_await write_status(client_, informers_.pools, *pool, std::move(after));
}

// Reports whether the claim has ended. A claim that the cache lacks may be newer than the
// cache, so the API server decides.
asio::awaitable<bool> Addresses::is_unused(kube::ObjectKey key) {
    const auto known = informers_.claims.store().get(key);
    if (known) {
        const auto& list = known->status.conditions;
        // A kept, stopped machine uses no address.
        const bool is_off = api::is_true(list, conditions::kMachineDeleted) || known->status.keptSince;
        co_return api::is_true(list, conditions::kFailed) && is_off;
    }
    try {
        const auto live = co_await client_.get<NodeSmithClaim>(key);
        co_return !live;
    } catch (const kube::UndecodableError&) {
        co_return false;
    }
}

}  // namespace controllers
