// Facts about one object as sentences, which can be printed in several formats.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

// Sentence for an object without conditions.
inline constexpr const char* kNeverSeen =
    "The operator has not examined it yet. Is it running, and does it manage this namespace? kubenodesmith "
    "check shows more.";

struct Explanation {
    std::string kind;
    api::ObjectKey object;
    api::Time now;
    std::vector<std::string> sentences;
    api::Conditions conditions;
    std::vector<api::Event> events;  // written by the operator, the latest first
    std::string events_refusal;      // why the API server refuses to list them; empty: it does not

    // Adds each line of the text as a sentence.
    void say(std::string_view text);
    // Adds the operator's latest Events about the object.
    void add_events(ClusterSnapshot& view);
};

std::string text_of(const Explanation& explanation);
std::string text_of(const std::vector<Explanation>& explanations);
boost::json::object json_of(const std::vector<Explanation>& explanations);

// Returns, for example, "30 s ago".
std::string ago(std::optional<api::Time> when, api::Time now);
// Returns, for example, " in the managed namespaces (kubenodesmith, lab)"; empty if all are managed.
std::string where_looked(const ClusterSnapshot& view);
// Explains an object outside the managed namespaces. Returns nullopt if its namespace is managed or not
// given.
std::optional<Explanation> unmanaged(const ClusterSnapshot& view, std::string_view kind,
                                     const api::ObjectKey& key);

}  // namespace kubenodesmith
