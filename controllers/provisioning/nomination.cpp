#include "controllers/provisioning/nomination.hpp"

#include <algorithm>
#include <tuple>

#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/freed_room.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/provisioning/predictions.hpp"
#include "kube/controller.hpp"

namespace controllers::provisioning {

namespace {

const NodeSmithControlPlane* manager_of_claim(const Informers& informers, const NodeSmithClaim& claim) {
    return manager_of({claim.metadata.namespace_, claim.spec.poolRef},
                      informers.control_planes.store().all());
}

// Reports whether a nomination may be written. The pool must be managed, and its
// manager must neither observe nor pause.
bool may_write(const NodeSmithControlPlane* manager) {
    return manager && manager->spec.mode == api::v1alpha1::Mode::Active;
}

// Returns until when the scheduler may use the nomination; nullopt: the machine is not in service yet.
std::optional<api::Time> patience_of(const NodeSmithClaim& claim) {
    const auto since = claim::usable_since(claim);
    return since ? std::optional(api::Time(since->at + kSchedulerPatience)) : std::nullopt;
}

// Reports whether the pod may be nominated for this Node, even before it is Ready. Early nominations
// keep other pods away. Without room it may not: the scheduler reserves room for all nominated pods,
// so too many would block each other.
bool holds(const Informers& informers, const Promise& promise, api::Time now) {
    const auto& claim = *promise.claim;
    if (!promise.has_room || !disruption::is_staying(claim) || claim::is_leaving(claim)) return false;
    const auto node = claim::noted_node(informers, claim);
    if (!node || node->metadata.deletionTimestamp || node->spec.unschedulable ||
        disruption::has_leaving_taint(*node))
        return false;
    const auto patience = patience_of(claim);
    return !patience || now < *patience;
}

// Reports whether a pod is ending there. The scheduler may then be preempting for the pod, so that the
// nomination is the scheduler's own.
bool is_anything_ending(const Informers& informers, const std::string& node) {
    const auto pods = informers.pods.store().by_index(kPodsByNode, node);
    return std::ranges::any_of(
        pods, [](const PodPointer& pod) { return pod->metadata.deletionTimestamp.has_value(); });
}

bool is_newer(const NodeSmithClaim& one, const NodeSmithClaim& other) {
    const auto age = [](const NodeSmithClaim& claim) {
        return std::tuple(claim.metadata.creationTimestamp, claim.metadata.name);
    };
    return age(one) > age(other);
}

// Reports whether the Node is another one, or has only now opened.
bool is_news(const Informers& informers, const Told& told, const std::string& name) {
    const auto node = informers.nodes.store().get({"", name});
    return told.node != name || (node && is_open(*node) && !told.is_open);
}

bool names_pod(const NodeSmithClaim& claim, const std::string& pod_uid) {
    const auto uids = launched_for(claim);
    return std::ranges::find(uids, pod_uid) != uids.end();
}

// Reports whether the claim is gone with its Node. The pool still knows that it was launched for this pod.
bool is_of_gone_machine(const Informers& informers, const api::Pod& pod) {
    if (informers.nodes.store().get({"", pod.status.nominatedNodeName})) return false;
    for (const auto& [key, pool] : informers.pools.store().all()) {
        const auto launches = past_launches(*pool);
        const bool any = std::ranges::any_of(launches, [&pod](const PastLaunch& launch) {
            return std::ranges::find(launch.pod_uids, pod.metadata.uid) != launch.pod_uids.end();
        });
        if (any) return true;
    }
    return false;
}

}  // namespace

bool is_open(const api::Node& node) {
    const auto has = [&node](std::string_view key) {
        return std::ranges::find(node.spec.taints, key, &api::Taint::key) != node.spec.taints.end();
    };
    return is_ready(node) && !has(api::taints::kUnregistered) && !has(api::taints::kNotReady);
}

bool is_told_of_its_machine(const Informers& informers, const api::Pod& pod) {
    const auto& nominated = pod.status.nominatedNodeName;
    if (nominated.empty()) return false;
    const auto claims = informers.claims.store().by_index(kClaimsByNode, nominated);
    return std::ranges::any_of(
        claims, [&pod](const ClaimPointer& claim) { return names_pod(*claim, pod.metadata.uid); });
}

Nomination nomination(const Informers& informers, const api::Pod& pod, const std::vector<Promise>& promises,
                      const Told& told, api::Time now) {
    Nomination result;
    if (!is_unschedulable(pod)) return result;
    const NodeSmithClaim* wanted = nullptr;
    bool may_clear = promises.empty();
    for (const auto& promise : promises) {
        const auto& claim = *promise.claim;
        const auto* manager = manager_of_claim(informers, claim);
        if (!may_write(manager)) continue;
        may_clear = true;
        if (!manager->spec.nominate || !holds(informers, promise, now)) continue;
        if (!wanted || is_newer(claim, *wanted)) wanted = &claim;
    }
    if (wanted) result.until = patience_of(*wanted);
    const auto& current = pod.status.nominatedNodeName;
    const auto name = wanted ? wanted->status.nodeName : std::string();
    if (current == name) return result;
    if (current.empty()) {
        if (told.times < kMostTellings || is_news(informers, told, name)) result.node = name;
        return result;
    }
    const bool is_ours =
        current == told.node || is_told_of_its_machine(informers, pod) || is_of_gone_machine(informers, pod);
    if (!is_ours || !may_clear) return result;
    if (is_anything_ending(informers, current))
        result.until = kube::sooner(result.until, api::Time(now.at + kEndingPatience));
    else
        result.node = name;
    return result;
}

}  // namespace controllers::provisioning
