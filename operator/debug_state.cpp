#include "operator/debug_state.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "api/json.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

// Describes an object. Spec and status have no secrets: they refer to them and never contain copies.
template <class T>
json::object entry_of(const T& object) {
    auto encoded = api::encode(object).get_object();
    json::object entry{{"name", api::key_of(object).str()}};
    if (object.metadata.deletionTimestamp)
        entry["deletionTimestamp"] = object.metadata.deletionTimestamp->str();
    if (const auto* status = encoded.if_contains("status")) entry["status"] = *status;
    return entry;
}

json::object entry_of(const report::ClaimFacts& facts) {
    return entry_of(*facts.claim);
}

// Describes why a node is kept although it was a candidate.
json::object entry_of(const controllers::disruption::Stays::value_type& node_and_stay) {
    const auto& [node, stay] = node_and_stay;
    json::object entry{{"node", node},
                       {"kind", controllers::disruption::name_of(stay.kind)},
                       {"reason", stay.blocker.reason},
                       {"message", stay.blocker.message}};
    if (stay.blocker.until) entry["until"] = stay.blocker.until->str();
    return entry;
}

template <class T>
json::object entry_of(const std::shared_ptr<const T>& object) {
    return entry_of(*object);
}

json::array entries_of(const auto& all) {
    json::array entries;
    for (const auto& one : all) entries.push_back(entry_of(one));
    return entries;
}

}  // namespace

std::string debug_state(const report::ClusterReport& report) {
    json::array unschedulable;
    for (const auto& pod : report.unschedulable) unschedulable.emplace_back(api::key_of(*pod).str());
    return json::serialize(json::object{{"time", report.time.str()},
                                        {"leading", report.leading},
                                        {"synced", report.synced},
                                        {"managedNamespaces", report.managed.str()},
                                        {"pods", report.pods},
                                        {"nodes", report.nodes},
                                        {"unschedulablePods", std::move(unschedulable)},
                                        {"disruption", entries_of(report.stays)},
                                        {"controlPlanes", entries_of(report.control_planes)},
                                        {"providers", entries_of(report.providers)},
                                        {"pools", entries_of(report.pools)},
                                        {"claims", entries_of(report.claims)}});
}

}  // namespace kubenodesmith
