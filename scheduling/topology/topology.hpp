// Topology spread, pod affinity and pod anti-affinity: how many pods are where, and what that allows.
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

// How full a domain may get is measured against...
enum class Basis {
    now,        // the domains with nodes, as the kube-scheduler sees it before any machine comes
    existing,   // the domains with nodes and launched machines; no others may come then
    potential,  // also those where machines could be launched, so that pods spread over them
};

// Where a pod is counted when it is placed.
struct Footprint {
    std::vector<CounterId> counted;  // in counters of matching pods
    std::vector<CounterId> owned;    // in counters of owners
};

class Topology {
public:
    Topology(const Snapshot& snapshot, Rows& rows, PodClasses& classes, const LabelSets& label_sets,
             const Daemons& daemons);

    // Reads the pods of a class; all classes are to be read before count_existing().
    void read(ClassId id);
    void count_existing();
    // Counts the DaemonSets' pods of machines before they are launched; one template row for each machine.
    void expect_machines(const std::vector<std::size_t>& rows);
    // From now on no machine may be launched whose DaemonSets' pods would be counted where a pod with a
    // spread constraint was placed without them.
    void protect_placed() { protects_placed_ = true; }
    // No machine comes beside those launched: nodes that might be are no domains any more.
    void expect_no_nodes() { expects_nodes_ = false; }

    const Rules& required(const PodClass& pod_class) const { return required_.at(pod_class.topology); }
    const std::vector<Preference>& preferences(const PodClass& pod_class) const {
        return preferences_.at(pod_class.topology);
    }
    const Footprint& footprint(ClassId id) const { return footprints_[id]; }
    // Counters that DaemonSets' pods on new machines are counted in.
    std::vector<CounterId> daemon_counters() const;
    // Whether they count in domains that other machines belong to.
    bool has_shared_daemons() const;
    // Owners' counters that keep the pods of the class away.
    std::vector<CounterId> repelling(const PodClass& pod_class);
    // The spread rules of other pods to be placed that find the pods of the class. They bind nobody but
    // those, who may yet be the last to be placed: in which order that happens is for the kube-scheduler to
    // say.
    Rules spreads_of_others(ClassId id) const;

    // For each spread rule the most pods that a domain may hold before this one comes.
    void limits(const Rules& rules, Basis basis, std::vector<std::int32_t>& limits) const;
    // Whether the rules about domains larger than a node hold in a row.
    bool holds_in_row(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t row) const;
    // Whether the rules about single nodes hold in a slot that exists.
    bool holds_in_slot(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t slot,
                       std::size_t row) const;
    // Whether all rules hold for a machine that is yet to be launched at a row, with its DaemonSets.
    bool holds_in_new_slot(const Rules& rules, const std::vector<std::int32_t>& limits,
                           std::size_t row) const;
    // Slots where rules about single nodes do not hold, to be passed over quickly.
    void add_blocked(const Rules& rules, const std::vector<std::int32_t>& limits,
                     std::vector<const BitSet*>& blocked);
    // Whether the pods with these spread rules may still be where they were placed, with one more pod there.
    // For a machine that is yet to be launched: slot kNone.
    bool spares(const Rules& others, const std::vector<std::int32_t>& limits, std::size_t slot,
                std::size_t row) const;
    // The same for single nodes, as add_blocked().
    void add_unsparing(const Rules& others, const std::vector<std::int32_t>& limits,
                       std::vector<const BitSet*>& blocked);
    // Of two rows whether all these counters take them for the same domain.
    bool is_same_domain(const std::vector<CounterId>& counters, std::size_t row, std::size_t other) const;
    // A number that changes whenever rules that do not hold might begin to.
    std::int64_t revision_of(const Rules& rules) const;
    // How many pods the first spread rule finds in the row's domain; 0 without such a rule.
    std::int32_t crowd(const Rules& rules, std::size_t row) const;

    // Whether a machine launched at the row would upset pods that were placed: as a domain in which pods that
    // went by what exists should have been, or see protect_placed().
    bool is_closed(std::size_t row) const;

    // A launched machine is at one of these rows; to be told whenever they become fewer.
    void settle(std::size_t slot, std::size_t first_row, const BitSet& places);
    // How many of them are in a known domain of the spread constraint's topology.
    std::size_t settled(CounterId spread) const;
    void place(ClassId id, std::size_t slot, std::size_t row);
    // To be called before place(): what this pod was measured against must not change any more.
    void close(const Rules& rules, std::size_t slot, std::size_t row);

private:
    std::size_t domain(const TopologyCounter& counter, std::size_t slot, std::size_t row) const;
    const std::vector<CounterId>& matching(LabelSetId labels);
    bool can_be_first(const AffinityRule& rule) const;
    // `count_of` tells how many pods a counter finds; nullopt: not to be looked at now.
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

    // A counter that a launched machine changes by itself, as a new domain or by its DaemonSets' pods, and
    // the slots for which that was done.
    struct Settled {
        CounterId counter;
        BitSet slots;
        std::size_t count = 0;  // of slots
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
    // Pods of expected machines' DaemonSets that are counted before the machines are launched.
    std::map<std::pair<CounterId, std::size_t>, std::int32_t> expected_daemons_;
    std::vector<CounterId> closed_;  // of spread rules: no domain may be added
    bool expects_nodes_ = true;
    bool protects_placed_ = false;
    std::set<std::pair<CounterId, std::size_t>> protected_;                  // domains
    std::unordered_map<CounterId, std::vector<std::size_t>> daemon_counts_;  // DaemonSets that are counted
};

}  // namespace scheduling
