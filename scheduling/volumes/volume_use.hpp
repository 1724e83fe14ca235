// What of volumes is used up while pods are placed: how many a node can hold, volumes made beforehand, claims
// that one pod alone may use.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/volumes/volumes.hpp"

namespace scheduling {

class VolumeUse {
public:
    // Both outlive this.
    VolumeUse(Rows& rows, VolumeIndex& volumes) : rows_(rows), volumes_(volumes) {}

    // Whether a node in that row can still serve the demand. What a new machine can hold is not known.
    bool is_left(std::size_t row, const VolumeDemand& demand);
    void take(std::size_t row, const VolumeDemand& demand);
    // With what was placed, wherever the pod would be; empty: none.
    std::string conflict(const VolumeDemand& demand) const;

private:
    using Volumes = std::vector<const api::PersistentVolume*>;

    std::set<Attachment>& attached(std::size_t row);
    bool can_attach(std::size_t row, const std::vector<Attachment>& wanted);
    bool is_reached(std::size_t row, const api::PersistentVolume& volume);
    // One volume for each choice.
    std::optional<Volumes> chosen(std::size_t row, const VolumeDemand& demand);
    const api::PersistentVolumeClaim* used_claim(const VolumeDemand& demand) const;

    Rows& rows_;
    VolumeIndex& volumes_;
    std::map<std::size_t, std::set<Attachment>> attached_;    // by row
    std::map<const api::PersistentVolume*, BitSet> reached_;  // rows
    std::set<const api::PersistentVolume*> taken_;            // volumes made beforehand
    std::set<const api::PersistentVolumeClaim*> used_;        // claims for one pod alone
};

}  // namespace scheduling
