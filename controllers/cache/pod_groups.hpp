// Knows how many pods of a PodGroup must start together. Three kinds of API define PodGroups, and a cluster
// may have none of them, so they are read by need and not watched.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"

namespace controllers {

// PodGroupPolicy says how many pods of a group start together.
struct PodGroupPolicy {
    std::optional<std::int64_t> min_pods;  // nullopt: all pods that wait
};

// Returns "namespace/name" of the pod's PodGroup; empty: it has none. The group is named by
// spec.schedulingGroup, by the label of the scheduler plugin Coscheduling, or by Volcano's annotation.
std::string pod_group_of(const api::Pod& pod);

class PodGroups {
public:
    // The clock must outlive it.
    explicit PodGroups(base::Clock& clock) : clock_(clock) {}

    // Reads the groups of the pods that were not read for a while. A group that cannot be read, for example
    // because its kind does not exist, has no minimum. One call reads few groups, and the namespaces take
    // turns.
    boost::asio::awaitable<void> read(kube::Client& client, const PodPointers& pods);
    // Adds the object if it is a PodGroup of a known API. Returns false if it is not.
    bool take(const boost::json::value& object);

    // Returns the policy of the group, "namespace/name".
    PodGroupPolicy policy_of(const std::string& group) const;

private:
    struct Group {
        PodGroupPolicy policy;
        base::TimePoint read;
    };
    using Targets = std::map<std::string, std::vector<std::string>>;  // paths to try, by group
    Targets take_turns(std::map<std::string, Targets> due);
    boost::asio::awaitable<PodGroupPolicy> read_one(kube::Client& client, std::string target);

    base::Clock& clock_;
    std::map<std::string, Group> groups_;
    std::string last_namespace_;  // that had a turn
};

}  // namespace controllers
