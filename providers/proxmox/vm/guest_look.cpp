#include "providers/proxmox/vm/guest_look.hpp"

#include <algorithm>

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::size_t kMostAddresses = 16;
constexpr std::size_t kLongestAddress = 45;  // length of IPv6 with an IPv4 tail

bool may_be_reached(const std::string& address) {
    const bool is_address = !address.empty() && address.size() <= kLongestAddress &&
                            address.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos &&
                            address.find_first_of(".:") != std::string::npos;
    return is_address && !address.starts_with("127.") && address != "::1" && !address.starts_with("fe80:");
}

std::vector<const json::object*> objects_in(const json::object& object, std::string_view name) {
    const auto* found = object.if_contains(name);
    return found ? objects_of(*found) : std::vector<const json::object*>();
}

}  // namespace

std::string obstacle_of(const ProxmoxError& error) {
    if (error.kind == ErrorKind::permission)
        return "the token lacks VM.GuestAgent.Audit (before Proxmox VE 9: VM.Monitor)";
    return foreign::shown(error.message);
}

std::vector<std::string> guest_addresses(const json::value& data) {
    std::vector<std::string> addresses;
    if (!data.is_object()) return addresses;
    for (const auto* interface : objects_in(data.get_object(), "result")) {
        for (const auto* entry : objects_in(*interface, "ip-addresses")) {
            const auto address = text_of(*entry, "ip-address");
            const bool is_known = std::ranges::find(addresses, address) != addresses.end();
            if (!is_known && may_be_reached(address) && addresses.size() < kMostAddresses)
                addresses.push_back(address);
        }
    }
    return addresses;
}

asio::awaitable<GuestSight> look_at_guest(ProxmoxClient& client, MachineRecord record) {
    GuestSight sight;
    try {
        const auto data = co_await client.read(get_agent_interfaces(record.host, vmid_of(record.machine_id)));
        sight.answers = true;
        sight.addresses = guest_addresses(data);
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::agent_silent) sight.obstacle = obstacle_of(error);
    }
    co_return sight;
}

}  // namespace providers::proxmox
