// The bare-metal hosts that a backend may use, and the lock that says which claim has one. Implemented in
// controllers/, where the objects live.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "providers/host.hpp"

namespace providers {

namespace asio = boost::asio;

struct SecretData {
    std::map<std::string, std::string> data;
    std::string version;  // "NAME@VERSION": another one after each change
};

class HostInventory : public base::Interface {
public:
    // Every host of the namespace that names the provider, in the order of their names; may be stale.
    virtual std::vector<HostPointer> hosts(const std::string& namespace_, const std::string& provider) = 0;
    // One of these; null: there is none of that name.
    virtual HostPointer find(const std::string& namespace_, const std::string& provider,
                             const std::string& name) = 0;
    // As it is now; nullopt: there is none of that name.
    virtual asio::awaitable<std::optional<Host>> read(std::string namespace_, std::string name) = 0;
    // Compare-and-swap: writes `use`, and with `message` that the host is not ready, only if it is still as
    // `before` says; nullopt: it is not. Without a message its stage and readiness stay. Writes nothing if
    // nothing changes. This is the only place where ownership of a host is decided.
    virtual asio::awaitable<std::optional<Host>> write(Host before, HostUse use, std::string message) = 0;
    // Tells people what is about to be done to the host, or was found out about it.
    virtual void announce(const Host& host, std::string reason, std::string message) = 0;
    // Whether the Node of the claim that has the host is Ready, by what is known of it now. It says that
    // something runs there, whatever the host's BMC says, and nothing else.
    virtual asio::awaitable<bool> has_ready_node(Host host) = 0;
    // A Secret in the namespace. Throws CredentialsError if there is none, or if it may not be read.
    virtual asio::awaitable<SecretData> secret(std::string namespace_, std::string name) = 0;
};

}  // namespace providers
