// The claims that are launched, as values: their names, what they say, and whom they are for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::provisioning {

// One machine to launch.
struct PlannedClaim {
    api::v1alpha1::Size size;
    std::string zone;                    // empty: any
    std::vector<std::string> pod_uids;   // whom it is launched for, in the order of placement
    std::vector<std::string> pod_names;  // the same as "namespace/name"
    std::vector<std::string> pod_kinds;  // of these, each once; see kinds.hpp
    std::optional<api::v1alpha1::OpenReplacement> replaces;  // the machine whose place it takes
    std::string reason;  // for people, if it is not for pods: "to have at least 2 nodes"
};

// "<kubeNodeNamePrefix or pool>-<5 characters of a-z and 0-9>". Different for each sequence below 60 million
// of a pool, so that asking twice for the same launch finds the first one's claim. At most 63 characters,
// fit for a host name.
std::string claim_name(const NodeSmithPool& pool, std::int64_t sequence);

// Complete with finalizer and owner, so that nothing has to be added after its creation.
NodeSmithClaim make_claim(const NodeSmithPool& pool, std::int64_t sequence,
                          const PlannedClaim& planned_claim);

// UIDs of the pods that a claim was launched for; empty for one that was applied by a user.
std::vector<std::string> bought_for(const NodeSmithClaim& claim);
// What an annotation of the claim lists, separated by commas.
std::vector<std::string> listed(const NodeSmithClaim& claim, std::string_view annotation);

// "for pods default/web-1, default/web-2 and 3 more", or the launch's own reason.
std::string explain(const PlannedClaim& planned_claim);

}  // namespace controllers::provisioning
