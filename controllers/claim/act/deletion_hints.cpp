#include "controllers/claim/act/deletion_hints.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/state/field_managers.hpp"
#include "providers/foreign/shown_text.hpp"

namespace controllers::claim {

namespace {

constexpr std::size_t kMostTraces = 256;
constexpr std::size_t kMostManagers = 5;
// k8s.io/cloud-provider: controllers/nodelifecycle
constexpr std::string_view kDeletingNode = "DeletingNode";

std::string source_of(const api::Event& event) {
    return event.source.component.empty() ? event.reportingComponent : event.source.component;
}

}  // namespace

std::string last_traces(const api::Node& node) {
    std::string text;
    if (api::find_taint(node.spec.taints, api::taints::kUninitialized, api::taints::kNoSchedule))
        text = "it had the taint " + std::string(api::taints::kUninitialized) +
               ", so a cloud controller manager may not have found its machine";
    return text;
}

void DeletionHints::subscribe() {
    informers_.nodes.on_change([this](const api::Node* before, const api::Node* after) {
        if (after || !before || !before->metadata.labels->contains(std::string(api::labels::kClaim))) return;
        traces_.emplace_front(before->metadata.name, last_traces(*before));
        if (traces_.size() > kMostTraces) traces_.pop_back();
    });
}

std::string DeletionHints::traces_of(const std::string& node) const {
    for (const auto& [name, traces] : traces_)
        if (name == node) return traces;
    return {};
}

asio::awaitable<std::string> DeletionHints::events_about(std::string node) {
    kube::ListOptions options;
    options.namespace_ = "default";  // namespace of Events about objects without one
    options.field_selector =
        "involvedObject.kind=Node,involvedObject.name=" + node + ",reason=" + std::string(kDeletingNode);
    options.first_page_only = true;
    std::vector<api::Event> events;
    try {
        auto listed = co_await client_.list<api::Event>(std::move(options));
        events = std::move(listed.objects);
    } catch (const kube::ApiError&) {
        // An administrator may have revoked the right, and the claim must proceed without a hint.
        co_return std::string();
    } catch (const base::TransportError&) {
        co_return std::string();
    }
    if (events.empty()) co_return std::string();
    const auto& event = events.back();
    // Any kubelet may write such an Event.
    co_return "Event " + event.reason + " of " + providers::foreign::shown(source_of(event)) +
        " says: " + providers::foreign::shown(event.message);
}

asio::awaitable<std::string> DeletionHints::writers_of_nodes(ClaimPointer claim) {
    NodePointer other;
    for (const auto& [key, node] : informers_.nodes.store().all()) {
        if (key.name == claim->status.nodeName) continue;
        const bool is_managed = api::find(node->metadata.labels, api::labels::kClaim);
        if (!other || is_managed) other = node;
        if (is_managed) break;
    }
    if (!other) co_return std::string();
    std::optional<boost::json::value> live;
    try {
        live = co_await client_.get_json(kube::path_of(api::Node::kResource, api::key_of(*other)));
    } catch (const kube::ApiError&) {
        co_return std::string();
    } catch (const base::TransportError&) {
        co_return std::string();
    }
    auto managers = live ? unusual_managers(*live) : std::vector<std::string>();
    if (managers.empty()) co_return std::string();
    managers.resize(std::min(managers.size(), kMostManagers));
    for (auto& manager : managers) manager = providers::foreign::shown(manager);
    co_return "programs that write to Nodes, as metadata.managedFields of Node " + other->metadata.name +
        " shows: " + base::joined(managers);
}

asio::awaitable<std::string> DeletionHints::about(ClaimPointer claim) {
    const auto& node = claim->status.nodeName;
    auto said = co_await events_about(node);
    const auto traces = traces_of(node);
    auto writers = co_await writers_of_nodes(claim);
    std::string text;
    for (const auto& hint : {said, traces, writers})
        if (!hint.empty()) text += (text.empty() ? "" : "; ") + hint;
    const auto log =
        "the API server's audit log shows who deleted it (verb delete, resource nodes, name " + node + ")";
    co_return text.empty() ? log : text + "; " + log;
}

}  // namespace controllers::claim
