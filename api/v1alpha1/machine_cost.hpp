// How machines of different shapes are compared.
#pragma once

#include <cstdint>

namespace api::v1alpha1 {

/// What a machine or host of this size costs when it is compared with another, in MiB: a core counts as much
/// as 4 GiB.
constexpr std::int64_t cost_in_mib(std::int64_t cpu_cores, std::int64_t memory_mib) {
    constexpr std::int64_t kMiBPerCore = 4096;
    return cpu_cores * kMiBPerCore + memory_mib;
}

}  // namespace api::v1alpha1
