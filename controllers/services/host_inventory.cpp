#include "controllers/services/host_inventory.hpp"

#include <algorithm>
#include <string_view>

#include "api/names.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/node_search.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/services/secret_data.hpp"
#include "controllers/state/course.hpp"
#include "providers/errors.hpp"

struct providers::HostSource {
    std::shared_ptr<const api::v1alpha1::NodeSmithHost> object;
};

namespace controllers {

using api::v1alpha1::HostPhase;
using api::v1alpha1::HostStatus;
using api::v1alpha1::NodeSmithHost;
using providers::HostStage;

namespace {

using ObjectPointer = std::shared_ptr<const NodeSmithHost>;

constexpr std::size_t kLongestFailure = 1024;
constexpr std::size_t kLongestRetryMark = 253;

struct HostStageName {
    HostStage stage;
    HostPhase phase;
    std::string_view reason;
};
constexpr HostStageName kHostStages[] = {
    {HostStage::reserved, HostPhase::Reserved, "Reserved"},
    {HostStage::powering_on, HostPhase::PoweringOn, "PoweringOn"},
    {HostStage::joining, HostPhase::Joining, "Joining"},
    {HostStage::in_use, HostPhase::InUse, "InUse"},
    {HostStage::powering_off, HostPhase::PoweringOff, "PoweringOff"},
    {HostStage::wiping, HostPhase::Wiping, "Wiping"},
};
constexpr HostStageName kToBeExamined{HostStage::other, HostPhase::Discovering, "Discovering"};

HostStage host_stage_of(std::optional<HostPhase> phase) {
    const auto* found = std::ranges::find(kHostStages, phase, &HostStageName::phase);
    return found == std::end(kHostStages) ? HostStage::other : found->stage;
}

const HostStageName& host_stage_name(HostStage stage) {
    const auto* found = std::ranges::find(kHostStages, stage, &HostStageName::stage);
    return found == std::end(kHostStages) ? kToBeExamined : *found;
}

providers::BmcAddress address_of(const api::v1alpha1::BmcDetails& bmc) {
    providers::BmcAddress address;
    address.url = bmc.address;
    address.system_id = bmc.systemID;
    if (const auto& secret = bmc.credentialsSecretRef)
        address.credentials = providers::SecretName{secret->name, secret->namespace_};
    if (bmc.tls) {
        address.ca_bundle_pem = bmc.tls->caBundle;
        address.fingerprint_sha256 = bmc.tls->fingerprintSHA256;
        address.insecure_skip_verify = bmc.tls->insecureSkipVerify;
    }
    return address;
}

providers::HostUse use_of(const HostStatus& status) {
    providers::HostUse use;
    if (const auto& claim = status.claimRef) use.owner = providers::HostOwner{claim->name, claim->uid};
    use.stage = host_stage_of(status.phase);
    use.failures = status.failures;
    use.last_failure = status.lastFailure;
    if (status.nextRetryTime) use.next_retry = status.nextRetryTime->at;
    if (status.wokenTime) use.woken = status.wokenTime->at;
    use.is_prepared = status.bootPrepared;
    use.erasures = status.erasures;
    if (status.lastErasureTime) use.last_erasure = status.lastErasureTime->at;
    return use;
}

providers::Host host_of(ObjectPointer object) {
    const auto& [metadata, spec, status] = *object;
    providers::Host host;
    host.name = metadata.name;
    host.labels = metadata.labels;
    host.is_being_deleted = metadata.deletionTimestamp.has_value();
    host.bmc = address_of(spec.bmc);
    host.boot_mac = spec.bootMACAddress;
    host.pinned_uuid = spec.systemUUID;
    host.node_name = spec.nodeName;
    host.priority = spec.priority;
    host.is_in_maintenance = spec.maintenance;
    host.is_given = is_adoptable(*object);
    host.quirks = spec.quirks;
    if (const auto* ready = api::find_condition(status.conditions, api::conditions::kReady))
        host.readiness = {is_fit_for_use(*object), ready->message};
    host.is_reachable = api::is_true(status.conditions, api::conditions::kReachable);
    host.power_state = status.powerState;
    host.system_uuid = status.systemUUID;
    host.architecture = status.architecture;
    host.macs = status.macs;
    for (const auto& group : status.disks) host.disks += group.count;
    if (const auto& capacity = status.capacity)
        host.capacity = providers::Capacity{capacity->cpuCores, capacity->memoryMiB};
    if (const auto* mark = api::find(metadata.annotations, api::annotations::kRetryCredentials))
        host.retry_mark = mark->substr(0, kLongestRetryMark);
    host.accepted_credentials = status.acceptedCredentials;
    host.are_sessions_off = status.sessionServiceDisabled;
    if (const auto& refused = status.refusedCredentials) {
        host.refused_credentials = refused->secret;
        host.refusals = refused->count;
        host.refused_mark = refused->retry;
        if (refused->time) host.refused_at = refused->time->at;
    }
    host.use = use_of(status);
    host.source = std::make_shared<const providers::HostSource>(std::move(object));
    return host;
}

providers::Host host_of(NodeSmithHost object) {
    return host_of(std::make_shared<const NodeSmithHost>(std::move(object)));
}

// Returns the status with this use. A message also sets its stage, and Ready=False
// with the reason that names the stage.
HostStatus with_use(HostStatus status, const providers::HostUse& use, std::string message, api::Time now) {
    const auto& stage = host_stage_name(use.stage);
    status.claimRef.reset();
    if (use.owner)
        status.claimRef = api::v1alpha1::ClaimReference{use.owner->claim_name, use.owner->claim_uid};
    status.failures = use.failures;
    status.lastFailure = base::shortened(use.last_failure, kLongestFailure);
    status.nextRetryTime.reset();
    if (use.next_retry) status.nextRetryTime = api::Time(*use.next_retry);
    status.wokenTime.reset();
    if (use.woken) status.wokenTime = api::Time(*use.woken);
    status.bootPrepared = use.is_prepared;
    status.erasures = use.erasures;
    status.lastErasureTime.reset();
    if (use.last_erasure) status.lastErasureTime = api::Time(*use.last_erasure);
    if (message.empty()) return status;
    status.phase = stage.phase;
    api::ConditionUpdate ready;
    ready.type = api::conditions::kReady;
    ready.status = api::ConditionStatus::False;
    ready.reason = stage.reason;
    ready.message = std::move(message);
    api::set_condition(status.conditions, ready, now);
    return status;
}

// Reports whether someone else was first, or the object is gone: expected outcomes of a compare-and-swap.
bool is_lost_race(const kube::ApiError& error) {
    return error.is_conflict() || error.is_not_found();
}

}  // namespace

std::vector<providers::HostPointer> KubernetesHostInventory::hosts(const std::string& namespace_,
                                                                   const std::string& provider) {
    std::vector<providers::HostPointer> hosts;
    for (const auto& object :
         informers_.hosts.store().by_index(kHostsByProvider, namespace_ + "/" + provider))
        hosts.push_back(std::make_shared<const providers::Host>(host_of(object)));
    return hosts;
}

providers::HostPointer KubernetesHostInventory::find(const std::string& namespace_,
                                                     const std::string& provider, const std::string& name) {
    const auto object = informers_.hosts.store().get({namespace_, name});
    if (!object || object->spec.providerRef != provider) return nullptr;
    return std::make_shared<const providers::Host>(host_of(object));
}

asio::awaitable<std::optional<providers::Host>> KubernetesHostInventory::read(std::string namespace_,
                                                                              std::string name) {
    const kube::ObjectKey key{std::move(namespace_), std::move(name)};
    auto found = co_await client_.get<NodeSmithHost>(key);
    if (!found) co_return std::nullopt;
    co_return host_of(*std::move(found));
}

asio::awaitable<std::optional<providers::Host>> KubernetesHostInventory::write(providers::Host before,
                                                                               providers::HostUse use,
                                                                               std::string message) {
    const auto object = before.source->object;
    const api::Time now(clock_.wall_now());
    auto status = with_use(object->status, use, std::move(message), now);
    auto written = co_await swap_status(*object, std::move(status));
    if (!written) co_return std::nullopt;
    co_return host_of(*std::move(written));
}

asio::awaitable<NodeSmithHost> KubernetesHostInventory::with_finalizer(NodeSmithHost host) {
    kube::Patch patch;
    patch.type = kube::Patch::Type::json;
    patch.body = add_finalizer_patch(host.metadata, api::finalizers::kHost);
    const auto key = api::key_of(host);
    co_return co_await client_.patch<NodeSmithHost>(key, std::move(patch));
}

asio::awaitable<std::optional<NodeSmithHost>> KubernetesHostInventory::swap_status(NodeSmithHost before,
                                                                                   HostStatus status) {
    try {
        const bool takes = status.claimRef && !before.status.claimRef;
        if (takes && !api::has_finalizer(before.metadata, api::finalizers::kHost)) {
            const auto decided_on = before.status;
            before = co_await with_finalizer(std::move(before));
            // Someone else may have taken it between the read and this patch.
            if (before.status != decided_on) co_return std::nullopt;
        }
        auto after = before;
        after.status = std::move(status);
        auto patch = kube::difference(before, after, kube::Lock::resource_version);
        if (!patch) co_return before;
        const auto key = api::key_of(before);
        auto written = co_await checked(client_, informers_.hosts, key,
                                        client_.patch_status<NodeSmithHost>(key, std::move(*patch)));
        informers_.hosts.observe(written);
        co_return written;
    } catch (const kube::ApiError& error) {
        if (!is_lost_race(error)) throw;
    }
    co_return std::nullopt;
}

void KubernetesHostInventory::announce(const providers::Host& host, std::string reason, std::string message) {
    const auto& object = *host.source->object;
    base::log::info("Reported an Event about a host",
                    {{"host", api::key_of(object).str()}, {"reason", reason}, {"message", message}});
    const auto& owner = object.status.claimRef;
    const auto claim =
        owner ? informers_.claims.store().get({object.metadata.namespace_, owner->name}) : nullptr;
    if (claim && claim->metadata.uid == owner->uid)
        events_.warning(*claim, reason, "host " + host.name + " " + message);
    events_.warning(object, std::move(reason), std::move(message));
}

// Applies the rules that find a claim's Node, and asks the API server if the cache lacks it.
asio::awaitable<bool> KubernetesHostInventory::has_ready_node(providers::Host host) {
    const auto& object = *host.source->object;
    const auto& owner = object.status.claimRef;
    const auto claim =
        owner ? informers_.claims.store().get({object.metadata.namespace_, owner->name}) : nullptr;
    if (!claim || claim->metadata.uid != owner->uid) co_return false;
    if (!claim::node_of(informers_, *claim)) {
        const kube::ListOptions all;
        auto nodes = co_await client_.list<api::Node>(all);
        for (auto& node : nodes.objects) informers_.nodes.observe(std::move(node));
    }
    const auto node = claim::node_of(informers_, *claim);
    if (!node) co_return false;
    const auto key = api::key_of(*node);
    try {
        const auto live = co_await client_.get<api::Node>(key);
        co_return live && live->metadata.uid == node->metadata.uid ? is_ready(*live) : false;
    } catch (const kube::UndecodableError&) {
        co_return is_ready(*node);  // its last good version
    }
}

asio::awaitable<providers::SecretData> KubernetesHostInventory::secret(std::string namespace_,
                                                                       std::string name) {
    const kube::ObjectKey key{std::move(namespace_), std::move(name)};
    std::string refusal;
    try {
        const auto found = co_await client_.get<api::Secret>(key);
        if (found) co_return secret_data(*found);
    } catch (const kube::ApiError& error) {
        if (!error.is_forbidden()) throw;
        refusal = error.message;
    }
    if (refusal.empty()) throw providers::CredentialsError("there is no Secret " + key.str());
    throw providers::CredentialsError("the operator may not read Secret " + key.str() +
                                      ": apply the RoleBinding kubenodesmith-credentials in that "
                                      "namespace: " +
                                      refusal);
}

}  // namespace controllers
