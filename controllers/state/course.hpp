// What tools read that know none of our kinds (kubectl wait, Flux, Argo CD): the conditions Ready,
// Reconciling and Stalled of every kind, as kstatus understands them (sigs.k8s.io/cli-utils/pkg/kstatus). At
// most one of the latter two is there, and only while it is True. Pure; nothing else writes them.
#pragma once

#include <optional>

#include "controllers/cache/kinds.hpp"

namespace controllers {

// Nothing goes on with the object before somebody changes something.
bool is_stalled(const api::Conditions& conditions);

// ---- Each follows from the other conditions of the object, which is as it is about to be written.

// Also Ready: of a claim it is the first stage that is not reached, or why it ends. `node_ready`: of its
// Node; nullopt: none is known. `node_refusal`: why one with the machine's identity is not its Node.
void conclude(NodeSmithClaim& claim, std::optional<bool> node_ready, api::Time now,
              const std::string& node_refusal = {});
void conclude(NodeSmithProvider& provider, api::Time now);
// `provider`: the pool's; null: there is none.
void conclude(NodeSmithPool& pool, const NodeSmithProvider* provider, api::Time now);
// `waits_for_provider`: what its pools lack may come by itself.
void conclude(NodeSmithControlPlane& control_plane, bool waits_for_provider, api::Time now);
void conclude(NodeSmithHost& host, api::Time now);
// Of any kind, in a namespace that is not managed.
void conclude_unmanaged(api::Conditions& conditions, std::optional<std::int64_t> generation,
                        const std::string& message, api::Time now);

}  // namespace controllers
