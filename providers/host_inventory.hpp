// The bare-metal hosts that a backend may use, as it sees them: what the user listed, what is known of them,
// and the lock that says which claim has one. Implemented in controllers/, where the objects live.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/host.hpp"
#include "base/clock.hpp"

namespace providers {

namespace asio = boost::asio;

using api::v1alpha1::HostStatus;
using api::v1alpha1::NodeSmithHost;
using HostPointer = std::shared_ptr<const NodeSmithHost>;

class HostInventory {
public:
    HostInventory() = default;
    HostInventory(const HostInventory&) = delete;
    HostInventory& operator=(const HostInventory&) = delete;
    virtual ~HostInventory() = default;

    // Every host of the namespace that names the provider, in the order of their names; may be stale.
    virtual std::vector<HostPointer> hosts(const std::string& namespace_, const std::string& provider) = 0;
    // As it is now; nullopt: there is none of that name.
    virtual asio::awaitable<std::optional<NodeSmithHost>> read(std::string namespace_, std::string name) = 0;
    // Compare-and-swap: writes `status` only if the host is still as `before` says; nullopt: it is not.
    // This is the only place where ownership of a host is decided.
    virtual asio::awaitable<std::optional<NodeSmithHost>> write(NodeSmithHost before, HostStatus status) = 0;
    // The data of a Secret in the namespace. Throws CredentialsError if there is none.
    virtual asio::awaitable<std::map<std::string, std::string>> secret(std::string namespace_,
                                                                       std::string name) = 0;
};

}  // namespace providers
