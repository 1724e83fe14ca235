#include "providers/redfish/hosts/binding.hpp"

#include "api/names.hpp"
#include "base/backoff.hpp"

namespace providers::redfish {

namespace {

constexpr base::Backoff kFailureBackoff{std::chrono::minutes{1}, std::chrono::hours{1}};

std::string_view name_of(HostPhase phase) {
    switch (phase) {
        case HostPhase::Reserved:
            return "Reserved";
        case HostPhase::PoweringOn:
            return "PoweringOn";
        case HostPhase::Joining:
            return "Joining";
        case HostPhase::PoweringOff:
            return "PoweringOff";
        case HostPhase::Wiping:
            return "Wiping";
        default:
            return "Discovering";
    }
}

}  // namespace

bool is_bound_to(const NodeSmithHost& host, const MachineIdentity& identity) {
    return host.status.claimRef && host.status.claimRef->uid == identity.claim_uid;
}

HostStatus in_phase(HostStatus status, HostPhase phase, const std::string& message, api::Time now) {
    status.phase = phase;
    api::ConditionUpdate ready;
    ready.type = api::conditions::kReady;
    ready.status = api::ConditionStatus::False;
    ready.reason = name_of(phase);
    ready.message = message;
    api::set_condition(status.conditions, ready, now);
    return status;
}

asio::awaitable<std::optional<NodeSmithHost>> Binding::read(std::string name) {
    co_return co_await inventory_.read(settings_.namespace_, std::move(name));
}

asio::awaitable<bool> Binding::still_has(MachineIdentity identity, std::string name) {
    const auto host = co_await read(std::move(name));
    const bool has = host.has_value() && is_bound_to(*host, identity);
    co_return has;
}

asio::awaitable<std::optional<NodeSmithHost>> Binding::take(NodeSmithHost host, MachineIdentity identity) {
    auto status =
        in_phase(host.status, HostPhase::Reserved, "reserved for claim " + identity.claim_name, now());
    status.claimRef = api::v1alpha1::ClaimReference{identity.claim_name, identity.claim_uid};
    co_return co_await inventory_.write(std::move(host), std::move(status));
}

asio::awaitable<std::optional<NodeSmithHost>> Binding::enter(NodeSmithHost host, HostPhase phase,
                                                             std::string message) {
    auto status = in_phase(host.status, phase, message, now());
    if (status == host.status) co_return host;
    co_return co_await inventory_.write(std::move(host), std::move(status));
}

asio::awaitable<std::optional<NodeSmithHost>> Binding::retire(NodeSmithHost host) {
    const auto phase = host.status.phase;
    if (phase == HostPhase::PoweringOff || phase == HostPhase::Wiping) co_return host;
    auto status = in_phase(host.status, HostPhase::PoweringOff, "is being turned off", now());
    if (phase == HostPhase::PoweringOn || phase == HostPhase::Joining) {
        ++status.failures;
        status.nextRetryTime = api::Time(clock_.wall_now() + kFailureBackoff.after(status.failures));
    }
    co_return co_await inventory_.write(std::move(host), std::move(status));
}

asio::awaitable<bool> Binding::give_back(NodeSmithHost host) {
    auto status = in_phase(host.status, HostPhase::Discovering,
                           "was given back; it is examined before it is used again", now());
    status.claimRef.reset();
    const auto written = co_await inventory_.write(std::move(host), std::move(status));
    co_return written.has_value();
}

}  // namespace providers::redfish
