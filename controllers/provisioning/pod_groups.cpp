#include "controllers/provisioning/pod_groups.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "scheduling/nodes/node_digest.hpp"

namespace controllers::provisioning {

namespace {

// Limits how many groups are tried one after the other, because each costs a solve. The others wait until
// the first ones have started.
constexpr std::size_t kMostTries = 8;

struct Group {
    std::string name;                   // namespace/name
    std::vector<const api::Pod*> pods;  // to be placed
    std::vector<const HeldBack*> held;
    std::int64_t needed = 0;               // waiting pods that must have room together
    std::optional<std::int64_t> min_pods;  // of the PodGroup, as far as it is known

    std::int64_t waiting() const { return std::ssize(pods) + std::ssize(held); }
};

using Unplaced = std::map<std::string, std::vector<std::string>>;  // reasons by UID of the pod

// Groups of a lower rank get room first: more important ones, and older ones.
auto rank_of(const Group& group) {
    const auto* first = group.pods.front();
    const auto& created = first->metadata.creationTimestamp;
    return std::tuple(-std::int64_t{first->spec.priority.value_or(0)}, created.value_or(api::Time()),
                      group.name);
}

std::vector<Group> groups_that_wait(const PendingPods& demand, const Informers& informers) {
    std::map<std::string, Group> groups;
    for (const auto& pod : demand.pods)
        if (auto name = pod_group_of(*pod); !name.empty()) groups[std::move(name)].pods.push_back(pod.get());
    if (groups.empty()) return {};
    for (const auto& held : demand.held_back)
        if (const auto group = groups.find(pod_group_of(*held.pod)); group != groups.end())
            group->second.held.push_back(&held);
    if (groups.empty()) return {};
    std::map<std::string, std::int64_t> running, with_own_room;
    for (const auto& [key, pod] : informers.pods.store().all())
        if (!pod->spec.nodeName.empty() && !scheduling::is_finished(*pod)) ++running[pod_group_of(*pod)];
    for (const auto& pod : demand.nominated) ++with_own_room[pod_group_of(*pod)];
    std::vector<Group> ordered;
    for (auto& [name, group] : groups) {
        group.name = name;
        group.min_pods = informers.pod_groups.policy_of(name).min_pods;
        // Pods that have room on a node count towards a minimum, but they do not show that the group runs.
        const auto started = running[name] + (group.min_pods ? with_own_room[name] : 0);
        if (started >= group.min_pods.value_or(1)) continue;
        group.needed = group.min_pods ? *group.min_pods - started : group.waiting();
        if (group.needed > 1 || !group.min_pods) ordered.push_back(std::move(group));
    }
    std::ranges::sort(ordered, {}, rank_of);
    return ordered;
}

// PacesLifted makes a snapshot without the limits that only delay launches.
class PacesLifted {
public:
    explicit PacesLifted(scheduling::Snapshot& snapshot) : snapshot_(snapshot), budgets_(snapshot.budgets) {
        for (auto& budget : snapshot_.budgets)
            if (budget.is_pace) budget.nodes.reset();
    }
    PacesLifted(const PacesLifted&) = delete;
    PacesLifted& operator=(const PacesLifted&) = delete;
    ~PacesLifted() { snapshot_.budgets = std::move(budgets_); }

private:
    scheduling::Snapshot& snapshot_;
    std::vector<scheduling::Budget> budgets_;
};

Unplaced unplaced_pods(const scheduling::SolveResult& result) {
    Unplaced unplaced;
    for (const auto& entry : result.unplaced) unplaced[entry.pod->metadata.uid] = entry.reasons;
    return unplaced;
}

// Appends the reasons of one of the group's pods without room, for a pod of the group that would have room.
void add_reasons_of_another(const Group& group, const Unplaced& unplaced, std::vector<std::string>& reasons) {
    if (!group.held.empty()) {
        const auto& held = *group.held.front();
        reasons.push_back("pod " + api::key_of(*held.pod).str() + ": " + held.message);
        return;
    }
    for (const auto* pod : group.pods) {
        const auto found = unplaced.find(pod->metadata.uid);
        if (found == unplaced.end()) continue;
        reasons.push_back("pod " + api::key_of(*pod).str() + ": " + base::joined(found->second, "; "));
        return;
    }
}

// Counts the waiting pods that can have room.
std::int64_t with_room(const Group& group, const Unplaced& unplaced) {
    return std::ranges::count_if(group.pods,
                                 [&](const auto* pod) { return !unplaced.contains(pod->metadata.uid); });
}

std::vector<RefusedPod> refusals_of(const Group& group, const Unplaced& unplaced) {
    std::vector<RefusedPod> refused;
    const auto without_room = group.waiting() - with_room(group, unplaced);
    const auto rule = group.min_pods ? " starts with " + base::counted(*group.min_pods, "pod") +
                                           " (its minCount or minMember)"
                                     : std::string(" starts as a whole");
    const auto obstacle = group.waiting() < group.needed
                              ? "only " + std::to_string(group.waiting()) + " of its pods wait"
                              : std::to_string(without_room) + " of its " +
                                    base::counted(group.waiting(), "waiting pod") + " cannot get a machine";
    const auto why =
        "PodGroup " + group.name + rule + ", and " + obstacle + ", so none is created for a part of it";
    for (const auto* pod : group.pods) {
        RefusedPod entry{pod, {why}};
        if (const auto own = unplaced.find(pod->metadata.uid); own != unplaced.end())
            entry.reasons.insert(entry.reasons.end(), own->second.begin(), own->second.end());
        else
            add_reasons_of_another(group, unplaced, entry.reasons);
        refused.push_back(std::move(entry));
    }
    return refused;
}

bool has_room(const Group& group, const Unplaced& unplaced) {
    return with_room(group, unplaced) >= group.needed;
}

// Gathering decides which groups stay among the world's pods. Groups that compete for room are tried one
// after the other, so that one of them can have all of it.
class Gathering {
public:
    Gathering(World& world, scheduling::Solver& solver) : world_(world), solver_(solver) {}

    std::vector<RefusedPod> run(std::vector<Group> groups) {
        if (groups.empty()) return {};
        const PacesLifted lifted(world_.snapshot);
        for (auto& group : groups) {
            if (std::ssize(group.pods) >= group.needed)
                staying_.push_back(std::move(group));
            else
                refuse(group, {});
        }
        const auto unplaced = solve();
        std::vector<Group> competing;
        std::erase_if(staying_, [&](Group& group) {
            if (has_room(group, unplaced)) return false;
            competing.push_back(std::move(group));
            return true;
        });
        for (const auto& group : competing) remove(group);
        for (std::size_t i = 0; i < competing.size(); ++i) {
            if (i < kMostTries)
                try_alone(competing[i]);
            else
                refuse(competing[i], unplaced);
        }
        return std::move(refused_);
    }

private:
    Unplaced solve() { return staying_.empty() ? Unplaced() : unplaced_pods(solver_.solve(world_.snapshot)); }

    void try_alone(const Group& group) {
        auto& pods = world_.snapshot.pods;
        const auto& removed = removed_[group.name];
        pods.insert(pods.end(), removed.begin(), removed.end());
        staying_.push_back(group);
        const auto unplaced = solve();
        if (std::ranges::all_of(staying_, [&](const Group& each) { return has_room(each, unplaced); }))
            return;
        staying_.pop_back();
        refuse(group, unplaced);
    }

    void refuse(const Group& group, const Unplaced& unplaced) {
        remove(group);
        std::ranges::move(refusals_of(group, unplaced), std::back_inserter(refused_));
    }

    void remove(const Group& group) {
        const std::set<const api::Pod*> members(group.pods.begin(), group.pods.end());
        std::erase_if(world_.snapshot.pods, [&](auto& pod) {
            if (!members.contains(pod.get())) return false;
            removed_[group.name].push_back(pod);
            return true;
        });
    }

    World& world_;
    scheduling::Solver& solver_;
    std::vector<Group> staying_;                  // their pods are in the world
    std::map<std::string, PodPointers> removed_;  // by group
    std::vector<RefusedPod> refused_;
};

}  // namespace

std::map<std::string, std::int64_t> needed_together(const PendingPods& demand, const Informers& informers) {
    std::map<std::string, std::int64_t> needed;
    for (const auto& group : groups_that_wait(demand, informers)) needed[group.name] = group.needed;
    return needed;
}

std::vector<RefusedPod> remove_incomplete_groups(World& world, const PendingPods& demand,
                                                 const Informers& informers, scheduling::Solver& solver) {
    return Gathering(world, solver).run(groups_that_wait(demand, informers));
}

}  // namespace controllers::provisioning
