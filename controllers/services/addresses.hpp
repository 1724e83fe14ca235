// Static addresses of machines, reserved by compare-and-swap in the pool's status before a machine is made,
// and free again once its claim has ended, which it does only after its machine is verified gone.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "api/v1alpha1/proxmox.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"

namespace controllers {

inline constexpr std::string_view kAddressesExhausted = "AddressesExhausted";  // reason of Launched
inline constexpr std::string_view kAddressesInvalid = "AddressesInvalid";      // reason of Launched

// The address that the pool has reserved for the claim; empty: none.
std::string reserved_address(const NodeSmithPool& pool, const std::string& claim);

class Addresses {
public:
    Addresses(Informers& informers, kube::Client& client) : informers_(informers), client_(client) {}

    // Why a claim has no address.
    struct Refusal {
        std::string_view reason;
        std::string message;
    };
    // The claim's address: the one it has, or a free one, in its canonical form. One call at a time per
    // provider. Throws ApiError 409 if somebody else was quicker: try again.
    asio::awaitable<std::variant<std::string, Refusal>> reserve(kube::ObjectKey pool, std::string claim,
                                                                api::v1alpha1::MachineNetwork network);
    // Frees the addresses of claims that have ended, or have failed and have no machine any more.
    asio::awaitable<void> release_unused(kube::ObjectKey pool);

private:
    asio::awaitable<bool> is_unused(kube::ObjectKey claim);
    // True if no other pool of the provider holds the address, as the API server says.
    asio::awaitable<bool> holds_alone(kube::ObjectKey pool, std::string claim, std::string address);
    asio::awaitable<void> give_back(kube::ObjectKey pool, std::string claim);
    std::set<std::string> taken(const NodeSmithPool& pool,
                                const api::v1alpha1::MachineNetwork& network) const;

    Informers& informers_;
    kube::Client& client_;
};

}  // namespace controllers
