#include "controllers/claim/act/placement_turns.hpp"

#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/limits/limits.hpp"

namespace controllers::claim {

PlacementTurns::PlacementTurns(asio::any_io_executor executor, const Informers& informers)
    : informers_(informers), left_(std::move(executor)) {}

// Reports whether the claim's place is free again. A failed claim is kept for an hour as a record, although
// its machine is verified gone. A bare-metal host is not reassigned while its Node exists, because the next
// Node there may have the same name.
bool PlacementTurns::is_at_rest(const NodeSmithClaim& claim) const {
    const bool has_node =
        !claim.status.nodeName.empty() && informers_.nodes.store().get({"", claim.status.nodeName});
    return is_true(claim, conditions::kFailed) && is_true(claim, conditions::kMachineDeleted) && !has_node;
}

PlacementTurns::Turn::~Turn() {
    owner_.busy_.erase(provider_);
    owner_.left_.notify_all();
}

asio::awaitable<std::unique_ptr<PlacementTurns::Turn>> PlacementTurns::enter(kube::ObjectKey provider) {
    while (busy_.contains(provider)) co_await left_.wait();
    busy_.insert(provider);
    co_return std::make_unique<Turn>(*this, std::move(provider));
}

void PlacementTurns::add(const NodeSmithClaim& claim, const providers::MachineRecord& placed) {
    placed_[api::key_of(claim)] = {provider_of(claim), placed};
    std::erase_if(last_hosts_, [this](const auto& known) { return uid_of(known.first).empty(); });
    last_hosts_[provider_of(claim)] = {uid_of(provider_of(claim)), placed.host};
}

std::string PlacementTurns::uid_of(const kube::ObjectKey& provider) const {
    const auto found = informers_.providers.store().get(provider);
    return found ? found->metadata.uid : std::string();
}

std::vector<providers::CapacityReservation> PlacementTurns::others(const NodeSmithClaim& claim) const {
    std::vector<providers::CapacityReservation> result;
    for (const auto& [key, other] : informers_.claims.store().all()) {
        if (key == api::key_of(claim)) continue;
        if (is_at_rest(*other)) continue;
        Placed place{provider_of(*other), record_of(other->status)};
        const auto unwritten = placed_.find(key);
        if (place.record.machine_id.empty() && unwritten != placed_.end()) place = unwritten->second;
        if (place.record.machine_id.empty() || place.provider != provider_of(claim)) continue;
        const auto pool = informers_.pools.store().get({key.namespace_, other->spec.poolRef});
        const auto size = limits::size_of(other->spec, pool.get());
        result.push_back({place.record.host, place.record.machine_id, size.cpuCores, size.memoryMiB});
    }
    return result;
}

std::string PlacementTurns::cluster_of(const kube::ObjectKey& provider) const {
    const auto found = informers_.providers.store().get(provider);
    return found && found->status.cluster ? found->status.cluster->id : std::string();
}

std::vector<std::string> PlacementTurns::ids_of_others(const NodeSmithClaim& claim) const {
    std::vector<std::string> ids;
    const auto own = provider_of(claim);
    const auto cluster = cluster_of(own);
    if (cluster.empty()) return ids;
    for (const auto& [key, other] : informers_.claims.store().all()) {
        Placed place{provider_of(*other), record_of(other->status)};
        const auto unwritten = placed_.find(key);
        if (place.record.machine_id.empty() && unwritten != placed_.end()) place = unwritten->second;
        if (place.record.machine_id.empty() || place.provider == own) continue;
        if (cluster_of(place.provider) == cluster) ids.push_back(place.record.machine_id);
    }
    return ids;
}

std::string PlacementTurns::last_host(const NodeSmithClaim& claim) const {
    const auto known = last_hosts_.find(provider_of(claim));
    if (known != last_hosts_.end() && known->second.provider_uid == uid_of(known->first))
        return known->second.host;
    const NodeSmithClaim* youngest = nullptr;
    for (const auto& [key, other] : informers_.claims.store().all()) {
        if (provider_of(*other) != provider_of(claim) || other->status.machineID.empty()) continue;
        const bool younger =
            !youngest || youngest->metadata.creationTimestamp <= other->metadata.creationTimestamp;
        if (younger) youngest = other.get();
    }
    if (youngest) return youngest->status.host;
    const auto pool = informers_.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    return pool ? pool->status.lastPlacedHost : std::string();
}

}  // namespace controllers::claim
