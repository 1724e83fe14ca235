#include "controllers/disruption/rules/consolidation_search.hpp"

#include <algorithm>

#include "controllers/disruption/rules/saving.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers::disruption {

namespace {

constexpr std::size_t kMostReplacements = 100;

// Returns the largest machine that the launch may yield.
scheduling::MachineSize largest_of(const scheduling::NewClaim& claim, const scheduling::Snapshot& snapshot,
                                   const Search& search) {
    base::Saturating cpu = claim.cpu_cores;
    base::Saturating memory = claim.memory_mib;
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

// Compares sizes only. Other obstacles may change before the machine exists.
bool has_room_for(const scheduling::NewClaim& machine, const api::Pod& pod) {
    scheduling::ResourceNames names;
    const auto needs = scheduling::taken_by(pod, names);
    return needs.base[scheduling::kCpu] <= machine.cpu_cores * scheduling::kMilli &&
           needs.base[scheduling::kMemory] <= machine.memory_mib * scheduling::kMiB;
}

bool any_goes_to(const scheduling::Removal& removal, const scheduling::Snapshot& snapshot,
                 scheduling::Availability availability) {
    return std::ranges::any_of(removal.moves, [&](const auto& move) {
        return move.node && snapshot.nodes[*move.node].availability == availability;
    });
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
    // Judges a removal without launches, or with machines launched instead.
    std::optional<scheduling::Removal> judge(const std::vector<std::size_t>& nodes, std::string& why) {
        scheduling::RemovalRequest request;
        request.nodes = nodes;
        const auto is_busy = [this](std::size_t node) { return search_.busy.contains(node); };
        request.most_replacements = std::ranges::any_of(nodes, is_busy) ? 0 : kMostReplacements;
        request.before_they_are_gone = true;
        auto removal = removals_.simulate(request);
        if (removal.possible && !removal.replacements.empty()) return replaced(request, removal, why);
        if (removal.possible) {
            // Nothing is saved if the pods move to a node that is kept empty. Another one would
            // be launched to be kept empty.
            request.most_replacements = 0;
            request.headroom_percent = search_.headroom_percent;
            request.emptiest_first = true;
            removal = removals_.simulate(request);
        }
        why = removal.possible ? why_later(removal) : removal.reasons.front();
        if (why.empty()) return removal;
        return std::nullopt;
    }

    // One node fewer is needed. It should be the one that is empty already, as no pod has to move for it.
    std::string why_later(const scheduling::Removal& removal) const {
        for (const auto& move : removal.moves)
            if (move.node && search_.emptied.contains(*move.node))
                return "some of its pods would move to node " +
                       snapshot_.nodes[*move.node].node->metadata.name +
                       ", which is empty and may go soon instead";
        return {};
    }

    std::optional<scheduling::Removal> replaced(scheduling::RemovalRequest request,
                                                const scheduling::Removal& simple, std::string& why) {
        const auto before = price_of_nodes(snapshot_, request.nodes);
        if (!saves_enough(before, simple.price.least)) {
            why = saves_too_little();
            return std::nullopt;
        }
        request.emptiest_first = true;
        auto removal = removals_.simulate(request);
        if (!removal.possible) {
            why = removal.reasons.front();
            return std::nullopt;
        }
        why = saves_enough(before, price_of(removal)) ? why_not_launched(removal) : saves_too_little();
        if (why.empty()) why = why_later(removal);
        request.may_wait = true;
        request.emptiest_first = false;
        if (why.empty() &&
            any_goes_to(removals_.simulate(request), snapshot_, scheduling::Availability::coming))
            why =
                "a node that is being created could take some of its pods, but other pods could take the "
                "room meant for them";
        if (why.empty()) return removal;
        return std::nullopt;
    }

    std::string why_not_launched(const scheduling::Removal& removal) const {
        for (const auto& move : removal.moves)
            if (search_.exhausted.contains(move.pod->metadata.uid))
                return "pod " + api::key_of(*move.pod).str() +
                       " would need another machine, but too many were created for it within an hour";
        for (const auto& machine : removal.replacements)
            for (const auto& pod : snapshot_.pods)
                if (has_room_for(machine, *pod))
                    return "pod " + api::key_of(*pod).str() +
                           " is pending and could take the room meant for the pods that move to a new "
                           "machine";
        return {};
    }

    // Returns the price, including machines that may be larger than requested.
    double price_of(const scheduling::Removal& removal) const {
        auto price = removal.price.machines;
        for (const auto& claim : removal.replacements) {
            const auto& prices = snapshot_.pools[claim.pool].prices;
            price += prices.of(largest_of(claim, snapshot_, search_)) -
                     prices.of(scheduling::MachineSize{claim.cpu_cores, claim.memory_mib});
        }
        return price;
    }

    // Searches for at least two. It assumes that a result for a prefix holds for shorter ones too.
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
