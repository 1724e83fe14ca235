#include "report/cluster_report.hpp"

#include "controllers/claim/facts/pool_counts.hpp"

namespace report {
namespace {

template <class T>
Pointers<T> all_of(const kube::Informer<T>& informer) {
    Pointers<T> all;
    all.reserve(informer.store().size());
    for (const auto& [key, object] : informer.store().all()) all.push_back(object);
    return all;
}

}  // namespace

api::v1alpha1::ClaimPhase ClaimFacts::phase() const {
    return claim->status.phase.value_or(api::v1alpha1::ClaimPhase::Pending);
}

bool ClaimFacts::has_ready_node() const {
    return node && controllers::is_ready(*node);
}

const ClaimFacts* ClusterReport::claim_of_node(const std::string& name) const {
    const auto found = claims_by_node.find(name);
    return found == claims_by_node.end() ? nullptr : &claims[found->second];
}

ClusterReport report_of(const controllers::Informers& informers, const controllers::disruption::Stays& stays,
                        bool leading, api::Time now) {
    ClusterReport report;
    report.time = now;
    report.leading = leading;
    report.synced = informers.synced();
    report.managed = informers.managed;
    report.pods = informers.pods.store().size();
    report.nodes = informers.nodes.store().size();
    report.unschedulable = controllers::unschedulable_pods(informers);
    report.control_planes = all_of(informers.control_planes);
    report.providers = all_of(informers.providers);
    report.pools = all_of(informers.pools);
    report.hosts = all_of(informers.hosts);
    for (const auto& claim : all_of(informers.claims)) {
        const auto& node = claim->status.nodeName;
        if (!node.empty()) report.claims_by_node.try_emplace(node, report.claims.size());
        report.claims.push_back(
            {claim, informers.pools.store().get({claim->metadata.namespace_, claim->spec.poolRef}),
             informers.nodes.store().get({"", node})});
    }
    report.stays = stays;
    return report;
}

}  // namespace report
