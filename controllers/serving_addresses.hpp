// Which addresses the serving certificate of a Node may name. What the Node's status and the guest's agent
// say proves nothing: root in the guest writes both. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// No machine may be taken for these.
struct ClusterAddresses {
    std::vector<std::string> service_networks;  // such as 10.96.0.0/12
    std::set<std::string> api_servers;          // in canonical form
};

// Reports whether the address is in the network; false also if one of them is none.
bool lies_in(const std::string& address, const std::string& network);

// The Service network of an API server whose own Service, which has its first address, has this one. It may
// be wider than the real one: it has at most 2^20 addresses, and begins where a network of its size can.
// https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/
std::string service_network_of(const std::string& first_address);

// The addresses that the operator gave the claim's machine, in canonical form.
std::vector<std::string> given_addresses(const Informers& informers, const NodeSmithClaim& claim);

// The networks that an administrator named for machines of the claim's control plane.
std::vector<std::string> serving_networks(const Informers& informers, const NodeSmithClaim& claim);

// Those of `asked` that lie in one of `networks` and belong to nobody else, as `asked` has them.
std::vector<std::string> free_addresses(const Informers& informers, const NodeSmithClaim& claim,
                                        const std::vector<std::string>& asked,
                                        const std::vector<std::string>& networks,
                                        const ClusterAddresses& cluster);

// The hosts, names or addresses, at which machines are told to find the API server.
std::set<std::string> api_server_hosts(const Informers& informers);

}  // namespace controllers
