// What the stores know about one claim, held together while a pass works with it.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "controllers/claim/decide/lifecycle.hpp"
#include "controllers/state/local_volumes.hpp"
#include "controllers/state/node_changes.hpp"
#include "controllers/state/node_search.hpp"

namespace controllers::claim {

struct Observation {
    ClaimPointer claim;
    ClaimPointer stored;  // as the API server has it: `claim` may be ahead by what a step's outcome will be
                          // written with
    PoolPointer pool;
    ProviderPointer provider;
    HostPointer host;          // of bare metal, once it is chosen
    NodePointer node;          // runs on the claim's machine
    std::string node_refusal;  // see Situation
    std::string contest;       // see Situation
    std::string name_taken;    // see Situation
    NodePointer namesake;      // has the claim's name, but runs on another machine
    bool namesake_is_leftover = false;
    bool volumes_attached = false;
    LocalVolumes volumes;               // on the machine's disk
    bool is_superseded = false;         // see Situation
    std::string held_volumes;           // see Situation
    std::set<std::string> tied_pods;    // see Situation
    bool has_present_template = false;  // see NodeOrigin
    std::optional<Hold> launch_hold;
    std::string guest_silence;       // see Situation
    MachineReports::Report machine;  // see Situation
    std::optional<DisruptionReports::Use> use;
    DisruptionReports::Permission permission = DisruptionReports::Permission::none;
    api::Time now;

    // Valid as long as this is.
    Situation situation() const;
    NodeOrigin origin() const;
    // The same with the claim as it was just written.
    Observation with(ClaimPointer written) const;
    // The same with a status that is not written yet.
    Observation ahead(ClaimStatus status) const;
};

Observation observe(const Informers& informers, ClaimPointer claim, api::Time now);

// When to come again where the provider cannot be asked.
inline constexpr base::Duration kProviderRetry = std::chrono::minutes{1};

// Why nothing may be launched for the pool's claims now: it is not selected by any ControlPlane, shares its
// label with an older pool, or its ControlPlane only observes or is paused.
std::optional<Hold> launch_hold(const Informers& informers, const NodeSmithPool& pool);

// Why no machine may be made for the admitted claim now; nullopt: none is missing, or it has its place still.
// A claim keeps its place within the limits from its reservation to its end, and its machine may come long
// after. If a user lowers the limits meanwhile, the claims that go over them wait: machines that are placed
// go first, then the older claims.
std::optional<Hold> limit_hold(const Informers& informers, const NodeSmithClaim& claim,
                               const NodeSmithPool& pool);

}  // namespace controllers::claim
