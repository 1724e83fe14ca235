// Finds objects at a provider that no living claim owns, according to the informers' stores. Pure:
// garbage_collection.hpp asks the API server before it acts.
#pragma once

#include <string>
#include <vector>

#include "controllers/cache/informers.hpp"
#include "controllers/cache/kinds.hpp"
#include "providers/machine.hpp"
#include "providers/offering.hpp"

namespace controllers {

// Reports whether the machine belongs to the claim's present attempt. A machine that was verified gone does
// not. A later machine with its name comes from a request that its process left unfinished.
bool belongs_to(const providers::Machine& machine, const NodeSmithClaim& claim);

// Returns why an unclaimed machine may still belong to a living claim or be a copy of its machine. It then
// carries the claim's mark, and people may need it. Empty: it does not.
std::string why_left_to_people(const providers::Machine& machine, const Informers& informers);

// Returns machines that are provably ours and that no claim in the store owns.
std::vector<providers::Machine> unclaimed(const std::vector<providers::Machine>& machines,
                                          const Informers& informers);

// Returns machines that were cloned but never configured, because a user removed the claim's finalizers
// meanwhile. They have the name and mark of a missing claim, were never started, and their UUID differs from
// the mark. A foreign clone has a different name or is running.
// Returns, for example, "pool-a-x7k2p (1001 on pve1)".
std::string described(const providers::Machine& machine);

std::vector<providers::Machine> never_finished(const std::vector<providers::Machine>& machines,
                                               const Informers& informers);

// Reports whether the Node runs on the machine, by its UUID or provider ID.
bool runs_on(const api::Node& node, const providers::Machine& machine);

// Reports whether the Node belongs to the machine and may run pods. A Node that is not
// Ready on a stopped machine may not.
bool may_serve(const api::Node& node, const providers::Machine& machine);

// Reports whether a Node in the store may run on the machine.
bool is_in_use(const providers::Machine& machine, const Informers& informers);

// Returns the provider's claims whose machines run, as far as the claims record it.
std::vector<ClaimPointer> in_service(const kube::ObjectKey& provider, const Informers& informers);

// Reports whether more machines vanished than usually fail one by one. A wrong view then explains it better
// than a loss: a restored backup of the cluster, or revoked rights. One lost machine is always believed, so
// that small clusters repair themselves. Of more than ten machines a tenth is.
bool are_many(std::size_t vanished, std::size_t in_service);
// Describes the bound volumes on the machine's disk, by the name that its Node had; empty: none is known.
std::string volumes_on(const providers::Machine& machine, const Informers& informers);

// Returns the provider's claims whose machine ran and is no longer in `machines`.
std::vector<ClaimPointer> bereft(const std::vector<providers::Machine>& machines,
                                 const kube::ObjectKey& provider, const Informers& informers);

// Returns the provider's claims that keep a machine for inspection, or whose machine is not removed before a
// person says whose a Node is, where that machine is not in `machines`.
std::vector<ClaimPointer> waiting_for_nothing(const std::vector<providers::Machine>& machines,
                                              const kube::ObjectKey& provider, const Informers& informers);

// Returns Nodes that carry our claim label, belong to a pool of the provider and are not Ready. They have
// neither a claim nor one of `machines`. Their host is in service, so it would have shown the machine.
std::vector<NodePointer> ghosts(const std::vector<providers::Machine>& machines,
                                const std::vector<providers::HostOffering>& hosts,
                                const kube::ObjectKey& provider, const Informers& informers);

}  // namespace controllers
