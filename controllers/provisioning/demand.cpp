#include "controllers/provisioning/demand.hpp"

#include "controllers/provisioning/predictions.hpp"

namespace controllers::provisioning {

namespace {

bool is_nobodys_demand(const api::Pod& pod, const Nodes& nodes) {
    const auto* owner = api::controller_of(pod.metadata);
    if (owner && owner->kind == "DaemonSet") return true;
    return !pod.status.nominatedNodeName.empty() && nodes.contains({"", pod.status.nominatedNodeName});
}

}  // namespace

Demand select_demand(const PodPointers& unschedulable, const std::map<std::string, int>& purchases,
                     const Pools& pools, const Nodes& nodes, api::Time now) {
    Demand demand;
    for (const auto& pod : unschedulable) {
        const auto& uid = pod->metadata.uid;
        demand.waiting.insert(uid);
        if (is_nobodys_demand(*pod, nodes)) continue;
        const auto verdict = verdict_on(uid, pools);
        const auto bought = purchases.find(uid);
        if (verdict.retry_at && now < *verdict.retry_at) {
            demand.held_back.push_back(
                {pod,
                 "a node bought for it is in service, but the scheduler did not use it; "
                 "nothing is bought for it before " +
                     verdict.retry_at->str(),
                 *verdict.retry_at});
        } else if (bought != purchases.end() && bought->second >= kMostPurchasesPerHour) {
            demand.held_back.push_back(
                {pod, std::to_string(kMostPurchasesPerHour) + " machines were bought for it within an hour",
                 api::Time(now.at + std::chrono::minutes{1})});
        } else {
            demand.pods.push_back(pod);
        }
    }
    return demand;
}

PodPointers pods_that_keep_nodes(const PodPointers& unschedulable, const Pools& pools, const Nodes& nodes) {
    PodPointers result;
    for (const auto& pod : unschedulable)
        if (!is_nobodys_demand(*pod, nodes) && verdict_on(pod->metadata.uid, pools).wrong == 0)
            result.push_back(pod);
    return result;
}

}  // namespace controllers::provisioning
