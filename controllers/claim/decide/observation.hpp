// Holds what the stores know about one claim while a pass works with it.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/decide/situation.hpp"
#include "controllers/claim/facts/local_volumes.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/claim/facts/node_search.hpp"

namespace controllers::claim {

struct Observation {
    ClaimPointer claim;
    ClaimPointer stored;  // as the API server has it; `claim` may be ahead of it
    PoolPointer pool;
    ProviderPointer provider;
    HostPointer host;          // set for bare metal, once it is chosen
    NodePointer node;          // runs on the claim's machine
    std::string node_refusal;  // see Situation
    std::string contest;       // see Situation
    std::string name_taken;    // see Situation
    NodePointer namesake;      // has the claim's name but runs on another machine
    bool namesake_is_leftover = false;
    bool volumes_attached = false;
    LocalVolumes volumes;               // on the machine's disk
    bool is_superseded = false;         // see Situation
    std::string held_volumes;           // see Situation
    std::set<std::string> tied_pods;    // see Situation
    VolumePlaces volume_places;         // see Situation
    bool is_pool_unreadable = false;    // see Situation
    bool has_present_template = false;  // see NodeOrigin
    bool went_back = false;             // see Situation
    bool is_unchecked = false;          // see Situation
    std::optional<Hold> launch_hold;
    std::string guest_silence;       // see Situation
    MachineReports::Report machine;  // see Situation
    MachineReports::Certificate certificate;
    std::optional<DisruptionReports::Use> use;
    DisruptionReports::Permission permission = DisruptionReports::Permission::none;
    api::Time leads_since;  // see Situation
    api::Time now;

    // Returns a view that is valid as long as this object.
    Situation situation() const;
    NodeOrigin origin() const;
    // Returns the same observation with the claim as it was just written.
    Observation with(ClaimPointer written) const;
    // Returns the same observation with a status that is not written yet.
    Observation ahead(ClaimStatus status) const;
};

Observation observe(const Informers& informers, ClaimPointer claim, api::Time now);

// Sets when to try again if the provider does not answer.
inline constexpr base::Duration kProviderRetry = std::chrono::minutes{1};

// Returns why nothing may be launched for the pool's claims now. No ControlPlane selects the pool, or it
// shares its label with an older pool. It is also held if its ControlPlane only observes or is paused.
std::optional<Hold> launch_hold(const Informers& informers, const NodeSmithPool& pool);

// Returns why no machine may be created for the admitted claim now; nullopt: it has a machine already,
// or still fits the limits. A claim keeps its place within the limits from its reservation to its end.
// If a user lowers the limits before its machine is created, the claims beyond them wait. Placed
// machines have priority, then older claims.
std::optional<Hold> limit_hold(const Informers& informers, const NodeSmithClaim& claim,
                               const NodeSmithPool& pool);

}  // namespace controllers::claim
