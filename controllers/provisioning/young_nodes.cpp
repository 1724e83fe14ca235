#include "controllers/provisioning/young_nodes.hpp"

namespace controllers::provisioning {

void expect_taints(scheduling::Pool& pool, const std::vector<api::v1alpha1::UndeclaredTaint>& taints,
                   api::Time now) {
    for (const auto& taint : taints) {
        if (!is_expected(taint, now)) continue;
        pool.taints.push_back({taint.key, taint.value, taint.effect, std::nullopt});
        pool.notes_on_taints[taint.key] =
            "its nodes keep this taint, although machineTemplate.taints does not list it: if a program "
            "removes it automatically, declare it under machineTemplate.startupTaints";
    }
}

std::string look_past_taints(scheduling::NodeInfo& node, const claim::TaintFacts& facts, api::Time now) {
    const auto taints = claim::temporary_taints(facts, now);
    if (taints.empty()) return {};
    node.availability = scheduling::Availability::coming;
    node.startup_taints.insert(node.startup_taints.end(), taints.begin(), taints.end());
    return "it has the " + claim::undeclared_text(taints, facts.claim.spec.poolRef) +
           " and which counts as temporary for a while: declare it under machineTemplate.startupTaints of "
           "the "
           "pool";
}

}  // namespace controllers::provisioning
