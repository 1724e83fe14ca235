#include "controllers/serving_addresses.hpp"

#include <algorithm>
#include <bit>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <optional>

#include "controllers/cache/membership.hpp"
#include "controllers/services/addresses.hpp"

namespace controllers {

namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kLargestServiceNetworkBits = 20;

// Parses an address. An IPv6 address that maps an IPv4 address becomes that IPv4 address,
// because TLS clients compare them so.
std::optional<ip::address> parse_address(const std::string& text) {
    boost::system::error_code error;
    const auto address = ip::make_address(text, error);
    if (error) return std::nullopt;
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

std::vector<unsigned char> bytes_of(const ip::address& address) {
    const auto copy = [](const auto& bytes) {
        return std::vector<unsigned char>(bytes.begin(), bytes.end());
    };
    return address.is_v4() ? copy(address.to_v4().to_bytes()) : copy(address.to_v6().to_bytes());
}

bool is_special(const ip::address& address) {
    if (address.is_loopback() || address.is_multicast() || address.is_unspecified()) return true;
    return address.is_v6() ? address.to_v6().is_link_local() : lies_in(address.to_string(), "169.254.0.0/16");
}

std::string plain(const std::string& text) {
    const auto address = parse_address(text);
    return address ? address->to_string() : std::string();
}

// Returns the first addresses of other Nodes. A machine that gets its address by DHCP has it in its Node's
// status only. Its kubelet may lie there, but it can claim one address of each family.
std::set<std::string> shown_by_other_nodes(const Informers& informers, const NodeSmithClaim& claim) {
    std::set<std::string> shown;
    for (const auto& [key, node] : informers.nodes.store().all()) {
        if (node->metadata.name == claim.status.nodeName) continue;
        for (const auto& address : first_addresses_of(*node)) shown.insert(plain(address));
    }
    return shown;
}

// Returns addresses that were given to others or are known as theirs.
std::set<std::string> addresses_of_others(const Informers& informers, const NodeSmithClaim& claim) {
    std::set<std::string> taken;
    for (const auto& [key, pool] : informers.pools.store().all())
        for (const auto& reservation : pool->status.addresses) {
            const bool is_own = key.namespace_ == claim.metadata.namespace_ &&
                                pool->metadata.name == claim.spec.poolRef &&
                                reservation.claim == claim.metadata.name;
            if (!is_own) taken.insert(plain(reservation.address));
        }
    for (const auto& [key, other] : informers.claims.store().all()) {
        if (other->metadata.uid == claim.metadata.uid) continue;
        for (const auto& address : other->status.addresses) taken.insert(plain(address));
    }
    taken.merge(shown_by_other_nodes(informers, claim));
    return taken;
}

}  // namespace

bool lies_in(const std::string& address, const std::string& network) {
    const auto wanted = parse_address(address);
    if (!wanted) return false;
    boost::system::error_code error;
    if (wanted->is_v4()) {
        const auto known = ip::make_network_v4(network, error);
        return !error &&
               ip::network_v4(wanted->to_v4(), known.prefix_length()).canonical() == known.canonical();
    }
    const auto known = ip::make_network_v6(network, error);
    return !error && ip::network_v6(wanted->to_v6(), known.prefix_length()).canonical() == known.canonical();
}

std::string service_network_of(const std::string& first_address) {
    const auto address = parse_address(first_address);
    if (!address) return {};
    auto bytes = bytes_of(*address);
    // The network starts one address earlier.
    for (auto byte = bytes.rbegin(); byte != bytes.rend() && (*byte)-- == 0; ++byte) {
    }
    unsigned zeros = 0;
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
        zeros += static_cast<unsigned>(std::countr_zero(*byte));
        if (*byte != 0) break;
    }
    const auto bits = std::min(zeros, kLargestServiceNetworkBits);
    const auto length = static_cast<unsigned>(8 * bytes.size()) - bits;
    return address->to_string() + "/" + std::to_string(length);
}

bool is_of_cluster(const std::string& address, const std::string& namespace_,
                   const ClusterAddresses& cluster) {
    constexpr std::size_t kMostOfOthers = 8;
    const auto parsed = parse_address(address);
    if (!parsed || is_special(*parsed) || cluster.api_servers.contains(address)) return true;
    for (const auto& [stated_in, addresses] : cluster.stated)
        if ((stated_in == namespace_ || addresses.size() <= kMostOfOthers) && addresses.contains(address))
            return true;
    return std::ranges::any_of(cluster.service_networks,
                               [&](const auto& network) { return lies_in(address, network); });
}

std::vector<std::string> given_addresses(const Informers& informers, const NodeSmithClaim& claim) {
    std::vector<std::string> given;
    const auto pool = informers.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    if (!pool) return given;
    for (const auto& reservation : pool->status.addresses)
        if (reservation.claim == claim.metadata.name) given.push_back(plain(reservation.address));
    return given;
}

std::set<std::string> shown_by_others(const Informers& informers, const NodeSmithClaim& claim,
                                      const std::vector<std::string>& addresses) {
    std::set<std::string> shown;
    if (addresses.empty()) return shown;
    const auto of_others = shown_by_other_nodes(informers, claim);
    for (const auto& address : addresses)
        if (of_others.contains(address)) shown.insert(address);
    return shown;
}

std::vector<std::string> serving_networks(const Informers& informers, const NodeSmithClaim& claim) {
    const kube::ObjectKey pool{claim.metadata.namespace_, claim.spec.poolRef};
    const auto* manager = manager_of(pool, informers.control_planes.store().all());
    if (!manager || !manager->spec.bootstrap) return {};
    return manager->spec.bootstrap->servingNetworks;
}

std::vector<std::string> free_addresses(const Informers& informers, const NodeSmithClaim& claim,
                                        const std::vector<std::string>& asked,
                                        const std::vector<std::string>& networks,
                                        const ClusterAddresses& cluster) {
    const auto taken = addresses_of_others(informers, claim);
    std::vector<std::string> free;
    for (const auto& text : asked) {
        const auto name = plain(text);
        const auto holds = [&name](const std::string& network) { return lies_in(name, network); };
        const bool is_theirs =
            taken.contains(name) || is_of_cluster(name, claim.metadata.namespace_, cluster);
        if (!is_theirs && std::ranges::any_of(networks, holds)) free.push_back(text);
    }
    return free;
}

}  // namespace controllers
