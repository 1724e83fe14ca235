#include "test/simulation/guests/own_addresses.hpp"

#include <boost/json/value.hpp>
#include <stdexcept>

#include "api/yaml.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"

namespace simulation {
namespace {

namespace json = boost::json;

bool has_interface(const proxmox_simulator::Config& config, const std::string& mac_address) {
    for (const auto& [option, value] : config) {
        if (!proxmox_simulator::is_network_interface(option)) continue;
        if (proxmox_simulator::lower(value).find(proxmox_simulator::lower(mac_address)) != std::string::npos)
            return true;
    }
    return false;
}

std::set<std::string> addresses_of(const json::object& interface, std::set<std::string>& gateways) {
    std::set<std::string> addresses;
    for (const auto& value : interface.at("subnets").as_array()) {
        const auto& subnet = value.as_object();
        if (const auto* gateway = subnet.if_contains("gateway")) gateways.emplace(gateway->as_string());
        if (const auto* address = subnet.if_contains("address")) {
            const std::string text(address->as_string());
            if (text.find('/') == std::string::npos) throw std::runtime_error(text + " has no prefix length");
            addresses.insert(text.substr(0, text.find('/')));
        }
    }
    return addresses;
}

}  // namespace

std::set<std::string> own_addresses(const std::string& network_config,
                                    const proxmox_simulator::Config& config) {
    if (network_config.empty()) return {};
    const auto document = api::parse_yaml(network_config);
    if (document.at("version") != 1)
        throw std::runtime_error("only netplan would find the interface of network-config");
    std::set<std::string> addresses;
    std::set<std::string> gateways;
    for (const auto& entry : document.at("config").as_array()) {
        if (entry.at("type") != "physical") continue;
        const std::string mac_address(entry.at("mac_address").as_string());
        if (!has_interface(config, mac_address))
            throw std::runtime_error("network-config is for " + mac_address +
                                     ", which no interface of the machine has");
        addresses.merge(addresses_of(entry.as_object(), gateways));
    }
    for (const auto& gateway : gateways)
        if (addresses.contains(gateway)) throw std::runtime_error("the guest has the gateway's " + gateway);
    return addresses;
}

}  // namespace simulation
