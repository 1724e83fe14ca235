// Reserves static addresses of machines by compare-and-swap in the pool's status, before a machine is
// created. An address is free again once its claim has ended, after its machine is verified gone.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/v1alpha1/proxmox.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"

namespace controllers {

inline constexpr std::string_view kAddressesInvalid = "AddressesInvalid";  // reason of Launched

// Reports whether machines get addresses from that network's ranges.
bool gives_addresses(const api::v1alpha1::MachineNetwork& network);

// Returns the interface that an address is reserved for.
std::string interface_of(const api::v1alpha1::AddressReservation& reservation);

// Returns the addresses of a Node without a claim: one for each family, in canonical form. Its kubelet writes
// them, so more of them could exhaust a range. A claim's Node has the addresses that the operator reserved.
std::set<std::string> addresses_of_foreign(const Informers& informers, const api::Node& node);
// Returns the first address of each family in the Node's status, in canonical form.
std::set<std::string> first_addresses_of(const api::Node& node);

class Addresses {
public:
    Addresses(Informers& informers, kube::Client& client) : informers_(informers), client_(client) {}

    // Refusal says why a claim has no address.
    struct Refusal {
        std::string_view reason;
        std::string message;
    };
    using Reserved = std::vector<api::v1alpha1::AddressReservation>;
    // Reserves one address for each interface and family with ranges. Returns existing addresses and
    // free ones, in canonical form; all or none. An address is free if no pool of a managed namespace
    // holds it on what may be the same network. Only one call per provider may run. Throws ApiError
    // 409 after a conflict: try again.
    asio::awaitable<std::variant<Reserved, Refusal>> reserve(kube::ObjectKey pool, std::string claim,
                                                             api::v1alpha1::MachineNetwork network);
    // Returns why a further claim of the pool would get no address, by the caches; empty: it would get one.
    std::string obstacle(const NodeSmithPool& pool) const;
    // Frees the addresses of claims that have ended, or have failed and no longer have a machine.
    asio::awaitable<void> release_unused(kube::ObjectKey pool);

private:
    asio::awaitable<bool> is_unused(kube::ObjectKey claim);
    // Returns an address that the claim shares on its network, according to the
    // API server; empty: it shares none.
    asio::awaitable<std::string> shared(kube::ObjectKey pool, std::string claim,
                                        api::v1alpha1::MachineNetwork network, Reserved reserved);
    asio::awaitable<void> give_back(kube::ObjectKey pool, std::string claim);
    std::set<std::string> taken(const NodeSmithPool& pool,
                                const api::v1alpha1::MachineNetwork& network) const;

    Informers& informers_;
    kube::Client& client_;
};

}  // namespace controllers
