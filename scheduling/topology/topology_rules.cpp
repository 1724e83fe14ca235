// Contains the part of Topology that decides what the counters allow.
#include <algorithm>

#include "scheduling/topology/topology.hpp"

namespace scheduling {

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
