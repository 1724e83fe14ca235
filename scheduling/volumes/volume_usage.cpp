#include "scheduling/volumes/volume_usage.hpp"

#include <algorithm>
#include <span>

#include "scheduling/nodes/node_digest.hpp"

namespace scheduling {

namespace {

bool may_still_report(const NodeInfo& node) {
    return node.availability == Availability::coming || node.is_settling;
}

// Calls `each` with the sorted volumes of each driver. Stops and returns false as soon as `each` does.
template <class Each>
bool for_each_driver(const std::vector<Attachment>& attachments, const Each& each) {
    for (auto first = attachments.begin(); first != attachments.end();) {
        const auto end = std::find_if(first, attachments.end(),
                                      [&](const Attachment& one) { return one.driver != first->driver; });
        if (!each(std::span(first, end))) return false;
        first = end;
    }
    return true;
}

// Returns the driver on the node; null: it does not run there.
const api::CSINodeDriver* driver_on(const NodeInfo& node, const std::string& driver) {
    if (!node.csi) return nullptr;
    const auto& drivers = node.csi->spec.drivers;
    const auto found = std::ranges::find(drivers, driver, &api::CSINodeDriver::name);
    return found == drivers.end() ? nullptr : &*found;
}

// YoungestNodes notes what the youngest Node of each pool shows of its new machines. Nodes of an earlier
// template show nothing, and young ones not yet.
class YoungestNodes {
public:
    void add(const NodeInfo& node, bool has_it) {
        if (!node.pool || !node.is_of_present_template || may_still_report(node)) return;
        const std::pair shown(node.node->metadata.creationTimestamp.value_or(api::Time()), has_it);
        const auto [entry, is_first] = shown_.try_emplace(*node.pool, shown);
        if (!is_first) entry->second = std::max(entry->second, shown);
    }
    // Returns the pools whose youngest Node does not have it.
    std::set<std::size_t> pools_without() const {
        std::set<std::size_t> pools;
        for (const auto& [pool, shown] : shown_)
            if (!shown.second) pools.insert(pool);
        return pools;
    }

private:
    std::map<std::size_t, std::pair<api::Time, bool>> shown_;
};

std::set<std::size_t> pools_without(const std::string& driver, const Snapshot& snapshot) {
    YoungestNodes youngest;
    for (const auto& node : snapshot.nodes)
        if (node.availability == Availability::ready) youngest.add(node, driver_on(node, driver));
    return youngest.pools_without();
}

}  // namespace

VolumeUsage::VolumeUsage(const Snapshot& snapshot, Rows& rows, VolumeIndex& volumes)
    : rows_(rows), volumes_(volumes), limits_(attach_limits(snapshot)) {
    for (const auto& driver : snapshot.volumes.drivers)
        if (driver->spec.preventPodSchedulingIfMissing)
            required_.emplace(driver->metadata.name, pools_without(driver->metadata.name, snapshot));
    for (const auto& attachment : snapshot.volumes.attachments)
        if (auto volume = volumes.attachment_of(attachment->spec.source.persistentVolumeName))
            reported_[attachment->spec.nodeName].insert(std::move(*volume));
}

bool VolumeUsage::lacks_driver(std::size_t slot, const std::string& driver) const {
    return slot < rows_.nodes() && required_.contains(driver) && !may_still_report(rows_.node(slot)) &&
           !driver_on(rows_.node(slot), driver);
}

std::set<Attachment>& VolumeUsage::attached(std::size_t slot) {
    const auto [entry, added] = attached_.try_emplace(slot);
    if (added && slot < rows_.nodes())
        for (const auto& pod : rows_.node(slot).pods)
            if (!is_finished(*pod))
                for (auto& attachment : volumes_.demand_of(*pod).attachments)
                    entry->second.insert(std::move(attachment));
    return entry->second;
}

// The kube-scheduler counts them even if the pod that is to be placed uses the volume.
std::int64_t VolumeUsage::attached_without_pods(std::size_t slot, const std::string& driver) {
    if (reported_.empty() || slot >= rows_.nodes()) return 0;
    const auto found = reported_.find(rows_.node(slot).node->metadata.name);
    if (found == reported_.end()) return 0;
    const auto& of_pods = attached(slot);
    return std::ranges::count_if(found->second, [&](const Attachment& each) {
        return each.driver == driver && !of_pods.contains(each);
    });
}

std::optional<std::int64_t> VolumeUsage::limit_of_new(std::size_t pool, const std::string& driver) const {
    if (pool >= limits_.size()) return std::nullopt;  // nothing is launched in such a pool
    const auto found = limits_[pool].find(driver);
    return found == limits_[pool].end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> VolumeUsage::limit(std::size_t slot, std::optional<std::size_t> pool,
                                               const std::string& driver) const {
    const bool is_node = slot < rows_.nodes();
    if (const auto* found = is_node ? driver_on(rows_.node(slot), driver) : nullptr)
        return found->allocatable ? std::optional<std::int64_t>(found->allocatable->count) : std::nullopt;
    return pool && (!is_node || may_still_report(rows_.node(slot))) ? limit_of_new(*pool, driver)
                                                                    : std::nullopt;
}

bool VolumeUsage::can_attach(std::size_t slot, std::optional<std::size_t> pool, const VolumeDemand& demand) {
    return for_each_driver(demand.attachments, [&](const auto& wanted) {
        if (lacks_driver(slot, wanted.front().driver)) return false;
        const auto limit = this->limit(slot, pool, wanted.front().driver);
        if (!limit) return true;
        const auto& before = attached(slot);
        const auto more =
            std::ranges::count_if(wanted, [&](const Attachment& each) { return !before.contains(each); });
        const auto count = std::ranges::count(before, wanted.front().driver, &Attachment::driver) +
                           attached_without_pods(slot, wanted.front().driver);
        return more == 0 || count + more <= *limit;
    });
}

std::optional<VolumeUsage::Excess> VolumeUsage::beyond_new(std::size_t pool,
                                                           const VolumeDemand& demand) const {
    std::optional<Excess> excess;
    for_each_driver(demand.attachments, [&](const auto& wanted) {
        const auto& driver = wanted.front().driver;
        const auto limit = limit_of_new(pool, driver);
        const auto count = static_cast<std::int64_t>(wanted.size());
        if (limit && count > *limit) excess = {driver, count, *limit};
        return !excess;
    });
    return excess;
}

std::optional<std::string> VolumeUsage::driver_missing_on_new(std::size_t pool,
                                                              const VolumeDemand& demand) const {
    for (const auto& attachment : demand.attachments) {
        const auto found = required_.find(attachment.driver);
        if (found != required_.end() && found->second.contains(pool)) return attachment.driver;
    }
    return std::nullopt;
}

bool VolumeUsage::is_reached(std::size_t row, const api::PersistentVolume& volume) {
    const auto* required = affinity_of(volume);
    if (!required) return true;
    const auto [entry, added] = reached_.try_emplace(&volume);
    if (added) entry->second = rows_.evaluator().rows(*required);
    return entry->second.contains(row);
}

std::optional<VolumeUsage::Volumes> VolumeUsage::chosen(std::size_t row, const VolumeDemand& demand) {
    Volumes chosen;
    for (const auto& choice : demand.choices) {
        // Another pod with the same claim has chosen for all of them.
        if (const auto shared = volume_of_.find(choice.claim); shared != volume_of_.end()) {
            if (!is_reached(row, *shared->second)) return std::nullopt;
            chosen.push_back(shared->second);
            continue;
        }
        const auto found = std::ranges::find_if(choice.volumes, [&](const auto* volume) {
            return !taken_.contains(volume) && is_reached(row, *volume) &&
                   std::ranges::find(chosen, volume) == chosen.end();
        });
        if (found == choice.volumes.end()) return std::nullopt;
        chosen.push_back(*found);
    }
    return chosen;
}

const api::PersistentVolumeClaim* VolumeUsage::used_claim(const VolumeDemand& demand) const {
    const auto found =
        std::ranges::find_if(demand.exclusives, [this](const auto* claim) { return used_.contains(claim); });
    return found == demand.exclusives.end() ? nullptr : *found;
}

bool VolumeUsage::is_left(std::size_t row, const VolumeDemand& demand) {
    return !used_claim(demand) && (demand.choices.empty() || chosen(row, demand));
}

void VolumeUsage::take(std::size_t slot, std::size_t row, const VolumeDemand& demand) {
    attached(slot).insert(demand.attachments.begin(), demand.attachments.end());
    used_.insert(demand.exclusives.begin(), demand.exclusives.end());
    if (demand.choices.empty()) return;
    const auto volumes = chosen(row, demand);
    if (!volumes) return;
    taken_.insert(volumes->begin(), volumes->end());
    for (std::size_t i = 0; i < volumes->size(); ++i)
        volume_of_.emplace(demand.choices[i].claim, (*volumes)[i]);
}

std::string VolumeUsage::conflict(const VolumeDemand& demand) const {
    const auto* claim = used_claim(demand);
    if (!claim) return {};
    return "its volume claim " + claim->metadata.name +
           " is planned for another pending pod, and only one pod may use it (ReadWriteOncePod)";
}

namespace {

api::LabelSelector without_region(api::LabelSelector topology) {
    topology.matchLabels.erase(std::string(api::labels::kRegion));
    std::erase_if(topology.matchExpressions,
                  [](const auto& requirement) { return requirement.key == api::labels::kRegion; });
    return topology;
}

bool is_enough(const api::CSIStorageCapacity& capacity, const api::Quantity& size) {
    const auto& limit = capacity.maximumVolumeSize ? capacity.maximumVolumeSize : capacity.capacity;
    return limit && *limit >= size;
}

void add_keys(std::set<std::string>& keys, const api::LabelSelector& topology) {
    for (const auto& [key, value] : topology.matchLabels) keys.insert(key);
    for (const auto& requirement : topology.matchExpressions) keys.insert(requirement.key);
}

}  // namespace

const StorageCapacity::Known& StorageCapacity::known(const Provision& provision) {
    const std::pair key(provision.storage_class->metadata.name, provision.size);
    const auto [entry, added] = known_.try_emplace(key);
    if (added) entry->second = made(provision);
    return entry->second;
}

// An empty selector means everywhere, which a term of a node selector cannot express.
BitSet StorageCapacity::rows_of(const api::LabelSelector& topology) {
    api::NodeSelectorTerm term;
    term.matchExpressions = topology.matchExpressions;
    for (const auto& [key, value] : topology.matchLabels)
        term.matchExpressions.push_back({key, api::SelectorOperator::In, {value}});
    return term.matchExpressions.empty() ? BitSet::all(rows_.all()) : rows_.evaluator().rows(term);
}

StorageCapacity::Reported StorageCapacity::reported(const Provision& provision) {
    Reported reported;
    for (const auto& capacity : snapshot_.volumes.capacities) {
        if (capacity->storageClassName != provision.storage_class->metadata.name) continue;
        reported.by_anyone = true;
        if (!capacity->nodeTopology) continue;
        const auto there = rows_of(*capacity->nodeTopology);
        reported.any |= there;
        if (is_enough(*capacity, provision.size)) {
            reported.enough |= there;
            reported.enough_in_zone |= rows_of(without_region(*capacity->nodeTopology));
        }
        add_keys(reported.keys, *capacity->nodeTopology);
    }
    for (const auto& node : snapshot_.nodes) {
        if (!node.csi) continue;
        for (const auto& driver : node.csi->spec.drivers)
            if (driver.name == provision.storage_class->provisioner) {
                reported.by_anyone = true;
                reported.keys.insert(driver.topologyKeys.begin(), driver.topologyKeys.end());
            }
    }
    return reported;
}

// Returns the rows from which volumes of the driver can be reached.
const BitSet& StorageCapacity::used_by(const std::string& driver) {
    const auto [entry, added] = used_.try_emplace(driver);
    if (!added) return entry->second;
    for (const auto& volume : snapshot_.volumes.volumes) {
        if (!volume->spec.csi || volume->spec.csi->driver != driver) continue;
        const auto* required = affinity_of(*volume);
        entry->second |= required ? rows_.evaluator().rows(*required) : BitSet::all(rows_.all());
    }
    return entry->second;
}

// Returns the pools whose youngest Node shows that a new one has too little room. That
// Node has no volume of the driver.
std::set<std::size_t> StorageCapacity::pools_without_room(const Reported& reported,
                                                          const Provision& provision) {
    const auto& used = used_by(provision.storage_class->provisioner);
    YoungestNodes youngest;
    for (auto row = reported.any.next(0); row < rows_.nodes(); row = reported.any.next(row + 1))
        if (!used.contains(row)) youngest.add(rows_.node(row), reported.enough.contains(row));
    return youngest.pools_without();
}

// Returns whether new machines of the pool have room by what it states; `otherwise`: it states nothing.
bool StorageCapacity::has_room(std::size_t pool, const Provision& provision, bool otherwise) const {
    const auto& stated = snapshot_.pools[pool].storage_capacity;
    const auto found = stated.find(provision.storage_class->metadata.name);
    return found == stated.end() ? otherwise : found->second >= provision.size;
}

BitSet StorageCapacity::open_rows(const Reported& reported) const {
    BitSet open;
    if (!reported.by_anyone)
        for (auto row = rows_.nodes(); row < rows_.all(); ++row) open.insert(row);
    const auto is_known = [this](const std::string& key, std::size_t row) {
        const auto value = rows_.labels().column(rows_.labels().key(key))[row];
        return value != kAbsent && value != kUnlike;
    };
    const std::string zone(api::labels::kZone);
    for (const auto& key : reported.keys) {
        // A region holds its zones, so room in a known zone is known without it.
        const bool is_region = key == api::labels::kRegion && reported.keys.contains(zone);
        for (auto row = rows_.nodes(); row < rows_.all(); ++row) {
            if (is_known(key, row)) continue;
            const bool has_no_room =
                is_region && is_known(zone, row) && !reported.enough_in_zone.contains(row);
            if (!has_no_room) open.insert(row);
        }
    }
    return open;
}

StorageCapacity::Known StorageCapacity::made(const Provision& provision) {
    const auto reported = this->reported(provision);
    Known known{reported.enough, open_rows(reported)};
    for (std::size_t row = 0; row < rows_.nodes(); ++row) {
        const auto& node = rows_.node(row);
        if (may_still_report(node) && !reported.any.contains(row) &&
            (!node.pool || has_room(*node.pool, provision, true)))
            known.rows.insert(row);
    }
    const auto without_room = pools_without_room(reported, provision);
    for (std::size_t pool = 0; pool < snapshot_.pools.size(); ++pool) {
        if (!has_room(pool, provision, !without_room.contains(pool))) continue;
        const auto first = rows_.templates_of(pool);
        const auto end = first + snapshot_.pools[pool].places.size();
        for (auto row = known.open.next(first); row < end; row = known.open.next(row + 1))
            known.rows.insert(row);
    }
    return known;
}

StorageCapacity::Decider StorageCapacity::decider(std::size_t pool, const Provision& provision) {
    const auto first = rows_.templates_of(pool);
    const auto end = first + snapshot_.pools[pool].places.size();
    if (known(provision).open.next(first) >= end) return Decider::report;
    return has_room(pool, provision, true) ? Decider::youngest_node : Decider::pool;
}

}  // namespace scheduling
