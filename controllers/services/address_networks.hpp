// Determines the network of an interface of a pool's machines. Two machines may have the same
// address if their networks differ. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// AddressNetwork describes a network. An unknown part may have any value.
struct AddressNetwork {
    std::string name;     // set by the user (network_name()); the other members do not count then
    std::string backend;  // identity of the Proxmox cluster; empty: unknown, or bare metal
    std::string cluster;  // name of the Proxmox cluster; empty: unknown, or bare metal
    std::string bridge;   // empty: the template's
    std::optional<std::int32_t> vlan;
};

// Returns null if it does not exist.
ProviderPointer provider_of_pool(const Informers& informers, const NodeSmithPool& pool);

// Returns the network settings of a pool's machines: its own template's, otherwise its provider's.
const api::v1alpha1::MachineNetwork& machine_network(const NodeSmithPool& pool,
                                                     const NodeSmithProvider* provider);

// Returns the user's name for the network of that interface; empty: it has none. The name of one interface
// says nothing of the others.
const std::string& network_name(const api::v1alpha1::MachineNetwork& network, const std::string& interface);

// Returns the network of that interface (net0 to net31) of the pool's machines. `provider` may be null.
AddressNetwork address_network(const NodeSmithPool& pool, const NodeSmithProvider* provider,
                               const std::string& interface);

bool may_be_one(const AddressNetwork& a, const AddressNetwork& b);

// AddressConflict is an address that two claims hold on what may be the same
// network. One of them is this pool's.
struct AddressConflict {
    std::string address;
    std::string claim;    // claim of the pool
    api::ObjectKey pool;  // pool of the other claim
    std::string other_claim;
};
// Returns at most 16 conflicts.
std::vector<AddressConflict> address_conflicts(const Informers& informers, const NodeSmithPool& pool);

// Describes the conflicts for people; empty: none.
std::string conflicts_text(const std::vector<AddressConflict>& conflicts);

}  // namespace controllers
