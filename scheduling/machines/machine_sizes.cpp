#include "scheduling/machines/machine_sizes.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace scheduling {

namespace {

base::Saturating divided_up(base::Saturating a, base::Saturating b) {
    return (std::max<base::Saturating>(a, 0) + b - 1) / b;
}

// Returns the largest of min, min + step, ... and max that is at most `bound`.
std::optional<base::Saturating> stepped_down(base::Saturating bound, base::Saturating min,
                                             base::Saturating max, base::Saturating step) {
    if (bound >= max) return max;
    if (bound < min) return std::nullopt;
    const auto width = std::max<base::Saturating>(step, 1);
    return min + (bound - min) / width * width;
}

// Returns the smallest of min, min + step, ... and max that is at least `needed`.
std::optional<base::Saturating> stepped(base::Saturating needed, base::Saturating min, base::Saturating max,
                                        base::Saturating step) {
    if (needed > max) return std::nullopt;
    const auto steps = divided_up(needed - min, std::max<base::Saturating>(step, 1));
    return std::min(max, min + steps * step);
}

}  // namespace

MachineSizes::MachineSizes(const Pool& pool, ResourceNames& names)
    : shapes_(pool.shapes),
      flexible_(pool.flexible),
      flexible_pods_(pool.pods_per_node),
      reserved_(pool.reserved),
      other_(amounts_of(pool.extended_resources, names)) {
    const auto& storage = pool.ephemeral_storage_mib;
    // A disk of unknown size is large, but a pod that requests more than any machine has must not fit.
    other_.base[kStorage] = storage ? *storage * kMiB : kUnbounded / 2;
    const auto rank = [&pool](const MachineShape& shape) {
        return std::tuple(pool.prices.of({shape.cpu_cores, shape.memory_mib}), shape.cpu_cores, shape.pods,
                          std::string_view(shape.name));
    };
    // The snapshot's maker closes a pool whose shapes are all refused.
    std::erase_if(shapes_, [](const MachineShape& shape) { return !shape.refused.empty(); });
    std::ranges::sort(shapes_,
                      [&rank](const MachineShape& a, const MachineShape& b) { return rank(a) < rank(b); });
    for (const auto& shape : shapes_) {
        offers_.push_back(offered(shape.cpu_cores, shape.memory_mib, shape.pods));
        largest_ = at_least(largest_, offers_.back());
    }
    if (shapes_.empty()) largest_ = offered(flexible_.cpuCores.max, flexible_.memoryMiB.max, flexible_pods_);
}

Amounts MachineSizes::offered(base::Saturating cpu_cores, base::Saturating memory_mib,
                              base::Saturating pods) const {
    Amounts amounts = other_;
    amounts.base[kCpu] = std::max<base::Saturating>(0, cpu_cores * kMilli - reserved_.cpuMillicores);
    amounts.base[kMemory] = std::max<base::Saturating>(0, memory_mib - reserved_.memoryMiB) * kMiB;
    amounts.base[kPods] = pods;
    return amounts;
}

std::vector<ShapeSize> MachineSizes::sizes() const {
    const auto& cpu = flexible_.cpuCores;
    const auto& memory = flexible_.memoryMiB;
    if (shapes_.empty())
        return {{{cpu.max, memory.min}, 0}, {{cpu.min, memory.max}, 0}, {{cpu.max, memory.max}, 0}};
    std::vector<ShapeSize> sizes;
    sizes.reserve(shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i)
        sizes.push_back({{shapes_[i].cpu_cores, shapes_[i].memory_mib}, i});
    return sizes;
}

std::vector<ShapeSize> MachineSizes::balanced(const Amounts& demand) const {
    constexpr std::int64_t kMostMore = 2;  // for DaemonSets, and because pods differ
    const auto& cpu = flexible_.cpuCores;
    const auto memory = flexible_.memoryMiB.max;
    std::vector<ShapeSize> sizes{{{cpu.max, memory}, 0}};
    const auto demanded = static_cast<double>(std::max<base::Saturating>(demand.base[kMemory], 1));
    const auto share = static_cast<double>(largest_.base[kMemory]) / demanded;
    const base::Saturating beside(static_cast<double>(demand.base[kCpu]) * share);
    for (std::int64_t more = -1; more <= kMostMore; ++more) {
        const auto needed = divided_up(beside + reserved_.cpuMillicores, kMilli) + more * cpu.step;
        const auto cores = stepped(needed, cpu.min, cpu.max, cpu.step);
        if (cores && *cores != sizes.back().cpu_cores) sizes.push_back({{*cores, memory}, 0});
    }
    return sizes;
}

Amounts MachineSizes::allocatable(const ShapeSize& size) const {
    if (!shapes_.empty()) return offers_[size.shape];
    return offered(size.cpu_cores, size.memory_mib, flexible_pods_);
}

api::ResourceList expected_allocatable(const Pool& pool, const MachineSize& size) {
    ResourceNames names;
    const auto amounts =
        MachineSizes(pool, names).offered(size.cpu_cores, size.memory_mib, pool.pods_per_node);
    auto allocatable = pool.extended_resources;
    allocatable["cpu"] = api::Quantity::of_milli(amounts.base[kCpu]);
    allocatable["memory"] = api::Quantity::of(amounts.base[kMemory]);
    allocatable["pods"] = api::Quantity::of(amounts.base[kPods]);
    allocatable["ephemeral-storage"] = api::Quantity::of(amounts.base[kStorage]);
    return allocatable;
}

std::optional<ShapeSize> MachineSizes::flexible_size(const Amounts& wanted) const {
    const auto& cpu = flexible_.cpuCores;
    const auto& memory = flexible_.memoryMiB;
    const auto cores =
        stepped(divided_up(wanted.base[kCpu] + reserved_.cpuMillicores, kMilli), cpu.min, cpu.max, cpu.step);
    const auto mebibytes = stepped(divided_up(wanted.base[kMemory], kMiB) + reserved_.memoryMiB, memory.min,
                                   memory.max, memory.step);
    if (!cores || !mebibytes) return std::nullopt;
    const ShapeSize size{{*cores, *mebibytes}, 0};
    if (!fits(wanted, allocatable(size))) return std::nullopt;
    return size;
}

std::optional<ShapeSize> MachineSizes::smallest(const Amounts& wanted, std::size_t from) const {
    if (shapes_.empty()) return flexible_size(wanted);
    for (std::size_t i = from; i < shapes_.size(); ++i)
        if (fits(wanted, offers_[i])) return ShapeSize{{shapes_[i].cpu_cores, shapes_[i].memory_mib}, i};
    return std::nullopt;
}

std::optional<Amounts> MachineSizes::largest_within(const MachineSize& bound) const {
    if (shapes_.empty()) {
        const auto& cpu = flexible_.cpuCores;
        const auto& memory = flexible_.memoryMiB;
        const auto cores = stepped_down(bound.cpu_cores, cpu.min, cpu.max, cpu.step);
        const auto mebibytes = stepped_down(bound.memory_mib, memory.min, memory.max, memory.step);
        if (!cores || !mebibytes) return std::nullopt;
        return offered(*cores, *mebibytes, flexible_pods_);
    }
    std::optional<Amounts> largest;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        if (!MachineSize{shapes_[i].cpu_cores, shapes_[i].memory_mib}.is_within(bound)) continue;
        largest = largest ? at_least(*largest, offers_[i]) : offers_[i];
    }
    return largest;
}

}  // namespace scheduling
