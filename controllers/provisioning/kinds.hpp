// Launches by kind of pod: a machine that did not help one pod helps none that is like it, so the next one,
// or the one that replaces it, is not launched for as if nothing had happened.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::provisioning {

// See scheduling/pods/pod_kind.hpp. Of a volume claim counts the volume, or if there is none yet, class and
// size.
std::string kind_of(const Informers& informers, const api::Pod& pod);

// What a claim was launched for, by the kinds of the pods; empty for one that was applied by a user.
std::vector<std::string> kinds_bought_for(const NodeSmithClaim& claim);

// A Node that came into service and has had no pod but those of DaemonSets since. By the claim's status,
// which the disruption reconciler keeps.
bool was_never_used(const NodeSmithClaim& claim);

struct KindHistory {
    // How often within the last hour machines were launched that no pod used, although they had their time.
    // What is launched before the first of them has shown anything repeats no mistake: it is the same one.
    int in_vain = 0;
    int of_use = 0;  // machines that some pod used
};
using KindHistories = std::map<std::string, KindHistory>;
KindHistories launches_by_kind(const Informers& informers, api::Time now);

// UIDs of the pods for which machines were launched that are in service and empty.
std::set<std::string> pods_of_empty_machines(const Informers& informers);

}  // namespace controllers::provisioning
