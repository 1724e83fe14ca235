#include "report/history.hpp"

#include "controllers/disruption/rules/use.hpp"
#include "controllers/state/prices.hpp"

namespace report {
namespace {

// A user who may not read Nodes sees none, so the claim's request stands for its size.
double price_of(const ClaimFacts& facts) {
    const auto size =
        facts.node ? controllers::disruption::size_of(*facts.node) : facts.claim->spec.requirements;
    const auto prices = controllers::prices_of(*facts.pool);
    return prices.of(static_cast<double>(size.cpuCores), static_cast<double>(size.memoryMiB)) +
           prices.machine.value_or(0);
}

}  // namespace

void History::add(const ClusterReport& report) {
    while (!samples_.empty() && samples_.back().time >= report.time) samples_.pop_back();
    Sample sample{report.time, 0, std::ssize(report.unschedulable), 0};
    for (const auto& facts : report.claims) {
        if (facts.claim->status.nodeName.empty()) continue;
        ++sample.nodes;
        if (facts.pool) sample.price += price_of(facts);
    }
    samples_.push_back(sample);
    if (samples_.size() > kMost) samples_.pop_front();
}

bool History::is_due(api::Time now) const {
    return samples_.empty() || samples_.back().time > now || now.at - samples_.back().time.at >= kInterval;
}

}  // namespace report
