// The machines that a pool can launch, and the smallest of them that holds given pods.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/input/snapshot.hpp"
#include "scheduling/table/amounts.hpp"

namespace scheduling {

struct Size : MachineSize {
    std::size_t shape = 0;  // in the order of MachineSizes; 0 if flexible
};

// What the Node of a machine of the pool is expected to offer to pods: the same as it is launched for.
api::ResourceList expected_allocatable(const Pool& pool, const MachineSize& size);

class MachineSizes {
public:
    MachineSizes(const Pool& pool, ResourceNames& names);

    // The smallest machine, at or behind shape `from` in order of size, whose allocatable resources hold
    // `wanted` (pods and DaemonSets); nullopt: none.
    std::optional<Size> smallest(const Amounts& wanted, std::size_t from = 0) const;
    // Fixed ones, the cheapest first; of flexible ones those at the ends: whatever is in between is a mixture
    // of these, the largest is the last.
    std::vector<Size> sizes() const;
    // Flexible ones to fill with a demand of that shape: the largest, and those with all the memory and about
    // the CPUs that the demand has beside it, so that no machine has a last core for a fraction of one.
    std::vector<Size> balanced(const Amounts& demand) const;
    // Then only one size fits best.
    bool is_flexible() const { return shapes_.empty(); }
    // How many fixed ones there are; 1 if they are flexible.
    std::size_t shapes() const { return shapes_.empty() ? 1 : shapes_.size(); }
    // What a machine of that shape offers to pods; of flexible ones the largest.
    const Amounts& offer(std::size_t shape) const { return shapes_.empty() ? largest_ : offers_[shape]; }
    // What a machine of this size offers to pods.
    Amounts allocatable(const Size& size) const;
    // No machine offers more of anything.
    const Amounts& largest() const { return largest_; }
    // The same of machines that are at most that large; nullopt: there is none.
    std::optional<Amounts> largest_within(const MachineSize& bound) const;
    const Shape* shape(const Size& size) const { return shapes_.empty() ? nullptr : &shapes_[size.shape]; }
    Amounts offered(base::Saturating cpu_cores, base::Saturating memory_mib, base::Saturating pods) const;

private:
    std::optional<Size> flexible_size(const Amounts& wanted) const;

    std::vector<Shape> shapes_;    // cheapest first
    std::vector<Amounts> offers_;  // of shapes_
    api::v1alpha1::FlexibleSize flexible_;
    std::int64_t flexible_pods_;
    api::v1alpha1::SystemReserved reserved_;
    Amounts other_;  // what every machine offers besides
    Amounts largest_;
};

}  // namespace scheduling
