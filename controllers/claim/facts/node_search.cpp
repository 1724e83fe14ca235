#include "controllers/claim/facts/node_search.hpp"

#include <algorithm>
#include <tuple>

#include "api/names.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "bootstrap/settings.hpp"
#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/boot_rights.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/node_changes.hpp"

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

// Reports whether the Node may have existed before the claim. The API server cuts creation times to whole
// seconds, so equal times prove nothing, and no machine joins in the second of its claim.
bool may_be_older(const api::Node& node, const NodeSmithClaim& claim) {
    return node.metadata.creationTimestamp && claim.metadata.creationTimestamp &&
           *node.metadata.creationTimestamp <= *claim.metadata.creationTimestamp;
}

bool is_adopted(const NodeSmithClaim& claim) {
    return !claim.status.machineID.empty() && is_true(claim, conditions::kAdopted);
}

// Returns the claim that has the UUID first. An adopted machine's UUID is recorded instead of derived. So a
// claim with the derived UUID has priority, then the older one.
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

// Returns an empty text if the claim was read from a file: its UID is not from an API server.
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
    // The derived UUID marks the attempt until hardware is reserved.
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

// Returns the other owner of the Node. We name a VM's Node, while hardware brings its own
// name; the operator writes the label.
std::string whose(const Informers& informers, const NodeSmithClaim& claim, const HostPointer& host,
                  const api::Node& node) {
    if (!is_given_to(host, claim) && is_name_of_other(informers, claim, node.metadata.name))
        return "it has the name of another claim";
    const auto& label = label_of(node, labels::kClaim);
    if (is_name_of_other(informers, claim, label)) return "its label says that it belongs to claim " + label;
    const auto first = is_adopted(claim) ? first_with_uuid_of(informers, claim) : nullptr;
    return first ? "this system UUID belongs to claim " + api::key_of(*first).str() : std::string();
}

// Reports whether the Node belongs to the host. The host's user wants it adopted as it runs, or the
// operator recorded the Node for an earlier claim there. A Node that became Ready after the host was woken
// proves nothing, because Nodes reboot.
bool is_of_host(const api::Node& node, const NodeSmithHost& host) {
    const auto& recorded = host.status.nodeUID;
    return is_adoptable(host) || (!recorded.empty() && recorded == node.metadata.uid);
}

// Reports whether a person states it in a label that NodeRestriction keeps kubelets from setting.
bool is_stated(const api::Node& node, const NodeSmithClaim& claim) {
    return label_of(node, labels::kStatedClaim) == claim.metadata.name;
}

// Reports whether the operator recorded the Node as the claim's. It does so when the Node registers, or
// when an attempt is given up just as it joins. Neither the Node's kubelet nor a person who forges a
// status can write both the record and the label. If they collude, the name in the approved certificate
// and the host's record still decide.
bool is_recorded(const api::Node& node, const NodeSmithClaim& claim, const HostPointer& host) {
    const bool is_named_otherwise =
        !claim.status.bootstrapKeySHA256.empty() && node.metadata.name != claim.metadata.name;
    const bool is_of_others = is_given_to(host, claim) && !host->status.nodeUID.empty() &&
                              host->status.nodeUID != node.metadata.uid;
    // A released host no longer vouches for the Node of its attempt. A VM's UUID always does.
    const bool is_of_past = host &&
                            api::find_condition(claim.status.conditions, conditions::kMachineDeleted) &&
                            !may_be_older(node, claim);
    const bool was_noted = is_true(claim, conditions::kRegistered) || is_of_past;
    return !is_named_otherwise && !is_of_others && is_labelled(node, claim) && was_noted &&
           claim.status.nodeName == node.metadata.name;
}

// Reports whether the Node was labelled after its provider proved the machine's owner.
bool is_of_adopted(const api::Node& node, const NodeSmithClaim& claim) {
    return is_adopted(claim) && is_labelled(node, claim);
}

// Reports whether the Node joined with the certificate that the operator approved for this attempt. It
// approves one only while no Node of others has the claim's name, so the Node came later. The order of
// creation times says less: API servers' clocks jump and differ. As in is_recorded(), it takes both a forged
// status and the Node's kubelet to fake this.
bool is_certified(const api::Node& node, const NodeSmithClaim& claim) {
    return !claim.status.bootstrapKeySHA256.empty() && node.metadata.name == claim.metadata.name &&
           is_labelled(node, claim);
}

std::string unproven(const NodeSmithClaim& claim, const std::string& why) {
    return why + "; if it runs on this claim's machine, label it " + std::string(labels::kStatedClaim) + "=" +
           claim.metadata.name;
}

// Reports whether its machine can only join with a certificate for the claim's name.
bool is_bound_to_name(const Informers& informers, const NodeSmithClaim& claim) {
    if (!claim.status.bootstrapKeySHA256.empty()) return true;
    const kube::ObjectKey key{claim.metadata.namespace_, claim.spec.poolRef};
    const auto pool = informers.pools.store().get(key);
    if (!pool) return false;
    const auto settings = bootstrap_of(*pool, manager_of(key, informers.control_planes.store().all()));
    return settings.method != api::v1alpha1::BootstrapMethod::None && bootstrap::binds_tokens(settings) &&
           bootstrap::asks_for_certificate(settings.format);
}

// Returns why a Node with the machine's identity is refused.
std::string why_refused(const Informers& informers, const NodeSmithClaim& claim, const HostPointer& host,
                        const api::Node& node) {
    if (auto other = whose(informers, claim, host, node); !other.empty()) return other;
    if (is_recorded(node, claim, host) || is_of_adopted(node, claim) || is_stated(node, claim)) return {};
    if (node.metadata.name != claim.metadata.name && is_bound_to_name(informers, claim))
        return "this claim's machine can only join as Node " + claim.metadata.name;
    if (is_of_control_plane(node)) return unproven(claim, "it is a node of the control plane");
    const bool is_host_proof = is_given_to(host, claim) && is_of_host(node, *host);
    const bool is_early = may_be_older(node, claim) && !is_host_proof && !is_certified(node, claim);
    return is_early ? unproven(claim, "it is not younger than the claim") : std::string();
}

std::vector<NodePointer> nodes_with_uuid(const Informers& informers, const std::string& uuid) {
    std::vector<NodePointer> result;
    if (uuid.empty()) return result;
    for (const auto& form : {uuid, byte_swapped(uuid)})
        for (const auto& node : informers.nodes.store().by_index(kNodesBySystemUuid, form))
            if (std::ranges::find(result, node) == result.end()) result.push_back(node);
    return result;
}

std::vector<NodePointer> candidates(const Informers& informers, const ClaimStatus& status) {
    auto result = nodes_with_uuid(informers, status.systemUUID);
    if (status.systemUUID.empty() || status.providerID.empty()) return result;
    for (const auto& node : informers.nodes.store().by_index(kNodesByProviderId, status.providerID))
        if (node->status.nodeInfo.systemUUID.empty()) result.push_back(node);
    return result;
}

// Chooses among several Nodes with its UUID. A person's statement counts, then our record.
// Nothing else identifies the right one.
NodePointer chosen_among(const std::vector<NodePointer>& nodes, const NodeSmithClaim& claim,
                         const HostPointer& host) {
    if (nodes.size() == 1) return nodes.front();
    const auto only_one = [&nodes](auto proves) -> NodePointer {
        return std::ranges::count_if(nodes, proves) == 1 ? *std::ranges::find_if(nodes, proves) : nullptr;
    };
    auto stated = only_one([&claim](const NodePointer& node) { return is_stated(*node, claim); });
    if (stated) return stated;
    return only_one([&](const NodePointer& node) { return is_recorded(*node, claim, host); });
}

std::string contest_among(const std::vector<NodePointer>& nodes, const std::string& uuid) {
    if (nodes.size() < 2) return {};
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names;
    for (const auto& node : nodes) names.push_back(node->metadata.name);
    std::ranges::sort(names);
    return "Nodes " + base::joined_first(names, kMostNamed) + " all have system UUID " + uuid +
           ": none of them gets labels under node-restriction.kubernetes.io/ and node-role.kubernetes.io/. "
           "Find out which one runs on this claim's machine, stop the kubelets of the others and delete "
           "their Nodes";
}

// Reports whether the UUID is trustworthy. Our record, a person's statement, its derivation or
// the claim's host can prove it. An adopted machine's UUID belongs to no other claim (see
// whose()), and its Node has the label.
bool is_vouched_for(const NodeSmithClaim& claim, const NodeSmithProvider* provider, const HostPointer& host,
                    const api::Node& node) {
    if (is_recorded(node, claim, host) || is_stated(node, claim)) return true;
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
    std::vector<NodePointer> possible;
    for (const auto& node : candidates(informers, claim.status)) {
        const auto why = is_vouched_for(claim, provider, host, *node)
                             ? why_refused(informers, claim, host, *node)
                             : unproven(claim, "only the status of the Node says so");
        if (!why.empty())
            found.refusal =
                "Node " + node->metadata.name + " has the machine's system UUID and is left alone: " + why;
        else
            possible.push_back(node);
    }
    found.contest =
        contest_among(nodes_with_uuid(informers, claim.status.systemUUID), claim.status.systemUUID);
    if (!possible.empty()) found.node = chosen_among(possible, claim, host);
    if (!possible.empty()) found.refusal = found.node ? std::string() : found.contest;
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
    const bool is_its = !is_another && is_vouched_for(claim, provider.get(), host, *node) &&
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
    if (why.empty() && is_of_control_plane(node) && !is_stated(node, claim))
        why = "it is a node of the control plane";
    return why.empty() ? why : "Node " + node.metadata.name + " cannot be its Node: " + why;
}

}  // namespace controllers::claim
