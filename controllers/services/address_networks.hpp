// Which network an interface of a pool's machines is on: two machines may have the same address if theirs are
// different ones. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// What is not known may be anything.
struct AddressNetwork {
    std::string name;     // stated by the user (network.name); nothing else counts then
    std::string backend;  // the Proxmox cluster; empty: not known, or bare metal
    std::string bridge;   // empty: the template's
    std::optional<std::int32_t> vlan;
};

// Null: it is not there.
ProviderPointer provider_of_pool(const Informers& informers, const NodeSmithPool& pool);

// What a pool asks for of the network of its machines: its own template's, else its provider's.
const api::v1alpha1::MachineNetwork& machine_network(const NodeSmithPool& pool,
                                                     const NodeSmithProvider* provider);

// Of that interface (net0 to net31) of the pool's machines. `provider` may be null.
AddressNetwork address_network(const NodeSmithPool& pool, const NodeSmithProvider* provider,
                               const std::string& interface);

bool may_be_one(const AddressNetwork& a, const AddressNetwork& b);

// An address that a claim of this pool and another claim hold on what may be one network.
struct AddressConflict {
    std::string address;
    std::string claim;    // of the pool
    api::ObjectKey pool;  // of the other
    std::string other_claim;
};
// The first 16 of them.
std::vector<AddressConflict> address_conflicts(const Informers& informers, const NodeSmithPool& pool);

// For people; empty: there is none.
std::string conflicts_text(const std::vector<AddressConflict>& conflicts);

}  // namespace controllers
