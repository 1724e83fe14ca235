#include "scheduling/nodes/daemons.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/names.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "scheduling/nodes/daemon_pods.hpp"
#include "scheduling/pods/features.hpp"
#include "scheduling/pods/pod_admission.hpp"

namespace scheduling {

namespace {

void tolerate(api::PodSpec& pod, std::string_view key, std::string_view effect) {
    auto& toleration = pod.tolerations->emplace_back();
    toleration.key = key;
    toleration.operator_ = api::TolerationOperator::Exists;
    toleration.effect = effect;
}

// Source: k8s.io/kubernetes/pkg/controller/daemon/util (AddOrUpdateDaemonPodTolerations).
void add_daemon_tolerations(api::PodSpec& pod) {
    tolerate(pod, api::taints::kNotReady, api::taints::kNoExecute);
    tolerate(pod, api::taints::kUnreachable, api::taints::kNoExecute);
    for (const auto key : {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
                           "node.kubernetes.io/pid-pressure"})
        tolerate(pod, key, api::taints::kNoSchedule);
    tolerate(pod, api::taints::kUnschedulable, api::taints::kNoSchedule);
    if (pod.hostNetwork) tolerate(pod, "node.kubernetes.io/network-unavailable", api::taints::kNoSchedule);
}

api::Pod pod_of(const api::DaemonSet& daemon_set) {
    api::Pod pod;
    pod.metadata.namespace_ = daemon_set.metadata.namespace_;
    pod.metadata.name = daemon_set.metadata.name;
    pod.metadata.labels = daemon_set.spec.template_.metadata.labels;
    pod.spec = daemon_set.spec.template_.spec;
    add_daemon_tolerations(pod.spec);
    return pod;
}

BitSet rows_for(const api::PodSpec& pod, Rows& rows) {
    NodeFilter filter;
    filter.equal.push_back(&*pod.nodeSelector);
    const auto& affinity = pod.affinity;
    if (affinity && affinity->nodeAffinity &&
        affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution)
        filter.any_of.push_back(&*affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution);
    filter.tolerations = &*pod.tolerations;
    filter.features = required_features(pod);
    return rows.evaluator().rows(filter);
}

}  // namespace

// Leaves out DaemonSets whose pods the API server refuses.
Daemons::Daemons(const Snapshot& snapshot, Rows& rows, ResourceNames& names) {
    const PodAdmission admission(snapshot);
    const DaemonPods pods(snapshot, rows, names);
    auto by_age = snapshot.daemon_sets;
    std::ranges::sort(by_age, {}, [](const auto& daemon_set) {
        return std::tie(daemon_set->metadata.creationTimestamp, daemon_set->metadata.uid);
    });
    for (const auto& daemon_set : by_age) {
        if (daemon_set->metadata.deletionTimestamp) continue;
        Daemon daemon;
        daemon.uid = daemon_set->metadata.uid;
        daemon.pod = pod_of(*daemon_set);
        const bool is_refused = !admission.admit(daemon.pod.metadata.namespace_, daemon.pod.spec).empty();
        daemon.requests = requests_of(daemon.pod.spec, names);
        daemon.on_pool = pods.asked_for(*daemon_set);
        for (auto& [pool, asked] : daemon.on_pool) asked = at_least(asked, daemon.requests);
        if (!is_refused) daemon.rows = rows_for(std::as_const(daemon.pod.spec), rows);
        daemons_.push_back(std::move(daemon));
    }
    leave_out_what_does_not_fit(snapshot, rows, names);
}

void Daemons::leave_out_what_does_not_fit(const Snapshot& snapshot, const Rows& rows, ResourceNames& names) {
    for (std::size_t row = 0; row < rows.nodes(); ++row) {
        auto free = rows.allocatable(row);
        free -= rows.digest(row).used;
        settle(row, std::move(free), std::nullopt, rows);
    }
    for (std::size_t pool = 0; pool < snapshot.pools.size(); ++pool) {
        const auto largest = MachineSizes(snapshot.pools[pool], names).largest();
        for (std::size_t place = 0; place < snapshot.pools[pool].places.size(); ++place)
            settle(rows.templates_of(pool) + place, largest, pool, rows);
    }
}

void Daemons::settle(std::size_t row, Amounts free, std::optional<std::size_t> pool, const Rows& rows) {
    const auto whole = free;
    for (auto& daemon : daemons_) {
        const bool comes = pool ? daemon.rows.contains(row) : is_missing(daemon, rows, row);
        if (!comes) continue;
        // A pod that fits no machine proves nothing about the next one.
        if (pool && !fits(daemon.taken_of(pool), whole)) daemon.on_pool.erase(*pool);
        const auto& taken = daemon.taken_of(rows.pool_of(row));
        if (fits(taken, free)) {
            free -= taken;
            continue;
        }
        daemon.rows.erase(row);
        const bool is_new = daemon.oversized_for.empty() || daemon.oversized_for.back() != pool;
        if (pool && is_new && !fits(taken, whole)) daemon.oversized_for.push_back(*pool);
    }
}

bool Daemons::is_missing(const Daemon& daemon, const Rows& rows, std::size_t row) {
    if (!daemon.rows.contains(row)) return false;
    const auto& there = rows.digest(row).daemon_pods;
    return std::ranges::find(there, daemon.uid, &DaemonPod::uid) == there.end();
}

std::vector<Amounts> Daemons::free_on_nodes(const Rows& rows) const {
    std::vector<Amounts> all;
    all.reserve(rows.nodes());
    for (std::size_t row = 0; row < rows.nodes(); ++row) {
        auto free = rows.allocatable(row);
        free -= rows.digest(row).used;
        for (const auto& daemon : daemons_)
            if (is_missing(daemon, rows, row)) free -= daemon.taken_of(rows.pool_of(row));
        all.push_back(std::move(free));
    }
    return all;
}

Amounts Daemons::taken_of_machine(std::size_t pool, std::size_t row, const Amounts& offered) const {
    Amounts taken;
    auto free = offered;
    for (const auto& daemon : daemons_) {
        const auto& wanted = daemon.taken_of(pool);
        if (!daemon.rows.contains(row) || !fits(wanted, free)) continue;
        free -= wanted;
        taken += wanted;
    }
    return taken;
}

}  // namespace scheduling
