// BootPreparation makes a host boot as its provider is configured. It must be undone when the host is given
// back. Otherwise the next boot would use our image, even for another owner.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "providers/launch.hpp"
#include "providers/redfish/hosts/bmc_connections.hpp"

namespace providers::redfish {

class BootPreparation {
public:
    // All arguments must outlive this.
    BootPreparation(const RedfishSettings& settings, BmcConnections& fleet)
        : settings_(settings), fleet_(fleet) {}

    // Prepares a host that is off. The settings then apply to its next start, and nothing else can use them
    // up. It is idempotent.
    asio::awaitable<void> prepare(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                  System system);
    // Reports whether the BMC still shows what prepare() did, as far as it shows it at all.
    asio::awaitable<bool> is_kept(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                  System system);
    // Does what prepare() did again, as far as it is missing.
    asio::awaitable<void> prepare_again(MachineSpec spec, Host host, std::shared_ptr<Station> station,
                                        System system);
    // Cancels the override of prepare(), and no other one. Returns false if it may still be there.
    asio::awaitable<bool> cancel(std::shared_ptr<Station> station, System system);
    // Cancels the override of prepare() and ejects our images, whether the host is on or off. Returns false
    // if something of them may still be there.
    asio::awaitable<bool> undo(Host host, std::shared_ptr<Station> station, System system);
    // Ejects our images and no others. Returns false if one may still be there.
    asio::awaitable<bool> eject(Host host, std::shared_ptr<Station> station, System system);
    // Ejects the boot image, but only where its slot shows it. It is for hosts for which nothing is recorded.
    asio::awaitable<void> eject_shown(Host host, std::shared_ptr<Station> station, System system);
    // Returns why the host cannot be booted this way, as far as known; empty: no known obstacle.
    asio::awaitable<std::string> obstacle(Host host, std::shared_ptr<Station> station, System system);

private:
    // Returns why the URLs of the provider cannot be filled in for the host; empty: they can be.
    std::string why_no_url(const Host& host) const;
    bool is_ours(const Host& host, const MediaSlot& slot) const;
    bool is_boot_image(const Host& host, const MediaSlot& slot) const;
    bool has_images() const;
    BootWish wish_for(const MachineSpec& spec, const Host& host) const;
    // Reports whether a slot may have the boot image.
    asio::awaitable<bool> may_have_image(Host host, std::shared_ptr<Station> station, System system);

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
};

// Says what undo() left.
inline constexpr const char* kStillPrepared =
    "its BMC keeps our boot override, or the image may still be in its slot";

// Returns the image URL with {{ .Host }}, {{ .Claim }} and {{ .MAC }} filled in.
std::string render_url(std::string text, const Host& host, const std::string& claim);

}  // namespace providers::redfish
