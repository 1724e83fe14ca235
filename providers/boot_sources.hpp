// What a machine is told when it boots, made when (and only when) the backend needs it. A backend takes from
// these sources what it can carry to a machine.
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

// Makes the boot data of a machine when (and only when) the backend needs it, after it was placed.
class BootImageSource : public base::Interface {
public:
    // The bytes of a NoCloud ISO 9660 image. They hold a secret.
    virtual asio::awaitable<std::string> iso_image(MachineRecord placed) = 0;
    // Null: the data have to be carried to the machine.
    virtual ServedBootData* served() { return nullptr; }
};

// Boot data that need not be carried to a machine: the machine can be told where to fetch them. The image
// holds what is served. A backend that can hand an address to a machine does that; another one may carry the
// image.
class ServedBootData : public BootImageSource {
public:
    ServedBootData* served() final { return this; }
    // Ends with a slash; below it are NoCloud's files and their image seed.iso. Who has it may read them.
    virtual asio::awaitable<std::string> url(MachineRecord placed) = 0;
};

struct GuestAddress {
    std::string address;  // with prefix length: 10.0.4.50/24, fd00::5/64
    std::string gateway;  // empty: none
};
// A network interface as the guest is told of it.
struct GuestInterface {
    std::string name;  // net0
    bool dhcp = true;
    std::vector<GuestAddress> addresses;  // one for each family
};
// What the guest is told by the hypervisor's own means (Proxmox' cloud-init drive). Empty: as the image has
// it.
struct GuestSettings {
    std::string user;
    std::vector<std::string> ssh_authorized_keys;  // "type key comment"
    bool upgrade_packages = false;
    std::vector<GuestInterface> interfaces;
    std::vector<std::string> nameservers;
    std::vector<std::string> search_domains;
};
// Makes them when the backend needs them.
class GuestSettingsSource : public base::Interface {
public:
    virtual asio::awaitable<GuestSettings> guest_settings() = 0;
};

// What is run in a guest to make it join, given to it on the standard input of a shell.
struct JoinScript {
    std::string script;  // may be run again: then it tells what the first run did. Holds a secret.
    std::vector<std::string> secrets;  // texts that must not be told on when its output is
};
// A join by way of the guest agent.
class GuestJoin : public base::Interface {
public:
    // Makes it when the guest is ready for it.
    virtual asio::awaitable<JoinScript> script(MachineRecord placed) = 0;

    std::vector<std::string>
        ready_command;            // succeeds once the guest is ready; empty: when its agent answers
    bool accept_degraded = true;  // the output "degraded" counts as success
    base::Duration exec_timeout = std::chrono::minutes{5};
};

}  // namespace providers
