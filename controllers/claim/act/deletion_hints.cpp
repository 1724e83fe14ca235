#include "controllers/claim/act/deletion_hints.hpp"

#include "providers/foreign/shown_text.hpp"

namespace controllers::claim {

namespace {

constexpr std::size_t kMostTraces = 256;
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

asio::awaitable<std::string> DeletionHints::about(std::string node) {
    auto said = co_await events_about(node);
    const auto traces = traces_of(node);
    std::string text;
    for (const auto& hint : {said, traces})
        if (!hint.empty()) text += (text.empty() ? "" : "; ") + hint;
    const auto log =
        "the API server's audit log shows who deleted it (verb delete, resource nodes, name " + node + ")";
    co_return text.empty() ? log : text + "; " + log;
}

}  // namespace controllers::claim
