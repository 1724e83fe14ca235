// Handles topology spread, pod affinity and pod anti-affinity: it counts pods and decides what that allows.
// Sources: k8s.io/kubernetes/pkg/scheduler/framework/plugins/{podtopologyspread,interpodaffinity}.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduling/nodes/daemons.hpp"
#include "scheduling/nodes/rows.hpp"
#include "scheduling/pods/pod_class.hpp"
#include "scheduling/topology/counter_set.hpp"
#include "scheduling/topology/rule_reader.hpp"
#include "scheduling/topology/rules.hpp"

namespace scheduling {

// Basis selects the domains with which a domain's fullness is compared.
enum class Basis {
    now,        // the domains with nodes, as the kube-scheduler sees them before any new machine
    existing,   // the domains with nodes and launched machines; no others may be added then
    potential,  // in addition those where machines could be launched, so that pods spread over them
};

// Footprint says where a pod is counted when it is placed.
struct Footprint {
    std::vector<CounterId> counted;  // in counters of matching pods
    std::vector<CounterId> owned;    // in counters of owners
};

class Topology {
public:
    Topology(const Snapshot& snapshot, Rows& rows, PodClasses& classes, const LabelSets& label_sets,
             const Daemons& daemons);

    // Reads the pods of a class. All classes must be read before count_existing().
    void read(ClassId id);
    void count_existing();
    // Counts the DaemonSets' pods of machines before they are launched. Each machine has one template row.
    void expect_machines(const std::vector<std::size_t>& rows);
    // Protects placed pods. From now on some machines may not be launched. Their DaemonSets' pods would count
    // in a domain of a placed pod's spread constraint.
    void protect_placed() { protects_placed_ = true; }
    // Declares that no machines beyond the launched ones will be added. Possible
    // nodes are no domains any longer.
    void expect_no_nodes() { expects_nodes_ = false; }

    const Rules& required(const PodClass& pod_class) const { return required_.at(pod_class.topology); }
    const std::vector<Preference>& preferences(const PodClass& pod_class) const {
        return preferences_.at(pod_class.topology);
    }
    const Footprint& footprint(ClassId id) const { return footprints_[id]; }
    // Returns the counters of DaemonSets' pods on new machines.
    std::vector<CounterId> daemon_counters() const;
    // Reports whether they count in domains that other machines belong to.
    bool has_shared_daemons() const;
    // Returns owners' counters that repel the pods of the class.
    std::vector<CounterId> repelling(const PodClass& pod_class);
    // Returns the spread rules of other pods to be placed that select the pods of the class. They bind only
    // those pods, which may yet be placed last: the kube-scheduler decides the order.
    Rules spreads_of_others(ClassId id) const;

    // Computes, for each spread rule, how many pods a domain may hold before this one is added.
    void limits(const Rules& rules, Basis basis, std::vector<std::int32_t>& limits) const;
    // Reports whether the rules about domains larger than a node hold in a row.
    bool holds_in_row(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t row) const;
    // Reports whether the rules about single nodes hold in an existing slot.
    bool holds_in_slot(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t slot,
                       std::size_t row) const;
    // Reports whether all rules hold for a machine that would be launched at a row, with its DaemonSets.
    bool holds_in_new_slot(const Rules& rules, const std::vector<std::int32_t>& limits,
                           std::size_t row) const;
    // Adds the slots where rules about single nodes do not hold, so that they are skipped quickly.
    void add_blocked(const Rules& rules, const std::vector<std::int32_t>& limits,
                     std::vector<const BitSet*>& blocked);
    // Reports whether pods with these spread rules may stay where they are if one more pod is added. A
    // machine that is not launched yet has slot kNone.
    bool spares(const Rules& others, const std::vector<std::int32_t>& limits, std::size_t slot,
                std::size_t row) const;
    // Does the same for single nodes, like add_blocked().
    void add_unsparing(const Rules& others, const std::vector<std::int32_t>& limits,
                       std::vector<const BitSet*>& blocked);
    // Reports whether all these counters assign two rows to the same domain.
    bool is_same_domain(const std::vector<CounterId>& counters, std::size_t row, std::size_t other) const;
    // Returns a number that changes whenever rules that do not hold might begin to.
    std::int64_t revision_of(const Rules& rules) const;
    // Returns how many pods the first spread rule finds in the row's domain; 0 without such a rule.
    std::int32_t crowd(const Rules& rules, std::size_t row) const;

    // Returns the domains with nodes that hold the fewest pods: values of the label, or names of nodes.
    std::vector<std::string> emptiest_domains(const SpreadRule& rule) const {
        return scheduling::emptiest_domains(counters_.at(rule.counter), rows_);
    }

    // Reports whether a machine launched at the row would invalidate placed pods. It may be a domain where
    // pods placed by existing domains should have been; see also protect_placed().
    bool is_closed(std::size_t row) const;

    // Records that a launched machine is at one of these rows. Must be called whenever they become fewer.
    void settle(std::size_t slot, std::size_t first_row, const BitSet& places);
    // Returns how many of them are in a known domain of the spread constraint's topology.
    std::size_t settled(CounterId spread) const;
    void place(ClassId id, std::size_t slot, std::size_t row);
    // Closes what this pod was compared with, so that it no longer changes. Must be called before place().
    void close(const Rules& rules, std::size_t slot, std::size_t row);

private:
    std::size_t domain(const TopologyCounter& counter, std::size_t slot, std::size_t row) const;
    const std::vector<CounterId>& matching(LabelSetId labels);
    bool can_be_first(const AffinityRule& rule) const;
    // `count_of` returns how many pods a counter finds; nullopt: it is ignored now.
    template <class CountOf>
    bool holds(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t row,
               const CountOf& count_of) const;
    std::int32_t daemons_at(CounterId id, std::size_t row) const;
    std::int32_t unexpected_daemons_at(CounterId id, std::size_t row) const;
    void add(const std::vector<CounterId>& counters, std::size_t slot, std::size_t row);
    void count_nodes();
    void count_pods();
    void count_pods_in(std::size_t row);
    void count_daemons();
    void find_potential();

    // Settled is a counter that a launched machine changes by itself, as a new domain or by its DaemonSets'
    // pods. `slots` are the machines that were counted already.
    struct Settled {
        CounterId counter;
        BitSet slots;
        std::size_t count = 0;  // number of slots
    };

    const Snapshot& snapshot_;
    Rows& rows_;
    PodClasses& classes_;
    const LabelSets& label_sets_;
    const Daemons& daemons_;
    CounterSet counters_;
    RuleReader reader_;
    std::unordered_map<std::uint32_t, Rules> required_;  // by topology of the class
    std::unordered_map<std::uint32_t, std::vector<Preference>> preferences_;
    std::unordered_map<std::uint32_t, std::vector<CounterId>> owned_;
    std::vector<std::optional<std::vector<CounterId>>> matching_;  // by label set
    std::vector<Footprint> footprints_;                            // by class
    std::vector<std::vector<ValueId>> potential_;  // by counter: domains where machines could be launched
    std::vector<Settled> settled_;
    // Counts DaemonSet pods of expected machines, before these are launched.
    std::map<std::pair<CounterId, std::size_t>, std::int32_t> expected_daemons_;
    std::vector<CounterId> closed_;  // counters of spread rules to which no domain may be added
    bool expects_nodes_ = true;
    bool protects_placed_ = false;
    std::set<std::pair<CounterId, std::size_t>> protected_;                  // domains
    std::unordered_map<CounterId, std::vector<std::size_t>> daemon_counts_;  // DaemonSets that are counted
};

}  // namespace scheduling
