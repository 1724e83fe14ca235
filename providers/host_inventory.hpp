// The bare-metal hosts that a backend may use, and the lock that says which claim owns one. The
// implementation is in controllers/, beside the objects.
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
    std::string version;  // "NAME@VERSION"; changes with each update
};

class HostInventory : public base::Interface {
public:
    // Returns all hosts of the namespace that name the provider, ordered by name. They may be stale.
    virtual std::vector<HostPointer> hosts(const std::string& namespace_, const std::string& provider) = 0;
    // Returns one of these hosts, or null.
    virtual HostPointer find(const std::string& namespace_, const std::string& provider,
                             const std::string& name) = 0;
    // Reads the current host; nullopt if it does not exist.
    virtual asio::awaitable<std::optional<Host>> read(std::string namespace_, std::string name) = 0;
    // Writes `use` by compare-and-swap, only if the host is still as in `before`; otherwise returns nullopt.
    // A `message` also marks the host as not ready; without one, its stage and readiness are kept. Writes
    // nothing if nothing changes. Ownership of a host is decided only here.
    virtual asio::awaitable<std::optional<Host>> write(Host before, HostUse use, std::string message) = 0;
    // Publishes an Event about an action on the host or a finding.
    virtual void announce(const Host& host, std::string reason, std::string message) = 0;
    // Reports whether the Node of the host's claim is Ready, as far as known now. A Ready Node only proves
    // that something runs there, whatever the host's BMC says.
    virtual asio::awaitable<bool> has_ready_node(Host host) = 0;
    // Reads a Secret. Throws CredentialsError if it is missing or may not be read.
    virtual asio::awaitable<SecretData> secret(std::string namespace_, std::string name) = 0;
};

}  // namespace providers
