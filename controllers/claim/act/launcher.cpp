#include "controllers/claim/act/launcher.hpp"

#include <algorithm>

#include "controllers/claim/decide/launch.hpp"
#include "controllers/claim/facts/host_failures.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/limits/limits.hpp"

namespace controllers::claim {

namespace {

// No event reports that room or a limit has become free elsewhere.
constexpr base::Duration kRoomRetry = std::chrono::seconds{30};

kube::Result again_after(base::Duration wait) {
    return {wait};
}

// Returns when to try again if the outcome alone does not wake the claim.
base::Duration wait_after(const providers::EnsureResult& result) {
    if (const auto* machine = std::get_if<providers::Machine>(&result)) return machine->retry_after;
    if (const auto* busy = std::get_if<providers::NotReady>(&result)) return busy->retry_after;
    if (std::holds_alternative<providers::InsufficientCapacity>(result)) return kRoomRetry;
    if (std::holds_alternative<providers::NameTaken>(result)) return kRoomRetry;
    return base::Duration::zero();
}

}  // namespace

asio::awaitable<kube::Result> Launcher::admit(Observation observation) {
    const auto claim = observation.claim;
    const auto size = limits::size_of(claim->spec, observation.pool.get());
    auto reservation = co_await reservations_.admit(api::key_of(*observation.pool), size);
    const bool granted = !reservation.granted.empty() && reservation.granted.front();
    auto status = claim->status;
    if (!granted) {
        const auto why =
            reservation.limit_hit ? reservation.limit_hit->message : std::string("the pool is gone");
        set(status, conditions::kLaunched, ConditionStatus::False, reasons::kLimitExceeded,
            "the limits leave no room: " + why, observation.now);
        co_await writer_.record(observation, std::move(status));
        co_return again_after(kRoomRetry);
    }
    if (clock_.now() >= reservation.usable_until) co_return again_after(base::Duration::zero());
    status.providerRef = observation.pool->spec.providerRef;
    co_await writer_.record(observation, std::move(status));
    reservation.complete();
    co_return again_after(base::Duration::zero());
}

// Reports whether the claim lacks its address reservation. An older claim of the same name may have ended
// after this one found its addresses in the pool.
bool Launcher::lost_addresses(const Observation& observation) const {
    if (!observation.pool || !boot_data_.static_network(observation)) return false;
    const auto& claim = *observation.claim;
    return std::ranges::none_of(observation.pool->status.addresses, [&](const auto& reservation) {
        return reservation.claim == claim.metadata.name;
    });
}

asio::awaitable<kube::Result> Launcher::launch(Observation observation) {
    const auto& claim = observation.claim;
    const auto lookup = co_await instances_.get(provider_of(*claim));
    if (const auto* missing = std::get_if<ProviderUnavailable>(&lookup)) {
        auto status = after_failed_launch(observation.situation(), missing->reason, missing->message);
        co_await writer_.record(observation, std::move(status));
        co_return again_after(kProviderRetry);
    }
    const bool are_there = co_await protect_credentials(observation);
    if (!are_there) co_return again_after(kProviderRetry);
    if (claim->status.machineID.empty() || lost_addresses(observation)) {
        const auto addressed = co_await address(observation);
        if (!addressed) co_return again_after(kRoomRetry);
        observation = *addressed;
    }
    const auto given = co_await handout(observation);
    if (!given) co_return again_after(kRoomRetry);
    auto status = with_handout(observation, claim->status, *given);
    if (status != claim->status) {
        const auto written = co_await writer_.record(observation, std::move(status));
        observation = observation.with(written);
    }
    const auto provider = std::get<std::shared_ptr<providers::Provider>>(lookup);
    const auto result = co_await ensure(observation, provider);
    observation.now = api::Time(clock_.wall_now());
    status = with_handout(observation, after_ensure(observation.situation(), result), *given);
    co_await writer_.record_outcome(observation, std::move(status));
    co_return again_after(wait_after(result));
}

// Protects the Secrets before anything is created that could not be removed without them. Missing rights
// delay no launch: the provider's condition reports them.
asio::awaitable<bool> Launcher::protect_credentials(Observation observation) {
    const auto& claim = *observation.claim;
    const auto obstacle = co_await instances_.credentials().protect_of_provider(provider_of(claim));
    if (!claim.status.host.empty()) {
        const kube::ObjectKey host{claim.metadata.namespace_, claim.status.host};
        co_await instances_.credentials().protect_of_host(host);
    }
    if (obstacle.reason != reasons::kSecretMissing || !claim.status.machineID.empty()) co_return true;
    auto status = after_failed_launch(observation.situation(), obstacle.reason, obstacle.message);
    co_await writer_.record(observation, std::move(status));
    co_return false;
}

asio::awaitable<std::optional<Launcher::Handout>> Launcher::handout(Observation observation) {
    const auto& claim = *observation.claim;
    if (claim.status.boot) co_return Handout{*claim.status.boot, claim.status.networkInterfaces};
    const auto method = boot_data_.settings(observation).method;
    auto interfaces = mac_addresses_.choose(claim, wished_interfaces(observation, method));
    if (!interfaces) {
        auto status = after_failed_launch(observation.situation(), kMACAddressesExhausted,
                                          "managed machines use all MAC addresses that macPrefix of "
                                          "networkInterfaces allows: shorten the prefix");
        co_await writer_.record(observation, std::move(status));
        co_return std::nullopt;
    }
    auto boot = co_await boot_data_.handout(observation);
    co_return Handout{std::move(boot), *std::move(interfaces)};
}

// Records the token in the status before it is created, so that it is found and revoked after any crash.
ClaimStatus Launcher::with_handout(const Observation& observation, ClaimStatus status,
                                   const Handout& handout) const {
    const bool is_going = api::find_condition(status.conditions, conditions::kMachineDeleted);
    if (status.machineID.empty() || is_going) return status;
    if (status.bootstrapTokenID.empty()) status.bootstrapTokenID = boot_data_.token_id(observation);
    if (!status.boot) {
        status.boot = handout.boot;
        status.networkInterfaces = handout.interfaces;
    }
    return status;
}

asio::awaitable<std::optional<Observation>> Launcher::address(Observation observation) {
    const auto& claim = observation.claim;
    const auto network = boot_data_.static_network(observation);
    if (!network || !observation.pool) co_return observation;
    const auto turn = co_await placements_.enter(provider_of(*claim));
    const auto reserved =
        co_await addresses_.reserve(api::key_of(*observation.pool), claim->metadata.name, *network);
    auto status = claim->status;
    if (const auto* refusal = std::get_if<Addresses::Refusal>(&reserved)) {
        status = after_failed_launch(observation.situation(), refusal->reason, refusal->message);
        co_await writer_.record(observation, std::move(status));
        co_return std::nullopt;
    }
    status.addresses.clear();
    for (const auto& reservation : std::get<Addresses::Reserved>(reserved))
        status.addresses.push_back(reservation.address);
    const auto written = co_await writer_.record(observation, std::move(status));
    co_return observation.with(written);
}

asio::awaitable<providers::EnsureResult> Launcher::ensure(Observation observation,
                                                          std::shared_ptr<providers::Provider> provider) {
    auto spec = spec_of(observation);
    if (spec.record.machine_id.empty()) {
        co_return co_await place(std::move(spec), observation.claim, std::move(provider));
    }
    spec.reservations = placements_.others(*observation.claim);
    const auto sources = boot_data_.sources(observation);
    spec.boot_image = sources.image.get();
    spec.guest = sources.guest.get();
    spec.join = sources.join.get();
    co_return co_await provider->ensure(std::move(spec));
}

asio::awaitable<providers::EnsureResult> Launcher::place(providers::MachineSpec spec, ClaimPointer claim,
                                                         std::shared_ptr<providers::Provider> provider) {
    placements_.forget(api::key_of(*claim));
    const auto turn = co_await placements_.enter(provider_of(*claim));
    spec.reservations = placements_.others(*claim);
    spec.taken_ids = placements_.ids_of_others(*claim);
    spec.last_placed_host = placements_.last_host(*claim);
    auto result = co_await provider->ensure(std::move(spec));
    const auto* machine = std::get_if<providers::Machine>(&result);
    if (machine) placements_.add(*claim, machine->record);
    co_return result;
}

providers::MachineSpec Launcher::spec_of(const Observation& observation) const {
    const auto& claim = *observation.claim;
    const auto provider_uid = observation.provider ? observation.provider->metadata.uid : std::string();
    const auto size = limits::size_of(claim.spec, observation.pool.get());
    providers::MachineSpec spec;
    spec.identity = identity_of(claim, instances_.cluster_id(), provider_uid);
    spec.name = claim.metadata.name;
    spec.cpu_cores = size.cpuCores;
    spec.memory_mib = size.memoryMiB;
    spec.zone = claim.spec.zone;
    if (observation.pool) spec.architecture = observation.pool->spec.machineTemplate.architecture;
    spec.record = record_of(claim.status);
    for (const auto& interface : claim.status.networkInterfaces)
        spec.mac_addresses[interface.name] = interface.macAddress;
    spec.avoid_hosts = claim.status.failedHosts;
    // An older operator recorded only the last failed host instead of a list.
    if (spec.avoid_hosts.empty() && claim.status.lastFailure && !claim.status.lastFailure->host.empty())
        spec.avoid_hosts.push_back(claim.status.lastFailure->host);
    spec.recent_failures =
        recent_host_failures(informers_.claims.store().values(), provider_of(claim), observation.now);
    return spec;
}

}  // namespace controllers::claim
