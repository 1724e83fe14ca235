#include "controllers/provisioning/demand_rules.hpp"

#include <algorithm>

#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/provisioning/cluster_objects.hpp"
#include "controllers/provisioning/freed_room.hpp"
#include "controllers/provisioning/nomination.hpp"
#include "kube/controller.hpp"

namespace controllers::provisioning {

namespace {

bool takes_pods(const api::Node& node) {
    return is_ready(node) && !node.spec.unschedulable && !node.metadata.deletionTimestamp &&
           !api::find_taint(node.spec.taints, api::taints::kDisrupted, api::taints::kNoSchedule);
}

// Returns until when the scheduler may wait for pods to end there; nullopt: time alone changes nothing.
std::optional<api::Time> last_end(const Informers& informers, const std::string& node) {
    std::optional<api::Time> last;
    for (const auto& pod : informers.pods.store().by_index(kPodsByNode, node))
        last = std::max(last, ends_by(*pod));
    return last;
}

// Returns when the next young node should run its CSI drivers and have reported their room.
std::optional<api::Time> next_report(const Informers& informers, api::Time now) {
    const bool any_reports = std::ranges::any_of(informers.csi_drivers.store().all(), [](const auto& entry) {
        return entry.second->spec.storageCapacity || entry.second->spec.preventPodSchedulingIfMissing;
    });
    std::optional<api::Time> next;
    if (!any_reports) return next;
    for (const auto& [key, claim] : informers.claims.store().all())
        if (const auto until = settles_until(*claim); until > now) next = kube::sooner(next, until);
    return next;
}

// Marks nominations for a node where no pod is ending.
void judge_unfounded(const PodPointers& pods, DemandRules& rules, api::Time now) {
    for (const auto& pod : pods) {
        const auto created = pod->metadata.creationTimestamp.value_or(api::Time());
        const api::Time patience(created.at + kPreemptionPatience);
        if (patience > now)
            rules.look_again = kube::sooner(rules.look_again, std::optional(patience));
        else
            rules.unfounded_nominations.insert(pod->metadata.uid);
    }
}

}  // namespace

std::optional<api::Time> settles_until(const NodeSmithClaim& claim) {
    const auto since = api::true_since(claim.status.conditions, conditions::kInitialized);
    return since ? std::optional(api::Time(since->at + kReportingPatience)) : std::nullopt;
}

std::int32_t expendable_below(const ControlPlanes& control_planes) {
    std::optional<std::int32_t> lowest;
    for (const auto& [key, control_plane] : control_planes) {
        const auto figure = control_plane->spec.ignorePodsBelowPriority;
        lowest = lowest ? std::min(*lowest, figure) : figure;
    }
    return lowest.value_or(api::v1alpha1::kIgnorePodsBelowPriority);
}

scheduling::PreferencePolicy preferences_of(const ControlPlanes& control_planes) {
    const bool is_respected = std::ranges::all_of(control_planes, [](const auto& entry) {
        return entry.second->spec.preferences == api::v1alpha1::Preferences::Respect;
    });
    return is_respected && !control_planes.empty() ? scheduling::PreferencePolicy::respect
                                                   : scheduling::PreferencePolicy::where_free;
}

DemandRules demand_rules(const Informers& informers, const PodPointers& unschedulable, api::Time now) {
    DemandRules rules;
    rules.expendable_below = expendable_below(informers.control_planes.store().all());
    rules.kind_of = [&informers](const api::Pod& pod) { return kind_of(informers, pod); };
    std::map<std::string, PodPointers> nominated;  // by node
    for (const auto& pod : unschedulable) {
        if (is_told_of_its_machine(informers, *pod))
            rules.told_of_their_machine.insert(pod->metadata.uid);
        else if (!pod->status.nominatedNodeName.empty())
            nominated[pod->status.nominatedNodeName].push_back(pod);
    }
    if (unschedulable.empty()) return rules;
    rules.kinds = launches_by_kind(informers, now);
    rules.look_again = kube::sooner(next_report(informers, now), next_hanging_detachment(informers, now));
    for (const auto& [name, pods] : nominated) {
        const auto node = informers.nodes.store().get({"", name});
        const auto end = last_end(informers, name);
        if (!node || !takes_pods(*node) || (end && *end <= now))
            rules.void_nominations.insert(name);
        else if (end)
            rules.look_again = kube::sooner(rules.look_again, end);
        else
            judge_unfounded(pods, rules, now);
    }
    return rules;
}

}  // namespace controllers::provisioning
