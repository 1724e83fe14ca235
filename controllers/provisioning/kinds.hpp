// Counts launches by kind of pod. A machine that did not help one pod helps none that is like it. So its
// successor, or the next pod of the kind, must not get machines without limit.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::provisioning {

// Returns the pod's kind, see scheduling/pods/pod_kind.hpp. A volume claim contributes its volume or, if
// none exists yet, its class and size.
std::string kind_of(const Informers& informers, const api::Pod& pod);

// Returns the kinds of the pods that a claim was launched for; empty for a claim that a user created.
std::vector<std::string> kinds_launched_for(const NodeSmithClaim& claim);

// Reports whether the Node came into service and since ran no pods except those of DaemonSets. It uses the
// claim's status, which the disruption reconciler maintains.
bool was_never_used(const NodeSmithClaim& claim);

struct KindHistory {
    // Counts launches of the last hour that no pod used in time. Launches made before the first of them has
    // shown anything count as the same mistake.
    int in_vain = 0;
    int of_use = 0;  // machines that some pod used
};
using KindHistories = std::map<std::string, KindHistory>;
KindHistories launches_by_kind(const Informers& informers, api::Time now);

// Returns the UIDs of the pods whose launched machines are in service and empty.
std::set<std::string> pods_of_empty_machines(const Informers& informers);

}  // namespace controllers::provisioning
