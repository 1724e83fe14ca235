#include "controllers/claim/boot_watch.hpp"

#include <algorithm>

#include "controllers/claim/facts/identity.hpp"

namespace controllers::claim {

namespace {

constexpr api::Duration kLookEvery(std::chrono::minutes{1});
// A result this recent is not queried again when the machine is given up.
constexpr api::Duration kStillNew(std::chrono::seconds{20});
// A silent agent blocks its hypervisor for three seconds, and other machines must be queried too.
constexpr int kMostLooksAtOnce = 2;

class Turn {
public:
    explicit Turn(int& under_way) : under_way_(under_way) { ++under_way_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { --under_way_; }

private:
    int& under_way_;
};

// Reports whether the claim's machine runs and has no Node yet.
bool is_awaited(const Observation& observation) {
    const auto& claim = *observation.claim;
    return !claim.metadata.deletionTimestamp && !observation.node && is_true(claim, conditions::kLaunched) &&
           !is_true(claim, conditions::kRegistered) && !claim.status.machineID.empty() &&
           !api::find_condition(claim.status.conditions, conditions::kMachineDeleted);
}

bool may_have_agent(const Observation& observation) {
    return observation.provider && observation.provider->spec.proxmox.has_value();
}

api::Duration registration_timeout(const Observation& observation) {
    return observation.pool ? observation.pool->spec.scaleUp.registrationTimeout
                            : api::v1alpha1::ScaleUp{}.registrationTimeout;
}

std::string silence_of(const providers::GuestSight& sight) {
    if (sight.answers) return {};
    if (sight.obstacle.empty()) return "its guest agent never answered";
    return "its guest agent could not be asked (" + sight.obstacle + ")";
}

}  // namespace

std::optional<api::Time> BootWatch::next_look(const Observation& observation) const {
    if (!is_awaited(observation) || !may_have_agent(observation)) return std::nullopt;
    const auto& status = observation.claim->status;
    if (status.boot && status.boot->agentTime && !status.boot->addresses.empty()) return std::nullopt;
    const auto launched = since(status, conditions::kLaunched).value_or(observation.now);
    const auto end = later(launched, registration_timeout(observation));
    const auto known = known_.find(api::key_of(*observation.claim));
    const bool was_looked_at = known != known_.end() && launched <= known->second.looked;
    if (!was_looked_at) return std::min(later(launched, kLookEvery), end);
    const auto last = known->second.looked;
    if (later(last, kStillNew) > end) return std::nullopt;
    return std::min(later(last, kLookEvery), end);
}

asio::awaitable<void> BootWatch::look(Observation observation) {
    const auto key = api::key_of(*observation.claim);
    known_[key].looked = observation.now;
    if (looks_under_way_ >= kMostLooksAtOnce) co_return;
    const Turn turn(looks_under_way_);
    auto sight = co_await ask(observation);
    known_[key] = {api::Time(clock_.wall_now()), std::move(sight)};
}

asio::awaitable<std::optional<providers::GuestSight>> BootWatch::ask(Observation observation) {
    const auto& claim = observation.claim;
    const auto lookup = co_await instances_.get(provider_of(*claim));
    const auto* provider = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    auto* observer = provider ? (*provider)->capabilities().guest_observer : nullptr;
    if (!observer) co_return std::nullopt;
    co_return co_await observer->look_at_guest(record_of(claim->status));
}

Observation BootWatch::with_sights(Observation observation) {
    const auto key = api::key_of(*observation.claim);
    if (!is_awaited(observation)) {
        forget(key);
        return observation;
    }
    auto status = observation.claim->status;
    auto boot = status.boot.value_or(api::v1alpha1::ClaimBoot{});
    if (!boot.fetchedTime) boot.fetchedTime = boot_data_.fetched(status.bootstrapTokenID);
    const auto known = known_.find(key);
    if (known != known_.end() && known->second.sight) {
        const auto& sight = *known->second.sight;
        if (sight.answers && !boot.agentTime) boot.agentTime = known->second.looked;
        if (!sight.addresses.empty()) boot.addresses = sight.addresses;
        observation.guest_silence = silence_of(sight);
    }
    if (boot == status.boot.value_or(api::v1alpha1::ClaimBoot{})) return observation;
    status.boot = std::move(boot);
    return observation.ahead(std::move(status));
}

}  // namespace controllers::claim
