#include "controllers/cache/pod_groups.hpp"

#include <boost/asio/error.hpp>
#include <boost/json/value.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "api/names.hpp"
#include "base/url.hpp"
#include "kube/api_error.hpp"

namespace controllers {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// Few groups change their minimum, and the scheduler tries them again and again.
constexpr std::chrono::seconds kFresh{30};
// Limits the requests of one pass; the others have no minimum until the next one.
constexpr std::size_t kMostReads = 20;

constexpr std::string_view kNative = "scheduling.k8s.io";
constexpr std::string_view kCoscheduling = "scheduling.x-k8s.io/v1alpha1";
constexpr std::string_view kVolcano = "scheduling.volcano.sh/v1beta1";

// Names a group and the versions of its API, the preferred one first.
struct GroupReference {
    std::string name;
    std::vector<std::string_view> versions;
};

GroupReference reference_of(const api::Pod& pod) {
    const auto& group = pod.spec.schedulingGroup;
    if (group && !group->podGroupName.empty())
        return {group->podGroupName, {"scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha2"}};
    if (const auto* name = api::find(pod.metadata.labels, api::labels::kCoschedulingGroup))
        return {*name, {kCoscheduling}};
    if (const auto* name = api::find(pod.metadata.annotations, api::annotations::kVolcanoGroup))
        return {*name, {kVolcano}};
    return {};
}

const json::value* value_at(const json::value& object, std::string_view pointer) {
    boost::system::error_code error;
    return object.find_pointer(pointer, error);
}

std::optional<std::int64_t> number_at(const json::value& object, std::string_view pointer) {
    const auto* found = value_at(object, pointer);
    return found && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

std::string text_at(const json::value& object, std::string_view pointer) {
    const auto* found = value_at(object, pointer);
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

// Returns 1 for a group without a gang: each of its pods starts alone.
PodGroupPolicy policy_in(const json::value& object) {
    if (value_at(object, "/spec/schedulingPolicy/basic")) return {1};
    const auto native = number_at(object, "/spec/schedulingPolicy/gang/minCount");
    return {native ? native : number_at(object, "/spec/minMember")};
}

}  // namespace

std::string pod_group_of(const api::Pod& pod) {
    const auto reference = reference_of(pod);
    return reference.name.empty() ? std::string() : pod.metadata.namespace_ + "/" + reference.name;
}

asio::awaitable<PodGroupPolicy> PodGroups::read_one(kube::Client& client, std::string target) {
    try {
        const auto object = co_await client.get_json(target);
        if (object) co_return policy_in(*object);
    } catch (const kube::ApiError& error) {
        // Without the kind, the right or a possible name, all waiting pods of the group start together.
        const bool is_passing = error.code >= 500 || error.code == 429;
        if (is_passing) throw;
    }
    co_return PodGroupPolicy{};
}

// Returns a few of the groups, the same number of each namespace as far as it has them. The author of many
// pods could otherwise keep the groups of others unread.
PodGroups::Targets PodGroups::take_turns(std::map<std::string, Targets> due) {
    Targets taken;
    auto next = due.upper_bound(last_namespace_);
    while (!due.empty() && taken.size() < kMostReads) {
        if (next == due.end()) next = due.begin();
        last_namespace_ = next->first;
        taken.insert(next->second.extract(next->second.begin()));
        next = next->second.empty() ? due.erase(next) : std::next(next);
    }
    return taken;
}

asio::awaitable<void> PodGroups::read(kube::Client& client, const PodPointers& pods) {
    std::map<std::string, Targets> due;  // by namespace
    std::set<std::string> groups;
    for (const auto& pod : pods) {
        const auto reference = reference_of(*pod);
        if (reference.name.empty()) continue;
        const auto& namespace_ = pod->metadata.namespace_;
        const auto group = namespace_ + "/" + reference.name;
        groups.insert(group);
        const auto known = groups_.find(group);
        if (known != groups_.end() && clock_.now() < known->second.read + kFresh) continue;
        auto& targets = due[namespace_][group];
        if (!targets.empty()) continue;
        for (const auto version : reference.versions)
            targets.push_back("/apis/" + std::string(version) + "/namespaces/" + namespace_ + "/podgroups/" +
                              base::percent_encode(reference.name));
    }
    if (due.empty()) co_return;
    std::erase_if(groups_, [&](const auto& entry) {
        return !groups.contains(entry.first) && clock_.now() >= entry.second.read + kFresh;
    });
    bool is_reached = true;
    for (const auto& [group, versions] : take_turns(std::move(due))) {
        PodGroupPolicy policy;
        for (const auto& target : versions) {
            // Decisions do not wait for one timeout after the other.
            if (!is_reached || policy.min_pods) break;
            try {
                policy = co_await read_one(client, target);
            } catch (const boost::system::system_error& error) {
                if (error.code() == asio::error::operation_aborted) throw;
                is_reached = false;
            } catch (const std::exception&) {
                is_reached = false;
            }
        }
        // A failure says nothing about the group, so the policy that is known still holds.
        if (!is_reached) policy = policy_of(group);
        groups_.insert_or_assign(group, Group{policy, clock_.now()});
    }
}

bool PodGroups::take(const json::value& object) {
    const auto version = text_at(object, "/apiVersion");
    const bool is_known =
        version == kCoscheduling || version == kVolcano || version.substr(0, version.find('/')) == kNative;
    if (!is_known || text_at(object, "/kind") != "PodGroup") return false;
    auto namespace_ = text_at(object, "/metadata/namespace");
    if (namespace_.empty()) namespace_ = "default";
    groups_.insert_or_assign(namespace_ + "/" + text_at(object, "/metadata/name"),
                             Group{policy_in(object), clock_.now()});
    return true;
}

PodGroupPolicy PodGroups::policy_of(const std::string& group) const {
    const auto found = groups_.find(group);
    return found == groups_.end() ? PodGroupPolicy() : found->second.policy;
}

}  // namespace controllers
