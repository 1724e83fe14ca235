#include "scheduling/volume_explanation.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "scheduling/selector_text.hpp"

namespace scheduling {

namespace {

const std::string kNameToCome = "a-node-to-come";

std::string title_of(const VolumeTie& tie) {
    const auto& claim = *tie.claim;
    if (tie.volume) return "volume " + tie.volume->metadata.name + " of its claim " + claim.metadata.name;
    const auto storage_class = claim.spec.storageClassName.value_or("");
    return "a volume " + (storage_class.empty() ? "" : "of storage class " + storage_class + " ") +
           "for its claim " + claim.metadata.name;
}

// Returns what a person can do about a label that the pool's nodes lack.
std::string remedy_of(const Snapshot& snapshot, const VolumeTie& tie, const api::SelectorRequirement& unmet) {
    const auto is_node = [&unmet](const NodeInfo& node) {
        const auto* name = api::find(node.node->metadata.labels, api::labels::kHostname);
        return name && std::ranges::find(unmet.values, *name) != unmet.values.end();
    };
    if (unmet.key == api::labels::kHostname && tie.volume && unmet.values.size() == 1 &&
        std::ranges::none_of(snapshot.nodes, is_node))
        return ", and node " + unmet.values.front() + " does not exist: restore it, or delete claim " +
               tie.claim->metadata.name + " and volume " + tie.volume->metadata.name;
    if (unmet.key.find("kubernetes.io/") != std::string::npos) return {};
    return ": if the driver gives each host's nodes such a label, state it in machineTemplate.labels of the "
           "pool, for example with '{{ .Zone }}'";
}

// Names the annotation that ties a volume to a node before it is made.
std::string cause_of(const VolumeTie& tie) {
    const bool is_selected = !tie.volume &&
                             api::find(tie.claim->metadata.annotations, api::annotations::kSelectedNode) &&
                             !tie.selector->nodeSelectorTerms.front().matchFields.empty();
    return is_selected ? " (annotation " + std::string(api::annotations::kSelectedNode) +
                             " of the claim: remove it to let the volume be elsewhere)"
                       : "";
}

bool is_met_somewhere(const Pool& pool, const api::NodeSelector& selector) {
    return std::ranges::any_of(pool.places, [&](const PlaceOfPool& place) {
        return api::matches(selector, labels_at(pool, place.labels), {});
    });
}

// Reports whether people may give the pool's nodes the label. Kubernetes and the operator set the others.
bool may_be_stated(std::string_view label) {
    const auto domain = label.substr(0, label.find('/'));
    const auto within = "." + std::string(domain);
    const bool is_set_by_others = within.ends_with(".kubernetes.io") || within.ends_with(".kubenodesmith.io");
    return domain == label || !is_set_by_others || domain == "node-role.kubernetes.io";
}

std::string why_without_room(const Pool& pool, const Provision& provision, StorageCapacity::Decider decider) {
    const auto& name = provision.storage_class->metadata.name;
    const auto volume =
        " for a volume of " + provision.size.str() + " for claim " + provision.claim->metadata.name;
    if (decider == StorageCapacity::Decider::pool)
        return "storage class " + name + " has no room" + volume +
               ", because machineTemplate.storageCapacity of the pool states " +
               pool.storage_capacity.at(name).str() + ": ask for less, or state more if its machines have it";
    return "storage class " + name + " has no room left" + volume +
           " where its nodes are (CSIStorageCapacity): free room there, or ask for less" +
           (decider == StorageCapacity::Decider::youngest_node
                ? ", or state in machineTemplate.storageCapacity of the pool what a new machine has"
                : "");
}

}  // namespace

api::StringMap labels_at(const Pool& pool, api::StringMap labels) {
    labels.insert(pool.labels.begin(), pool.labels.end());
    labels.try_emplace(std::string(api::labels::kHostname), kNameToCome);
    return labels;
}

const std::string* label_at(const Pool& pool, const api::StringMap& of_place, const std::string& key) {
    const auto* found = api::find(of_place, key);
    if (!found) found = api::find(pool.labels, key);
    return !found && key == api::labels::kHostname ? &kNameToCome : found;
}

const api::SelectorRequirement* unmet_requirement(const Pool& pool, const api::NodeSelector& selector) {
    if (selector.nodeSelectorTerms.size() != 1) return nullptr;
    for (const auto& requirement : selector.nodeSelectorTerms.front().matchExpressions) {
        const bool is_met = std::ranges::any_of(pool.places, [&](const PlaceOfPool& place) {
            return api::matches(requirement, labels_at(pool, place.labels));
        });
        if (!is_met) return &requirement;
    }
    return nullptr;
}

std::string note_on_label(const Pool& pool, const std::string& key) {
    const auto* note = api::find(pool.notes_on_labels, key);
    return note ? " (" + *note + ")" : "";
}

std::string remedy_for_label(const Pool& pool, const std::string& key) {
    auto note = note_on_label(pool, key);
    if (!note.empty() || !may_be_stated(key)) return note;
    return ": if they should have it, add it to machineTemplate.labels of the pool";
}

std::string why_apart_from_volumes(const Snapshot& snapshot, PodPlacer& placer, ClassId id,
                                   std::size_t index) {
    const auto& pool = snapshot.pools[index];
    if (const auto* provision = placer.without_room(id, index))
        return why_without_room(pool, *provision, placer.decider_of_room(index, *provision));
    const std::string text = "its nodes are not where the pod's volumes can be used";
    const auto& ties = placer.plan(id).volumes.ties;
    for (const auto& tie : ties) {
        if (is_met_somewhere(pool, *tie.selector)) continue;
        const auto* unmet = unmet_requirement(pool, *tie.selector);
        if (!unmet) return text + ": " + title_of(tie) + " needs " + words_of(*tie.selector) + cause_of(tie);
        const auto note = note_on_label(pool, unmet->key);
        return text + ": " + title_of(tie) + " needs " + words_of(*unmet) + note + cause_of(tie) +
               (note.empty() ? remedy_of(snapshot, tie, *unmet) : "");
    }
    return text + " and the pod's other requirements are met" + where_volumes_are(placer.plan(id).volumes);
}

std::string where_volumes_are(const VolumeDemand& demand) {
    std::string text;
    for (const auto& tie : demand.ties) text += "; " + title_of(tie) + " needs " + words_of(*tie.selector);
    return text;
}

}  // namespace scheduling
