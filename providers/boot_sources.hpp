// Sources of the data that a machine boots with. A backend calls them only when it needs the data. It takes
// the kinds of data that it can deliver to a machine.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/interface.hpp"
#include "providers/machine.hpp"

namespace providers {

namespace asio = boost::asio;

class ServedBootData;

// BootImageSource makes the boot data of a placed machine, and does so only when the backend asks for them.
class BootImageSource : public base::Interface {
public:
    // Returns the bytes of a NoCloud ISO 9660 image. They contain a secret.
    virtual asio::awaitable<std::string> iso_image(MachineRecord placed) = 0;
    // Returns null if the backend must deliver the data to the machine itself.
    virtual ServedBootData* served() { return nullptr; }
};

// ServedBootData are boot data that the machine can fetch from a URL; the image contains the same data. A
// backend that can pass a URL to a machine does so. Another backend may deliver the image.
class ServedBootData : public BootImageSource {
public:
    ServedBootData* served() final { return this; }
    // Returns a URL that ends with a slash. NoCloud's files and their image seed.iso are below it. Anyone who
    // has the URL may read them.
    virtual asio::awaitable<std::string> url(MachineRecord placed) = 0;
};

struct GuestAddress {
    std::string address;  // with prefix length: 10.0.4.50/24, fd00::5/64
    std::string gateway;  // empty: no gateway
};
// GuestInterface is a network interface with the settings that the guest gets.
struct GuestInterface {
    std::string name;  // for example net0
    bool dhcp = true;
    std::vector<GuestAddress> addresses;  // one per address family
};
// GuestSettings are settings that the hypervisor passes to the guest itself (Proxmox: its cloud-init drive).
// An empty member keeps what the image has.
struct GuestSettings {
    std::string user;
    std::vector<std::string> ssh_authorized_keys;  // each is "type key comment"
    bool upgrade_packages = false;
    std::vector<GuestInterface> interfaces;
    std::vector<std::string> nameservers;
    std::vector<std::string> search_domains;
};
// GuestSettingsSource makes the settings when the backend needs them.
class GuestSettingsSource : public base::Interface {
public:
    virtual asio::awaitable<GuestSettings> guest_settings() = 0;
};

// JoinScript runs in a guest to make it join the cluster. A shell in the guest reads it from its standard
// input.
struct JoinScript {
    std::string script;                // A second run only reports what the first run did. Contains a secret.
    std::vector<std::string> secrets;  // texts to remove from the script's output before it is shown
};
// GuestJoin makes a machine join through its guest agent.
class GuestJoin : public base::Interface {
public:
    // Makes the script. The backend calls this when the guest is ready.
    virtual asio::awaitable<JoinScript> script(MachineRecord placed) = 0;

    std::vector<std::string>
        ready_command;            // succeeds once the guest is ready; empty: ready when its agent answers
    bool accept_degraded = true;  // the output "degraded" counts as success
    base::Duration exec_timeout = std::chrono::minutes{5};
};

}  // namespace providers
