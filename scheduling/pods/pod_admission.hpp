// Completes a pod as the API server does at its creation: defaults, LimitRanges, its RuntimeClass.
#pragma once
#include <string>

#include "scheduling/input/limit_ranges.hpp"
#include "scheduling/input/runtime_classes.hpp"
#include "scheduling/input/snapshot.hpp"

namespace scheduling {

class PodAdmission {
public:
    explicit PodAdmission(const Snapshot& snapshot)
        : PodAdmission(snapshot.limit_ranges, snapshot.runtime_classes) {}
    PodAdmission(const std::vector<std::shared_ptr<const api::LimitRange>>& limit_ranges,
                 const std::vector<std::shared_ptr<const api::RuntimeClass>>& runtime_classes)
        : limit_ranges_(limit_ranges), runtime_classes_(runtime_classes) {}

    // Completes the pod. Returns why the API server refuses it, or nothing.
    std::string admit(const std::string& namespace_, api::PodSpec& pod) const;
    const LimitRanges& limit_ranges() const { return limit_ranges_; }

private:
    LimitRanges limit_ranges_;
    RuntimeClasses runtime_classes_;
};

}  // namespace scheduling
