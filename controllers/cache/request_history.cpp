#include "controllers/cache/request_history.hpp"

#include <algorithm>
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

// Reports whether the owner makes all its pods from one template. Others have pods of several roles, such as
// the steps of a workflow.
bool has_one_template(const api::OwnerReference& owner) {
    return owner.kind == "ReplicaSet" || owner.kind == "StatefulSet" ||
           owner.kind == "ReplicationController" ||
           (owner.kind == "Job" && owner.apiVersion.starts_with("batch/"));
}

// Returns the key of the pods that are made alike. Among pods of several roles, only one of the same name is
// like another. Empty: the pod does not come back elsewhere.
std::string group_of(const api::Pod& pod) {
    const auto* owner = scheduling::is_bound_to_node(pod) ? nullptr : api::controller_of(pod.metadata);
    if (!owner) return {};
    return has_one_template(*owner) ? owner->uid : owner->uid + "/" + pod.metadata.name;
}

api::ResourceList resizable(const api::ResourceList& requests) {
    api::ResourceList resizable;
    for (const auto* name : {"cpu", "memory"})
        if (const auto found = requests.find(name); found != requests.end()) resizable.insert(*found);
    return resizable;
}

bool has_same_containers(const api::PodSpec& a, const api::PodSpec& b) {
    return a.containers == b.containers && a.initContainers == b.initContainers && a.resources == b.resources;
}

// Reports whether `a` requests more than `b` of any resource.
bool requests_more(const api::PodSpec& a, const api::PodSpec& b) {
    scheduling::ResourceNames names;
    const auto requests = scheduling::requests_of(b, names);
    return scheduling::at_least(requests, scheduling::requests_of(a, names)) != requests;
}

}  // namespace

RequestHistory::Requests RequestHistory::requests_of(const api::PodSpec& spec) {
    Requests requests;
    for (const auto* containers : {&spec.containers, &spec.initContainers})
        for (const auto& container : *containers)
            requests.of_containers.emplace(container.name, resizable(container.resources.requests));
    if (spec.resources) requests.of_pod = resizable(spec.resources->requests);
    return requests;
}

// Returns what the pod's node granted it. A new pod requests about as much, because the owner's template does
// not ask for what the node refused.
RequestHistory::Requests RequestHistory::granted(const api::Pod& pod) {
    Requests requests;
    for (const auto* statuses : {&pod.status.containerStatuses, &pod.status.initContainerStatuses})
        for (const auto& status : *statuses)
            requests.of_containers.emplace(status.name, resizable(status.allocatedResources));
    if (!pod.status.allocatedResources.empty()) requests.of_pod = resizable(*pod.status.allocatedResources);
    return requests;
}

std::shared_ptr<const api::Pod> RequestHistory::with(const api::Pod& pod, const Requests& requests) {
    auto changed = std::make_shared<api::Pod>(pod);
    auto& spec = changed->spec;
    for (auto* containers : {&spec.containers, &spec.initContainers}) {
        if (containers->empty()) continue;
        for (auto& container : **containers) {
            const auto known = requests.of_containers.find(container.name);
            if (known == requests.of_containers.end()) continue;
            for (const auto& [name, quantity] : known->second) container.resources.requests[name] = quantity;
        }
    }
    if (spec.resources)
        for (const auto& [name, quantity] : requests.of_pod) spec.resources->requests[name] = quantity;
    return changed;
}

void RequestHistory::observe(const api::Pod* before, const api::Pod* after) {
    const auto group = after ? group_of(*after) : std::string();
    const bool is_same =
        before && after && before->metadata.uid == after->metadata.uid && group_of(*before) == group;
    if (before && !is_same) remove(*before);
    if (after && !is_same) add(*after);
    // Most changes of a pod are those of its status.
    if (!is_same || has_same_containers(before->spec, after->spec)) return;
    const auto known = groups_.find(group);
    if (known == groups_.end() || requests_of(before->spec) == requests_of(after->spec)) return;
    if (requests_more(before->spec, after->spec)) known->second.shrunk = now();
}

void RequestHistory::add(const api::Pod& pod) {
    const auto key = group_of(pod);
    if (key.empty()) return;
    auto& group = groups_[key];
    const bool is_first = group.pods == 0 && !group.gone;
    ++group.pods;
    group.gone.reset();
    const auto created = pod.metadata.creationTimestamp.value_or(api::Time());
    if (!is_first && created < group.created) return;
    const bool is_as_large = is_first || !requests_more(with(pod, group.first)->spec, pod.spec);
    // One of two equally old pods may have been shrunk before it was seen.
    if (created == group.created && !is_as_large) return;
    if (group.shrunk && is_as_large && created > group.created) group.came_back = now();
    group.created = created;
    group.first = requests_of(pod.spec);
}

void RequestHistory::remove(const api::Pod& pod) {
    const auto known = groups_.find(group_of(pod));
    if (known == groups_.end()) return;
    auto& group = known->second;
    if (group.pods > 0) --group.pods;
    if (group.pods > 0) return;
    if (group.shrunk)
        group.gone = now();
    else
        groups_.erase(known);
    forget_old();
}

void RequestHistory::forget_old() {
    const auto time = now();
    if (looked_ && time.at < looked_->at + kWithoutPods) return;
    looked_ = time;
    std::erase_if(groups_, [&](const auto& entry) {
        const auto& gone = entry.second.gone;
        return gone && time.at >= gone->at + kWithoutPods;
    });
}

bool RequestHistory::is_valid(const Group& group, api::Time time) {
    return (group.shrunk && time.at < group.shrunk->at + kRemembered) ||
           (group.came_back && time.at < group.came_back->at + kProven);
}

std::map<std::string, std::shared_ptr<const api::Pod>> RequestHistory::returning(
    const kube::Store<api::Pod>& pods) const {
    std::map<std::string, std::shared_ptr<const api::Pod>> all;
    const auto time = now();
    const bool any_shrunk =
        std::ranges::any_of(groups_, [time](const auto& entry) { return is_valid(entry.second, time); });
    for (const auto& [key, pod] : pods.all()) {
        if (pod->spec.nodeName.empty()) continue;
        const bool is_refused = scheduling::is_infeasible(*pod);
        if (!any_shrunk && !is_refused) continue;
        const auto known = groups_.find(group_of(*pod));
        if (known != groups_.end() && is_valid(known->second, time)) {
            auto larger = with(*pod, known->second.first);
            if (requests_more(larger->spec, pod->spec)) {
                all.emplace(pod->metadata.uid, std::move(larger));
                continue;
            }
        }
        if (is_refused) all.emplace(pod->metadata.uid, with(*pod, granted(*pod)));
    }
    return all;
}

}  // namespace controllers
