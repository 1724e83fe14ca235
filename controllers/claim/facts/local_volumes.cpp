#include "controllers/claim/facts/local_volumes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>

#include "base/text.hpp"
#include "controllers/claim/facts/claim_state.hpp"

namespace controllers {

namespace {

using VolumePointer = std::shared_ptr<const api::PersistentVolume>;

constexpr std::string_view kNodeName = "metadata.name";
constexpr std::size_t kMostVolumesNamed = 3;
// Bounds of status.volumePlaces, as in its CRD.
constexpr std::size_t kMostPlaces = 32;
constexpr std::size_t kLongestDriver = 63, kLongestKey = 317, kLongestValue = 256;

bool has_value(const std::vector<std::string>& values, const std::string& value) {
    return !value.empty() && std::ranges::find(values, value) != values.end();
}

// NodeAffinityTerms decides whether terms of a volume's node affinity name a Node.
class NodeAffinityTerms {
public:
    // `recorded` has the names that the Node in question had.
    NodeAffinityTerms(const Informers& informers, const api::PersistentVolume& volume,
                      const VolumePlaces& recorded)
        : informers_(informers), volume_(volume), recorded_(recorded) {}

    bool names_only(const api::Node& node) const {
        if (!volume_.spec.nodeAffinity || !volume_.spec.nodeAffinity->required) return false;
        bool is_named = false;
        for (const auto& term : volume_.spec.nodeAffinity->required->nodeSelectorTerms) {
            const auto* naming = requirement_naming(term, node);
            if (naming && names_another(*naming, node)) return false;
            // A term without requirements matches no Node.
            const bool is_empty = term.matchExpressions.empty() && term.matchFields.empty();
            if (!naming && !is_empty && may_be_met_by_another(term, node)) return false;
            is_named = is_named || naming;
        }
        return is_named;
    }

private:
    using Requirement = api::SelectorRequirement;

    const Requirement* requirement_naming(const api::NodeSelectorTerm& term, const api::Node& node) const {
        for (const auto& field : term.matchFields)
            if (names_by_field(field, node)) return &field;
        for (const auto& expression : term.matchExpressions)
            if (names_by_label(expression, node) || names_as_recorded(expression, node)) return &expression;
        return nullptr;
    }

    static bool names_by_field(const Requirement& field, const api::Node& node) {
        return field.key == kNodeName && field.operator_ == api::SelectorOperator::In &&
               has_value(field.values, node.metadata.name);
    }

    bool names_by_label(const Requirement& expression, const api::Node& node) const {
        if (expression.operator_ != api::SelectorOperator::In || !may_name_nodes(expression.key))
            return false;
        const auto& hostname = hostname_of(node);
        if (expression.key == api::labels::kHostname) return has_value(expression.values, hostname);
        const auto* label = api::find(node.metadata.labels, expression.key);
        const auto is_own = [&](const std::string& id) {
            return has_value(expression.values, id) && (!label || *label == id);
        };
        if (is_own(node.metadata.name) || is_own(hostname)) return true;
        if (!volume_.spec.csi) return false;
        const auto csi = informers_.csi_nodes.store().get({"", node.metadata.name});
        if (const auto* driver = csi ? driver_on(*csi) : nullptr)
            return has_value(driver->topologyKeys, expression.key) && is_own(driver->nodeID);
        // The kubelet forgets a driver that restarts, and keeps its labels.
        return csi && label && has_value(expression.values, *label) && looks_like_id(expression.key);
    }

    // Reports whether the driver named the Node so before its CSINode was deleted or forgot the driver.
    bool names_as_recorded(const Requirement& expression, const api::Node& node) const {
        if (expression.operator_ != api::SelectorOperator::In || !volume_.spec.csi) return false;
        const auto* label = api::find(node.metadata.labels, expression.key);
        return std::ranges::any_of(recorded_, [&](const api::v1alpha1::VolumePlace& place) {
            return place.driver == volume_.spec.csi->driver && place.key == expression.key &&
                   has_value(expression.values, place.value) && (!label || *label == place.value);
        });
    }

    const api::CSINodeDriver* driver_on(const api::CSINode& csi) const {
        const auto found =
            std::ranges::find(csi.spec.drivers, volume_.spec.csi->driver, &api::CSINodeDriver::name);
        return found == csi.spec.drivers.end() ? nullptr : &*found;
    }

    // Reports whether the label looks like the driver's node ID: no Node with
    // the driver has a different value.
    bool looks_like_id(const std::string& label) const {
        return std::ranges::all_of(informers_.csi_nodes.store().all(), [&](const auto& entry) {
            const auto* driver = driver_on(*entry.second);
            const auto node = driver ? informers_.nodes.store().get({"", entry.first.name}) : nullptr;
            const auto* value = node ? api::find(node->metadata.labels, label) : nullptr;
            return !value || *value == driver->nodeID || *value == node->metadata.name ||
                   *value == hostname_of(*node);
        });
    }

    // Reports whether `other` counts as a further place for the volume. A Node that is leaving does not
    // count, unless `node` is leaving, too. Then the one with the greater name counts, so that one Node is
    // left.
    bool counts_beside(const api::Node& other, const api::Node& node) const {
        if (other.metadata.name == node.metadata.name) return false;
        if (!is_leaving(other)) return true;
        return is_leaving(node) && node.metadata.name < other.metadata.name;
    }

    bool is_leaving(const api::Node& node) const {
        const auto claims = informers_.claims.store().by_index(kClaimsByNode, node.metadata.name);
        return std::ranges::any_of(claims, [](const ClaimPointer& claim) {
            return claim->metadata.deletionTimestamp || claim::loses_machine(*claim) ||
                   api::is_true(claim->status.conditions, conditions::kDisrupted);
        });
    }

    bool names_another(const Requirement& requirement, const api::Node& node) const {
        if (requirement.values.size() < 2) return false;
        const bool is_field = requirement.key == kNodeName;
        return std::ranges::any_of(informers_.nodes.store().all(), [&](const auto& entry) {
            const auto& other = *entry.second;
            return counts_beside(other, node) &&
                   (is_field ? names_by_field(requirement, other) : names_by_label(requirement, other));
        });
    }

    // Reports whether another Node may match the term. A term that names only deleted Nodes never matches.
    bool may_be_met_by_another(const api::NodeSelectorTerm& term, const api::Node& node) const {
        const bool is_met = std::ranges::any_of(informers_.nodes.store().all(), [&](const auto& entry) {
            const auto& other = *entry.second;
            return counts_beside(other, node) &&
                   api::matches(term, other.metadata.labels, other.metadata.name);
        });
        if (is_met) return true;
        const auto names_nodes = [](const Requirement& expression) {
            return expression.operator_ == api::SelectorOperator::In && may_name_nodes(expression.key);
        };
        return term.matchFields.empty() && std::ranges::none_of(term.matchExpressions, names_nodes);
    }

    const Informers& informers_;
    const api::PersistentVolume& volume_;
    const VolumePlaces& recorded_;
};

bool is_owned_by_pod(const api::PersistentVolumeClaim& claim) {
    const auto* owner = api::controller_of(claim.metadata);
    return owner && owner->kind == api::Pod::kResource.kind;
}

// Returns nullopt if it holds no data that anyone asked to keep.
std::optional<LocalVolume> local_volume(const Informers& informers, const api::PersistentVolume& volume) {
    const auto& owner = volume.spec.claimRef;
    if (!owner) return std::nullopt;
    LocalVolume result{volume.metadata.name, {owner->namespace_, owner->name}};
    auto claim = informers.persistent_volume_claims.store().get(result.claim);
    if (claim && !owner->uid.empty() && claim->metadata.uid != owner->uid) claim = nullptr;
    // The claim names its volume before the volume's status is written.
    const bool is_claimed = claim && claim->spec.volumeName == volume.metadata.name;
    if (volume.status.phase == "Bound" || is_claimed) {
        const auto storage_class = informers.storage_classes.store().get({"", volume.spec.storageClassName});
        result.is_of_pod = claim && is_owned_by_pod(*claim);
        result.is_claim_known = claim != nullptr;
        const bool is_disposable = result.is_of_pod || (claim && says_disposable(claim->metadata)) ||
                                   (storage_class && says_disposable(storage_class->metadata));
        if (is_disposable) result.fate = LocalVolume::Fate::disposable;
        return result;
    }
    const auto& policy = volume.spec.persistentVolumeReclaimPolicy;
    if (volume.status.phase != "Released" || (!policy.empty() && policy != "Retain")) return std::nullopt;
    result.fate = LocalVolume::Fate::released;
    return result;
}

// Returns the values that volumes may use to name the Node.
std::set<std::string> places_on(const Informers& informers, const api::Node& node,
                                const VolumePlaces& recorded) {
    std::set<std::string> places{node.metadata.name, hostname_of(node)};
    for (const auto& place : recorded) places.insert(place.value);
    for (const auto& [label, value] : node.metadata.labels)
        if (may_name_nodes(label)) places.insert(value);
    if (const auto csi = informers.csi_nodes.store().get({"", node.metadata.name}))
        for (const auto& driver : csi->spec.drivers) places.insert(driver.nodeID);
    places.erase("");
    return places;
}

std::string volume_text(const LocalVolume& volume) {
    if (volume.is_unreadable)
        return "volume " + volume.name +
               " (which cannot be decoded and may be one of those; its Event CannotBeDecoded names the field "
               "to correct)";
    const bool is_released = volume.fate == LocalVolume::Fate::released;
    return "volume " + volume.name + (is_released ? " (Released, Retain; it belonged to " : " (") +
           "PersistentVolumeClaim " + volume.claim.str() + ")";
}

// Reports whether its machine is released instead of removed.
bool keeps_disk(const NodeSmithClaim& claim) {
    return claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain &&
           claim::is_true(claim, conditions::kRegistered);
}

template <class Predicate>
LocalVolumes those_that(const LocalVolumes& volumes, Predicate counts) {
    LocalVolumes result;
    std::ranges::copy_if(volumes, std::back_inserter(result), counts);
    return result;
}

}  // namespace

LocalVolumes local_volumes_on(const Informers& informers, const api::Node& node,
                              const VolumePlaces& recorded) {
    const auto places = places_on(informers, node, recorded);
    std::map<std::string, VolumePointer> candidates;
    for (const auto& place : places)
        for (const auto& volume : informers.persistent_volumes.store().by_index(kVolumesByPlace, place))
            candidates.emplace(volume->metadata.name, volume);
    std::map<std::string, LocalVolume> found;
    for (const auto& [name, volume] : candidates) {
        auto local = local_volume(informers, *volume);
        if (local && NodeAffinityTerms(informers, *volume, recorded).names_only(node))
            found.emplace(name, std::move(*local));
    }
    for (const auto& key : informers.persistent_volumes.undecodable().all_at(places)) {
        LocalVolume odd{key.name, {}};
        odd.is_unreadable = true;
        found.emplace(key.name, std::move(odd));
    }
    LocalVolumes volumes;
    for (auto& [name, volume] : found) volumes.push_back(std::move(volume));
    return volumes;
}

LocalVolumes local_volumes_of(const Informers& informers, const NodeSmithClaim& claim,
                              const api::Node* node) {
    const auto& status = claim.status;
    if (node) return local_volumes_on(informers, *node, status.volumePlaces);
    if (status.nodeName.empty()) return {};
    api::Node gone;
    gone.metadata.name = status.nodeName;
    for (const auto& place : status.volumePlaces)
        if (place.driver.empty()) gone.metadata.labels[place.key] = place.value;
    return local_volumes_on(informers, gone, status.volumePlaces);
}

VolumePlaces volume_places(const Informers& informers, const NodeSmithClaim& claim, const api::Node& node) {
    VolumePlaces places;
    const auto add = [&](const std::string& driver, const std::string& key, const std::string& value) {
        const bool fits = driver.size() <= kLongestDriver && key.size() <= kLongestKey && !value.empty() &&
                          value.size() <= kLongestValue;
        if (fits && value != node.metadata.name) places.push_back({driver, key, value});
    };
    add("", std::string(api::labels::kHostname), hostname_of(node));
    std::set<std::string> registered;
    if (const auto csi = informers.csi_nodes.store().get({"", node.metadata.name})) {
        for (const auto& driver : csi->spec.drivers) {
            if (driver.nodeID.empty()) continue;
            registered.insert(driver.name);
            for (const auto& key : driver.topologyKeys) {
                const auto* label = api::find(node.metadata.labels, key);
                const bool is_id = !label || *label == driver.nodeID;
                if (is_id && may_name_nodes(key) && key != api::labels::kHostname)
                    add(driver.name, key, driver.nodeID);
            }
        }
    }
    // The kubelet forgets a driver that restarts, and each one when the Node is created anew.
    for (const auto& place : claim.status.volumePlaces)
        if (!place.driver.empty() && !registered.contains(place.driver)) places.push_back(place);
    std::ranges::sort(places, [](const auto& a, const auto& b) {
        return std::tie(a.driver, a.key, a.value) < std::tie(b.driver, b.key, b.value);
    });
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() > kMostPlaces) places.resize(kMostPlaces);
    return places;
}

bool says_disposable(const api::ObjectMeta& metadata) {
    const auto* value = api::find(metadata.annotations, api::annotations::kLocalData);
    return value && *value == api::annotations::kDisposable;
}

bool gave_up_volumes(const NodeSmithPool* pool, const NodeSmithClaim& claim) {
    if (pool && pool->spec.disruption.localVolumes == api::v1alpha1::LocalVolumesPolicy::Discard) return true;
    const auto* decision = api::find(claim.metadata.annotations, api::annotations::kLocalVolumes);
    return decision && *decision == api::annotations::kDiscard;
}

LocalVolumes held_among(const LocalVolumes& volumes, const NodeSmithPool* pool, const NodeSmithClaim& claim) {
    if (gave_up_volumes(pool, claim)) return {};
    if (keeps_disk(claim)) return {};
    return those_that(volumes,
                      [](const LocalVolume& volume) { return volume.fate == LocalVolume::Fate::held; });
}

std::string named(const LocalVolumes& volumes) {
    return base::joined_first(volumes | std::views::transform(volume_text), kMostVolumesNamed);
}

std::string lost_with(const NodeSmithClaim& claim, const LocalVolumes& volumes) {
    if (keeps_disk(claim)) return {};
    return named(those_that(volumes, [](const LocalVolume& volume) { return !volume.is_of_pod; }));
}

std::string how_to_release_volumes() {
    return "move the data away and delete the PersistentVolumeClaim, or annotate it with " +
           std::string(api::annotations::kLocalData) + "=" + std::string(api::annotations::kDisposable) +
           " if the data may be lost";
}

std::set<std::string> pods_tied_to(const Informers& informers, const std::string& node,
                                   const LocalVolumes& volumes) {
    std::set<api::ObjectKey> claims;
    for (const auto& volume : volumes)
        if (!volume.is_of_pod && volume.fate != LocalVolume::Fate::released) claims.insert(volume.claim);
    std::set<std::string> tied;
    if (claims.empty()) return tied;
    for (const auto& pod : informers.pods.store().by_index(kPodsByNode, node))
        for (const auto& volume : pod->spec.volumes)
            if (volume.persistentVolumeClaim &&
                claims.contains({pod->metadata.namespace_, volume.persistentVolumeClaim->claimName}))
                tied.insert(pod->metadata.uid);
    return tied;
}

bool is_kept_for_volumes(const NodeSmithClaim& claim) {
    return api::is_true(claim.status.conditions, conditions::kKeptForVolumes);
}

}  // namespace controllers
