#include "operator/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "api/json.hpp"
#include "base/text.hpp"
#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/disruption/rules/use.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/prices.hpp"
#include "operator/command_line/references.hpp"
#include "operator/plan/plan_text.hpp"

namespace kubenodesmith {
namespace {

using api::ConditionStatus;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithPool;
using report::ClaimFacts;
namespace conditions = api::conditions;

std::string size_of(const NodeSmithClaim& claim) {
    return claim.status.size.empty() ? "" : " (" + claim.status.size + ")";
}

std::string describe_state(const ClaimFacts& facts) {
    const auto& claim = *facts.claim;
    const auto phase = api::name_of(facts.phase());
    auto text = "claim " + facts.key().str() + size_of(claim) + " is " + std::string(phase);
    for (const auto& condition : claim.status.conditions) {
        const bool settled = condition.status == ConditionStatus::True;
        if (settled || condition.type == conditions::kReady || condition.message.empty()) continue;
        return text + ": " + condition.message;
    }
    return text;
}

const api::Condition* scheduled(const api::Pod& pod) {
    return api::find_condition(pod.status.conditions, conditions::kPodScheduled);
}

std::string describe_state(const api::Pod& pod) {
    const auto name = "Pod " + api::key_of(pod).str();
    if (!pod.spec.nodeName.empty()) return name + " is on node " + pod.spec.nodeName + ".\n";
    if (pod.metadata.deletionTimestamp) return name + " is being deleted.\n";
    const auto* condition = scheduled(pod);
    if (!condition) return name + " was not examined by the scheduler yet.\n";
    return name + " waits. The scheduler says: " + condition->message + "\n";
}

std::string launches_for(const ClusterSnapshot& view, const api::Pod& pod) {
    std::string text;
    for (const auto& claim : view.report().claims) {
        const auto uids = controllers::provisioning::launched_for(*claim.claim);
        if (std::ranges::find(uids, pod.metadata.uid) == uids.end()) continue;
        text += "Created for it: " + describe_state(claim) + ".\n";
    }
    return text;
}

std::string machine_of(const NodeSmithClaim& claim) {
    const auto& status = claim.status;
    std::string text;
    if (!status.machineID.empty()) text += "Machine " + status.machineID;
    if (!status.host.empty()) text += (text.empty() ? "Host " : " on host ") + status.host;
    if (!status.nodeName.empty()) text += (text.empty() ? "Node " : ", node ") + status.nodeName;
    if (!status.taskRef.empty()) text += (text.empty() ? "Task " : ", task ") + status.taskRef;
    return text.empty() ? "" : text + ".\n";
}

// Returns how far the boot of a claim's machine has come. The result is empty once the Node is registered. It
// is also empty after a failure, whose condition already says it.
std::string boot_of(const NodeSmithClaim& claim) {
    const bool is_over = api::is_true(claim.status.conditions, conditions::kRegistered) ||
                         api::is_true(claim.status.conditions, conditions::kFailed);
    const auto story = is_over ? std::string() : controllers::claim::boot_story(claim.status);
    return story.empty() ? story : story + ".\n";
}

std::string purpose_of(ClusterSnapshot& view, const NodeSmithClaim& claim) {
    const auto uids = controllers::provisioning::launched_for(claim);
    if (uids.empty()) return "";
    if (!view.has_nodes()) return "Created for " + base::counted(std::ssize(uids), "pod") + ".\n";
    std::string names;
    for (const auto& [key, pod] : view.informers().pods.store().all()) {
        if (std::ranges::find(uids, pod->metadata.uid) == uids.end()) continue;
        names += (names.empty() ? "" : ", ") + key.str();
    }
    return "Created for " + base::counted(std::ssize(uids), "pod") +
           (names.empty() ? "; none still exists" : "; still existing: " + names) + ".\n";
}

const ClaimFacts& find_claim(const ClusterSnapshot& view, const api::ObjectKey& key) {
    std::vector<const ClaimFacts*> found;
    for (const auto& claim : view.report().claims)
        if (is_meant(key, claim.key())) found.push_back(&claim);
    if (found.empty())
        throw ViewError("there is no claim " + key.str() +
                        (key.namespace_.empty() ? where_looked(view) : ""));
    if (found.size() > 1)
        throw ViewError("several namespaces have a claim " + key.name + "; give --namespace");
    return *found.front();
}

// Returns all pools of that name, as several namespaces may have one.
report::Pointers<NodeSmithPool> find_pools(const ClusterSnapshot& view, const api::ObjectKey& key) {
    report::Pointers<NodeSmithPool> found;
    for (const auto& pool : view.report().pools)
        if (is_meant(key, api::key_of(*pool))) found.push_back(pool);
    if (found.empty()) throw ViewError("there is no pool " + key.str() + where_looked(view));
    return found;
}

std::string failures_of(const ClusterSnapshot& view, const NodeSmithPool& pool) {
    std::string text;
    for (const auto& [claim, its_pool, node] : view.report().claims) {
        const auto& failure = claim->status.lastFailure;
        if (!failure || its_pool.get() != &pool) continue;
        text += "Claim " + claim->metadata.name + " failed " + ago(failure->time, view.now()) + ": " +
                failure->message + "\n";
    }
    return text;
}

std::string kept_by(const NodeSmithPool& pool, api::Time now) {
    const auto& kept = pool.status.keptMachine;
    if (!kept) return "";
    return "Kept for inspection since " + ago(kept->time, now) + ": machine " + kept->machineID +
           " on host " + kept->host + " of claim " + kept->claim + ", until that claim is deleted.\n";
}

// Returns how much of the machine's price its pods use. Pools that remove nodes by price decide with this
// number.
std::string worth_of(ClusterSnapshot& view, const ClaimFacts& facts) {
    if (!facts.node || !facts.pool) return "";
    namespace disruption = controllers::disruption;
    const auto& pods =
        view.informers().pods.store().by_index(controllers::kPodsByNode, facts.node->metadata.name);
    const auto percent =
        disruption::price_percent(disruption::use_of(*facts.node, pods), disruption::size_of(*facts.node),
                                  controllers::prices_of(*facts.pool));
    return "Its pods' requests are worth " + std::to_string(std::llround(percent)) +
           " % of the machine's price.\n";
}

std::string ownership_of(ClusterSnapshot& view, const std::string& node) {
    const auto* facts = view.report().claim_of_node(node);
    if (!facts) return "It belongs to no claim" + where_looked(view) + ", so the operator leaves it alone.\n";
    return "It belongs to pool " + facts->claim->spec.poolRef + ": " + describe_state(*facts) + ".\n" +
           machine_of(*facts->claim) + worth_of(view, *facts);
}

// Returns what the pod can expect. If a machine would be created for it, adds the price of all planned
// machines.
std::string prospect_of(const Plan& plan, const api::ObjectKey& pod) {
    std::string text;
    for (const auto& waiting : plan.pods) {
        if (waiting.pod != pod) continue;
        text += "By what is known now: " + sentence_of(waiting) + ".\n";
        if (waiting.outlook == WaitingPod::Outlook::planned_machine && plan.price.machines > 0)
            text += "Price of all machines that would be created now: " + sentence_of(plan.price) + ".\n";
    }
    return text;
}

}  // namespace

Explanation explain_pod(ClusterSnapshot& view, const api::ObjectKey& key) {
    std::vector<std::shared_ptr<const api::Pod>> found;
    for (const auto& [known, pod] : view.informers().pods.store().all())
        if (is_meant(key, known)) found.push_back(pod);
    if (found.empty()) throw ViewError("there is no pod " + key.str() + " that is running or pending");
    if (found.size() > 1) throw ViewError("several namespaces have a pod " + key.name + "; give -n");
    const auto& pod = *found.front();
    Explanation explanation{.kind = "Pod", .object = api::key_of(pod), .now = view.now()};
    explanation.say(describe_state(pod));
    if (controllers::is_unschedulable(pod)) {
        explanation.say(launches_for(view, pod));
        explanation.say(prospect_of(make_plan(view), explanation.object));
    }
    explanation.add_events(view);
    return explanation;
}

Explanation explain_node(ClusterSnapshot& view, const std::string& name) {
    const auto node = view.informers().nodes.store().get({"", name});
    if (!node) throw ViewError("there is no node " + name);
    Explanation explanation{.kind = "Node", .object = {"", name}, .now = view.now()};
    std::int64_t movable = 0;
    for (const auto& pod : view.informers().pods.store().by_index(controllers::kPodsByNode, name)) {
        if (controllers::is_drainable(*pod)) ++movable;
    }
    explanation.say("Node " + name + (controllers::is_ready(*node) ? " is ready" : " is not ready") +
                    " and has " + base::counted(movable, "pod") + " that would have to move.");
    explanation.say(ownership_of(view, name));
    for (const auto& removal : make_plan(view).nodes) {
        if (removal.node == name) explanation.say("By what is known now: " + sentence_of(removal) + ".");
    }
    explanation.add_events(view);
    return explanation;
}

Explanation explain_claim(ClusterSnapshot& view, const api::ObjectKey& key) {
    if (auto elsewhere = unmanaged(view, "Claim", key)) return *elsewhere;
    const auto& facts = find_claim(view, key);
    const auto& claim = *facts.claim;
    const auto& status = claim.status;
    Explanation explanation{.kind = "NodeSmithClaim", .object = facts.key(), .now = view.now()};
    explanation.say("Pool " + claim.spec.poolRef + ": " + describe_state(facts) + ".");
    explanation.say(purpose_of(view, claim));
    explanation.say(machine_of(claim));
    explanation.say(boot_of(claim));
    if (status.lastFailure) {
        explanation.say("Attempt " + std::to_string(status.launchAttempts) + " failed " +
                        ago(status.lastFailure->time, view.now()) + ": " + status.lastFailure->message);
    }
    if (status.nextRetryTime && *status.nextRetryTime > view.now()) {
        explanation.say("The next attempt is not before " + status.nextRetryTime->str() + ".");
    }
    explanation.conditions = status.conditions;
    explanation.add_events(view);
    return explanation;
}

std::vector<Explanation> explain_pool(ClusterSnapshot& view, const api::ObjectKey& key) {
    if (auto elsewhere = unmanaged(view, "Pool", key)) return {*elsewhere};
    std::vector<Explanation> all;
    for (const auto& pool : find_pools(view, key)) {
        const auto& status = pool->status;
        Explanation explanation{.kind = "NodeSmithPool", .object = api::key_of(*pool), .now = view.now()};
        explanation.say("Pool " + explanation.object.str() + " has " + base::counted(status.nodes, "node") +
                        ", " + std::to_string(status.readyNodes) + " of them ready; " +
                        std::to_string(status.pendingNodes) +
                        (status.pendingNodes == 1 ? " is being created." : " are being created."));
        explanation.say(kept_by(*pool, view.now()));
        explanation.say(failures_of(view, *pool));
        explanation.conditions = status.conditions;
        if (status.conditions.empty()) explanation.say(kNeverSeen);
        explanation.add_events(view);
        all.push_back(std::move(explanation));
    }
    return all;
}

// ---- providers, hosts and control planes
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
                room(host.cpuCores, host.memoryMiB) + " and " + base::counted(host.machines, "machine") +
                "; new machines may take " + room(host.freeCPUCores, host.freeMemoryMiB);
    if (host.freeCPUCores > host.cpuCores) text += " (its CPUs are overcommitted)";
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
