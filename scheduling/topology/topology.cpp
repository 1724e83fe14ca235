#include "scheduling/topology/topology.hpp"

#include <algorithm>

namespace scheduling {

Topology::Topology(const Snapshot& snapshot, Rows& rows, PodClasses& classes, const LabelSets& label_sets,
                   const Daemons& daemons)
    : snapshot_(snapshot),
      rows_(rows),
      classes_(classes),
      label_sets_(label_sets),
      daemons_(daemons),
      reader_(snapshot, rows, counters_) {}

void Topology::read(ClassId id) {
    const auto& pod_class = classes_.at(id);
    if (required_.contains(pod_class.topology)) return;
    const auto& pod = *pod_class.sample;
    required_[pod_class.topology] = reader_.required(pod);
    owned_[pod_class.topology] = reader_.owned(pod);
    auto& preferences = preferences_[pod_class.topology];
    if (snapshot_.preferences != PreferencePolicy::ignore) preferences = reader_.preferences(pod);
}

const std::vector<CounterId>& Topology::matching(LabelSetId labels) {
    if (labels >= matching_.size()) matching_.resize(std::max<std::size_t>(labels + 1, label_sets_.size()));
    auto& known = matching_[labels];
    if (!known) known = counters_.matching(label_sets_.sample(labels));
    return *known;
}

std::vector<CounterId> Topology::repelling(const PodClass& pod_class) {
    auto repelling = matching(pod_class.labels);
    std::erase_if(repelling, [&](CounterId id) { return counters_.at(id).counts != Counts::owners; });
    return repelling;
}

Rules Topology::spreads_of_others(ClassId id) const {
    const auto& counted = footprints_[id].counted;
    const auto is_own = [&](const SpreadRule& rule) {
        return std::ranges::any_of(required(classes_.at(id)).spreads, [&](const SpreadRule& mine) {
            return mine.counter == rule.counter && mine.max_skew <= rule.max_skew;
        });
    };
    std::map<CounterId, SpreadRule> strictest;
    for (const auto& [topology, rules] : required_) {
        for (const auto& rule : rules.spreads) {
            if (std::ranges::find(counted, rule.counter) == counted.end() || is_own(rule)) continue;
            const auto [entry, is_first] = strictest.emplace(rule.counter, rule);
            if (!is_first && rule.max_skew < entry->second.max_skew) entry->second = rule;
        }
    }
    Rules others;
    for (auto& [counter, rule] : strictest) {
        rule.counts_itself = true;
        others.spreads.push_back(rule);
    }
    return others;
}

void Topology::count_existing() {
    // Anti-affinity of running pods repels others, so its counters must be known first.
    std::vector<std::optional<std::vector<CounterId>>> owned(rows_.kinds_of_keep_apart());
    for (std::size_t row = 0; row < rows_.nodes(); ++row) {
        for (const auto& each : rows_.digest(row).keep_apart) {
            if (!owned[each.kind]) owned[each.kind] = reader_.owned(*each.pod);
            add(*owned[each.kind], row, row);
        }
    }

    for (ClassId id = 0; id < classes_.size(); ++id) {
        auto& footprint = footprints_.emplace_back();
        footprint.owned = owned_.at(classes_.at(id).topology);
        footprint.counted = matching(classes_.at(id).labels);
        std::erase_if(footprint.counted,
                      [&](CounterId counter) { return counters_.at(counter).counts == Counts::owners; });
    }
    if (counters_.empty()) return;
    count_nodes();
    find_potential();
    count_pods();
    count_daemons();
}

void Topology::count_nodes() {
    for (CounterId id = 0; id < counters_.size(); ++id) {
        auto& counter = counters_.at(id);
        if (counter.counts != Counts::spread) continue;
        settled_.push_back({id, {}, 0});
        for (auto row = counter.rows->next(0); row < rows_.nodes(); row = counter.rows->next(row + 1))
            counter.counter.add_member(domain(counter, row, row));
    }
}

void Topology::find_potential() {
    potential_.resize(counters_.size());
    for (const auto& settled : settled_) {
        const auto& counter = counters_.at(settled.counter);
        auto& values = potential_[settled.counter];
        for (std::size_t pool = 0; pool < snapshot_.pools.size(); ++pool) {
            if (!snapshot_.pools[pool].closed.empty()) continue;
            for (std::size_t place = 0; place < snapshot_.pools[pool].places.size(); ++place) {
                const auto row = rows_.templates_of(pool) + place;
                if (counter.rows->contains(row)) values.push_back(rows_.labels().column(counter.key)[row]);
            }
        }
        std::ranges::sort(values);
        values.erase(std::unique(values.begin(), values.end()), values.end());
    }
}

void Topology::count_pods() {
    bool counts_any = false;
    for (CounterId id = 0; id < counters_.size(); ++id)
        counts_any = counts_any || counters_.at(id).counts != Counts::owners;
    for (std::size_t row = 0; counts_any && row < rows_.nodes(); ++row) count_pods_in(row);
}

void Topology::count_pods_in(std::size_t row) {
    for (const auto& pod : rows_.counted_pods(row)) {
        for (const auto id : matching(pod.labels)) {
            auto& counter = counters_.at(id);
            if (counter.counts == Counts::owners || !counter.rows->contains(row)) continue;
            // The kube-scheduler's spread ignores terminating pods, but its affinity still counts them.
            if (counter.counts == Counts::spread && pod.is_terminating) continue;
            counter.add(domain(counter, row, row));
        }
    }
}

std::size_t Topology::domain(const TopologyCounter& counter, std::size_t slot, std::size_t row) const {
    return counter.by_slot ? slot : rows_.labels().column(counter.key)[row];
}

void Topology::add(const std::vector<CounterId>& counters, std::size_t slot, std::size_t row) {
    for (const auto id : counters) {
        auto& counter = counters_.at(id);
        if (counter.rows->contains(row)) counter.add(domain(counter, slot, row));
    }
}

void Topology::place(ClassId id, std::size_t slot, std::size_t row) {
    add(footprints_[id].counted, slot, row);
    add(footprints_[id].owned, slot, row);
    for (const auto& rule : required(classes_.at(id)).spreads) {
        auto& counter = counters_.at(rule.counter);
        const auto where = domain(counter, slot, row);
        counter.own(where);
        if (protects_placed_) protected_.emplace(rule.counter, where);
    }
}

// Counts DaemonSets' future pods: on existing nodes now, and on each machine when it is launched.
void Topology::count_daemons() {
    for (std::size_t i = 0; i < daemons_.all().size(); ++i) {
        const auto& daemon = daemons_.all()[i];
        auto counted = counters_.matching(daemon.pod);
        std::erase_if(counted, [&](CounterId id) { return counters_.at(id).counts == Counts::owners; });
        for (std::size_t row = 0; row < rows_.nodes(); ++row)
            if (Daemons::is_missing(daemon, rows_, row)) add(counted, row, row);
        for (const auto id : counted) {
            daemon_counts_[id].push_back(i);
            const bool is_known =
                std::ranges::any_of(settled_, [&](const Settled& each) { return each.counter == id; });
            if (!is_known) settled_.push_back({id, {}, 0});
        }
    }
}

void Topology::expect_machines(const std::vector<std::size_t>& rows) {
    for (const auto& [id, daemons] : daemon_counts_) {
        auto& counter = counters_.at(id);
        if (counter.by_slot) continue;
        for (const auto row : rows) {
            if (!counter.rows->contains(row)) continue;
            const auto where = domain(counter, 0, row);
            const auto count = daemons_at(id, row);
            expected_daemons_[{id, where}] += count;
            for (auto i = count; i > 0; --i) counter.add(where);
        }
    }
}

bool Topology::has_shared_daemons() const {
    return std::ranges::any_of(daemon_counts_,
                               [&](const auto& entry) { return !counters_.at(entry.first).by_slot; });
}

std::vector<CounterId> Topology::daemon_counters() const {
    std::vector<CounterId> counters;
    counters.reserve(daemon_counts_.size());
    for (const auto& [id, daemons] : daemon_counts_) counters.push_back(id);
    std::ranges::sort(counters);
    return counters;
}

std::int32_t Topology::daemons_at(CounterId id, std::size_t row) const {
    const auto found = daemon_counts_.find(id);
    if (found == daemon_counts_.end()) return 0;
    return static_cast<std::int32_t>(std::ranges::count_if(
        found->second, [&](std::size_t daemon) { return daemons_.all()[daemon].rows.contains(row); }));
}

std::int32_t Topology::unexpected_daemons_at(CounterId id, std::size_t row) const {
    const auto count = daemons_at(id, row);
    if (count == 0 || expected_daemons_.empty()) return count;
    const auto& counter = counters_.at(id);
    const auto expected = expected_daemons_.find({id, domain(counter, kNone, row)});
    return expected == expected_daemons_.end() ? count : std::max(0, count - expected->second);
}

std::size_t Topology::settled(CounterId spread) const {
    const auto found =
        std::ranges::find_if(settled_, [&](const Settled& each) { return each.counter == spread; });
    return found == settled_.end() ? 0 : found->count;
}

void Topology::settle(std::size_t slot, std::size_t first_row, const BitSet& places) {
    const auto row = first_row + places.next(0);
    for (auto& settled : settled_) {
        auto& counter = counters_.at(settled.counter);
        if (settled.slots.contains(slot)) continue;
        bool is_decided = true;
        for (auto place = places.next(0); place != kNone; place = places.next(place + 1))
            is_decided = is_decided && is_same_domain({settled.counter}, row, first_row + place);
        if (!is_decided) continue;
        settled.slots.insert(slot);
        ++settled.count;
        if (!counter.rows->contains(row)) continue;
        const auto where = domain(counter, slot, row);
        if (counter.counts == Counts::spread) counter.counter.add_member(where);
        const auto unexpected = unexpected_daemons_at(settled.counter, row);
        const auto expected = daemons_at(settled.counter, row) - unexpected;
        if (expected > 0) expected_daemons_[{settled.counter, where}] -= expected;
        for (auto count = unexpected; count > 0; --count) counter.add(where);
    }
}

bool Topology::is_same_domain(const std::vector<CounterId>& counters, std::size_t row,
                              std::size_t other) const {
    if (row == other) return true;
    return std::ranges::all_of(counters, [&](CounterId id) {
        const auto& counter = counters_.at(id);
        if (counter.rows->contains(row) != counter.rows->contains(other)) return false;
        const auto& values = rows_.labels().column(counter.key);
        return counter.by_slot || values[row] == values[other];
    });
}

// ---- what the counters allow

void Topology::limits(const Rules& rules, Basis basis, std::vector<std::int32_t>& limits) const {
    limits.clear();
    for (const auto& rule : rules.spreads) {
        const auto& counter = counters_.at(rule.counter);
        auto least = counter.counter.least();
        if (rule.has_vacated_domain || counter.counter.domains() < rule.min_domains) least = 0;
        if (basis == Basis::potential && least > 0) {
            const auto& potential = potential_[rule.counter];
            const bool has_fresh = counter.by_slot ? expects_nodes_ && !potential.empty()
                                                   : std::ranges::any_of(potential, [&](ValueId value) {
                                                         return !counter.counter.has_members(value);
                                                     });
            if (has_fresh) least = 0;
        }
        limits.push_back(least + rule.max_skew - (rule.counts_itself ? 1 : 0));
    }
}

void Topology::close(const Rules& rules, std::size_t slot, std::size_t row) {
    std::vector<std::int32_t> limits;
    this->limits(rules, Basis::potential, limits);
    for (std::size_t i = 0; i < rules.spreads.size(); ++i) {
        const auto id = rules.spreads[i].counter;
        const auto& counter = counters_.at(id);
        if (counter.counter.at(domain(counter, slot, row)) <= limits[i]) continue;
        if (std::ranges::find(closed_, id) == closed_.end()) closed_.push_back(id);
    }
}

bool Topology::is_closed(std::size_t row) const {
    const bool upsets_placed =
        !protected_.empty() && std::ranges::any_of(daemon_counts_, [&](const auto& entry) {
            const auto& counter = counters_.at(entry.first);
            return !counter.by_slot && counter.rows->contains(row) && daemons_at(entry.first, row) > 0 &&
                   protected_.contains({entry.first, domain(counter, kNone, row)});
        });
    return upsets_placed || std::ranges::any_of(closed_, [&](CounterId id) {
               const auto& counter = counters_.at(id);
               if (!counter.rows->contains(row)) return false;
               return counter.by_slot ||
                      !counter.counter.has_members(rows_.labels().column(counter.key)[row]);
           });
}

bool Topology::can_be_first(const AffinityRule& rule) const {
    return rule.matches_itself && std::ranges::all_of(rule.counters, [&](CounterId id) {
               return counters_.at(id).counter.total() == 0;
           });
}

template <class CountOf>
bool Topology::holds(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t row,
                     const CountOf& count_of) const {
    for (std::size_t i = 0; i < rules.spreads.size(); ++i) {
        const auto id = rules.spreads[i].counter;
        if (!counters_.at(id).rows->contains(row)) return false;
        if (const auto count = count_of(id); count && *count > limits[i]) return false;
    }
    for (const auto& rule : rules.affinities) {
        std::optional<bool> is_first;  // computed only if needed
        for (const auto id : rule.counters) {
            if (!counters_.at(id).rows->contains(row)) return false;
            const auto count = count_of(id);
            if (!count || *count > 0) continue;
            if (!is_first) is_first = can_be_first(rule);
            if (!*is_first) return false;
        }
    }
    return std::ranges::all_of(rules.empty, [&](CounterId id) {
        return !counters_.at(id).rows->contains(row) || count_of(id).value_or(0) == 0;
    });
}

bool Topology::holds_in_row(const Rules& rules, const std::vector<std::int32_t>& limits,
                            std::size_t row) const {
    return holds(rules, limits, row, [&](CounterId id) -> std::optional<std::int32_t> {
        const auto& counter = counters_.at(id);
        if (counter.by_slot) return std::nullopt;
        return counter.counter.at(domain(counter, 0, row));
    });
}

bool Topology::holds_in_slot(const Rules& rules, const std::vector<std::int32_t>& limits, std::size_t slot,
                             std::size_t row) const {
    return holds(rules, limits, row, [&](CounterId id) -> std::optional<std::int32_t> {
        const auto& counter = counters_.at(id);
        if (!counter.by_slot) return std::nullopt;
        return counter.counter.at(slot);
    });
}

bool Topology::holds_in_new_slot(const Rules& rules, const std::vector<std::int32_t>& limits,
                                 std::size_t row) const {
    return holds(rules, limits, row, [&](CounterId id) -> std::optional<std::int32_t> {
        const auto& counter = counters_.at(id);
        const auto others = counter.by_slot ? 0 : counter.counter.at(domain(counter, 0, row));
        return others + unexpected_daemons_at(id, row);
    });
}

void Topology::add_blocked(const Rules& rules, const std::vector<std::int32_t>& limits,
                           std::vector<const BitSet*>& blocked) {
    for (std::size_t i = 0; i < rules.spreads.size(); ++i) {
        auto& counter = counters_.at(rules.spreads[i].counter);
        if (counter.by_slot) blocked.push_back(&counter.counter.over(limits[i]));
    }
    for (const auto id : rules.empty) {
        auto& counter = counters_.at(id);
        if (counter.by_slot) blocked.push_back(&counter.counter.over(0));
    }
}

bool Topology::spares(const Rules& others, const std::vector<std::int32_t>& limits, std::size_t slot,
                      std::size_t row) const {
    for (std::size_t i = 0; i < others.spreads.size(); ++i) {
        const auto& counter = counters_.at(others.spreads[i].counter);
        if (counter.rows->contains(row) && counter.with_owner.at(domain(counter, slot, row)) > limits[i])
            return false;
    }
    return true;
}

void Topology::add_unsparing(const Rules& others, const std::vector<std::int32_t>& limits,
                             std::vector<const BitSet*>& blocked) {
    for (std::size_t i = 0; i < others.spreads.size(); ++i) {
        auto& counter = counters_.at(others.spreads[i].counter);
        if (counter.by_slot) blocked.push_back(&counter.with_owner.over(limits[i]));
    }
}

std::int64_t Topology::revision_of(const Rules& rules) const {
    std::int64_t state = 0;
    for (const auto& rule : rules.spreads)
        state += counters_.at(rule.counter).counter.total() + counters_.at(rule.counter).counter.domains();
    for (const auto& rule : rules.affinities)
        for (const auto id : rule.counters) state += counters_.at(id).counter.total();
    return state;
}

std::int32_t Topology::crowd(const Rules& rules, std::size_t row) const {
    for (const auto& rule : rules.spreads) {
        const auto& counter = counters_.at(rule.counter);
        if (!counter.by_slot) return counter.counter.at(domain(counter, 0, row));
    }
    return 0;
}

}  // namespace scheduling
