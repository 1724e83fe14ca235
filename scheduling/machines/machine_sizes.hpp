// Computes the machines that a pool can launch, and the smallest of them that holds given pods.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

struct ShapeSize : MachineSize {
    std::size_t shape = 0;  // in the order of MachineSizes; 0 if flexible
};

// Returns what the Node of a pool's machine is expected to offer to pods. Launches assume the same.
api::ResourceList expected_allocatable(const Pool& pool, const MachineSize& size);

class MachineSizes {
public:
    MachineSizes(const Pool& pool, ResourceNames& names);

    // Returns the smallest machine, starting at shape `from` in order of size, whose allocatable resources
    // hold `wanted` (pods and DaemonSets); nullopt: none.
    std::optional<ShapeSize> smallest(const Amounts& wanted, std::size_t from = 0) const;
    // Returns fixed sizes, the cheapest first, or the extreme flexible ones. All others are
    // mixtures of these; the largest is last.
    std::vector<ShapeSize> sizes() const;
    // Returns flexible sizes for a demand of that shape. They are the largest, and those with all the memory
    // and the demand's proportion of CPUs. So no machine has a last core for a fraction of one.
    std::vector<ShapeSize> balanced(const Amounts& demand) const;
    // Reports whether sizes are flexible; then only one size fits best.
    bool is_flexible() const { return shapes_.empty(); }
    // Returns the number of fixed shapes; 1 if they are flexible.
    std::size_t shapes() const { return shapes_.empty() ? 1 : shapes_.size(); }
    // Returns what a machine of that shape offers to pods; the largest if flexible.
    const Amounts& offer(std::size_t shape) const { return shapes_.empty() ? largest_ : offers_[shape]; }
    // Returns what a machine of this size offers to pods.
    Amounts allocatable(const ShapeSize& size) const;
    // Returns the maximum that any machine offers of each resource.
    const Amounts& largest() const { return largest_; }
    // Returns the same for machines of at most that size; nullopt: none.
    std::optional<Amounts> largest_within(const MachineSize& bound) const;
    const MachineShape* shape(const ShapeSize& size) const {
        return shapes_.empty() ? nullptr : &shapes_[size.shape];
    }
    Amounts offered(base::Saturating cpu_cores, base::Saturating memory_mib, base::Saturating pods) const;

private:
    std::optional<ShapeSize> flexible_size(const Amounts& wanted) const;

    std::vector<MachineShape> shapes_;  // cheapest first
    std::vector<Amounts> offers_;       // by shape
    api::v1alpha1::FlexibleSize flexible_;
    std::int64_t flexible_pods_;
    api::v1alpha1::SystemReserved reserved_;
    Amounts other_;  // other resources that every machine offers
    Amounts largest_;
};

}  // namespace scheduling
