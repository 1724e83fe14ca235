#include "controllers/disruption/rules/drift_reasons.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/state/template_hash.hpp"

namespace controllers::disruption {

std::string drift_of(const NodeSmithPool& pool, const std::string& template_hash, const NodeSmithClaim& claim,
                     const api::Node& node) {
    const auto& made_from = claim.status.templateHash;
    // Adopted, or applied by a user and not launched by us: made from nothing that we know.
    if (made_from.empty()) return {};
    const bool is_known = !template_hash.empty() && claim::is_comparable(made_from);
    if (is_known && made_from != template_hash)
        return "the pool's or its provider's settings that shape the machine are others now";
    for (const auto& [key, value] : pool.spec.machineTemplate.labels) {
        // What depends on the host may change with it.
        if (value.find("{{") != std::string::npos) continue;
        const auto* found = api::find(node.metadata.labels, key);
        if (!found || *found != value)
            return "the node's label " + key + " is not \"" + value + "\" any more";
    }
    const auto& wanted = claim.spec.requirements.cpuCores;
    const auto has = node.status.capacity.find("cpu");
    if (wanted > 0 && has != node.status.capacity.end() && has->second.value() < wanted)
        return "the machine has " + base::counted(has->second.value(), "CPU") + " instead of " +
               std::to_string(wanted);
    return {};
}

std::string template_drift(const NodeSmithProvider& provider, const NodeSmithClaim& claim) {
    const auto& made_from = claim.status.templateRevision;
    const auto& templates = provider.status.templates;
    if (made_from.empty() || templates.empty()) return {};
    // A machine may have moved since it was made, so any host's template will do.
    const bool is_there =
        std::ranges::any_of(templates, [&](const auto& known) { return known.revision == made_from; });
    if (is_there) return {};
    return "the template that the machine was made from (" + made_from +
           ") was replaced, or holds something else now";
}

}  // namespace controllers::disruption
