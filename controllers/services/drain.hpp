// Empties a Node through the eviction API, in level-triggered steps. The API server enforces budgets. Pods
// that belong to the Node (static, DaemonSet and ended ones) are ignored, and so are pods that came back
// despite its taint. Each pod is evicted separately, so one that fails delays no other. The caller manages
// the taint. https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "base/clock.hpp"
#include "controllers/cache/informers.hpp"
#include "controllers/services/evictions.hpp"
#include "kube/client.hpp"

namespace controllers {

struct DrainRequest {
    std::string node;
    // `voluntary` respects do-not-disrupt annotations. It is for our own disruptions, not
    // for claims that a user deleted.
    enum class Kind { voluntary, forced_by_user } kind = Kind::voluntary;
    // Sets when waiting ends. Pods are deleted early enough for their grace period to end by then. nullopt:
    // wait for budgets and pods as long as they need.
    std::optional<api::Time> deadline;
    // Sets since when pods were evicted; nullopt: none was yet. See may_come_back().
    std::optional<api::Time> began;
    // UIDs of pods that stay, because the machine is kept for their volumes.
    std::set<std::string> spared;
};

struct DrainProgress {
    bool done = false;
    std::vector<std::string> waiting;    // namespace/name of pods that are ending or still to be evicted
    std::vector<std::string> blocked;    // "namespace/name: why not", failures first
    std::vector<std::string> came_back;  // pods that are left, because they came back despite the taint
    bool fails = false;                  // an eviction or deletion of one of them fails
    base::Duration retry_after{};        // zero: only when pods change
    std::string message() const;         // for a condition; changes only with the pods
};

// DrainPlan holds what one step does. Pure.
struct DrainPlan {
    PodPointers evict;
    PodPointers kill;  // delete: the deadline leaves no time for budgets
    PodPointers ending;
    PodPointers later;  // after less important pods have ended
    PodPointers protected_;
    PodPointers came_back;  // end with the machine
};
// Plans a step. `stuck` has the UIDs of pods that have been ending for too long to wait for.
DrainPlan plan_drain(const PodPointers& pods, const DrainRequest& request, api::Time now,
                     const std::set<std::string>& stuck = {});

// Reports whether a drain evicts the pod: it is neither static nor of a DaemonSet nor ended.
bool is_drainable(const api::Pod& pod);
// Reports whether an eviction may be without effect: a controller creates the pod again, and it tolerates the
// taint of a node that is drained. The scheduler may then bind it to the same node immediately, after each
// eviction.
bool may_come_back(const api::Pod& pod);
// Returns the pods of the node according to the API server.
asio::awaitable<PodPointers> live_pods(kube::Client& client, std::string node);
// LongestEnd says how long the pods of a node may take to end by their own grace periods. Critical pods are
// evicted after the others have ended. Pods that are ending already do not count.
struct LongestEnd {
    base::Seconds duration{0};
    std::string
        pods;  // the pods with these grace periods, for people: "default/db (1h)"; empty: no pod has to move
};
LongestEnd longest_end(const PodPointers& pods);
// Reports whether a do-not-disrupt annotation protects the pod. A duration counts from the pod's start.
bool is_protected(const api::Pod& pod, api::Time now);
// Reports whether the user permits its eviction although it looks precious.
bool is_safe_to_evict(const api::Pod& pod);
// Returns why none of our disruptions would evict the pod: "is annotated not to be disrupted (...)", "has no
// controller that would bring it back"; empty: one may.
std::string protection_of(const api::Pod& pod, api::Time now);

class Drainer {
public:
    Drainer(Informers& informers, kube::Client& client, base::Clock& clock);

    // Evicts the pods that may be evicted now. It may be cancelled at any point.
    asio::awaitable<DrainProgress> step(DrainRequest request);
    // Returns the protected pods of the node that a drain forced by a user evicts nevertheless.
    PodPointers protected_on(const std::string& node) const;
    // Returns when this process last evicted a pod; nullopt: none.
    std::optional<base::TimePoint> evicted_at() const { return evictions_.accepted_at(); }
    // Cancels requests that are not answered yet. No step may follow.
    asio::awaitable<void> end() { return evictions_.end(); }

private:
    void note(const EvictionRequest& request, DrainProgress& progress) const;
    asio::awaitable<void> confirm(DrainRequest request, DrainProgress& progress);
    std::set<std::string> stuck_among(const std::string& node, const PodPointers& pods);
    base::Seconds grace_until(const api::Pod& pod, api::Time deadline) const;

    Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    Evictions evictions_;
    struct Ending {
        base::TimePoint first_seen;
        base::TimePoint last_seen;
        std::optional<base::TimePoint> unheard_since;  // its Node is not Ready
    };
    std::map<std::string, Ending> endings_;  // by pod UID
};

}  // namespace controllers
