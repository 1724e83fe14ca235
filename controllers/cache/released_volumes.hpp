// Remembers when pods that used volumes left their nodes. The volumes are detached a little later.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "api/pod.hpp"
#include "api/time.hpp"
#include "base/clock.hpp"
#include "kube/store.hpp"

namespace controllers {

class ReleasedVolumes {
public:
    // Limits how long a volume may stay attached without a pod until its place counts as taken. Most volumes
    // are detached within seconds.
    static constexpr std::chrono::minutes kDetachPatience{2};

    // The clock must outlive it.
    explicit ReleasedVolumes(base::Clock& clock) : clock_(clock), start_(clock.wall_now()) {}

    // Handles a change of a pod; null: there is none before or after it.
    void observe(const api::Pod* before, const api::Pod* after);

    // Returns when the last pod that used the volume claim left the node. A pod that left before the operator
    // started counts as having left then.
    api::Time released(const std::string& node, const kube::ObjectKey& claim) const;

private:
    using Key = std::pair<std::string, kube::ObjectKey>;  // node, volume claim
    void forget_old(api::Time now);

    base::Clock& clock_;
    api::Time start_;
    std::map<Key, api::Time> released_;
    std::optional<api::Time> looked_;  // for entries to forget
};

}  // namespace controllers
