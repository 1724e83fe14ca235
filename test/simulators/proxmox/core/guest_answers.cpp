#include "test/simulators/proxmox/core/guest_answers.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace proxmox_simulator {
namespace {

json::object no_traffic() {
    json::object statistics;
    for (const char* direction : {"rx", "tx"}) {
        for (const char* counter : {"bytes", "packets", "errs", "dropped"}) {
            statistics[std::string(direction) + "-" + counter] = 0;
        }
    }
    return statistics;
}

json::object address(const std::string& text, int prefix) {
    return {{"ip-address", text},
            {"ip-address-type", text.find(':') == std::string::npos ? "ipv4" : "ipv6"},
            {"prefix", prefix}};
}

// Returns the interface's address. A static address comes from cloud-init, any other from a DHCP server that
// derives it from the machine's ID.
json::object interface_address(const Machine& machine, const std::string& number) {
    if (machine.guest.address && number == "0") return address(*machine.guest.address, 24);
    auto config = machine.generated_cloudinit ? config_text(*machine.generated_cloudinit, "ipconfig" + number)
                                              : std::string();
    auto ip = config.empty() ? std::string() : property_of("ipconfig", config, "ip");
    auto slash = ip.find('/');
    if (slash != std::string::npos)
        return address(ip.substr(0, slash), static_cast<int>(to_integer(ip.substr(slash + 1)).value_or(24)));
    auto host = machine.vmid % 64000;
    return address("10.98." + std::to_string(host / 250) + "." + std::to_string(host % 250 + 2), 16);
}

json::array interfaces(const Machine& machine) {
    json::array result;
    result.push_back({{"name", "lo"},
                      {"hardware-address", "00:00:00:00:00:00"},
                      {"ip-addresses", json::array{address("127.0.0.1", 8), address("::1", 128)}},
                      {"statistics", no_traffic()}});
    for (const auto& [option, value] : machine.running->config) {
        if (!is_network_interface(option)) continue;
        auto number = option.substr(3);
        json::array addresses;
        addresses.push_back(interface_address(machine, number));
        result.push_back({{"name", "eth" + number},
                          {"hardware-address", lower(property_of("net", value, "macaddr"))},
                          {"ip-addresses", std::move(addresses)},
                          {"statistics", no_traffic()}});
    }
    return result;
}

json::object supported() {
    json::array commands;
    for (const char* name :
         {"ping", "info", "exec", "exec-status", "network-get-interfaces", "get-osinfo", "get-host-name",
          "get-time", "file-open", "file-read", "file-write", "file-close", "shutdown"}) {
        commands.push_back(
            {{"name", "guest-" + std::string(name)}, {"enabled", true}, {"success-response", true}});
    }
    return {{"version", "7.2.11"}, {"supported_commands", std::move(commands)}};
}

}  // namespace

std::string first_address(const Machine& machine) {
    return std::string(interface_address(machine, "0").at("ip-address").as_string());
}

json::value guest_answer(const Machine& machine, const std::string& command, std::int64_t now) {
    if (command == "ping") return json::object{};
    if (command == "info") return supported();
    if (command == "network-get-interfaces") return interfaces(machine);
    if (command == "get-host-name") return json::object{{"host-name", display_name(machine)}};
    if (command == "get-time") return now * 1'000'000'000;
    if (command == "get-osinfo") {
        return json::object{{"id", "debian"},
                            {"name", "Debian GNU/Linux"},
                            {"pretty-name", "Debian GNU/Linux 12 (bookworm)"},
                            {"version", "12 (bookworm)"},
                            {"version-id", "12"},
                            {"machine", "x86_64"},
                            {"kernel-release", "6.1.0-28-cloud-amd64"},
                            {"kernel-version", "#1 SMP"}};
    }
    json::object error{{"class", "CommandNotFound"},
                       {"desc", "The command guest-" + command + " has not been found"}};
    return json::object{{"error", std::move(error)}};
}

}  // namespace proxmox_simulator
