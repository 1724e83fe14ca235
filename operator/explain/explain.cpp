#include "operator/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "api/json.hpp"
#include "base/text.hpp"
#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/disruption/rules/use.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/claim_factory.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/pool_counts.hpp"
#include "controllers/state/prices.hpp"
#include "operator/plan/plan.hpp"

namespace kubenodesmith {
namespace {

using api::ConditionStatus;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithPool;
using report::ClaimFacts;
namespace conditions = api::conditions;

constexpr std::size_t kMostEvents = 5;
constexpr std::string_view kComponent = "kubenodesmith";

std::string ago(std::optional<api::Time> when, api::Time now) {
    if (!when) return "some time ago";
    const auto seconds = std::max<std::int64_t>(0, (now.at - when->at).count());
    if (seconds < 120) return std::to_string(seconds) + " s ago";
    if (seconds < 7200) return std::to_string(seconds / 60) + " min ago";
    return std::to_string(seconds / 3600) + " h ago";
}

std::optional<api::Time> time_of(const api::Event& event) {
    return event.lastTimestamp ? event.lastTimestamp : event.metadata.creationTimestamp;
}

bool is_ours(const api::Event& event) {
    return event.source.component == kComponent || event.reportingComponent == kComponent;
}

// What the operator said of an object, the latest first.
std::string events_about(ClusterSnapshot& view, std::string_view kind, const api::ObjectKey& key) {
    auto [events, refusal] = view.events_about(kind, key);
    if (!refusal.empty()) return "What the operator said of it may not be read: " + refusal + "\n";
    std::erase_if(events, [](const api::Event& event) { return !is_ours(event); });
    std::ranges::sort(events, std::greater<>(), time_of);
    if (events.size() > kMostEvents) events.resize(kMostEvents);
    std::string text;
    for (const auto& event : events) {
        text += "  " + ago(time_of(event), view.now()) + ": " + event.reason + ": " + event.message + "\n";
    }
    return text.empty() ? "" : "The operator said:\n" + text;
}

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
    if (!condition) return name + " was not looked at by the scheduler yet.\n";
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

std::string condition_line(const api::Condition& condition, api::Time now) {
    auto text = "  " + condition.type + "=" + std::string(api::to_string(condition.status));
    if (!condition.reason.empty() && condition.reason != condition.type)
        text += " (" + condition.reason + ")";
    if (condition.lastTransitionTime) text += ", since " + ago(condition.lastTransitionTime, now);
    return text + (condition.message.empty() ? "" : ": " + condition.message) + "\n";
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

// How far the machine of a claim came that has no Node yet; a failure that is on record tells it itself.
std::string boot_of(const NodeSmithClaim& claim) {
    const bool is_over = api::is_true(claim.status.conditions, conditions::kRegistered) ||
                         api::is_true(claim.status.conditions, conditions::kFailed);
    const auto story = is_over ? std::string() : controllers::claim::boot_story(claim.status);
    return story.empty() ? story : story + ".\n";
}

std::string purpose_of(ClusterSnapshot& view, const NodeSmithClaim& claim) {
    const auto uids = controllers::provisioning::launched_for(claim);
    if (uids.empty()) return "";
    std::string names;
    for (const auto& [key, pod] : view.informers().pods.store().all()) {
        if (std::ranges::find(uids, pod->metadata.uid) == uids.end()) continue;
        names += (names.empty() ? "" : ", ") + key.str();
    }
    return "Created for " + base::counted(std::ssize(uids), "pod") +
           (names.empty() ? ", none of which is left" : "; still there: " + names) + ".\n";
}

// " in the managed namespaces (kubenodesmith, lab)", unless these are all.
std::string where_looked(const ClusterSnapshot& view) {
    return view.report().managed.all() ? ""
                                       : " in the managed namespaces (" + view.report().managed.str() + ")";
}

// Of an object of ours that is where nothing is done.
std::optional<std::string> unmanaged(const ClusterSnapshot& view, std::string_view kind,
                                     const api::ObjectKey& key) {
    if (key.namespace_.empty() || view.report().managed.contains(key.namespace_)) return std::nullopt;
    return std::string(kind) + " " + key.str() + ": " + view.report().managed.why_unmanaged(key.namespace_) +
           ".\n";
}

// Whether it is the object that was asked for, by name alone if no namespace was given.
bool is_meant(const api::ObjectKey& asked, const api::ObjectKey& known) {
    return known.name == asked.name && (asked.namespace_.empty() || known.namespace_ == asked.namespace_);
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

// Several namespaces may have a pool of that name.
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
    return "Kept for a look since " + ago(kept->time, now) + ": machine " + kept->machineID + " on host " +
           kept->host + " of claim " + kept->claim + ", until that is deleted.\n";
}

// What a pool that looks at prices goes by.
std::string worth_of(ClusterSnapshot& view, const ClaimFacts& facts) {
    if (!facts.node || !facts.pool) return "";
    namespace disruption = controllers::disruption;
    const auto& pods =
        view.informers().pods.store().by_index(controllers::kPodsByNode, facts.node->metadata.name);
    const auto percent =
        disruption::price_percent(disruption::use_of(*facts.node, pods), disruption::size_of(*facts.node),
                                  controllers::prices_of(*facts.pool));
    return "What its pods request is worth " + std::to_string(std::llround(percent)) +
           " % of what the machine costs.\n";
}

std::string ownership_of(ClusterSnapshot& view, const std::string& node) {
    const auto* facts = view.report().claim_of_node(node);
    if (!facts) return "It belongs to no claim" + where_looked(view) + ", so the operator leaves it alone.\n";
    return "It is of pool " + facts->claim->spec.poolRef + ": " + describe_state(*facts) + ".\n" +
           machine_of(*facts->claim) + worth_of(view, *facts);
}

// With what the machines cost that would be created, this pod's among them.
std::string prospect_of(const Plan& plan, const api::ObjectKey& pod) {
    std::string text;
    for (const auto& waiting : plan.pods) {
        if (waiting.pod != pod) continue;
        text += "By what is known now: " + sentence_of(waiting) + ".\n";
        if (waiting.outlook == WaitingPod::Outlook::planned_machine && plan.price.machines > 0)
            text += "Of all machines that would be created now: " + sentence_of(plan.price) + ".\n";
    }
    return text;
}

}  // namespace

std::string explain_pod(ClusterSnapshot& view, const api::ObjectKey& key) {
    const auto pod = view.informers().pods.store().get(key);
    if (!pod) throw ViewError("there is no pod " + key.str() + " that has not ended");
    auto text = describe_state(*pod);
    if (controllers::is_unschedulable(*pod)) {
        text += launches_for(view, *pod);
        text += prospect_of(make_plan(view), key);
    }
    return text + events_about(view, "Pod", key);
}

std::string explain_node(ClusterSnapshot& view, const std::string& name) {
    const auto node = view.informers().nodes.store().get({"", name});
    if (!node) throw ViewError("there is no node " + name);
    auto text = "Node " + name + (controllers::is_ready(*node) ? " is ready" : " is not ready");
    std::int64_t movable = 0;
    for (const auto& pod : view.informers().pods.store().by_index(controllers::kPodsByNode, name)) {
        if (controllers::is_drainable(*pod)) ++movable;
    }
    text += " and carries " + base::counted(movable, "pod") + " that would have to move.\n" +
            ownership_of(view, name);
    for (const auto& removal : make_plan(view).nodes) {
        if (removal.node == name) text += "By what is known now: " + sentence_of(removal) + ".\n";
    }
    return text + events_about(view, "Node", {"", name});
}

std::string explain_claim(ClusterSnapshot& view, const api::ObjectKey& key) {
    if (const auto text = unmanaged(view, "Claim", key)) return *text;
    const auto& facts = find_claim(view, key);
    const auto& claim = *facts.claim;
    const auto& status = claim.status;
    auto text = "Of pool " + claim.spec.poolRef + ": " + describe_state(facts) + ".\n" +
                purpose_of(view, claim) + machine_of(claim) + boot_of(claim);
    if (status.lastFailure) {
        text += "Attempt " + std::to_string(status.launchAttempts) + " failed " +
                ago(status.lastFailure->time, view.now()) + ": " + status.lastFailure->message + "\n";
    }
    if (status.nextRetryTime && *status.nextRetryTime > view.now()) {
        text += "The next attempt is not before " + status.nextRetryTime->str() + ".\n";
    }
    if (!status.conditions.empty()) text += "Conditions:\n";
    for (const auto& condition : status.conditions) text += condition_line(condition, view.now());
    return text + events_about(view, "NodeSmithClaim", facts.key());
}

std::string explain_pool(ClusterSnapshot& view, const api::ObjectKey& key) {
    if (const auto text = unmanaged(view, "Pool", key)) return *text;
    std::string text;
    for (const auto& pool : find_pools(view, key)) {
        const auto& status = pool->status;
        text += "Pool " + api::key_of(*pool).str() + " has " + base::counted(status.nodes, "node") + ", " +
                std::to_string(status.readyNodes) + " of them ready; " + std::to_string(status.pendingNodes) +
                (status.pendingNodes == 1 ? " is on its way.\n" : " are on their way.\n") +
                kept_by(*pool, view.now()) + failures_of(view, *pool);
        if (!status.conditions.empty()) text += "Conditions:\n";
        for (const auto& condition : status.conditions) text += condition_line(condition, view.now());
        text += events_about(view, "NodeSmithPool", api::key_of(*pool));
    }
    return text;
}

}  // namespace kubenodesmith
