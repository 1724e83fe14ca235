#include "operator/explain/explanation.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <functional>

#include "api/json.hpp"
#include "base/text.hpp"
#include "operator/command_line/formats.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostEvents = 5;
constexpr std::string_view kComponent = "kubenodesmith";

std::optional<api::Time> time_of(const api::Event& event) {
    return event.lastTimestamp ? event.lastTimestamp : event.metadata.creationTimestamp;
}

bool is_ours(const api::Event& event) {
    return event.source.component == kComponent || event.reportingComponent == kComponent;
}

std::string condition_line(const api::Condition& condition, api::Time now) {
    auto text = "  " + condition.type + "=" + std::string(api::to_string(condition.status));
    if (!condition.reason.empty() && condition.reason != condition.type)
        text += " (" + condition.reason + ")";
    if (condition.lastTransitionTime) text += ", since " + ago(condition.lastTransitionTime, now);
    return text + (condition.message.empty() ? "" : ": " + condition.message) + "\n";
}

json::object object_of(const Explanation& explanation) {
    json::array sentences;
    for (const auto& sentence : explanation.sentences) sentences.emplace_back(sentence);
    json::array conditions;
    for (const auto& condition : explanation.conditions)
        conditions.push_back(json::object{
            {"type", condition.type},
            {"status", api::to_string(condition.status)},
            {"reason", condition.reason},
            {"message", condition.message},
            {"lastTransitionTime",
             condition.lastTransitionTime ? condition.lastTransitionTime->str() : std::string()}});
    json::array events;
    for (const auto& event : explanation.events) {
        const auto time = time_of(event);
        events.push_back(json::object{{"time", time ? time->str() : std::string()},
                                      {"reason", event.reason},
                                      {"message", event.message}});
    }
    return {{"kind", explanation.kind},
            {"namespace", explanation.object.namespace_},
            {"name", explanation.object.name},
            {"sentences", std::move(sentences)},
            {"conditions", std::move(conditions)},
            {"events", std::move(events)}};
}

}  // namespace

std::string ago(std::optional<api::Time> when, api::Time now) {
    return when ? api::age(when, now) + " ago" : "some time ago";
}

std::string where_looked(const ClusterSnapshot& view) {
    return view.report().managed.all() ? ""
                                       : " in the managed namespaces (" + view.report().managed.str() + ")";
}

std::optional<Explanation> unmanaged(const ClusterSnapshot& view, std::string_view kind,
                                     const api::ObjectKey& key) {
    if (key.namespace_.empty() || view.report().managed.contains(key.namespace_)) return std::nullopt;
    Explanation explanation{.kind = "NodeSmith" + std::string(kind), .object = key, .now = view.now()};
    explanation.say(std::string(kind) + " " + key.str() + ": " +
                    view.report().managed.why_unmanaged(key.namespace_) + ".");
    return explanation;
}

void Explanation::say(std::string_view text) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        if (end > 0) sentences.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void Explanation::add_events(ClusterSnapshot& view) {
    auto read = view.events_about(kind, object);
    events_refusal = read.refusal;
    events = std::move(read.events);
    std::erase_if(events, [](const api::Event& event) { return !is_ours(event); });
    std::ranges::sort(events, std::greater<>(), time_of);
    if (events.size() > kMostEvents) events.resize(kMostEvents);
}

std::string text_of(const Explanation& explanation) {
    std::string text;
    for (const auto& sentence : explanation.sentences) text += sentence + "\n";
    if (!explanation.conditions.empty()) text += "Conditions:\n";
    for (const auto& condition : explanation.conditions) text += condition_line(condition, explanation.now);
    if (!explanation.events_refusal.empty())
        text += "You may not read the operator's Events about it: " + explanation.events_refusal + "\n";
    if (!explanation.events.empty()) text += "Events of the operator:\n";
    for (const auto& event : explanation.events)
        text +=
            "  " + ago(time_of(event), explanation.now) + ": " + event.reason + ": " + event.message + "\n";
    return text;
}

std::string text_of(const std::vector<Explanation>& explanations) {
    return base::joined(explanations, "", [](const Explanation& each) { return text_of(each); });
}

json::object json_of(const std::vector<Explanation>& explanations) {
    json::array items;
    for (const auto& explanation : explanations) items.push_back(object_of(explanation));
    auto document = document_of_kind("Explanations");
    document["items"] = std::move(items);
    return document;
}

}  // namespace kubenodesmith
