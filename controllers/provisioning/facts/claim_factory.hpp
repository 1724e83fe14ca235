// Builds launched claims as values: their names, their content, and the pods they are for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers::provisioning {

// PlannedClaim describes one machine to launch.
struct PlannedClaim {
    api::v1alpha1::Size size;
    std::string zone;                    // empty: any
    std::vector<std::string> pod_uids;   // pods that it is launched for, in the order of placement
    std::vector<api::ObjectKey> pods;    // the same pods
    std::vector<std::string> pod_kinds;  // kinds of these pods, each once; see kinds.hpp
    std::optional<api::v1alpha1::OpenReplacement> replaces;  // the machine that it replaces
    std::string reason;  // for people, if it is not for pods: "to have at least 2 nodes"
};

// Returns "<kubeNodeNamePrefix or pool>-<5 characters of a-z and 0-9>". It is unique among a pool's
// sequences below 60 million, so a repeated launch finds the first one's claim. It has at most 63
// characters and is a valid host name.
std::string claim_name(const NodeSmithPool& pool, std::int64_t sequence);

// Builds a claim complete with finalizer and owner, so that nothing must be added after its creation.
NodeSmithClaim make_claim(const NodeSmithPool& pool, std::int64_t sequence,
                          const PlannedClaim& planned_claim);

// Returns the UIDs of the pods that a claim was launched for; empty for one that a user created.
std::vector<std::string> launched_for(const NodeSmithClaim& claim);
// Returns the comma-separated entries of an annotation of the claim, which had the name `former` in an
// earlier release.
std::vector<std::string> listed(const NodeSmithClaim& claim, std::string_view annotation,
                                std::string_view former);

// Returns "for pods default/web-1, default/web-2 and 3 more", or the launch's own reason.
std::string explain(const PlannedClaim& planned_claim);

}  // namespace controllers::provisioning
