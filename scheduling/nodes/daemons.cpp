#include "scheduling/nodes/daemons.hpp"

#include <algorithm>
#include <tuple>

#include "api/names.hpp"
#include "scheduling/input/limit_ranges.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "scheduling/pods/pod_defaults.hpp"

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

api::Pod pod_of(const api::DaemonSet& daemon_set, const LimitRanges& limit_ranges) {
    api::Pod pod;
    pod.metadata.namespace_ = daemon_set.metadata.namespace_;
    pod.metadata.name = daemon_set.metadata.name;
    pod.metadata.labels = daemon_set.spec.template_.metadata.labels;
    pod.spec = daemon_set.spec.template_.spec;
    add_daemon_tolerations(pod.spec);
    set_pod_defaults(pod.spec);
    limit_ranges.apply(pod.metadata.namespace_, pod.spec);
    return pod;
}

}  // namespace

Daemons::Daemons(const Snapshot& snapshot, Rows& rows, ResourceNames& names) {
    const LimitRanges limit_ranges(snapshot.limit_ranges);
    auto by_age = snapshot.daemon_sets;
    std::ranges::sort(by_age, {}, [](const auto& daemon_set) {
        return std::tie(daemon_set->metadata.creationTimestamp, daemon_set->metadata.uid);
    });
    for (const auto& daemon_set : by_age) {
        if (daemon_set->metadata.deletionTimestamp) continue;
        Daemon daemon;
        daemon.uid = daemon_set->metadata.uid;
        daemon.pod = pod_of(*daemon_set, limit_ranges);
        daemon.requests = requests_of(daemon.pod.spec, names);
        NodeFilter filter;
        filter.equal.push_back(&*daemon.pod.spec.nodeSelector);
        const auto& affinity = daemon.pod.spec.affinity;
        if (affinity && affinity->nodeAffinity &&
            affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution)
            filter.any_of.push_back(&*affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution);
        filter.tolerations = &*daemon.pod.spec.tolerations;
        daemon.rows = rows.evaluator().rows(filter);
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
        if (fits(daemon.requests, free)) {
            free -= daemon.requests;
            continue;
        }
        daemon.rows.erase(row);
        const bool is_new = daemon.oversized_for.empty() || daemon.oversized_for.back() != pool;
        if (pool && is_new && !fits(daemon.requests, whole)) daemon.oversized_for.push_back(*pool);
    }
}

bool Daemons::is_missing(const Daemon& daemon, const Rows& rows, std::size_t row) {
    if (!daemon.rows.contains(row)) return false;
    const auto& there = rows.digest(row).daemon_sets;
    return std::ranges::find(there, daemon.uid) == there.end();
}

std::vector<Amounts> Daemons::free_on_nodes(const Rows& rows) const {
    std::vector<Amounts> all;
    all.reserve(rows.nodes());
    for (std::size_t row = 0; row < rows.nodes(); ++row) {
        auto free = rows.allocatable(row);
        free -= rows.digest(row).used;
        for (const auto& daemon : daemons_)
            if (is_missing(daemon, rows, row)) free -= daemon.requests;
        all.push_back(std::move(free));
    }
    return all;
}

Amounts Daemons::taken_of_machine(std::size_t row, const Amounts& offered) const {
    Amounts taken;
    auto free = offered;
    for (const auto& daemon : daemons_) {
        if (!daemon.rows.contains(row) || !fits(daemon.requests, free)) continue;
        free -= daemon.requests;
        taken += daemon.requests;
    }
    return taken;
}

}  // namespace scheduling
