// Samples of a cluster over the last day, in memory. A restart loses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "report/cluster_report.hpp"

namespace report {

struct Sample {
    api::Time time;
    std::int64_t nodes = 0;  // Nodes of claims
    std::int64_t waiting_pods = 0;
    double price = 0;  // sum over these Nodes, in the unit of machineTemplate.price
};

class History {
public:
    static constexpr std::chrono::minutes kInterval{1};
    static constexpr std::size_t kMost = 1440;  // a day

    // Adds a sample and drops the oldest one beyond kMost. Samples that are not older than the report are
    // dropped, as they are from before a jump of the clock.
    void add(const ClusterReport& report);
    // Reports whether the last sample is at least as old as the interval.
    bool is_due(api::Time now) const;
    // Returns the samples, the oldest first.
    const std::deque<Sample>& samples() const { return samples_; }

private:
    std::deque<Sample> samples_;
};

}  // namespace report
