// Empties a Node through the eviction API, one level-triggered step at a time. Budgets are kept by the API
// server; what runs on the Node anyway (static, DaemonSet and ended pods) is left alone. Each pod is asked on
// its own: one whose eviction fails keeps no other pod. The Node's taint is the caller's business.
// https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
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
    // Respect do-not-disrupt annotations: for a disruption that we chose, not for a claim that a user
    // deleted.
    enum class Kind { voluntary, forced_by_user } kind = Kind::voluntary;
    // From then on nothing is waited for; pods are deleted so early that their grace period ends by then.
    // nullopt: wait for budgets and pods as long as it takes.
    std::optional<api::Time> deadline;
    // UIDs of pods that stay: the machine is kept for their volumes.
    std::set<std::string> spared;
};

struct DrainProgress {
    bool done = false;
    std::vector<std::string> waiting;  // namespace/name of pods that are ending or still to be evicted
    std::vector<std::string> blocked;  // "namespace/name: why not", failures first
    bool fails = false;                // an eviction or deletion of one of them fails
    base::Duration retry_after{};      // zero: only when pods change
    std::string message() const;       // for a condition; changes only with the pods
};

// What one step does; pure.
struct DrainPlan {
    PodPointers evict;
    PodPointers kill;  // delete: the deadline leaves no time for budgets
    PodPointers ending;
    PodPointers later;  // when those that matter less have ended
    PodPointers protected_;
};
// `stuck`: UIDs of pods that have been ending for so long that they are not waited for.
DrainPlan plan_drain(const PodPointers& pods, const DrainRequest& request, api::Time now,
                     const std::set<std::string>& stuck = {});

// A pod that a drain evicts: neither static nor of a DaemonSet nor ended.
bool is_drainable(const api::Pod& pod);
// The pods of the node as the API server knows them.
asio::awaitable<PodPointers> live_pods(kube::Client& client, std::string node);
// How long the pods of a node may take to end by their own grace periods; the critical ones are asked when
// the others have ended. Pods that end already are not counted.
struct LongestEnd {
    base::Seconds duration{0};
    std::string
        pods;  // whose grace periods these are, for people: "default/db (1h)"; empty: nobody has to move
};
LongestEnd longest_end(const PodPointers& pods);
// The annotations of do-not-disrupt, a duration counted from the pod's start.
bool is_protected(const api::Pod& pod, api::Time now);
// The user says that it may be evicted although it looks precious.
bool is_safe_to_evict(const api::Pod& pod);
// Why no disruption of ours would evict the pod: "is annotated not to be disrupted", "has no controller that
// would bring it back"; empty: one may.
std::string protection_of(const api::Pod& pod, api::Time now);

class Drainer {
public:
    Drainer(Informers& informers, kube::Client& client, base::Clock& clock);

    // Evicts what may be evicted now. Cancelling half-way is safe.
    asio::awaitable<DrainProgress> step(DrainRequest request);
    // Pods of the node that a drain forced by a user evicts although something protects them.
    PodPointers protected_on(const std::string& node) const;
    // When a pod was last asked to leave, by this process; nullopt: none was.
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
