#include "test/simulation/cluster/view.hpp"

#include <algorithm>

namespace simulation {

template <api::Kind T>
void ClusterSnapshot::Kept<T>::apply(const fake::Change& change) {
    api::ObjectKey key{change.key.namespace_, change.key.name};
    auto found = objects.find(key);
    auto before = found == objects.end() ? nullptr : found->second;
    std::shared_ptr<const T> after;
    if (change.after) {
        T object{};
        auto issues = api::decode_into(change.after->value(), &object, api::type_of<T>());
        // No model uses an object that cannot be decoded (odd_objects.hpp).
        if (issues.error) return;
        api::settle(std::move(issues), object);
        after = std::make_shared<const T>(std::move(object));
        objects[key] = after;
    } else if (found != objects.end()) {
        objects.erase(found);
    }
    if (!before && !after) return;
    for (const auto& listener : listeners) listener(before.get(), after.get());
}

ClusterSnapshot::ClusterSnapshot(fake::ApiServer& server) {
    std::map<std::string, std::function<void(const fake::Change&)>> appliers;
    std::apply(
        [&appliers](auto&... kept) {
            auto add = [&appliers]<api::Kind T>(Kept<T>& one) {
                appliers[fake::ApiServer::resource_name(T::kResource)] = [&one](const fake::Change& change) {
                    one.apply(change);
                };
            };
            (add(kept), ...);
        },
        kept_);
    server.observe([appliers = std::move(appliers)](const fake::Change& change) {
        if (change.key.namespace_ == kTenants) return;
        auto found = appliers.find(change.key.resource);
        if (found != appliers.end()) found->second(change);
    });
}

const api::Node* ClusterSnapshot::node_of_machine(const std::string& system_uuid) const {
    for (const auto& [key, node] : all<api::Node>()) {
        if (node->status.nodeInfo.systemUUID == system_uuid) return node.get();
    }
    return nullptr;
}

const NodeSmithClaim* ClusterSnapshot::claim_by_uid(const std::string& uid) const {
    for (const auto& [key, claim] : all<NodeSmithClaim>()) {
        if (claim->metadata.uid == uid) return claim.get();
    }
    return nullptr;
}

std::vector<const api::Pod*> ClusterSnapshot::pods_on(const std::string& node) const {
    std::vector<const api::Pod*> found;
    for (const auto& [key, pod] : all<api::Pod>()) {
        if (pod->spec.nodeName == node) found.push_back(pod.get());
    }
    return found;
}

bool has_ended(const api::Pod& pod) {
    return pod.status.phase == api::PodPhase::Succeeded || pod.status.phase == api::PodPhase::Failed;
}

bool is_ready(const api::Node& node) {
    return api::is_true(node.status.conditions, api::conditions::kReady);
}

bool is_alive(const api::Pod& pod) {
    return !has_ended(pod) && !pod.metadata.deletionTimestamp;
}

bool belongs_to_node(const api::Pod& pod) {
    const auto* owner = api::controller_of(pod.metadata);
    return (owner && owner->kind == "DaemonSet") ||
           pod.metadata.annotations->contains(std::string(api::annotations::kMirrorPod));
}

api::ResourceList requests_of(const api::Pod& pod) {
    api::ResourceList sum;
    for (const auto& container : pod.spec.containers) {
        for (const auto& [name, amount] : container.resources.requests) sum[name] += amount;
    }
    sum["pods"] = api::Quantity::of(1);
    return sum;
}

bool tolerates(const api::Pod& pod, const api::Taint& taint) {
    return std::ranges::any_of(pod.spec.tolerations, [&taint](const api::Toleration& toleration) {
        if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
        if (toleration.operator_ == api::TolerationOperator::Exists) {
            return toleration.key.empty() || toleration.key == taint.key;
        }
        return toleration.key == taint.key && toleration.value == taint.value;
    });
}

}  // namespace simulation
