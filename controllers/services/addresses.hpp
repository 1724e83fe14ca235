// Static addresses of machines, reserved by compare-and-swap in the pool's status before a machine is made,
// and free again once its claim has ended, which it does only after its machine is verified gone.
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

inline constexpr std::string_view kAddressesExhausted = "AddressesExhausted";  // reason of Launched
inline constexpr std::string_view kAddressesInvalid = "AddressesInvalid";      // reason of Launched

// Whether machines are given addresses out of that network's ranges.
bool gives_addresses(const api::v1alpha1::MachineNetwork& network);

// The interface that an address is reserved for.
std::string interface_of(const api::v1alpha1::AddressReservation& reservation);

// What a Node that no claim has is known by: one address for each family, in canonical form. Its kubelet
// writes them, so that more would let it take all addresses of a range. A claim's Node has what the operator
// reserved.
std::set<std::string> addresses_of_foreign(const Informers& informers, const api::Node& node);

class Addresses {
public:
    Addresses(Informers& informers, kube::Client& client) : informers_(informers), client_(client) {}

    // Why a claim has no address.
    struct Refusal {
        std::string_view reason;
        std::string message;
    };
    using Reserved = std::vector<api::v1alpha1::AddressReservation>;
    // The claim's addresses, one for each interface and family that the network has ranges for: those it has,
    // else free ones, in canonical form; all of them or none. An address is free if no pool of any managed
    // namespace holds it on what may be the same network. One call at a time per provider. Throws ApiError
    // 409 if somebody else was quicker: try again.
    asio::awaitable<std::variant<Reserved, Refusal>> reserve(kube::ObjectKey pool, std::string claim,
                                                             api::v1alpha1::MachineNetwork network);
    // Frees the addresses of claims that have ended, or have failed and have no machine any more.
    asio::awaitable<void> release_unused(kube::ObjectKey pool);

private:
    asio::awaitable<bool> is_unused(kube::ObjectKey claim);
    // The address that the claim does not hold alone on its network, as the API server says; empty: it holds
    // all alone.
    asio::awaitable<std::string> shared(kube::ObjectKey pool, std::string claim,
                                        api::v1alpha1::MachineNetwork network, Reserved reserved);
    asio::awaitable<void> give_back(kube::ObjectKey pool, std::string claim);
    std::set<std::string> taken(const NodeSmithPool& pool,
                                const api::v1alpha1::MachineNetwork& network) const;

    Informers& informers_;
    kube::Client& client_;
};

}  // namespace controllers
