#include "scheduling/volumes/storage_room.hpp"

#include <algorithm>

namespace scheduling {

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
