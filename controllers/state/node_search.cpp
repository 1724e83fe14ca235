#include "controllers/state/node_search.hpp"

#include <algorithm>
#include <tuple>

#include "api/names.hpp"
#include "base/uuid.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/identity.hpp"
#include "controllers/state/node_changes.hpp"

namespace controllers::claim {

namespace labels = api::labels;

namespace {

constexpr std::string_view kControlPlaneRoles[] = {api::labels::kControlPlaneRole,
                                                   "node-role.kubernetes.io/master"};

const std::string& label_of(const api::Node& node, std::string_view key) {
    static const std::string kNone;
    const auto* value = api::find(node.metadata.labels, key);
    return value ? *value : kNone;
}

bool is_of_control_plane(const api::Node& node) {
    return std::ranges::any_of(kControlPlaneRoles, [&node](std::string_view role) {
        return node.metadata.labels->contains(std::string(role));
    });
}

bool is_older(const api::Node& node, const NodeSmithClaim& claim) {
    return node.metadata.creationTimestamp && claim.metadata.creationTimestamp &&
           *node.metadata.creationTimestamp < *claim.metadata.creationTimestamp;
}

bool is_adopted(const NodeSmithClaim& claim) {
    return !claim.status.machineID.empty() && is_true(claim, conditions::kAdopted);
}

// An adopted machine's UUID is noted, not derived: who has it by derivation, or had it first, keeps it.
ClaimPointer first_with_uuid_of(const Informers& informers, const NodeSmithClaim& claim) {
    const auto rank = [](const NodeSmithClaim& c) {
        return std::tuple(is_adopted(c), c.metadata.creationTimestamp, c.metadata.uid);
    };
    ClaimPointer first;
    for (const auto& uuid : {claim.status.systemUUID, byte_swapped(claim.status.systemUUID)})
        for (const auto& other : informers.claims.store().by_index(kClaimsBySystemUuid, uuid))
            if (rank(*other) < rank(first ? *first : claim)) first = other;
    return first;
}

bool is_given_to(const HostPointer& host, const NodeSmithClaim& claim) {
    return host && host->status.claimRef && host->status.claimRef->uid == claim.metadata.uid;
}

// Empty: the claim was read from a file and has a UID that no API server gave it.
std::string derived_uuid(const NodeSmithClaim& claim) {
    const bool is_of_server = base::parse_uuid(claim.metadata.uid).has_value();
    return is_of_server ? system_uuid(claim.metadata.uid, claim.status.launchAttempts) : std::string();
}

std::string own_uuid(const NodeSmithClaim& claim, const NodeSmithProvider* provider,
                     const HostPointer& host) {
    const auto& noted = claim.status.systemUUID;
    if (!provider || is_adopted(claim)) return noted;
    auto derived = derived_uuid(claim);
    if (!provider->spec.redfish) return derived.empty() ? noted : derived;
    // Until hardware is taken the derived one marks the attempt.
    const bool is_taken = is_true(claim, conditions::kLaunched) || noted != derived;
    const bool is_known = is_taken && is_given_to(host, claim) && !host->status.systemUUID.empty();
    return is_known ? host->status.systemUUID : noted;
}

bool is_on_machine(const api::Node& node, const std::string& uuid) {
    return same_uuid(uuid, node.status.nodeInfo.systemUUID);
}

bool is_name_of_other(const Informers& informers, const NodeSmithClaim& claim, const std::string& name) {
    return !name.empty() && name != claim.metadata.name &&
           !informers.claims.store().by_index(kClaimsByName, name).empty();
}

// The name that we give to a VM is its Node's, while hardware brings its own; the label is written by us.
std::string whose(const Informers& informers, const NodeSmithClaim& claim, const HostPointer& host,
                  const api::Node& node) {
    if (!is_given_to(host, claim) && is_name_of_other(informers, claim, node.metadata.name))
        return "it bears the name of another claim";
    const auto& label = label_of(node, labels::kClaim);
    if (is_name_of_other(informers, claim, label)) return "its label says that it is of claim " + label;
    const auto first = is_adopted(claim) ? first_with_uuid_of(informers, claim) : nullptr;
    return first ? "that is of claim " + api::key_of(*first).str() : std::string();
}

// The host's user says that it is to be taken as it runs, or it served an earlier claim.
bool is_of_host(const api::Node& node, const NodeSmithHost& host) {
    return is_adoptable(host) || label_of(node, labels::kHost) == host.metadata.name;
}

// Its BMC had said that the host is off, and took our request: what is Ready only since then runs there.
bool came_up_after_waking(const api::Node& node, const NodeSmithHost& host) {
    const auto ready_since = api::true_since(node.status.conditions, conditions::kReady);
    return host.status.wokenTime && ready_since && *host.status.wokenTime < *ready_since;
}

// Our label is proof, and whoever may write it on a Node may do as he likes with that Node.
std::string unproven(const NodeSmithClaim& claim, const char* why) {
    return std::string(why) + "; if it runs on this claim's machine, label it " +
           std::string(labels::kClaim) + "=" + claim.metadata.name;
}

// Of a Node with the machine's identity.
std::string why_refused(const Informers& informers, const NodeSmithClaim& claim, const HostPointer& host,
                        const api::Node& node) {
    if (auto other = whose(informers, claim, host, node); !other.empty()) return other;
    if (is_labelled(node, claim)) return {};
    if (is_of_control_plane(node)) return unproven(claim, "it is of the control plane");
    // A kubelet takes over what was left of an earlier machine of its name.
    const bool is_taken_over = node.metadata.name == claim.metadata.name;
    const bool is_host_proof =
        is_given_to(host, claim) && (is_of_host(node, *host) || came_up_after_waking(node, *host));
    const bool is_early = is_older(node, claim) && !is_taken_over && !is_host_proof;
    return is_early ? unproven(claim, "it is older than the claim") : std::string();
}

std::vector<NodePointer> candidates(const Informers& informers, const ClaimStatus& status) {
    const auto& nodes = informers.nodes.store();
    std::vector<NodePointer> result;
    if (status.systemUUID.empty()) return result;
    for (const auto& uuid : {status.systemUUID, byte_swapped(status.systemUUID)})
        for (const auto& node : nodes.by_index(kNodesBySystemUuid, uuid))
            if (std::ranges::find(result, node) == result.end()) result.push_back(node);
    if (status.providerID.empty()) return result;
    for (const auto& node : nodes.by_index(kNodesByProviderId, status.providerID))
        if (node->status.nodeInfo.systemUUID.empty()) result.push_back(node);
    return result;
}

// Several have its UUID where guests lie: the one that bears the claim's name is meant, else the first.
bool is_sooner(const api::Node& a, const api::Node& b, const NodeSmithClaim& claim) {
    const auto rank = [&claim](const api::Node& node) {
        return std::tuple(node.metadata.name != claim.metadata.name, node.metadata.creationTimestamp,
                          node.metadata.name);
    };
    return rank(a) < rank(b);
}

// Claims of one name, in two namespaces, would all be meant by a label.
bool is_proven_by_label(const Informers& informers, const NodeSmithClaim& claim, const api::Node& node) {
    return is_labelled(node, claim) &&
           informers.claims.store().by_index(kClaimsByName, claim.metadata.name).size() <= 1;
}

// What vouches for a UUID: our label on the Node, that it is derived, or the host that is the claim's. An
// adopted machine's is no other claim's (see whose()), and its Node has the label.
bool is_vouched_for(const Informers& informers, const NodeSmithClaim& claim,
                    const NodeSmithProvider* provider, const HostPointer& host, const api::Node& node) {
    if (is_proven_by_label(informers, claim, node)) return true;
    if (provider && !provider->spec.redfish) return !is_adopted(claim) || is_labelled(node, claim);
    return is_given_to(host, claim) && is_on_machine(node, host->status.systemUUID);
}

}  // namespace

ClaimPointer with_own_uuid(ClaimPointer claim, const NodeSmithProvider* provider, const HostPointer& host) {
    if (claim->status.systemUUID.empty()) return claim;
    auto own = own_uuid(*claim, provider, host);
    if (own == claim->status.systemUUID) return claim;
    auto changed = *claim;
    changed.status.systemUUID = std::move(own);
    return std::make_shared<const NodeSmithClaim>(std::move(changed));
}

FoundNode find_node(const Informers& informers, const NodeSmithClaim& claim,
                    const NodeSmithProvider* provider, const HostPointer& host) {
    FoundNode found;
    for (const auto& node : candidates(informers, claim.status)) {
        const auto why = is_vouched_for(informers, claim, provider, host, *node)
                             ? why_refused(informers, claim, host, *node)
                             : unproven(claim, "nothing but the status says so");
        if (!why.empty())
            found.refusal =
                "Node " + node->metadata.name + " has the machine's system UUID and is left alone: " + why;
        else if (!found.node || is_sooner(*node, *found.node, claim))
            found.node = node;
    }
    if (found.node) found.refusal.clear();
    return found;
}

NodePointer noted_node(const Informers& informers, const NodeSmithClaim& claim) {
    const auto& status = claim.status;
    if (status.nodeName.empty()) return nullptr;
    auto node = informers.nodes.store().get({"", status.nodeName});
    if (!node) return nullptr;
    const auto& namespace_ = claim.metadata.namespace_;
    const auto provider = informers.providers.store().get({namespace_, status.providerRef});
    const auto host = informers.hosts.store().get({namespace_, status.host});
    const auto own = own_uuid(claim, provider.get(), host);
    const bool is_another =
        !own.empty() && !node->status.nodeInfo.systemUUID.empty() && !is_on_machine(*node, own);
    const bool is_its = !is_another && is_vouched_for(informers, claim, provider.get(), host, *node) &&
                        (is_labelled(*node, claim) || is_on_machine(*node, own));
    return is_its && why_refused(informers, claim, host, *node).empty() ? node : nullptr;
}

NodePointer node_of(const Informers& informers, const NodeSmithClaim& claim) {
    if (!claim.status.nodeName.empty()) return noted_node(informers, claim);
    const auto& namespace_ = claim.metadata.namespace_;
    const auto provider = informers.providers.store().get({namespace_, claim.status.providerRef});
    const auto host = informers.hosts.store().get({namespace_, claim.status.host});
    return find_node(informers, claim, provider.get(), host).node;
}

std::string why_not_adoptable(const Informers& informers, const NodeSmithClaim& claim,
                              const api::Node& node) {
    auto why = whose(informers, claim, nullptr, node);
    if (why.empty() && is_of_control_plane(node) && !is_labelled(node, claim))
        why = "it is of the control plane";
    return why.empty() ? why : "Node " + node.metadata.name + " cannot be its Node: " + why;
}

}  // namespace controllers::claim
