#include "scheduling/topology/counter_set.hpp"

#include <algorithm>

namespace scheduling {

namespace {

std::string label_key(const std::string& name, const std::string& value) {
    return name + '\0' + value;
}

std::string key_of(Counts counts, KeyId key, const BitSet& rows, const PodMatcher& matcher) {
    KeyBuilder text;
    text.put(static_cast<std::int64_t>(counts));
    text.put(std::int64_t{key});
    text.put(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&rows)));
    for (const auto& selection : matcher.selections) {
        text.put(std::int64_t{selection.in_all_namespaces});
        text.put(static_cast<std::int64_t>(selection.namespaces.size()));
        for (const auto& name : selection.namespaces) text.put(name);
        text.put(selection.selector);
    }
    return text.text();
}

}  // namespace

CounterId CounterSet::number_of(Counts counts, KeyId key, bool by_slot, const BitSet& rows,
                                PodMatcher matcher) {
    const auto number = keys_.number_of(key_of(counts, key, rows, matcher));
    if (number < counters_.size()) return number;
    auto& added = counters_.emplace_back();
    added.counts = counts;
    added.key = key;
    added.by_slot = by_slot;
    added.rows = &rows;
    if (counts == Counts::spread) added.counter.track_members();
    added.matcher = std::move(matcher);
    const auto& first = added.matcher.selections.front().selector;
    if (first && !first->matchLabels.empty()) {
        const auto& [name, value] = *first->matchLabels.begin();
        by_label_[label_key(name, value)].push_back(number);
    } else {
        without_label_.push_back(number);
    }
    return number;
}

std::vector<CounterId> CounterSet::matching(const api::Pod& pod) const {
    std::vector<CounterId> found;
    const auto add_matching = [&](const std::vector<CounterId>& candidates) {
        for (const auto id : candidates)
            if (counters_[id].matcher.matches(pod)) found.push_back(id);
    };
    for (const auto& [name, value] : pod.metadata.labels)
        if (const auto candidates = by_label_.find(label_key(name, value)); candidates != by_label_.end())
            add_matching(candidates->second);
    add_matching(without_label_);
    std::ranges::sort(found);
    return found;
}

std::vector<std::string> emptiest_domains(const TopologyCounter& counter, const Rows& rows) {
    const auto& labels = rows.labels();
    std::vector<std::string> names;
    for (auto row = counter.rows->next(0); row < rows.nodes(); row = counter.rows->next(row + 1)) {
        const auto domain = counter.by_slot ? row : labels.column(counter.key)[row];
        if (counter.counter.at(domain) > counter.counter.least()) continue;
        names.push_back(counter.by_slot ? rows.node(row).node->metadata.name
                                        : labels.text(counter.key, labels.column(counter.key)[row]));
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace scheduling
