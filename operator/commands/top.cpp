#include "operator/commands/top.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "controllers/disruption/rules/use.hpp"
#include "controllers/state/prices.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/command_line/records.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
namespace disruption = controllers::disruption;

struct TopRequest {
    std::vector<std::string> files;
    std::string output;
};

// Rounds to one decimal, which is enough for people and programs.
double rounded(double value) {
    return std::round(value * 10) / 10;
}

double cores(std::int64_t millicores) {
    return rounded(static_cast<double>(millicores) / 1000);
}

std::int64_t mebibytes(std::int64_t bytes) {
    return bytes / (std::int64_t{1} << 20);
}

json::value percent(double part, double whole) {
    return whole > 0 ? json::value(std::llround(100 * part / whole)) : json::value();
}

// Sums has the totals over the nodes of one pool.
struct Sums {
    std::int64_t nodes = 0;
    std::int64_t pods = 0;
    std::int64_t requested_cpu = 0;  // millicores
    std::int64_t offered_cpu = 0;
    std::int64_t requested_memory = 0;  // bytes
    std::int64_t offered_memory = 0;
    double price = 0;
    double price_used = 0;
};

Sums sums_of(ClusterSnapshot& view, const api::v1alpha1::NodeSmithPool& pool) {
    Sums sums;
    const auto prices = controllers::prices_of(pool);
    for (const auto& facts : view.report().claims) {
        if (facts.pool.get() != &pool || !facts.node) continue;
        const auto& pods =
            view.informers().pods.store().by_index(controllers::kPodsByNode, facts.node->metadata.name);
        const auto use = disruption::use_of(*facts.node, pods);
        const auto size = disruption::size_of(*facts.node);
        const auto price = prices.of(scheduling::MachineSize{size.cpuCores, size.memoryMiB});
        ++sums.nodes;
        sums.pods += std::ssize(pods);
        sums.requested_cpu += use.requested.cpu;
        sums.offered_cpu += use.allocatable.cpu;
        sums.requested_memory += use.requested.memory;
        sums.offered_memory += use.allocatable.memory;
        sums.price += price;
        sums.price_used += price * disruption::price_percent(use, size, prices) / 100;
    }
    return sums;
}

Records pools_of(ClusterSnapshot& view, const std::string& namespace_) {
    Records records({{"POOL", "pool"},
                     {"NODES", "nodes"},
                     {"PODS", "pods"},
                     {"CPU REQUESTED", "cpuRequested"},
                     {"CPU", "cpu"},
                     {"MEMORY REQUESTED", "memoryRequestedMiB"},
                     {"MEMORY MiB", "memoryMiB"},
                     {"PRICE", "price"},
                     {"USED %", "priceUsedPercent"}});
    for (const auto& pool : view.report().pools) {
        if (!namespace_.empty() && pool->metadata.namespace_ != namespace_) continue;
        const auto sums = sums_of(view, *pool);
        records.add({api::key_of(*pool).str(), sums.nodes, sums.pods, cores(sums.requested_cpu),
                     cores(sums.offered_cpu), mebibytes(sums.requested_memory),
                     mebibytes(sums.offered_memory), rounded(sums.price),
                     percent(sums.price_used, sums.price)});
    }
    return records;
}

// Counts by claims, as the provider examines its hosts only from time to time.
std::int64_t machines_on(const ClusterSnapshot& view, const api::v1alpha1::NodeSmithProvider& provider,
                         const std::string& host) {
    return std::ranges::count_if(view.report().claims, [&](const report::ClaimFacts& facts) {
        const auto& claim = *facts.claim;
        return claim.metadata.namespace_ == provider.metadata.namespace_ && claim.status.host == host &&
               claim.status.providerRef == provider.metadata.name && !claim.status.machineID.empty();
    });
}

Records hosts_of(const ClusterSnapshot& view, const std::string& namespace_) {
    Records records({{"HOST", "host"},
                     {"PROVIDER", "provider"},
                     {"ONLINE", "online"},
                     {"CPU FREE", "cpuFree"},
                     {"CPU", "cpu"},
                     {"MEMORY FREE", "memoryFreeMiB"},
                     {"MEMORY MiB", "memoryMiB"},
                     {"MACHINES", "machines"},
                     {"NOTE", "note"}});
    for (const auto& provider : view.report().providers) {
        if (!namespace_.empty() && provider->metadata.namespace_ != namespace_) continue;
        for (const auto& host : provider->status.hosts) {
            const auto note = host.evacuating                     ? "its nodes must be removed"
                              : !host.message.empty()             ? host.message
                              : host.freeCPUCores > host.cpuCores ? "its CPUs are overcommitted"
                                                                  : "";
            records.add({host.name, api::key_of(*provider).str(), host.online, host.freeCPUCores,
                         host.cpuCores, host.freeMemoryMiB, host.memoryMiB,
                         machines_on(view, *provider, host.name), note});
        }
    }
    return records;
}

Answer top_answer(const TopRequest& request, const ClientOptions& options) {
    const auto view = ClusterSnapshot::open(request.files, options, Reading::ours_and_nodes);
    const auto namespace_ = options.only_namespace();
    return {printed(
        request.output, [&] { return top_text(*view, namespace_); },
        [&] { return top_document(*view, namespace_); })};
}

}  // namespace

std::string top_text(ClusterSnapshot& view, const std::string& namespace_) {
    const auto pools = pools_of(view, namespace_);
    const auto hosts = hosts_of(view, namespace_);
    if (pools.empty() && hosts.empty()) return "There are no pools, and no provider has reported a host.\n";
    std::string text;
    if (!pools.empty())
        text += pools.table() +
                "Requests exclude those of DaemonSets' pods. Prices are from the pool's template. Without a "
                "price, a GiB of memory costs 1 and a CPU 4.\n";
    if (!hosts.empty()) text += (text.empty() ? "" : "\n") + hosts.table();
    return text;
}

json::object top_document(ClusterSnapshot& view, const std::string& namespace_) {
    auto document = document_of_kind("Top");
    document["pools"] = pools_of(view, namespace_).objects();
    document["hosts"] = hosts_of(view, namespace_).objects();
    return document;
}

void add_top_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<TopRequest>();
    auto* command = app.add_subcommand("top", "Show prices, capacity and use of pools and hosts");
    add_file_flag(*command, request->files);
    add_output_flag(*command, request->output);
    add_namespace_flags(*command, options, "Show only this namespace; default: all");
    add_cluster_flags(*command, options);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("top", [&] { return top_answer(*request, given); });
        };
    });
}

}  // namespace kubenodesmith
