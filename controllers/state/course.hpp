// Maintains the conditions Ready, Reconciling and Stalled of every kind. Tools that do not know our kinds
// read them (kubectl wait, Flux, Argo CD). They follow kstatus (sigs.k8s.io/cli-utils/pkg/kstatus). At most
// one of the latter two exists, and only while it is True. Pure; no other code writes them.
// kstatus counts an object as in progress while it is Reconciling or not Ready, and as failed while it is
// Stalled. A pool that a person turned off and a host in maintenance are Ready, so that a tool that waits for
// them neither waits forever nor fails.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"

namespace controllers {

// Reports whether the object makes no progress until someone changes something.
bool is_stalled(const api::Conditions& conditions);

// Reason of Ready of a host whose spec.maintenance keeps it from use.
inline constexpr std::string_view kInMaintenance = "Maintenance";

// Reports whether the reason of a condition means that a person turned the object off: nothing is created or
// removed, and nothing is wrong.
bool is_turned_off(std::string_view reason);

// Reports whether the host was found fit for use. A host in maintenance is Ready and not fit, also when its
// spec has already changed.
bool is_fit_for_use(const NodeSmithHost& host);

// An outage that is no longer than this may end by itself, so the object is Reconciling meanwhile. Afterwards
// it is Stalled.
inline constexpr base::Duration kShortOutage = std::chrono::minutes{5};

// ---- Each function derives the conditions from the object's other ones, just before it is written.

// Writes Ready too. It names the first stage that the claim has not reached, or the reason of its end.
// `node_ready` is its Node's state; nullopt: unknown. `node_refusal` says why a Node with the
// machine's identity is not its Node.
void conclude(NodeSmithClaim& claim, std::optional<bool> node_ready, api::Time now,
              const std::string& node_refusal = {});
void conclude(NodeSmithProvider& provider, api::Time now);
// `provider` is the pool's; null: it does not exist.
void conclude(NodeSmithPool& pool, const NodeSmithProvider* provider, api::Time now);
// `waits_for_provider`: the pools' missing providers may recover by themselves.
void conclude(NodeSmithControlPlane& control_plane, bool waits_for_provider, api::Time now);
void conclude(NodeSmithHost& host, api::Time now);
// Applies to an object of any kind in an unmanaged namespace.
void conclude_unmanaged(api::Conditions& conditions, std::optional<std::int64_t> generation,
                        const std::string& message, api::Time now);

}  // namespace controllers
