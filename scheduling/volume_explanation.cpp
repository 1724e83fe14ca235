#include "scheduling/volume_explanation.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "base/text.hpp"

namespace scheduling {

namespace {

std::string words_of(const api::SelectorRequirement& requirement) {
    const auto values = " (" + base::joined(requirement.values, ", ") + ")";
    switch (requirement.operator_) {
        case api::SelectorOperator::In:
            return "label " + requirement.key +
                   (requirement.values.size() == 1 ? "=" + requirement.values.front() : " in" + values);
        case api::SelectorOperator::NotIn:
            return "label " + requirement.key + " not in" + values;
        case api::SelectorOperator::Exists:
            return "label " + requirement.key;
        case api::SelectorOperator::DoesNotExist:
            return "no label " + requirement.key;
        default:
            return "another value of label " + requirement.key;
    }
}

std::string words_of(const api::NodeSelectorTerm& term) {
    for (const auto& field : term.matchFields) return "node " + base::joined(field.values, ", ");
    std::vector<std::string> demands;
    for (const auto& requirement : term.matchExpressions) demands.push_back(words_of(requirement));
    return base::joined(demands, " and ");
}

std::string words_of(const api::NodeSelector& selector) {
    std::vector<std::string> terms;
    for (const auto& term : selector.nodeSelectorTerms) terms.push_back(words_of(term));
    return base::joined(terms, ", or ");
}

std::string title_of(const VolumeTie& tie) {
    return tie.volume ? "volume " + tie.volume->metadata.name + " of its claim " + tie.claim->metadata.name
                      : "a volume for its claim " + tie.claim->metadata.name;
}

bool is_met_somewhere(const Pool& pool, const api::NodeSelector& selector) {
    return std::ranges::any_of(pool.places, [&](const PlaceOfPool& place) {
        return api::matches(selector, labels_at(pool, place), {});
    });
}

}  // namespace

api::StringMap labels_at(const Pool& pool, const PlaceOfPool& place) {
    auto labels = place.labels;
    labels.insert(pool.labels.begin(), pool.labels.end());
    labels.try_emplace(std::string(api::labels::kHostname), "a-node-to-come");
    return labels;
}

std::string missing_label(const Pool& pool, const api::NodeSelector& selector) {
    if (selector.nodeSelectorTerms.size() != 1) return {};
    for (const auto& requirement : selector.nodeSelectorTerms.front().matchExpressions) {
        const bool is_met = std::ranges::any_of(pool.places, [&](const PlaceOfPool& place) {
            return api::matches(requirement, labels_at(pool, place));
        });
        if (is_met) continue;
        const auto* note = api::find(pool.notes_on_labels, requirement.key);
        return words_of(requirement) + (note ? " (" + *note + ")" : "");
    }
    return {};
}

std::string why_apart_from_volumes(const Snapshot& snapshot, PodPlacer& placer, ClassId id,
                                   std::size_t index) {
    const auto& pool = snapshot.pools[index];
    if (const auto* provision = placer.without_room(id, index))
        return "storage class " + provision->storage_class->metadata.name +
               " has no room left for a volume of " + provision->size.str() +
               " where its nodes are (CSIStorageCapacity)";
    const std::string text = "its nodes are not where the pod's volumes can be used";
    const auto& ties = placer.plan(id).volumes.ties;
    for (const auto& tie : ties) {
        if (is_met_somewhere(pool, *tie.selector)) continue;
        const auto missing = missing_label(pool, *tie.selector);
        return text + ": " + title_of(tie) + " needs " +
               (missing.empty() ? words_of(*tie.selector) : missing);
    }
    return text + " and the pod's other requirements are met" + where_volumes_are(placer.plan(id).volumes);
}

std::string where_volumes_are(const VolumeDemand& demand) {
    std::string text;
    for (const auto& tie : demand.ties) text += "; " + title_of(tie) + " needs " + words_of(*tie.selector);
    return text;
}

}  // namespace scheduling
