#include "controllers/disruption/rules/consolidation_search.hpp"

#include <algorithm>

#include "controllers/disruption/rules/use.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers::disruption {

namespace {

constexpr double kPercent = 100;

double price_of_nodes(const scheduling::Snapshot& snapshot, const std::vector<std::size_t>& nodes) {
    double price = 0;
    for (const auto index : nodes) {
        const auto& node = snapshot.nodes[index];
        if (!node.pool) continue;
        const auto& pool = snapshot.pools[*node.pool];
        const auto size = size_of(*node.node);
        price += pool.prices.of({size.cpuCores, size.memoryMiB - pool.memory_overhead_mib});
    }
    return price;
}

// The largest machine that may come of the launch.
scheduling::MachineSize largest_of(const scheduling::NewClaim& claim, const scheduling::Snapshot& snapshot,
                                   const Search& search) {
    auto cpu = claim.cpu_cores;
    auto memory = claim.memory_mib;
    if (search.generous_pools.contains(claim.pool)) {
        for (const auto& entry : snapshot.pools[claim.pool].places) {
            const auto& place = snapshot.places[entry.place];
            if (place.free_machines == 0) continue;
            if (place.free_cpu_cores < claim.cpu_cores || place.free_memory_mib < claim.memory_mib) continue;
            cpu = std::max(cpu, place.free_cpu_cores.value_or(cpu));
            memory = std::max(memory, place.free_memory_mib.value_or(memory));
        }
    }
    return {cpu, memory};
}

// By size only: what else keeps it from the machine may change before the machine is there.
bool has_room_for(const scheduling::NewClaim& machine, const api::Pod& pod) {
    scheduling::ResourceNames names;
    const auto needs = scheduling::taken_by(pod, names);
    return needs.base[scheduling::kCpu] <= machine.cpu_cores * scheduling::kMilli &&
           needs.base[scheduling::kMemory] <= machine.memory_mib * scheduling::kMiB;
}

bool saves_enough(double before, double after) {
    return after * kPercent <= before * (kPercent - static_cast<double>(kLeastSavingPercent));
}

// The kube-scheduler puts pods where most is free: one that would also fit elsewhere goes to the new machine,
// and then another may fit nowhere. What holds all of them holds the rest, wherever some of them go.
bool goes_to_what_is_bought(const scheduling::Removal& removal) {
    return std::ranges::all_of(removal.moves, [](const auto& move) { return move.claim.has_value(); });
}

class Searcher {
public:
    Searcher(scheduling::Removals& removals, const scheduling::Snapshot& snapshot, const Search& search)
        : removals_(removals), snapshot_(snapshot), search_(search) {}

    SearchResult run() {
        SearchResult result;
        const auto most = std::min(search_.most_nodes, search_.candidates.size());
        if (most > 1) result = longest_prefix(most);
        if (result.nodes.empty()) result = first_alone();
        return result;
    }

private:
    // Without anything launched, or with one machine launched instead.
    std::optional<scheduling::Removal> judge(const std::vector<std::size_t>& nodes, std::string& why) {
        scheduling::RemovalRequest request;
        request.nodes = nodes;
        const auto is_busy = [this](std::size_t node) { return search_.busy.contains(node); };
        request.most_replacements = std::ranges::any_of(nodes, is_busy) ? 0 : 1;
        request.before_they_are_gone = true;
        auto removal = removals_.simulate(request);
        if (!removal.possible) {
            why = removal.reasons.front();
            return std::nullopt;
        }
        if (!removal.replacements.empty()) {
            why = why_not_bought(nodes, removal);
            request.may_wait = true;
            if (why.empty() && !goes_to_what_is_bought(removals_.simulate(request)))
                why =
                    "a node that is on its way could take some of its pods, and others the place that is "
                    "meant for them";
            if (why.empty()) return removal;
            return std::nullopt;
        }
        // Nothing is saved if the pods go to a node that is kept empty, and another is launched to be kept
        // empty.
        request.most_replacements = 0;
        request.headroom_percent = search_.headroom_percent;
        request.emptiest_first = true;
        removal = removals_.simulate(request);
        if (removal.possible) return removal;
        why = removal.reasons.front();
        return std::nullopt;
    }

    std::string why_not_bought(const std::vector<std::size_t>& nodes,
                               const scheduling::Removal& removal) const {
        if (!saves_enough(price_of_nodes(snapshot_, nodes), price_of(removal)))
            return "a machine created instead would save less than " + std::to_string(kLeastSavingPercent) +
                   " %";
        if (!goes_to_what_is_bought(removal))
            return "a machine created instead would hold some of its pods only, and others could take its "
                   "place";
        for (const auto& move : removal.moves)
            if (search_.exhausted.contains(move.pod->metadata.uid))
                return "pod " + api::key_of(*move.pod).str() +
                       " would need another machine, but had too many within an hour";
        for (const auto& machine : removal.replacements)
            for (const auto& pod : snapshot_.pods)
                if (has_room_for(machine, *pod))
                    return "pod " + api::key_of(*pod).str() +
                           " waits, and could take the place of those for which a machine is created instead";
        return {};
    }

    double price_of(const scheduling::Removal& removal) const {
        double price = 0;
        for (const auto& claim : removal.replacements)
            price += snapshot_.pools[claim.pool].prices.of(largest_of(claim, snapshot_, search_));
        return price;
    }

    // Two at least. What holds for a prefix is taken to hold for shorter ones.
    SearchResult longest_prefix(std::size_t most) {
        SearchResult best;
        for (std::size_t low = 2, high = most; low <= high;) {
            const auto middle = low + (high - low) / 2;
            const std::vector<std::size_t> nodes(
                search_.candidates.begin(), search_.candidates.begin() + static_cast<std::ptrdiff_t>(middle));
            std::string why;
            if (auto removal = judge(nodes, why)) {
                best.nodes = nodes;
                best.removal = std::move(*removal);
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return best;
    }

    SearchResult first_alone() {
        SearchResult result;
        const auto trials = std::min(kMostTrials, search_.candidates.size());
        for (std::size_t i = 0; i < trials; ++i) {
            const auto node = search_.candidates[i];
            std::string why;
            if (auto removal = judge({node}, why)) {
                result.nodes = {node};
                result.removal = std::move(*removal);
                return result;
            }
            result.refused.emplace(node, std::move(why));
        }
        return result;
    }

    scheduling::Removals& removals_;
    const scheduling::Snapshot& snapshot_;
    const Search& search_;
};

}  // namespace

SearchResult find_consolidation(scheduling::Removals& removals, const scheduling::Snapshot& snapshot,
                                const Search& search) {
    return Searcher(removals, snapshot, search).run();
}

}  // namespace controllers::disruption
