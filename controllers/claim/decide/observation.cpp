#include "controllers/claim/decide/observation.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "controllers/cache/membership.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/label_rules.hpp"
#include "controllers/limits/limits.hpp"
#include "controllers/services/api_server_hosts.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/acceptance.hpp"

namespace controllers::claim {

namespace {

// No pool allows more attempts, and the recorded number may be arbitrary.
constexpr std::int32_t kMostAttempts = 100;

bool is_of_earlier_attempt(const api::Node& node, const NodeSmithClaim& claim) {
    const auto attempts = std::min(claim.status.launchAttempts, kMostAttempts);
    for (std::int32_t attempt = 1; attempt <= attempts; ++attempt) {
        auto uuid = system_uuid(claim.metadata.uid, attempt);
        if (uuid != claim.status.systemUUID && same_uuid(node.status.nodeInfo.systemUUID, uuid)) return true;
    }
    return false;
}

// Returns the volumes of pods that a drain ignores. They stay attached until the machine is off.
std::set<std::string> volumes_that_stay(const Informers& informers, const std::string& node) {
    std::set<std::string> names;
    for (const auto& pod : informers.pods.store().by_index(kPodsByNode, node)) {
        if (is_drainable(*pod) && !may_come_back(*pod)) continue;
        for (const auto& volume : pod->spec.volumes) {
            if (!volume.persistentVolumeClaim) continue;
            const auto claim = informers.persistent_volume_claims.store().get(
                {pod->metadata.namespace_, volume.persistentVolumeClaim->claimName});
            if (claim) names.insert(claim->spec.volumeName);
        }
    }
    return names;
}

bool has_attached_volumes(const Informers& informers, const std::string& node) {
    const auto attachments = informers.volume_attachments.store().by_index(kVolumeAttachmentsByNode, node);
    if (attachments.empty()) return false;
    const auto staying = volumes_that_stay(informers, node);
    return std::ranges::any_of(attachments, [&staying](const auto& attachment) {
        return attachment->status.attached && !staying.contains(attachment->spec.source.persistentVolumeName);
    });
}

Hold hold(std::string_view reason, std::string message) {
    return {std::string(reason), std::move(message)};
}

}  // namespace

Situation Observation::situation() const {
    Situation s{*claim};
    s.pool = pool.get();
    s.provider = provider.get();
    s.host = host ? &host->spec : nullptr;
    s.node = node.get();
    s.node_refusal = node_refusal;
    s.contest = contest;
    s.name_taken = name_taken;
    if (node) s.deviations = deviations(*node, origin());
    s.namesake = namesake.get();
    s.namesake_is_leftover = namesake_is_leftover;
    s.went_back = went_back;
    s.is_unchecked = is_unchecked;
    s.leads_since = leads_since;
    s.launch_hold = launch_hold;
    s.volumes_attached = volumes_attached;
    s.held_volumes = held_volumes;
    s.tied_pods = tied_pods;
    s.volume_places = volume_places;
    s.is_pool_unreadable = is_pool_unreadable;
    s.is_superseded = is_superseded;
    s.guest_silence = guest_silence;
    s.machine = machine;
    s.certificate = certificate;
    s.use = use;
    s.permission = permission;
    s.now = now;
    return s;
}

NodeOrigin Observation::origin() const {
    return {*claim,
            pool.get(),
            zone_label(provider.get()),
            host ? &host->spec : nullptr,
            region_of(provider.get()),
            has_present_template,
            !contest.empty()};
}

Observation Observation::with(ClaimPointer written) const {
    auto result = *this;
    result.claim = std::move(written);
    result.stored = result.claim;
    return result;
}

Observation Observation::ahead(ClaimStatus status) const {
    auto result = *this;
    auto changed = *claim;
    changed.status = std::move(status);
    result.claim = std::make_shared<const NodeSmithClaim>(std::move(changed));
    return result;
}

namespace {

// Reports whether the host now serves another claim. The same host has the same UUID for each claim.
bool has_been_given_on(const NodeSmithHost& host, const NodeSmithClaim& claim) {
    return host.status.claimRef && host.status.claimRef->uid != claim.metadata.uid;
}

// Reports whether the pool keeps a younger machine. A pool keeps only its last one.
bool has_kept_after(const Informers& informers, const NodeSmithClaim& claim) {
    if (!claim.status.keptSince) return false;
    const auto pool = claim.metadata.namespace_ + "/" + claim.spec.poolRef;
    const auto& of_pool = informers.claims.store().by_index(kClaimsByPool, pool);
    return std::ranges::any_of(of_pool, [&claim](const ClaimPointer& other) {
        return other->status.keptSince && !other->metadata.deletionTimestamp &&
               std::tie(claim.status.keptSince, claim.metadata.name) <
                   std::tie(other->status.keptSince, other->metadata.name);
    });
}

// Returns the claim that has priority under the same name; null: this one does. The name alone
// identifies a Node and its certificates in the whole cluster. A claim whose machine was begun
// has priority, then the older one.
ClaimPointer first_of_name(const Informers& informers, const NodeSmithClaim& claim) {
    const auto rank = [](const NodeSmithClaim& c) {
        return std::tuple(c.status.systemUUID.empty() && c.status.nodeName.empty(),
                          c.metadata.creationTimestamp, c.metadata.uid);
    };
    ClaimPointer first;
    for (const auto& other : informers.claims.store().by_index(kClaimsByName, claim.metadata.name)) {
        if (other->metadata.uid == claim.metadata.uid) continue;
        if (rank(*other) < rank(first ? *first : claim)) first = other;
    }
    return first;
}

std::string why_name_taken(const Informers& informers, const Observation& found,
                           const NodeSmithClaim& claim) {
    const auto& name = claim.metadata.name;
    if (is_name_of_api_server(informers, claim, name))
        return name + " is a name under which clients look for the API server";
    if (found.namesake && !found.namesake_is_leftover)
        return "Node " + name + " exists and does not belong to this claim";
    if (const auto other = first_of_name(informers, claim))
        return "claim " + api::key_of(*other).str() + " has the same name, and only one Node can have it";
    return {};
}

void look_at_local_volumes(const Informers& informers, Observation& result, const NodeSmithClaim& claim) {
    if (is_true(claim, conditions::kMachineDeleted)) return;
    result.volumes = local_volumes_of(informers, claim, result.node.get());
    const auto holding = held_among(result.volumes, result.pool.get(), claim);
    result.held_volumes = named(holding);
    if (!result.node) return;
    result.tied_pods = pods_tied_to(informers, result.node->metadata.name, holding);
    result.volume_places = volume_places(informers, claim, *result.node);
}

}  // namespace

Observation observe(const Informers& informers, ClaimPointer claim, api::Time now) {
    Observation result;
    const auto& namespace_ = claim->metadata.namespace_;
    const kube::ObjectKey pool{namespace_, claim->spec.poolRef};
    result.pool = informers.pools.store().get(pool);
    result.is_pool_unreadable = !result.pool && informers.pools.undecodable().contains(pool);
    auto provider = claim->status.providerRef;
    if (provider.empty() && result.pool) provider = result.pool->spec.providerRef;
    result.provider = informers.providers.store().get({namespace_, provider});
    if (result.provider && result.provider->spec.redfish)
        result.host = informers.hosts.store().get({namespace_, claim->status.host});
    result.stored = claim;
    claim = with_own_uuid(std::move(claim), result.provider.get(), result.host);
    if (!result.host || !has_been_given_on(*result.host, *claim)) {
        auto found = find_node(informers, *claim, result.provider.get(), result.host);
        result.node = std::move(found.node);
        result.node_refusal = std::move(found.refusal);
        result.contest = std::move(found.contest);
    }
    auto named = informers.nodes.store().get({"", claim->metadata.name});
    if (named && named != result.node) {
        result.namesake = named;
        result.namesake_is_leftover = is_of_earlier_attempt(*named, *claim);
    }
    result.name_taken = why_name_taken(informers, result, *claim);
    if (result.node) result.volumes_attached = has_attached_volumes(informers, result.node->metadata.name);
    look_at_local_volumes(informers, result, *claim);
    if (result.pool) {
        result.launch_hold = launch_hold(informers, *result.pool);
        if (!result.launch_hold) result.launch_hold = limit_hold(informers, *claim, *result.pool);
    }
    result.is_superseded = has_kept_after(informers, *claim);
    result.claim = std::move(claim);
    result.now = now;
    return result;
}

std::optional<Hold> launch_hold(const Informers& informers, const NodeSmithPool& pool) {
    using api::v1alpha1::Mode;
    const auto* manager = manager_of(api::key_of(pool), informers.control_planes.store().all());
    if (!manager) {
        return hold(reasons::kNotSelected, "no NodeSmithControlPlane lists pool " + pool.metadata.name);
    }
    for (const auto* metadata : {&pool.metadata, &manager->metadata})
        if (!is_understood(*metadata))
            return hold(reasons::kUnknownValue, metadata->name + ": " + why_not_understood(*metadata));
    if (manager->spec.mode != Mode::Active) {
        const auto mode = manager->spec.mode == Mode::Paused ? reasons::kPaused : reasons::kObserve;
        return hold(mode,
                    "NodeSmithControlPlane " + manager->metadata.name + " has mode " + std::string(mode));
    }
    if (const auto* other = label_conflict(pool, informers.pools.store().all())) {
        return hold(reasons::kLabelConflict, "pool " + api::key_of(*other).str() + " has the same label");
    }
    if (auto problem = label_problem(pool); !problem.reason.empty())
        return hold(problem.reason, "pool " + pool.metadata.name + ": " + problem.message);
    return std::nullopt;
}

namespace {

auto rank_of(const NodeSmithClaim& claim) {
    return std::tuple(claim.status.machineID.empty(), claim.metadata.creationTimestamp, api::key_of(claim));
}

// Returns what the pool's claims before this one use.
limits::Usage usage_before(const Informers& informers, const NodeSmithClaim& claim,
                           const NodeSmithPool& pool) {
    limits::Usage usage;
    for (const auto& other : informers.claims.store().by_index(kClaimsByPool, api::key_of(pool).str())) {
        if (limits::counts(*other) && rank_of(*other) < rank_of(claim))
            usage += limits::one_machine(limits::size_of(other->spec, &pool));
    }
    return usage;
}

Hold over_limit(const std::string& of, const limits::LimitHit& hit) {
    return {std::string(reasons::kLimitExceeded),
            "the limits of " + of + " no longer leave room: " + hit.message};
}

}  // namespace

std::optional<Hold> limit_hold(const Informers& informers, const NodeSmithClaim& claim,
                               const NodeSmithPool& pool) {
    if (!claim.status.machineID.empty() || !limits::is_admitted(claim)) return std::nullopt;
    const auto machine = limits::one_machine(limits::size_of(claim.spec, &pool));
    const auto limits = limits::limits_of(pool.spec);
    if (limits.any()) {
        if (const auto hit = limits::admits(limits, usage_before(informers, claim, pool), machine))
            return over_limit("pool " + pool.metadata.name, *hit);
    }
    const auto& control_planes = informers.control_planes.store().all();
    const auto* manager = manager_of(api::key_of(pool), control_planes);
    if (!manager || !limits::limits_of(manager->spec).any()) return std::nullopt;
    limits::Usage usage;
    for (const auto* other : pools_of(*manager, informers.pools.store().all(), control_planes))
        usage += usage_before(informers, claim, *other);
    if (const auto hit = limits::admits(limits::limits_of(manager->spec), usage, machine))
        return over_limit("control plane " + manager->metadata.name, *hit);
    return std::nullopt;
}

}  // namespace controllers::claim
