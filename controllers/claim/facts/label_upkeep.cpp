#include "controllers/claim/facts/label_upkeep.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "controllers/claim/facts/claim_state.hpp"

namespace controllers::claim {

namespace {

constexpr base::Backoff kPauses{std::chrono::seconds{10}, std::chrono::minutes{30}};
// A label that others write every few minutes counts as lost in between.
constexpr base::Duration kShortestStay = std::chrono::minutes{5};
constexpr std::size_t kMostLabelsRemembered = 16;
constexpr int kFirstThatDidNotStay = 2;

// Reports whether the machine was created with the template's text for this label, as far as known.
bool was_made_with(const NodeOrigin& origin, const std::string& key, const std::string& text) {
    if (text.find("{{") != std::string::npos || !is_owned_by_pool(origin.claim)) return true;
    const auto* recorded = api::find(origin.claim.metadata.labels, key);
    return recorded && *recorded == text;
}

bool is_changed_since(const NodeOrigin& origin, const std::string& key, const std::string& wanted) {
    if (!origin.pool || origin.claim.spec.labels.contains(key)) return false;
    const auto* text = api::find(origin.pool->spec.machineTemplate.labels, key);
    return text && render(*text, origin.claim) == wanted && !was_made_with(origin, key, *text);
}

// Reports whether others may set the label. A cloud controller manager sets the
// region too, which is not contested.
bool is_left_to_others(const NodeOrigin& origin, const std::string& key, const std::string& wanted) {
    return key == api::labels::kRegion && wanted == origin.region;
}

std::vector<api::Taint> lasting_taints(const NodeOrigin& origin) {
    std::vector<api::Taint> wanted;
    if (origin.pool && origin.has_present_template)
        add_taints(wanted, origin.pool->spec.machineTemplate.taints);
    if (origin.host) add_taints(wanted, origin.host->taints);
    add_taints(wanted, origin.claim.spec.taints);
    auto passing = origin.claim.spec.startupTaints;
    if (origin.pool) add_taints(passing, origin.pool->spec.machineTemplate.startupTaints);
    std::erase_if(wanted, [&passing](const api::Taint& taint) {
        return taint.effect == api::taints::kNoExecute ||
               api::find_taint(passing, taint.key, taint.effect) != nullptr;
    });
    return wanted;
}

bool is_about(const ContestedLabel& label, const Deviation& deviation) {
    return label.key == deviation.key && label.effect == deviation.effect && label.value == deviation.value;
}

api::Time pause_ends(const ContestedLabel& label) {
    return later(label.time.value_or(api::Time{}), api::Duration(kPauses.after(label.count)));
}

api::Time stay_ends(const ContestedLabel& label) {
    return later(label.time.value_or(api::Time{}),
                 api::Duration(std::max(kPauses.after(label.count), kShortestStay)));
}

const ContestedLabel* known_of(const std::vector<ContestedLabel>& known, const Deviation& deviation) {
    const auto found =
        std::ranges::find_if(known, [&](const auto& label) { return is_about(label, deviation); });
    return found == known.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Deviation> deviations(const api::Node& node, const NodeOrigin& origin) {
    std::vector<Deviation> result;
    for (const auto& [key, wanted] : node_labels(origin)) {
        const auto* found = api::find(node.metadata.labels, key);
        if (found && (*found == wanted || is_left_to_others(origin, key, wanted))) continue;
        if (is_changed_since(origin, key, wanted)) continue;
        result.push_back({key, "", wanted, found ? *found : std::string()});
    }
    for (const auto& taint : lasting_taints(origin))
        if (!api::find_taint(node.spec.taints, taint.key, taint.effect))
            result.push_back({taint.key, taint.effect, taint.value, ""});
    return result;
}

Upkeep upkeep(const std::vector<ContestedLabel>& known, const std::vector<Deviation>& found, api::Time now) {
    Upkeep result;
    const auto look_again = [&result](api::Time when) {
        result.look_again = result.look_again ? std::min(*result.look_again, when) : when;
    };
    for (const auto& label : known) {
        const bool deviates =
            std::ranges::any_of(found, [&](const auto& deviation) { return is_about(label, deviation); });
        const auto end = stay_ends(label);
        if (!deviates && end <= now) continue;
        result.remembered.push_back(label);
        if (!deviates) look_again(end);
    }
    auto room = kMostLabelsRemembered - std::min(kMostLabelsRemembered, result.remembered.size());
    for (const auto& deviation : found) {
        const auto* label = known_of(result.remembered, deviation);
        if (label && now < pause_ends(*label)) {
            look_again(pause_ends(*label));
        } else if (label || room > 0) {
            if (!label) --room;
            result.due.push_back(deviation);
        }
    }
    return result;
}

std::vector<ContestedLabel> after_putting_back(const Upkeep& upkeep, const std::vector<std::string>& managers,
                                               api::Time now) {
    auto result = upkeep.remembered;
    for (std::size_t i = 0; i < upkeep.due.size(); ++i) {
        const auto& deviation = upkeep.due[i];
        auto known =
            std::ranges::find_if(result, [&](const auto& label) { return is_about(label, deviation); });
        if (known == result.end())
            known = result.insert(result.end(),
                                  {deviation.key, deviation.effect, deviation.value, "", "", 0, {}});
        known->found = deviation.found;
        if (i < managers.size() && !managers[i].empty()) known->manager = managers[i];
        ++known->count;
        known->time = now;
    }
    return result;
}

api::Node with_put_back(const api::Node& node, const std::vector<Deviation>& due) {
    auto result = node;
    for (const auto& deviation : due) {
        if (deviation.effect.empty()) {
            result.metadata.labels[deviation.key] = deviation.value;
            continue;
        }
        api::Taint taint;
        taint.key = deviation.key;
        taint.value = deviation.value;
        taint.effect = deviation.effect;
        add_taints(result.spec.taints, {taint});
    }
    return result;
}

bool does_not_stay(const ContestedLabel& label) {
    return label.count >= kFirstThatDidNotStay;
}

std::string name_of_contested(const std::string& key, const std::string& effect) {
    return effect.empty() ? "label " + key : "taint " + key + ":" + effect;
}

}  // namespace controllers::claim
