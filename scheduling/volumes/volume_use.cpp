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
        const auto more = std::count_if(wanted.begin(), wanted.end(), [&](const Attachment& each) {
            return is_of_driver(each) && !before.contains(each);
        });
        const auto count = std::count_if(before.begin(), before.end(), is_of_driver) + more;
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
        const auto found =
            std::find_if(choice.volumes.begin(), choice.volumes.end(), [&](const auto* volume) {
                return !taken_.contains(volume) && is_reached(row, *volume) &&
                       std::find(chosen.begin(), chosen.end(), volume) == chosen.end();
            });
        if (found == choice.volumes.end()) return std::nullopt;
        chosen.push_back(*found);
    }
    return chosen;
}

const api::PersistentVolumeClaim* VolumeUse::used_claim(const VolumeDemand& demand) const {
    const auto found = std::find_if(demand.exclusives.begin(), demand.exclusives.end(),
                                    [this](const auto* claim) { return used_.contains(claim); });
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

}  // namespace scheduling
