#include "controllers/cache/request_history.hpp"

#include <chrono>

#include "api/meta.hpp"
#include "scheduling/nodes/node_digest.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers {

namespace {

// Limits how long one loss of requests counts. Some programs shrink pods for good and give new ones the
// smaller size, too.
constexpr std::chrono::hours kRemembered{1};
// Pods that once came back larger do so again.
constexpr std::chrono::hours kProven{24};
// A StatefulSet replaces its only pod after it is gone.
constexpr std::chrono::minutes kWithoutPods{10};

// Returns null for pods that do not come back elsewhere.
const api::OwnerReference* owner_of(const api::Pod& pod) {
    return scheduling::is_bound_to_node(pod) ? nullptr : api::controller_of(pod.metadata);
}

bool has_same_requests(const api::PodSpec& a, const api::PodSpec& b) {
    return a.containers == b.containers && a.initContainers == b.initContainers && a.resources == b.resources;
}

// Reports whether `a` requests more than `b` of any resource.
bool requests_more(const api::PodSpec& a, const api::PodSpec& b) {
    scheduling::ResourceNames names;
    const auto requests = scheduling::requests_of(b, names);
    return scheduling::at_least(requests, scheduling::requests_of(a, names)) != requests;
}

}  // namespace

void RequestHistory::set_requests(api::PodSpec& spec, const Requests& requests) {
    spec.containers = requests.containers;
    spec.initContainers = requests.init_containers;
    spec.resources = requests.of_pod;
}

void RequestHistory::observe(const api::Pod* before, const api::Pod* after) {
    const auto* owner = after ? owner_of(*after) : nullptr;
    const auto* last_owner = before ? owner_of(*before) : nullptr;
    const bool is_same = owner && last_owner && owner->uid == last_owner->uid;
    if (before && !is_same) remove(*before);
    if (after && !is_same) add(*after);
    if (!is_same || has_same_requests(before->spec, after->spec)) return;
    const auto known = owners_.find(owner->uid);
    if (known == owners_.end() || !requests_more(before->spec, after->spec)) return;
    known->second.shrunk = now();
    note_variation(known->second);
}

void RequestHistory::note_variation(Owner& owner) {
    if (!owner.varies) ++varying_;
    owner.varies = true;
}

void RequestHistory::forget(std::map<std::string, Owner>::iterator owner) {
    if (owner->second.varies) --varying_;
    owners_.erase(owner);
}

void RequestHistory::add(const api::Pod& pod) {
    const auto* reference = owner_of(pod);
    if (!reference) return;
    auto& owner = owners_[reference->uid];
    const bool is_first = owner.pods == 0 && !owner.gone;
    ++owner.pods;
    owner.gone.reset();
    const auto created = pod.metadata.creationTimestamp.value_or(api::Time());
    auto last = pod.spec;
    if (!is_first) set_requests(last, owner.first);
    const bool is_same = has_same_requests(last, pod.spec);
    if (!is_same) note_variation(owner);
    if (!is_first && created < owner.created) return;
    const bool is_as_large = is_same || !requests_more(last, pod.spec);
    // Of pods that are equally old, one may have been shrunk before it was seen.
    if (created == owner.created && !is_as_large) return;
    if (owner.shrunk && is_as_large && created > owner.created) owner.came_back = now();
    owner.created = created;
    owner.first = {pod.spec.containers, pod.spec.initContainers, pod.spec.resources};
}

void RequestHistory::remove(const api::Pod& pod) {
    const auto* reference = owner_of(pod);
    const auto known = reference ? owners_.find(reference->uid) : owners_.end();
    if (known == owners_.end()) return;
    auto& owner = known->second;
    if (owner.pods > 0) --owner.pods;
    if (owner.pods > 0) return;
    if (owner.shrunk || owner.came_back)
        owner.gone = now();
    else
        forget(known);
    forget_old();
}

void RequestHistory::forget_old() {
    const auto time = now();
    if (looked_ && time.at < looked_->at + kWithoutPods) return;
    looked_ = time;
    for (auto owner = owners_.begin(); owner != owners_.end();) {
        const auto each = owner++;
        if (each->second.gone && time.at >= each->second.gone->at + kWithoutPods) forget(each);
    }
}

bool RequestHistory::is_valid(const Owner& owner) const {
    const auto time = now();
    return time.at < owner.created.at + kRemembered || (owner.shrunk && time.at < owner.shrunk->at + kRemembered) ||
           (owner.came_back && time.at < owner.came_back->at + kProven);
}

std::shared_ptr<const api::Pod> RequestHistory::returning(const api::Pod& pod, const Owner& owner) const {
    auto returning = std::make_shared<api::Pod>(pod);
    set_requests(returning->spec, owner.first);
    if (has_same_requests(returning->spec, pod.spec) || !requests_more(returning->spec, pod.spec))
        return nullptr;
    return returning;
}

std::map<std::string, std::shared_ptr<const api::Pod>> RequestHistory::returning(
    const kube::Store<api::Pod>& pods) const {
    std::map<std::string, std::shared_ptr<const api::Pod>> all;
    if (varying_ == 0) return all;
    for (const auto& [key, pod] : pods.all()) {
        const auto* reference = pod->spec.nodeName.empty() ? nullptr : owner_of(*pod);
        const auto known = reference ? owners_.find(reference->uid) : owners_.end();
        if (known == owners_.end() || !known->second.varies || !is_valid(known->second)) continue;
        if (auto larger = returning(*pod, known->second)) all.emplace(pod->metadata.uid, std::move(larger));
    }
    return all;
}

}  // namespace controllers
