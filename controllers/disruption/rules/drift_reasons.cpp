#include "controllers/disruption/rules/drift_reasons.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "api/names.hpp"
#include "base/text.hpp"
#include "controllers/claim/facts/template_hash.hpp"

namespace controllers::disruption {

std::string replacement_asked(const NodeSmithClaim& claim) {
    const auto* value = api::find(claim.metadata.annotations, api::annotations::kReplace);
    return value ? *value : std::string();
}

std::string drift_of(const std::string& template_hash, const NodeSmithClaim& claim) {
    const auto& made_from = claim.status.templateHash;
    // The origin of an adopted machine, or one of another operator version, is unknown.
    if (made_from.empty() || template_hash.empty() || !claim::is_comparable(made_from)) return {};
    if (made_from == template_hash) return {};
    return "the pool or provider settings from which this machine was created have changed";
}

std::string template_drift(const NodeSmithProvider& provider, const NodeSmithClaim& claim) {
    const auto& made_from = claim.status.templateRevision;
    const auto& templates = provider.status.templates;
    if (made_from.empty() || templates.empty()) return {};
    // A machine may have moved since it was created, so the template of any host suffices.
    const bool is_there =
        std::ranges::any_of(templates, [&](const auto& known) { return known.revision == made_from; });
    if (is_there) return {};
    return "the template from which the machine was created (" + made_from + ") was replaced or has changed";
}

std::string present_templates(const NodeSmithProvider& provider) {
    constexpr std::size_t kMostNamed = 8;
    std::set<std::string> revisions;
    for (const auto& known : provider.status.templates) revisions.insert(known.revision);
    return base::joined_first(std::vector(revisions.begin(), revisions.end()), kMostNamed);
}

}  // namespace controllers::disruption
