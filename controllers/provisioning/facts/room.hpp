// Evaluates claims whose machines lack room, and the consequences for others. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "scheduling/input/snapshot.hpp"

namespace controllers::provisioning {

// Reports whether no host can take its machine now: Launched=False/InsufficientCapacity.
bool lacks_room(const NodeSmithClaim& claim);
// Reports whether its provider does not answer, or cannot act now.
bool lacks_provider(const NodeSmithClaim& claim);
// Reports whether the claim is Failed because it waited too long for room or was larger than any host.
bool failed_for_room(const NodeSmithClaim& claim);

// Reports whether the provider's data about the claim's host already deducts its machine.
bool is_counted(const NodeSmithClaim& claim, const NodeSmithProvider& provider);

// RoomRefusal names a size that a provider had no room for. Larger machines have no room either.
struct RoomRefusal {
    std::string provider;  // namespace/name
    std::string zone;      // empty: every zone
    scheduling::MachineSize size;
    std::optional<api::Time> until;  // nullopt: while the claim waits
};
// Returns refusals from claims that wait for room, and from those that failed for lack of it. The latter
// expire after a time that doubles with their number (scaleUp.retry of their pool).
std::vector<RoomRefusal> room_refusals(const Informers& informers, api::Time now);

// Returns the keys of launched claims that wait for room or for their provider and are no longer needed. None
// of their pods waits, except those that get a machine of another claim.
std::vector<kube::ObjectKey> superfluous_waits(const Informers& informers);

}  // namespace controllers::provisioning
