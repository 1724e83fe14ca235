#include "controllers/disruption/rules/outlook.hpp"

#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/disruption/rules/saving.hpp"
#include "controllers/disruption/rules/use.hpp"
#include "scheduling/removal.hpp"

namespace controllers::disruption {

namespace {

std::size_t most_replacements(const Departure& departure) {
    constexpr std::size_t kAny = 1000;
    return departure.kind == Kind::Empty || !departure.may_launch ? 0 : kAny;
}

void credit(std::optional<base::Saturating>& left, base::Saturating amount) {
    if (left) *left += amount;
}

// Simulates that the machines are gone and no longer count against the limits.
void give_back(scheduling::Snapshot& snapshot, const std::vector<std::size_t>& nodes) {
    for (const auto index : nodes) {
        const auto& node = snapshot.nodes[index];
        if (!node.pool) continue;
        const auto size = size_of(*node.node);
        for (const auto budget : snapshot.pools[*node.pool].budgets) {
            credit(snapshot.budgets[budget].nodes, 1);
            credit(snapshot.budgets[budget].cpu_cores, size.cpuCores);
            credit(snapshot.budgets[budget].memory_mib, size.memoryMiB);
        }
        const auto* host = api::find(node.node->metadata.labels, api::labels::kHost);
        for (const auto& place : snapshot.pools[*node.pool].places) {
            auto& at = snapshot.places[place.place];
            if (!host || at.name != *host) continue;
            credit(at.free_cpu_cores, size.cpuCores);
            credit(at.free_memory_mib, size.memoryMiB);
            credit(at.free_machines, 1);
        }
    }
}

std::string to_be_created(std::size_t machines) {
    if (machines == 0) return "a machine that is being created takes its pods";
    return machines == 1 ? "a machine that takes its pods is created first"
                         : std::to_string(machines) + " machines that take its pods are created first";
}

// Reports whether pods have places once the node is gone. Until then the
// kube-scheduler spreads pods over it too.
bool have_places_once_gone(scheduling::Removals& removals, scheduling::RemovalRequest request) {
    request.before_they_are_gone = false;
    return removals.simulate(request).possible;
}

}  // namespace

DepartureVerdict judge_departure(scheduling::Solver& solver, scheduling::Snapshot snapshot,
                                 const Departure& departure) {
    const auto kind = departure.kind;
    for (const auto index : departure.nodes) {
        auto& node = snapshot.nodes[index];
        node.availability = scheduling::Availability::ready;
        node.is_vacated_domain = false;
        node.node = std::make_shared<const api::Node>(back_in_service(*node.node));
    }
    // Waiting pods keep a node that would be removed to save cost, but not one that would be replaced.
    if (!is_scale_down(kind)) snapshot.pods.clear();
    // Saving a node does not justify restoring a database's data.
    if (is_scale_down(kind)) snapshot.tied_pods.clear();
    scheduling::RemovalRequest request;
    request.nodes = departure.nodes;
    request.before_they_are_gone = kind != Kind::Empty;
    // The removal was begun by the same rule.
    request.emptiest_first = kind == Kind::Underutilized;
    {
        scheduling::Removals removals(solver, snapshot);
        const auto at_once = removals.simulate(request);
        if (at_once.possible) return {Outlook::clear, "its pods fit on other nodes"};
        if (!is_scale_down(kind)) {
            if (have_places_once_gone(removals, request))
                return {Outlook::drain_first,
                        "its pods fit on other nodes only once it is gone: until then their topology spread "
                        "counts it, too"};
            request.before_they_are_gone = false;
        }
        request.most_replacements = most_replacements(departure);
        if (request.most_replacements == 0) return {Outlook::impossible, at_once.reasons.front()};
        // Machines that are already being launched for them need not be launched again.
        request.may_wait = true;
        const auto with_replacements = removals.simulate(request);
        const bool is_too_dear =
            kind == Kind::Underutilized &&
            !saves_enough(price_of_nodes(snapshot, departure.nodes), with_replacements.price.least);
        if (with_replacements.possible && is_too_dear) return {Outlook::impossible, saves_too_little()};
        if (with_replacements.possible)
            return {Outlook::wait, to_be_created(with_replacements.replacements.size())};
        if (kind == Kind::Underutilized) return {Outlook::impossible, with_replacements.reasons.front()};
    }
    give_back(snapshot, departure.nodes);
    const auto afterwards = solver.simulate_removal(snapshot, request);
    if (afterwards.possible)
        return {Outlook::drain_first,
                "the limits leave no room for one more machine: the node is replaced after its removal"};
    for (auto& pool : snapshot.pools)
        if (pool.closed_for_a_while) pool.closed.clear();
    const bool is_possible_later = solver.simulate_removal(snapshot, request).possible;
    return {is_possible_later ? Outlook::later : Outlook::impossible, afterwards.reasons.front()};
}

}  // namespace controllers::disruption
