// What stands at a provider without belonging to anything that lives, as far as the stores can tell. Pure;
// garbage_collection.hpp asks the API server before it acts.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "providers/machine.hpp"
#include "providers/offering.hpp"

namespace controllers {

// The machine is that of the claim's present attempt. One that was verified gone is not: what appears under
// its name later was made by a request that was under way when its process died.
bool belongs_to(const providers::Machine& machine, const NodeSmithClaim& claim);

// Says why a machine that no claim owns may still be a living claim's, or a copy of its machine: it has the
// claim's mark. Nothing tells whether people need it. Empty: it is neither.
std::string why_left_to_people(const providers::Machine& machine, const Informers& informers);

// Machines that are provably ours and that no claim in the store owns.
std::vector<providers::Machine> unclaimed(const std::vector<providers::Machine>& machines,
                                          const Informers& informers);

// Machines that bear the name and the mark of a claim that is not there, were never started, and have another
// UUID than their mark: cloned, and never configured, as a user took the claim's finalizers meanwhile. A
// clone that somebody else made has a name of its own, or runs.
std::vector<providers::Machine> never_finished(const std::vector<providers::Machine>& machines,
                                               const Informers& informers);

// The Node says by its UUID or provider ID that it runs on the machine.
bool runs_on(const api::Node& node, const providers::Machine& machine);

// The Node is that of the machine and pods may run on it: not if it is not Ready and the machine is off.
bool may_serve(const api::Node& node, const providers::Machine& machine);

// A Node in the store may serve on the machine.
bool is_in_use(const providers::Machine& machine, const Informers& informers);

// Claims of the provider whose machine runs, as far as the claims know.
std::vector<ClaimPointer> in_service(const kube::ObjectKey& provider, const Informers& informers);

// More machines than vanish one by one: what explains it is rather a view that is wrong (a cluster restored
// from a backup, rights that were taken away) than that somebody destroyed them all. One machine is always
// believed, so that small clusters mend themselves; of more than ten, a tenth is.
bool are_many(std::size_t vanished, std::size_t in_service);
// The bound volumes on the machine's disk, in words, by the name that its Node had; empty: none is known.
std::string volumes_on(const providers::Machine& machine, const Informers& informers);

// Claims of the provider whose machine ran and is not among `machines` any more.
std::vector<ClaimPointer> bereft(const std::vector<providers::Machine>& machines,
                                 const kube::ObjectKey& provider, const Informers& informers);

// Claims of the provider that keep a machine for a look, which is not among `machines`.
std::vector<ClaimPointer> keepers_of_nothing(const std::vector<providers::Machine>& machines,
                                             const kube::ObjectKey& provider, const Informers& informers);

// Nodes that carry our claim label, belong to a pool of the provider, are not Ready, and have neither a claim
// nor one of `machines`, although the host that they name is in service and so would have shown it.
std::vector<NodePointer> ghosts(const std::vector<providers::Machine>& machines,
                                const std::vector<providers::HostOffering>& hosts,
                                const kube::ObjectKey& provider, const Informers& informers);

}  // namespace controllers
