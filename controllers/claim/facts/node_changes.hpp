// Computes how a claim's Node should look when it joins, serves and leaves.
// Pure; a caller patches the difference.
#pragma once

#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

// NodeOrigin holds what determines a Node's settings: claim, pool and bare-metal host.
struct NodeOrigin {
    const NodeSmithClaim& claim;
    const NodeSmithPool* pool = nullptr;
    std::string zone_label;  // key of the label that names the zone; "" = none
    const api::v1alpha1::HostSpec* host = nullptr;
    std::string region;  // "" = none
    // The machine was created from the pool's present template, so the Node has its taints.
    bool has_present_template = false;
    // Another Node shows the same system UUID. Neither gets labels that kubelets may not set.
    bool is_contested = false;
};

// Returns the key of the label for a machine's zone. Bare-metal hosts have their own labels.
std::string zone_label(const NodeSmithProvider* provider);

// Returns the region of a provider's machines; empty: none.
std::string region_of(const NodeSmithProvider* provider);

// Replaces {{ .Host }} {{ .Pool }} {{ .Provider }} {{ .Claim }} {{ .Zone }}; other text is unchanged.
std::string render(const std::string& text, const NodeSmithClaim& claim);

// Adds the taints that are missing, compared by key and effect.
void add_taints(std::vector<api::Taint>& list, const std::vector<api::Taint>& wanted);

// Applies the difference between two lists to a third one.
std::vector<api::Taint> with_changes(std::vector<api::Taint> list, const std::vector<api::Taint>& before,
                                     const std::vector<api::Taint>& after);

// A Node without this label gets the size of its machine.
inline constexpr std::string_view kInstanceType = "node.kubernetes.io/instance-type";
// Returns a size such as "4c/8Gi" as the value of a label, "4c-8Gi"; empty: the text is not one that we
// write.
std::string instance_type_of(std::string size);

// Returns the rendered labels of the pool's template and of the claim. It adds the labels that identify the
// Node's owner, which no template can override. Labels that the kubelet sets are not included.
api::StringMap node_labels(const NodeOrigin& origin);

// Reports whether the Node still carries the unregistered taint, which its claim removes after recording it.
bool is_closed(const api::Node& node);

// Adds labels, annotations, taints and, unless a cloud controller does it, providerID. Startup taints are
// added once, and only if the Node lacked them when it joined (its image joins by itself). A Node without an
// instance type gets the machine's size as its type.
api::Node registered(const api::Node& node, const NodeOrigin& origin);
// Adds the labels of pool and claim. Without them no Node is ever deleted.
api::Node kept(const api::Node& node, const NodeOrigin& origin);
// Prevents new pods and new connections. It adds the claim's label, without
// which the Node would never be deleted.
api::Node leaving(const api::Node& node, const NodeOrigin& origin);
// Permits new connections again, unless a person excluded the Node from load balancers.
void admit_connections(api::Node& node);
// Returns the Node to its user (deletionPolicy Retain): without the claim's label and the traces of leaving.
api::Node released(const api::Node& node);

// Reports whether it has our label with the claim's name.
bool is_labelled(const api::Node& node, const NodeSmithClaim& claim);

}  // namespace controllers::claim
