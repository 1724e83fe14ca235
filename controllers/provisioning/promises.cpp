#include "controllers/provisioning/promises.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

#include "controllers/claim/facts/node_search.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers::provisioning {

namespace {

constexpr const char* kClaimsByPod = "launched-for";  // UIDs of pods
constexpr const char* kPodsByUid = "waiting-by-uid";  // UIDs of unschedulable pods

auto turn_of(const PodPointer& pod) {
    return std::tuple(-std::int64_t{pod->spec.priority.value_or(0)}, pod->metadata.creationTimestamp,
                      api::key_of(*pod));
}

// Drops resources that the Node does not report yet. Device plugins start after the kubelet, and
// the claim is not Initialized before.
scheduling::Amounts as_far_as_told(scheduling::Amounts wanted, const scheduling::Amounts& offered) {
    std::erase_if(wanted.extra, [&offered](const scheduling::Extra& extra) {
        return std::ranges::find(offered.extra, extra.resource, &scheduling::Extra::resource) ==
               offered.extra.end();
    });
    return wanted;
}

}  // namespace

std::set<std::string> without_room(const api::Node& node, const PodPointers& bound, PodPointers waiting) {
    std::set<std::string> without;
    if (node.status.allocatable.empty()) return without;
    scheduling::ResourceNames names;
    const auto offered = scheduling::amounts_of(node.status.allocatable, names);
    auto free = offered;
    for (const auto& pod : bound) free -= scheduling::taken_by(*pod, names);
    std::ranges::sort(waiting, {}, turn_of);
    for (const auto& pod : waiting) {
        const auto wanted = as_far_as_told(scheduling::requests_of(pod->spec, names), offered);
        if (scheduling::fits(wanted, free))
            free -= wanted;
        else
            without.insert(pod->metadata.uid);
    }
    return without;
}

Promises::Promises(Informers& informers) : informers_(informers) {
    informers.claims.store().add_index(kClaimsByPod, launched_for);
    informers.pods.store().add_index(kPodsByUid, [](const api::Pod& pod) {
        return is_unschedulable(pod) ? std::vector{pod.metadata.uid} : std::vector<std::string>();
    });
}

std::vector<Promise> Promises::of(const api::Pod& pod) {
    std::vector<Promise> result;
    for (auto& claim : informers_.claims.store().by_index(kClaimsByPod, pod.metadata.uid)) {
        const auto node = claim::noted_node(informers_, *claim);
        const bool has_room = !node || !room_on(*node).without.contains(pod.metadata.uid);
        result.push_back({std::move(claim), has_room});
    }
    return result;
}

PodPointers Promises::waiting_for(const NodeSmithClaim& claim) const {
    PodPointers result;
    for (const auto& uid : launched_for(claim))
        std::ranges::move(informers_.pods.store().by_index(kPodsByUid, uid), std::back_inserter(result));
    return result;
}

const Promises::Room& Promises::room_on(const api::Node& node) {
    const auto& name = node.metadata.name;
    const auto [room, is_new] = rooms_.try_emplace(name);
    if (!is_new) return room->second;
    PodPointers waiting;
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, name))
        std::ranges::move(waiting_for(*claim), std::back_inserter(waiting));
    const auto bound = informers_.pods.store().by_index(kPodsByNode, name);
    room->second = {kube::keys_of(waiting), without_room(node, bound, waiting)};
    return room->second;
}

kube::Keys Promises::forget(const std::string& node) {
    const auto room = rooms_.extract(node);
    return room ? room.mapped().waiting : kube::Keys();
}

kube::Keys Promises::forget_nodes_of(const api::Pod& pod) {
    auto keys = forget(pod.spec.nodeName);
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByPod, pod.metadata.uid))
        std::ranges::move(forget(claim->status.nodeName), std::back_inserter(keys));
    return keys;
}

}  // namespace controllers::provisioning
