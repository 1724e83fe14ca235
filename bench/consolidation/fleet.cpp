#include "bench/consolidation/fleet.hpp"

#include <algorithm>
#include <tuple>

#include "controllers/disruption/rules/use.hpp"
#include "scheduling/machines/machine_sizes.hpp"
#include "scheduling/removal.hpp"
#include "scheduling/table/amounts.hpp"

namespace bench {

namespace {

namespace rules = controllers::disruption;

rules::NodeUse use_of(const scheduling::NodeInfo& node) {
    return rules::use_of(*node.node, node.pods);
}

rules::Amount free_of(const rules::NodeUse& use) {
    return {use.allocatable.cpu - use.requested.cpu, use.allocatable.memory - use.requested.memory};
}

rules::Amount requests_of(const api::Pod& pod) {
    scheduling::ResourceNames names;
    const auto amounts = scheduling::requests_of(pod.spec, names);
    return {amounts.base[scheduling::kCpu], amounts.base[scheduling::kMemory]};
}

// Returns the mean of the free shares of CPU and memory, as in NodeResourcesFit with LeastAllocated.
double free_share(const rules::NodeUse& use) {
    const auto share = [](std::int64_t part, std::int64_t whole) {
        return static_cast<double>(part) / static_cast<double>(whole);
    };
    const auto free = free_of(use);
    return share(free.cpu, use.allocatable.cpu) + share(free.memory, use.allocatable.memory);
}

}  // namespace

Fleet::Fleet(Shape shape, std::uint64_t seed, const Rules& rules)
    : rules_(rules), draw_(seed), snapshot_(cluster_for_mixes(false)) {
    const auto shapes = snapshot_.pools[0].shapes;
    for (std::size_t i = 0; i < rules_.nodes; ++i) {
        const auto& size = shapes[draw_.below(shapes.size())];
        add_node(size.cpu_cores, size.memory_mib);
    }
    fill(shape);
}

// Fills each node up to a random share, as after a mixed history of workloads.
void Fleet::fill(Shape shape) {
    std::size_t number = 0;
    for (auto& node : snapshot_.nodes) {
        const auto share = draw_.between(0.1, 0.95);
        auto use = use_of(node);
        for (int misfits = 0; misfits < 3;) {
            const auto pod = pod_of(draw_.request(shape, number), number);
            const auto wanted = requests_of(*pod);
            const auto cpu = static_cast<double>(use.requested.cpu + wanted.cpu);
            const auto memory = static_cast<double>(use.requested.memory + wanted.memory);
            const bool is_misfit = cpu > share * static_cast<double>(use.allocatable.cpu) ||
                                   memory > share * static_cast<double>(use.allocatable.memory);
            ++number;
            if (is_misfit) {
                ++misfits;
                continue;
            }
            use.requested.cpu += wanted.cpu;
            use.requested.memory += wanted.memory;
            node.pods.push_back(pod);
        }
    }
}

std::size_t Fleet::add_node(std::int64_t cpu_cores, std::int64_t memory_mib) {
    const auto& pool = snapshot_.pools[0];
    api::Node object;
    object.metadata.name = "node-" + std::to_string(names_++);
    object.metadata.labels[std::string(api::labels::kHostname)] = object.metadata.name;
    object.status.allocatable = scheduling::expected_allocatable(pool, {cpu_cores, memory_mib});
    object.status.capacity["cpu"] = api::Quantity::of(cpu_cores);
    object.status.capacity["memory"] = api::Quantity::of_mebibytes(memory_mib);
    auto& node = snapshot_.nodes.emplace_back();
    node.node = std::make_shared<const api::Node>(std::move(object));
    node.pool = 0;
    return snapshot_.nodes.size() - 1;
}

double Fleet::price() const {
    double price = 0;
    for (const auto& node : snapshot_.nodes) {
        const auto size = rules::size_of(*node.node);
        price += scheduling::Prices().of(scheduling::MachineSize{size.cpuCores, size.memoryMiB});
    }
    return price;
}

double Fleet::bound() const {
    double cpu = 0, memory = 0;
    for (const auto& node : snapshot_.nodes) {
        const auto use = use_of(node);
        cpu += static_cast<double>(use.requested.cpu);
        memory += static_cast<double>(use.requested.memory) / static_cast<double>(scheduling::kMiB);
    }
    return scheduling::LinearBound(rooms_of(snapshot_.pools[0])).worth(cpu, memory).of(cpu, memory);
}

// Returns the operator's search: the least used nodes first, and nodes in use only if the pool can spare one.
rules::Search Fleet::search() const {
    rules::PoolUse pool;
    for (const auto& node : snapshot_.nodes) pool.add(use_of(node), !node.pods.empty());
    rules::Search search;
    search.most_nodes = rules_.together;
    search.headroom_percent = rules_.headroom_percent;
    std::vector<std::tuple<double, double, std::size_t>> order;
    for (std::size_t i = 0; i < snapshot_.nodes.size(); ++i) {
        const auto& node = snapshot_.nodes[i];
        if (refused_.contains(node.node->metadata.name)) continue;
        const auto use = use_of(node);
        const auto size = rules::size_of(*node.node);
        const auto utilization = rules::utilization_percent(use);
        const bool is_unneeded =
            utilization < rules_.threshold_percent ||
            rules::price_percent(use, size, scheduling::Prices()) < rules_.price_threshold_percent;
        if (!is_unneeded && !pool.fits_without(use, rules_.headroom_percent)) continue;
        if (!is_unneeded) search.busy.insert(i);
        order.emplace_back(
            utilization, -scheduling::Prices().of(scheduling::MachineSize{size.cpuCores, size.memoryMiB}), i);
    }
    std::ranges::sort(order);
    for (const auto& candidate : order) search.candidates.push_back(std::get<2>(candidate));
    return search;
}

void Fleet::come_to_rest() {
    for (bool moved = true; moved;) {
        moved = false;
        refused_.clear();
        while (true) {
            const auto before = std::pair(moves_.removed, refused_.size());
            moved = save_one() || moved;
            if (before == std::pair(moves_.removed, refused_.size())) break;
        }
    }
}

bool Fleet::save_one() {
    const auto asked = search();
    if (asked.candidates.empty()) return false;
    scheduling::Removals removals(solver_, snapshot_);
    const auto found = find_consolidation(removals, snapshot_, asked);
    for (const auto& [node, why] : found.refused) refused_.insert(snapshot_.nodes[node].node->metadata.name);
    if (!found.nodes.empty()) apply(found);
    return !found.nodes.empty();
}

void Fleet::apply(const rules::SearchResult& found) {
    Pods evicted;
    auto nodes = found.nodes;
    std::ranges::sort(nodes, std::greater());
    for (const auto node : nodes) {
        const auto& pods = snapshot_.nodes[node].pods;
        evicted.insert(evicted.end(), pods.begin(), pods.end());
        snapshot_.nodes.erase(snapshot_.nodes.begin() + static_cast<std::ptrdiff_t>(node));
    }
    for (const auto& claim : found.removal.replacements) add_node(claim.cpu_cores, claim.memory_mib);
    moves_.removed += nodes.size();
    moves_.created += found.removal.replacements.size();
    for (std::size_t left = evicted.size(); left > 0; --left) {
        std::swap(evicted[draw_.below(left)], evicted[left - 1]);
        schedule(evicted[left - 1]);
    }
}

void Fleet::schedule(const std::shared_ptr<const api::Pod>& pod) {
    const auto wanted = requests_of(*pod);
    scheduling::NodeInfo* best = nullptr;
    double most = 0;
    for (auto& node : snapshot_.nodes) {
        const auto use = use_of(node);
        const auto free = free_of(use);
        if (free.cpu < wanted.cpu || free.memory < wanted.memory) continue;
        if (const auto share = free_share(use); !best || share > most) {
            best = &node;
            most = share;
        }
    }
    if (!best) {
        snapshot_.pods = {pod};
        const auto launched = solver_.solve(snapshot_);
        snapshot_.pods.clear();
        const auto& claim = launched.claims.at(0);
        best = &snapshot_.nodes[add_node(claim.cpu_cores, claim.memory_mib)];
        ++moves_.stranded;
        ++moves_.created;
    }
    best->pods.push_back(pod);
}

}  // namespace bench
