#include "operator/debug_state.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "api/json.hpp"
#include "api/time.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

// Spec and status hold no secrets: these are referenced, never copied.
template <class T>
json::array statuses(const kube::Store<T>& store) {
    json::array all;
    for (const auto& [key, object] : store.all()) {
        auto encoded = api::encode(*object).get_object();
        json::object entry{{"name", key.str()}};
        if (object->metadata.deletionTimestamp)
            entry["deletionTimestamp"] = object->metadata.deletionTimestamp->str();
        if (const auto* status = encoded.if_contains("status")) entry["status"] = *status;
        all.push_back(std::move(entry));
    }
    return all;
}

json::array unschedulable_pods(const controllers::Informers& informers) {
    json::array all;
    for (const auto& pod : informers.pods.store().by_index(controllers::kPodsUnschedulable, "true"))
        all.push_back(json::value(api::key_of(*pod).str()));
    return all;
}

// Why nodes stay although they could go.
json::array stays(const controllers::DisruptionReconciler& disruption) {
    json::array all;
    for (const auto& [node, stay] : disruption.stays()) {
        json::object entry{{"node", node},
                           {"kind", controllers::disruption::name_of(stay.kind)},
                           {"reason", stay.blocker.reason},
                           {"message", stay.blocker.message}};
        if (stay.blocker.until) entry["until"] = stay.blocker.until->str();
        all.push_back(std::move(entry));
    }
    return all;
}

}  // namespace

std::string debug_state(const controllers::Informers& informers,
                        const controllers::DisruptionReconciler& disruption, bool leading,
                        base::WallTime now) {
    json::object state{{"time", api::Time(now).str()},
                       {"leading", leading},
                       {"synced", informers.synced()},
                       {"managedNamespaces", informers.managed.str()},
                       {"pods", informers.pods.store().size()},
                       {"nodes", informers.nodes.store().size()},
                       {"unschedulablePods", unschedulable_pods(informers)},
                       {"disruption", stays(disruption)},
                       {"controlPlanes", statuses(informers.control_planes.store())},
                       {"providers", statuses(informers.providers.store())},
                       {"pools", statuses(informers.pools.store())},
                       {"claims", statuses(informers.claims.store())}};
    return json::serialize(state);
}

}  // namespace kubenodesmith
