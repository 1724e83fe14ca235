// What is done to a host so that it boots as its provider wants, and is undone by whoever gives the host
// back: the next boot would else be of our image, whoever wants it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "providers/launch.hpp"
#include "providers/redfish/hosts/bmc_connections.hpp"

namespace providers::redfish {

class BootPreparation {
public:
    // All must outlive this.
    BootPreparation(const Settings& settings, BmcConnections& fleet) : settings_(settings), fleet_(fleet) {}

    // While the host is off: what is set then is there when it starts, and nothing else can use it up. Done
    // twice it is as if it were done once.
    asio::awaitable<void> prepare(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                  System system);
    // Cancels the override that prepare() sets and ejects our images, whether the host is on or off.
    asio::awaitable<void> undo(Host host, std::shared_ptr<Station> station, System system);
    // Ejects our images, and no others.
    asio::awaitable<void> eject(Host host, std::shared_ptr<Station> station, System system);
    // Why the host cannot be booted so, as far as that is known before; empty: nothing is known against it.
    asio::awaitable<std::string> obstacle(std::shared_ptr<Station> station, System system);

private:
    bool is_ours(const Host& host, const MediaSlot& slot) const;

    const Settings& settings_;
    BmcConnections& fleet_;
};

// The image URL with {{ .Host }}, {{ .Claim }} and {{ .MAC }} filled in.
std::string render_url(std::string text, const Host& host, const std::string& claim);

}  // namespace providers::redfish
