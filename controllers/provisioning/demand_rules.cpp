#include "controllers/provisioning/demand_rules.hpp"

#include <algorithm>
#include <utility>

#include "controllers/cache/preemption.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/provisioning/cluster_objects.hpp"
#include "controllers/provisioning/freed_room.hpp"
#include "controllers/provisioning/nomination.hpp"
#include "kube/controller.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers::provisioning {

namespace {

bool takes_pods(const api::Node& node) {
    return is_ready(node) && !node.spec.unschedulable && !node.metadata.deletionTimestamp &&
           !api::find_taint(node.spec.taints, api::taints::kDisrupted, api::taints::kNoSchedule);
}

// Limits how long preempted pods may take to end. A machine is available sooner than after that.
constexpr std::chrono::minutes kLongestPreemption{15};

// FutureRoom is the room on a node once the pods that are about to end are gone.
class FutureRoom {
public:
    FutureRoom(const api::Node& node, const PodPointers& pods, api::Time now)
        : free_(scheduling::amounts_of(node.status.allocatable, names_)) {
        for (const auto& pod : pods) {
            if (scheduling::is_finished(*pod)) continue;
            const bool is_victim = is_preempted(*pod);
            const base::Duration patience = is_victim ? kLongestPreemption : kLongestWaitForRoom;
            if (const auto end = ends_within(*pod, now, patience)) {
                any_preempted_ |= is_victim;
                until_ = std::max(until_, end);
            } else {
                free_ -= scheduling::taken_by(*pod, names_);
            }
        }
    }

    // Takes the room that the scheduler makes for the pod. Returns false if it does not suffice.
    bool take(const api::Pod& pod) {
        const auto wanted = scheduling::requests_of(pod.spec, names_);
        if (!any_preempted_ || !scheduling::fits(wanted, free_)) return false;
        free_ -= wanted;
        return true;
    }
    // Returns when all of the room should be free.
    std::optional<api::Time> until() const { return until_; }

private:
    scheduling::ResourceNames names_;
    scheduling::Amounts free_;
    bool any_preempted_ = false;
    std::optional<api::Time> until_;
};

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

// Marks a nomination for a node where the scheduler makes no room.
void judge_unfounded(const api::Pod& pod, DemandRules& rules, api::Time now) {
    const auto created = pod.metadata.creationTimestamp.value_or(api::Time());
    const api::Time patience(created.at + kPreemptionPatience);
    if (patience > now)
        rules.look_again = kube::sooner(rules.look_again, std::optional(patience));
    else
        rules.unfounded_nominations.insert(pod.metadata.uid);
}

// Judges the nominations for one node. Pods of higher priority get the room first.
void judge_nominations(const api::Node& node, const PodPointers& on_node, PodPointers nominated,
                       DemandRules& rules, api::Time now) {
    FutureRoom room(node, on_node, now);
    std::ranges::sort(nominated, {}, [](const auto& pod) {
        return std::pair(-std::int64_t{pod->spec.priority.value_or(0)}, api::key_of(*pod));
    });
    for (const auto& pod : nominated)
        if (room.take(*pod))
            rules.look_again = kube::sooner(rules.look_again, room.until());
        else
            judge_unfounded(*pod, rules, now);
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
        if (node && takes_pods(*node))
            judge_nominations(*node, informers.pods.store().by_index(kPodsByNode, name), pods, rules, now);
        else
            rules.void_nominations.insert(name);
    }
    return rules;
}

}  // namespace controllers::provisioning
