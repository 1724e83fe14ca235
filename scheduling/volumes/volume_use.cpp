#include "scheduling/volumes/volume_use.hpp"

#include <algorithm>

#include "scheduling/nodes/node_digest.hpp"

namespace scheduling {

std::set<Attachment>& VolumeUse::attached(std::size_t row) {
    const auto [entry, added] = attached_.try_emplace(row);
    if (added)
        for (const auto& pod : rows_.node(row).pods)
            if (!is_finished(*pod))
                for (auto& attachment : volumes_.demand_of(*pod).attachments)
                    entry->second.insert(std::move(attachment));
    return entry->second;
}

bool VolumeUse::can_attach(std::size_t row, const std::vector<Attachment>& wanted) {
    if (wanted.empty() || row >= rows_.nodes() || !rows_.node(row).csi) return true;
    const auto& before = attached(row);
    for (const auto& driver : rows_.node(row).csi->spec.drivers) {
        if (!driver.allocatable || !driver.allocatable->count) continue;
        const auto is_of_driver = [&](const Attachment& each) { return each.driver == driver.name; };
        const auto more = std::ranges::count_if(
            wanted, [&](const Attachment& each) { return is_of_driver(each) && !before.contains(each); });
        const auto count = std::ranges::count_if(before, is_of_driver) + more;
        if (more > 0 && count > *driver.allocatable->count) return false;
    }
    return true;
}

bool VolumeUse::is_reached(std::size_t row, const api::PersistentVolume& volume) {
    const auto* required = affinity_of(volume);
    if (!required) return true;
    const auto [entry, added] = reached_.try_emplace(&volume);
    if (added) entry->second = rows_.evaluator().rows(*required);
    return entry->second.contains(row);
}

std::optional<VolumeUse::Volumes> VolumeUse::chosen(std::size_t row, const VolumeDemand& demand) {
    Volumes chosen;
    for (const auto& choice : demand.choices) {
        const auto found = std::ranges::find_if(choice.volumes, [&](const auto* volume) {
            return !taken_.contains(volume) && is_reached(row, *volume) &&
                   std::ranges::find(chosen, volume) == chosen.end();
        });
        if (found == choice.volumes.end()) return std::nullopt;
        chosen.push_back(*found);
    }
    return chosen;
}

const api::PersistentVolumeClaim* VolumeUse::used_claim(const VolumeDemand& demand) const {
    const auto found =
        std::ranges::find_if(demand.exclusives, [this](const auto* claim) { return used_.contains(claim); });
    return found == demand.exclusives.end() ? nullptr : *found;
}

bool VolumeUse::is_left(std::size_t row, const VolumeDemand& demand) {
    return can_attach(row, demand.attachments) && !used_claim(demand) &&
           (demand.choices.empty() || chosen(row, demand));
}

void VolumeUse::take(std::size_t row, const VolumeDemand& demand) {
    if (row < rows_.nodes() && rows_.node(row).csi)
        attached(row).insert(demand.attachments.begin(), demand.attachments.end());
    used_.insert(demand.exclusives.begin(), demand.exclusives.end());
    if (demand.choices.empty()) return;
    if (const auto volumes = chosen(row, demand)) taken_.insert(volumes->begin(), volumes->end());
}

std::string VolumeUse::conflict(const VolumeDemand& demand) const {
    const auto* claim = used_claim(demand);
    if (!claim) return {};
    return "its volume claim " + claim->metadata.name +
           " goes to another pod that waits, and only one pod may use it (ReadWriteOncePod)";
}

namespace {

bool is_enough(const api::CSIStorageCapacity& capacity, const api::Quantity& size) {
    const auto& limit = capacity.maximumVolumeSize ? capacity.maximumVolumeSize : capacity.capacity;
    return limit && *limit >= size;
}

void add_keys(std::set<std::string>& keys, const api::LabelSelector& topology) {
    for (const auto& [key, value] : topology.matchLabels) keys.insert(key);
    for (const auto& requirement : topology.matchExpressions) keys.insert(requirement.key);
}

bool may_still_report(const Node& node) {
    return node.availability == Availability::coming || node.is_settling;
}

}  // namespace

const BitSet& StorageRoom::rows(const Provision& provision) {
    const std::pair key(provision.storage_class->metadata.name, provision.size);
    const auto [entry, added] = known_.try_emplace(key);
    if (added) entry->second = made(provision);
    return entry->second;
}

// An empty selector means everywhere, which a term of a node selector cannot say.
BitSet StorageRoom::rows_of(const api::LabelSelector& topology) {
    api::NodeSelectorTerm term;
    term.matchExpressions = topology.matchExpressions;
    for (const auto& [key, value] : topology.matchLabels)
        term.matchExpressions.push_back({key, api::SelectorOperator::In, {value}});
    return term.matchExpressions.empty() ? BitSet::all(rows_.all()) : rows_.evaluator().rows(term);
}

StorageRoom::Reported StorageRoom::reported(const Provision& provision) {
    Reported reported;
    for (const auto& capacity : snapshot_.volumes.capacities) {
        if (capacity->storageClassName != provision.storage_class->metadata.name || !capacity->nodeTopology)
            continue;
        const auto there = rows_of(*capacity->nodeTopology);
        reported.any |= there;
        if (is_enough(*capacity, provision.size)) reported.enough |= there;
        add_keys(reported.keys, *capacity->nodeTopology);
    }
    for (const auto& node : snapshot_.nodes) {
        if (!node.csi) continue;
        for (const auto& driver : node.csi->spec.drivers)
            if (driver.name == provision.storage_class->provisioner)
                reported.keys.insert(driver.topologyKeys.begin(), driver.topologyKeys.end());
    }
    return reported;
}

BitSet StorageRoom::made(const Provision& provision) {
    const auto reported = this->reported(provision);
    auto rows = reported.enough;
    for (std::size_t row = 0; row < rows_.nodes(); ++row)
        if (may_still_report(rows_.node(row)) && !reported.any.contains(row)) rows.insert(row);
    for (const auto& key : reported.keys) {
        const auto labelled = rows_.evaluator().rows_with(rows_.labels().key(key));
        for (auto row = rows_.nodes(); row < rows_.all(); ++row)
            if (!labelled.contains(row)) rows.insert(row);
    }
    return rows;
}

}  // namespace scheduling
