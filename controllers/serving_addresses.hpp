// Decides which addresses the serving certificate of a Node may contain. The Node's status and the guest
// agent prove nothing, because root in the guest controls both. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// ClusterAddresses lists addresses of the cluster that no machine's certificate may contain.
struct ClusterAddresses {
    std::vector<std::string> service_networks;  // such as 10.96.0.0/12
    std::set<std::string> api_servers;          // in canonical form
    // Addresses of API servers that the objects of a namespace state, in canonical form.
    std::map<std::string, std::set<std::string>> stated;
    // Why an address that the objects of a namespace state could not be looked up, by namespace.
    std::map<std::string, std::string> unknown;
};

// Reports whether the address is in the network; false if either cannot be parsed.
bool lies_in(const std::string& address, const std::string& network);

// Guesses the Service network from the API server's own Service, which has the network's first address. The
// guess may be wider than the real network. It has at most 2^20 addresses and starts where a network of its
// size can. https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/
std::string service_network_of(const std::string& first_address);

// Reports whether the address, in canonical form, belongs to the cluster and never to a machine of the
// namespace. A namespace that states many addresses counts for its own machines only, or its author could
// withhold certificates from all others.
bool is_of_cluster(const std::string& address, const std::string& namespace_,
                   const ClusterAddresses& cluster);

// Returns the addresses that the operator gave the claim's machine, in canonical form.
std::vector<std::string> given_addresses(const Informers& informers, const NodeSmithClaim& claim);

// Returns which of the addresses, in canonical form, are the first of their family that another Node shows.
// An editor of a pool may list an address that a machine of others has by DHCP.
std::set<std::string> shown_by_others(const Informers& informers, const NodeSmithClaim& claim,
                                      const std::vector<std::string>& addresses);

// Returns the networks that an administrator configured for machines of the claim's control plane.
std::vector<std::string> serving_networks(const Informers& informers, const NodeSmithClaim& claim);

// Returns the addresses of `asked`, in their original form, that lie in one of `networks`. No other
// machine or Service may have them.
std::vector<std::string> free_addresses(const Informers& informers, const NodeSmithClaim& claim,
                                        const std::vector<std::string>& asked,
                                        const std::vector<std::string>& networks,
                                        const ClusterAddresses& cluster);

}  // namespace controllers
