#include "bootstrap/network_config.hpp"

#include <algorithm>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;
using api::v1alpha1::MachineNetwork;
using api::v1alpha1::NetworkMode;

json::array texts(const std::vector<std::string>& values) {
    json::array array;
    for (const auto& value : values) array.push_back(json::string(value));
    return array;
}

bool has_names(const MachineNetwork& network) {
    return !network.nameservers.empty() || !network.searchDomains.empty();
}

const KnownInterface& known(const std::vector<KnownInterface>& interfaces, const std::string& name) {
    static const KnownInterface kNone;
    const auto found = std::ranges::find(interfaces, name, &KnownInterface::name);
    return found == interfaces.end() ? kNone : *found;
}

Subnet static_subnet(const MachineNetwork& network, const std::string& address) {
    const bool is_second = network.ipv6 && is_ipv6(address);
    const auto prefix = is_second ? network.ipv6->prefixLength : network.prefixLength;
    const auto& gateway = is_second ? network.ipv6->gateway : network.gateway;
    return {address + "/" + std::to_string(prefix), gateway, is_ipv6(address)};
}

// Returns the routes of the subnet's family if it is the first of that family. IPv6 routes without an
// IPv6 address use the first subnet.
json::array routes_by(const MachineNetwork& network, const std::vector<Subnet>& subnets,
                      const Subnet& subnet) {
    json::array routes;
    for (const auto& route : network.routes) {
        const bool v6 = is_ipv6(route.to);
        const auto same = std::ranges::find(subnets, v6, &Subnet::v6);
        const auto& carrier = same == subnets.end() ? subnets.front() : *same;
        if (&carrier != &subnet) continue;
        routes.push_back({{"destination", route.to}, {"gateway", route.via}});
    }
    return routes;
}

std::string guest_name(const MachineNetwork& network) {
    return "eth" + network.interface.substr(std::string_view("net").size());
}

json::object version1_subnet(const Subnet& subnet) {
    if (subnet.address.empty()) return {{"type", "dhcp4"}};
    json::object object{{"type", subnet.v6 ? "static6" : "static"}, {"address", subnet.address}};
    if (!subnet.gateway.empty()) object["gateway"] = subnet.gateway;
    return object;
}

json::object version1_interface(const MachineNetwork& network,
                                const std::vector<KnownInterface>& interfaces) {
    const auto& mac_address = known(interfaces, network.interface).mac_address;
    if (mac_address.empty())
        throw std::invalid_argument("the MAC address of interface " + network.interface + " is not known");
    const auto subnets = subnets_of(network, interfaces);
    json::array list;
    for (const auto& subnet : subnets) {
        auto object = version1_subnet(subnet);
        auto routes = routes_by(network, subnets, subnet);
        if (!routes.empty()) object["routes"] = std::move(routes);
        if (list.empty() && !subnet.address.empty() && has_names(network)) {
            object["dns_nameservers"] = texts(network.nameservers);
            object["dns_search"] = texts(network.searchDomains);
        }
        list.push_back(std::move(object));
    }
    json::object result{{"type", "physical"}, {"name", guest_name(network)}, {"mac_address", mac_address}};
    if (network.mtu) result["mtu"] = *network.mtu;
    result["subnets"] = std::move(list);
    return result;
}

std::string version1(const NetworkRequest& request) {
    json::array config;
    for (const auto& network : by_interface(request.network))
        config.push_back(version1_interface(network, request.interfaces));
    // These are in addition to those of a static subnet: with DHCP and IPv6 no subnet has any.
    if (has_names(request.network)) {
        config.push_back({{"type", "nameserver"},
                          {"address", texts(request.network.nameservers)},
                          {"search", texts(request.network.searchDomains)}});
    }
    return to_yaml({{"version", 1}, {"config", std::move(config)}});
}

json::object version2_interface(const MachineNetwork& network,
                                const std::vector<KnownInterface>& interfaces) {
    const auto& mac_address = known(interfaces, network.interface).mac_address;
    json::object interface{{"match", {{"name", "e*"}}}};
    if (!mac_address.empty())
        interface = {{"match", {{"macaddress", mac_address}}}, {"set-name", guest_name(network)}};
    interface["dhcp4"] = network.mode == NetworkMode::DHCP;
    json::array addresses;
    json::array routes;
    for (const auto& subnet : subnets_of(network, interfaces)) {
        if (subnet.address.empty()) continue;
        addresses.push_back(json::string(subnet.address));
        if (subnet.gateway.empty()) continue;
        routes.push_back({{"to", subnet.v6 ? "::/0" : "0.0.0.0/0"}, {"via", subnet.gateway}});
    }
    for (const auto& route : network.routes) routes.push_back({{"to", route.to}, {"via", route.via}});
    if (!addresses.empty()) interface["addresses"] = std::move(addresses);
    if (!routes.empty()) interface["routes"] = std::move(routes);
    if (network.mtu) interface["mtu"] = *network.mtu;
    if (has_names(network)) {
        interface["nameservers"] = {{"addresses", texts(network.nameservers)},
                                    {"search", texts(network.searchDomains)}};
    }
    return interface;
}

std::string version2(const NetworkRequest& request) {
    json::object ethernets;
    for (const auto& network : by_interface(request.network)) {
        const bool is_known = !known(request.interfaces, network.interface).mac_address.empty();
        if (!is_known && !request.network.interfaces.empty())
            throw std::invalid_argument("the MAC address of interface " + network.interface +
                                        " is not known");
        ethernets[is_known ? guest_name(network) : "primary"] =
            version2_interface(network, request.interfaces);
    }
    return to_yaml({{"version", 2}, {"ethernets", std::move(ethernets)}});
}

// Reports whether DHCP needs name servers: netplan gets those of version 1 only with a static address.
bool has_names_for_dhcp(const MachineNetwork& network) {
    return has_names(network) && network.mode == NetworkMode::DHCP && !network.ipv6;
}

}  // namespace

std::vector<Subnet> subnets_of(const MachineNetwork& network, const std::vector<KnownInterface>& interfaces) {
    std::vector<Subnet> subnets;
    if (network.mode == NetworkMode::DHCP) subnets.emplace_back();
    for (const auto& address : known(interfaces, network.interface).addresses)
        subnets.push_back(static_subnet(network, address));
    const auto wanted = 1U + (network.ipv6 ? 1U : 0U);
    if (subnets.size() != wanted) {
        throw std::invalid_argument("interface " + network.interface +
                                    " of the machine lacks one of its addresses");
    }
    return subnets;
}

bool is_ipv6(std::string_view address) {
    return address.find(':') != std::string_view::npos;
}

bool asks_for_anything(const MachineNetwork& network) {
    return network.mode == NetworkMode::Static || has_names(network) || network.ipv6 || network.mtu ||
           !network.routes.empty() || !network.interfaces.empty();
}

std::vector<MachineNetwork> by_interface(const MachineNetwork& network) {
    std::vector<MachineNetwork> all{network};
    all.front().interfaces.clear();
    for (const auto& further : network.interfaces) {
        MachineNetwork one;
        one.mode = further.mode;
        one.addresses = further.addresses;
        one.prefixLength = further.prefixLength;
        one.interface = further.name;
        one.ipv6 = further.ipv6;
        if (one.ipv6) one.ipv6->gateway.clear();
        one.mtu = further.mtu;
        one.routes = further.routes;
        all.push_back(std::move(one));
    }
    return all;
}

std::string network_config(const NetworkRequest& request) {
    if (!asks_for_anything(request.network)) return {};
    const auto& own = known(request.interfaces, request.network.interface);
    const bool is_second = own.mac_address.empty() || has_names_for_dhcp(request.network);
    return is_second ? version2(request) : version1(request);
}

}  // namespace bootstrap
