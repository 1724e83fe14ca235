// Holds all counters of one solve, each once however many pods refer to it.
#pragma once
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduling/nodes/rows.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/table/bit_set.hpp"
#include "scheduling/table/label_table.hpp"
#include "scheduling/topology/counter.hpp"
#include "scheduling/topology/pod_matcher.hpp"
#include "scheduling/topology/rules.hpp"

namespace scheduling {

enum class Counts {
    spread,    // matching pods for spread constraints, which use the emptiest domain too
    affinity,  // matching pods for affinity and anti-affinity
    owners,    // pods with the term as required anti-affinity, which repel matching ones
};

struct TopologyCounter {
    Counts counts = Counts::affinity;
    KeyId key = 0;
    bool by_slot = false;          // each node is a separate domain
    const BitSet* rows = nullptr;  // where pods are counted
    PodMatcher matcher;
    DomainCounter counter;
    BitSet owned;              // domains where pods with this spread rule were placed
    DomainCounter with_owner;  // the same counts in those domains, and zero elsewhere

    void add(std::size_t domain) {
        counter.add(domain);
        if (owned.contains(domain)) with_owner.add(domain);
    }
    void own(std::size_t domain) {
        if (owned.contains(domain)) return;
        owned.insert(domain);
        for (auto count = counter.at(domain); count > 0; --count) with_owner.add(domain);
    }
};

class CounterSet {
public:
    // Compares `rows` by its address: equal sets must be the same object.
    CounterId number_of(Counts counts, KeyId key, bool by_slot, const BitSet& rows, PodMatcher matcher);
    // Returns the counters whose matcher accepts the pod: those that it counts in,
    // and those of owners that repel it.
    std::vector<CounterId> matching(const api::Pod& pod) const;

    bool empty() const { return counters_.empty(); }
    std::size_t size() const { return counters_.size(); }
    TopologyCounter& at(CounterId id) { return counters_[id]; }
    const TopologyCounter& at(CounterId id) const { return counters_[id]; }

private:
    StringNumbers keys_;
    std::deque<TopologyCounter> counters_;
    // Most selectors name a label. Only pods with that label are compared with them.
    std::unordered_map<std::string, std::vector<CounterId>> by_label_;
    std::vector<CounterId> without_label_;
};

// Returns the domains with nodes that hold the fewest pods: values of the label, or names of nodes.
std::vector<std::string> emptiest_domains(const TopologyCounter& counter, const Rows& rows);

}  // namespace scheduling
