// How a claim's Node should look: when it joins, while it serves, when it leaves. Pure; a caller patches the
// difference.
#pragma once

#include <string>
#include <vector>

#include "api/node.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/state/claim_state.hpp"

namespace controllers::claim {

// What a Node gets from its claim and pool, and from its bare-metal host.
struct NodeOrigin {
    const NodeSmithClaim& claim;
    const NodeSmithPool* pool = nullptr;
    std::string zone_label;  // key of the label that names the zone; "" = none
    const api::v1alpha1::HostSpec* host = nullptr;
    std::string region;  // "" = none
    // The machine was made from what the pool's template says now, so its taints are those of the Node.
    bool has_present_template = false;
    // Another Node shows the same system UUID: labels that no kubelet may set are not given to either.
    bool is_contested = false;
};

// The key of the label that gets a machine's zone. Bare-metal hosts bring their own labels.
std::string zone_label(const NodeSmithProvider* provider);

// The region of a provider's machines; empty: it says none.
std::string region_of(const NodeSmithProvider* provider);

// Replaces {{ .Host }} {{ .Pool }} {{ .Provider }} {{ .Claim }} {{ .Zone }}; anything else stays as it is.
std::string render(const std::string& text, const NodeSmithClaim& claim);

// Those that are not there yet, by key and effect.
void add_taints(std::vector<api::Taint>& list, const std::vector<api::Taint>& wanted);

// The list with what was added and removed from one list to the other.
std::vector<api::Taint> with_changes(std::vector<api::Taint> list, const std::vector<api::Taint>& before,
                                     const std::vector<api::Taint>& after);

// Labels of the pool's template and of the claim, rendered, and those that say where the Node belongs, which
// no template can override. Labels that the kubelet sets are not among them.
api::StringMap node_labels(const NodeOrigin& origin);

// To pods, by its kubelet, until the claim has noted it.
bool is_closed(const api::Node& node);

// Labels, annotations, taints and, if no cloud controller will do it, providerID. Startup taints are added
// only to a Node that was not told of them when it joined (its image joins by itself), and only once.
api::Node registered(const api::Node& node, const NodeOrigin& origin);
// With the labels of pool and claim, without which no Node is ever deleted.
api::Node kept(const api::Node& node, const NodeOrigin& origin);
// No new pods, no new connections; the label of the claim, without which the Node would never be deleted.
api::Node leaving(const api::Node& node, const NodeOrigin& origin);
// Back to its user (deletionPolicy Retain): without the claim's label and without the traces of leaving.
api::Node released(const api::Node& node);

// It has our label with the claim's name.
bool is_labelled(const api::Node& node, const NodeSmithClaim& claim);

}  // namespace controllers::claim
