// Describes the Node that a claim will become, and whether pods can wait for it. Pure.
#pragma once

#include <optional>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::provisioning {

// Returns the Node without what it offers beyond its machine. Its kubelet alone claims that amount, and other
// nodes would be emptied because of it. `pool` may be null.
NodePointer within_its_machine(NodePointer node, const NodeSmithClaim& claim, const NodeSmithPool* pool);

// Returns what claim::registered() gives the claim's Node as its instance type; empty: nothing.
std::string expected_instance_type(const NodeSmithClaim& claim, const NodeSmithPool* pool);
// Returns the Node that the claim will become. An existing Node is kept and gets what it still
// lacks. `pool`, `provider` and `host` (of bare metal) may be null. Its name is the claim's,
// unless it has another one already.
api::Node expected_node(const NodeSmithClaim& claim, const NodeSmithPool* pool,
                        const NodeSmithProvider* provider, const api::Node* node,
                        const api::v1alpha1::HostSpec* host = nullptr);

// Returns the condition Registered of a claim whose first certificate is refused by a webhook or a missing
// right. Null: none is.
const api::Condition* refused_certificate(const NodeSmithClaim& claim);

// Reports whether to wait for the claim's Node. A claim that will certainly be refused or
// cannot be launched now does not count.
bool can_be_waited_for(const NodeSmithClaim& claim, const NodeSmithProvider* provider, api::Time now);
// Returns when machines that the provider has not created yet are launched
// elsewhere; nullopt: the provider is Ready.
std::optional<api::Time> end_of_patience(const NodeSmithProvider& provider);
// Reports whether the claim is held up. Its machine finds no room, the limits were lowered below it, its last
// machine cannot be removed, or a person must find its machine.
bool is_held_up(const NodeSmithClaim& claim);

}  // namespace controllers::provisioning
