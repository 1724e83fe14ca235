// Explains providers, hosts and control planes.
#include <algorithm>

#include "api/json.hpp"
#include "base/text.hpp"
#include "operator/command_line/references.hpp"
#include "operator/explain/explain.hpp"

namespace kubenodesmith {
namespace {

using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithHost;
using api::v1alpha1::NodeSmithProvider;

// Returns, for example, "4 cores, 8192 MiB".
std::string room(std::int64_t cpu_cores, std::int64_t memory_mib) {
    return base::counted(cpu_cores, "core") + ", " + std::to_string(memory_mib) + " MiB";
}

std::string describe_host(const api::v1alpha1::ProviderHost& host) {
    auto text = "Host " + host.name + (host.online ? "" : " is offline and") + " has " +
                room(host.freeCPUCores, host.freeMemoryMiB) + " of " + room(host.cpuCores, host.memoryMiB) +
                " free, and " + base::counted(host.machines, "machine");
    if (host.evacuating) text += "; its nodes must be removed";
    if (!host.message.empty()) text += "; no machine is placed there: " + host.message;
    return text + ".";
}

void describe(const NodeSmithProvider& provider, const ClusterSnapshot& view, Explanation& explanation) {
    const auto& status = provider.status;
    auto text =
        "Provider " + explanation.object.str() + " of type " + std::string(api::name_of(provider.spec.type));
    if (!status.endpoint.empty()) text += " uses " + status.endpoint;
    if (!status.version.empty()) text += ", version " + status.version;
    explanation.say(text + "; it has " + base::counted(status.machines, "machine") + ".");
    const auto pools = std::ranges::count_if(view.report().pools, [&](const auto& pool) {
        return pool->metadata.namespace_ == explanation.object.namespace_ &&
               pool->spec.providerRef == explanation.object.name;
    });
    explanation.say(pools == 0 ? std::string("No pool uses it.")
                               : base::counted(pools, "pool") + (pools == 1 ? " uses it." : " use it."));
    for (const auto& host : status.hosts) explanation.say(describe_host(host));
}

void describe(const NodeSmithHost& host, const ClusterSnapshot& view, Explanation& explanation) {
    const auto& status = host.status;
    auto text = "Host " + explanation.object.str() + " of provider " + host.spec.providerRef;
    if (status.phase) text += " is " + std::string(api::name_of(*status.phase));
    if (!status.powerState.empty()) text += ", its power is " + status.powerState;
    if (!status.health.empty()) text += ", its health " + status.health;
    explanation.say(text + ".");
    if (status.capacity)
        explanation.say("It has " + room(status.capacity->cpuCores, status.capacity->memoryMiB) + ".");
    explanation.say(status.claimRef ? "Claim " + status.claimRef->name + " uses it." : "No claim uses it.");
    if (host.spec.maintenance)
        explanation.say("It is in maintenance: no claim may use it, and its node must be removed.");
    if (!status.lastFailure.empty())
        explanation.say("It failed " + base::counted(status.failures, "time") +
                        ", the last time because: " + status.lastFailure);
    if (status.nextRetryTime && *status.nextRetryTime > view.now())
        explanation.say("It is tried again at " + status.nextRetryTime->str() + ".");
}

void describe(const NodeSmithControlPlane& plane, const ClusterSnapshot&, Explanation& explanation) {
    const auto& status = plane.status;
    const auto mode = std::string(api::name_of(plane.spec.mode));
    auto text = "Control plane " + explanation.object.str() + " is in mode " + mode;
    using api::v1alpha1::Mode;
    if (plane.spec.mode == Mode::Observe) text += ": the operator reports its decisions and changes nothing";
    if (plane.spec.mode == Mode::Paused) text += ": no machine is created or removed";
    explanation.say(text + ".");
    explanation.say("It has " + base::counted(status.pools, "pool") + " with " +
                    base::counted(status.nodes, "node") + ", " + std::to_string(status.readyNodes) +
                    " of them ready; " + std::to_string(status.pendingNodes) +
                    (status.pendingNodes == 1 ? " is being created." : " are being created."));
}

template <class T>
std::vector<Explanation> explain_all(ClusterSnapshot& view, const api::ObjectKey& key,
                                     const report::Pointers<T>& objects, const std::string& word) {
    constexpr std::string_view kPrefix = "NodeSmith";
    const auto kind = T::kResource.kind;
    if (auto elsewhere = unmanaged(view, kind.substr(kPrefix.size()), key)) return {*elsewhere};
    std::vector<Explanation> all;
    for (const auto& object : objects) {
        if (!is_meant(key, api::key_of(*object))) continue;
        Explanation explanation{.kind = std::string(kind), .object = api::key_of(*object), .now = view.now()};
        describe(*object, view, explanation);
        explanation.conditions = object->status.conditions;
        if (explanation.conditions.empty()) explanation.say(kNeverSeen);
        explanation.add_events(view);
        all.push_back(std::move(explanation));
    }
    if (all.empty()) throw ViewError("there is no " + word + " " + key.str() + where_looked(view));
    return all;
}

}  // namespace

std::vector<Explanation> explain_provider(ClusterSnapshot& view, const api::ObjectKey& key) {
    return explain_all(view, key, view.report().providers, "provider");
}

std::vector<Explanation> explain_host(ClusterSnapshot& view, const api::ObjectKey& key) {
    return explain_all(view, key, view.report().hosts, "host");
}

std::vector<Explanation> explain_control_plane(ClusterSnapshot& view, const api::ObjectKey& key) {
    return explain_all(view, key, view.report().control_planes, "control plane");
}

}  // namespace kubenodesmith
