// What is known of one object, in sentences: as a value, so that it can be printed in several forms.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {

// Of an object that has no conditions.
inline constexpr const char* kNeverSeen =
    "The operator has not looked at it yet. Does it run, and does it manage this namespace? kubenodesmith "
    "check says more.";

struct Explanation {
    std::string kind;
    api::ObjectKey object;
    api::Time now;
    std::vector<std::string> sentences;
    api::Conditions conditions;
    std::vector<api::Event> events;  // what the operator said, the latest first
    std::string events_refusal;      // why the API server does not show these; empty: it does

    // Adds the lines of the text.
    void say(std::string_view text);
    // Takes in what the operator said of the object.
    void add_events(ClusterSnapshot& view);
};

std::string text_of(const Explanation& explanation);
std::string text_of(const std::vector<Explanation>& explanations);
boost::json::object json_of(const std::vector<Explanation>& explanations);

// "30 s ago".
std::string ago(std::optional<api::Time> when, api::Time now);
// " in the managed namespaces (kubenodesmith, lab)", unless these are all.
std::string where_looked(const ClusterSnapshot& view);
// An object of ours that is where nothing is done; nullopt: it is in a managed namespace, or in any.
std::optional<Explanation> unmanaged(const ClusterSnapshot& view, std::string_view kind,
                                     const api::ObjectKey& key);

}  // namespace kubenodesmith
