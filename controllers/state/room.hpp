// Claims for whose machines no host has room: what follows for others. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// No host can take its machine now: Launched=False/InsufficientCapacity.
bool lacks_room(const NodeSmithClaim& claim);
// Its provider does not answer, or cannot act now.
bool lacks_provider(const NodeSmithClaim& claim);
// It waited for room in vain, or was larger than any host can take: Failed for that.
bool failed_for_room(const NodeSmithClaim& claim);

// Whether what the provider told of the claim's host leaves out what its machine takes.
bool is_counted(const NodeSmithClaim& claim, const NodeSmithProvider& provider);

// A size for which a provider had no room: it will have none for larger machines either.
struct RoomRefusal {
    std::string provider;  // namespace/name
    std::string zone;      // empty: in none
    scheduling::MachineSize size;
    std::optional<api::Time> until;  // nullopt: as long as the claim waits
};
// Of claims that wait for room, and of those that failed for it, for a while that doubles with their number
// (scaleUp.retry of their pool).
std::vector<RoomRefusal> room_refusals(const Informers& informers, api::Time now);

// Returns the keys of launched claims that wait for room or for their provider and that nobody needs any
// more: no pod that they were launched for waits, but for those that get a machine of another claim.
std::vector<kube::ObjectKey> superfluous_waits(const Informers& informers);

}  // namespace controllers::provisioning
