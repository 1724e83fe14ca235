#include "controllers/claim/act/writer.hpp"

#include <algorithm>

#include "api/json.hpp"
#include "base/log.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/services/drain.hpp"
#include "controllers/state/course.hpp"
#include "controllers/state/losses.hpp"

namespace controllers::claim {

namespace {

constexpr const char* kEvictingProtectedPod = "EvictingProtectedPod";
constexpr const char* kLosingVolumes = "LosingVolumes";

// These reasons are normal waiting.
constexpr std::string_view kProgress[] = {reasons::kWaiting,
                                          reasons::kLaunching,
                                          reasons::kNodeNotFound,
                                          reasons::kDraining,
                                          reasons::kDeleting,
                                          kStopping,
                                          reasons::kAttemptFailed,
                                          reasons::kStartupTaintsPresent,
                                          reasons::kCloudProviderAwaited,
                                          reasons::kResourcesMissing,
                                          reasons::kVolumesAttached};

std::vector<double> stage_bounds() {
    return {1, 2.5, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600};
}

bool became_true(const NodeSmithClaim& before, const NodeSmithClaim& after, std::string_view type) {
    return !is_true(before, type) && is_true(after, type);
}

double seconds_between(std::optional<api::Time> from, api::Time to) {
    return from ? static_cast<double>((to.at - from->at).count()) : 0;
}

}  // namespace

std::optional<kube::EventType> event_type(const api::Condition& condition) {
    // These conditions repeat another condition or the Node's Events.
    const bool is_repeated =
        condition.type == conditions::kReconciling || condition.type == conditions::kStalled ||
        condition.type == conditions::kDrifted || condition.type == conditions::kPowerCycled ||
        (condition.type == conditions::kMachineDeleted && condition.reason == reasons::kMachineVanished);
    if (is_repeated) return std::nullopt;
    const bool problem = condition.type == conditions::kFailed || condition.type == conditions::kDisrupted ||
                         condition.type == conditions::kKeptForVolumes ||
                         condition.type == conditions::kPoweredOff;
    if (condition.reason == kNodeTerminating && condition.type == conditions::kMachineDeleted)
        return kube::EventType::warning;
    if (condition.status == ConditionStatus::True)
        return problem ? kube::EventType::warning : kube::EventType::normal;
    const auto* progress = std::find(std::begin(kProgress), std::end(kProgress), condition.reason);
    const bool initializing =
        condition.type == conditions::kInitialized || condition.type == conditions::kReady;
    if (problem || progress != std::end(kProgress) || initializing) return std::nullopt;
    return kube::EventType::warning;
}

Writer::Writer(const Context& context)
    : InContext(context),
      stages_(context.metrics.histogram(
          "kubenodesmith_claim_stage_duration_seconds",
          "Time that claims spent in each stage: launch, registration, initialization, drain, removal.",
          stage_bounds(), {"namespace", "pool", "provider", "stage"})),
      failures_(context.metrics.counter("kubenodesmith_claim_launch_failures_total",
                                        "Failed attempts to create a machine, by reason.",
                                        {"namespace", "pool", "provider", "reason"})) {}

asio::awaitable<ClaimPointer> Writer::record(Observation observation, ClaimStatus status) {
    const auto claim = observation.stored;
    // The claim may be gone already, and no one waits for its Events.
    const bool is_over =
        claim->metadata.deletionTimestamp && !api::has_finalizer(claim->metadata, api::finalizers::kClaim);
    if (is_over) co_return claim;
    auto after = *claim;
    after.status = std::move(status);
    const auto node_ready =
        observation.node ? std::optional(controllers::is_ready(*observation.node)) : std::nullopt;
    conclude(after, node_ready, api::Time(clock_.wall_now()), observation.node_refusal);
    after.status.phase = phase_of(after);
    if (after.status == claim->status) co_return claim;
    auto patch = kube::difference(*claim, after, kube::Lock::resource_version);
    if (!patch) co_return claim;
    const auto key = api::key_of(*claim);
    auto answer = co_await checked(client_, informers_.claims, key,
                                   client_.patch_status<NodeSmithClaim>(key, std::move(*patch)));
    auto written = std::make_shared<const NodeSmithClaim>(std::move(answer));
    is_recording_ = true;
    informers_.claims.observe(*written);
    is_recording_ = false;
    announce(*claim, *written);
    measure(*claim, *written);
    co_return written;
}

asio::awaitable<ClaimPointer> Writer::record_outcome(Observation observation, ClaimStatus status) {
    auto next = decide(observation.ahead(std::move(status)).situation());
    co_return co_await record(std::move(observation), std::move(next.status));
}

asio::awaitable<void> Writer::add_finalizer(ClaimPointer claim) {
    co_await ensure_finalizer(client_, informers_.claims, *claim, api::finalizers::kClaim);
}

asio::awaitable<void> Writer::drop_finalizer(ClaimPointer claim) {
    const api::Time now(clock_.wall_now());
    co_await provisioning::remember_launch(informers_, client_, *claim, now);
    co_await remember_loss(*claim);
    co_await controllers::drop_finalizer(client_, informers_.claims, *claim, api::finalizers::kClaim);
    note_stage(*claim, "removal", claim->metadata.deletionTimestamp);
    base::log::info("Claim ended",
                    {{"claim", api::key_of(*claim).str()}, {"machine", claim->status.machineID}});
}

asio::awaitable<void> Writer::forget_statements(ClaimPointer claim) {
    auto after = *claim;
    for (const auto key : {api::annotations::kMachineGone, api::annotations::kLocalVolumes})
        after.metadata.annotations->erase(std::string(key));
    co_await write_object(client_, informers_.claims, *claim, std::move(after));
}

asio::awaitable<void> Writer::remember_loss(NodeSmithClaim claim) {
    const auto pool = informers_.pools.store().get({claim.metadata.namespace_, claim.spec.poolRef});
    if (!pool || !is_uncounted_loss(claim, *pool)) co_return;
    auto after = *pool;
    auto claims = informers_.claims.store().by_index(kClaimsByPool, api::key_of(*pool).str());
    count_losses(*pool, claims, after.status, api::Time(clock_.wall_now()));
    co_await write_status(client_, informers_.pools, *pool, std::move(after));
}

asio::awaitable<void> Writer::remove(ClaimPointer claim) {
    api::Preconditions same;
    same.uid = claim->metadata.uid;
    co_await client_.remove<NodeSmithClaim>(api::key_of(*claim), same);
}

void Writer::announce(const NodeSmithClaim& before, const NodeSmithClaim& after) {
    for (const auto& condition : after.status.conditions) {
        const auto* old = api::find_condition(before.status.conditions, condition.type);
        if (old && old->status == condition.status && old->reason == condition.reason) continue;
        const auto type = event_type(condition);
        if (!type) continue;
        events_.event(kube::target_of(after), *type, condition.reason, condition.message);
    }
    const auto& was = before.status;
    const auto& is = after.status;
    const bool has_moved = !was.host.empty() && was.host != is.host &&
                           is_true(before, conditions::kLaunched) && was.machineID == is.machineID &&
                           was.systemUUID == is.systemUUID;
    if (has_moved)
        events_.normal(after, "MachineMoved",
                       "machine " + is.machineID + " was moved from host " + was.host + " to " + is.host);
}

void Writer::warn_of_evictions(const Observation& observation, const PodPointers& pods) {
    constexpr std::size_t kMostWarned = 10'000;  // clearing repeats at most one Event for each
    if (warned_.size() > kMostWarned) warned_.clear();
    const auto& claim = *observation.claim;
    const std::string why =
        claim.metadata.deletionTimestamp
            ? "its node's claim " + claim.metadata.name + " is being deleted"
            : "the machine of its node's claim " + claim.metadata.name + " is being removed";
    std::string protected_pods;
    for (const auto& pod : pods) {
        if (!warned_.insert(pod->metadata.uid).second) continue;
        const auto protection = protection_of(*pod, observation.now);
        events_.warning(*pod, kEvictingProtectedPod,
                        "it is evicted although it " + protection + ", because " + why);
        protected_pods += (protected_pods.empty() ? "" : "; ") + api::key_of(*pod).str() + " " + protection;
    }
    if (protected_pods.empty()) return;
    events_.event(kube::target_of(claim), kube::EventType::warning, kEvictingProtectedPod,
                  "the operator evicts pods that no disruption of its own would evict: " + protected_pods);
}

void Writer::warn_of_lost_volumes(const Observation& observation) {
    constexpr std::size_t kMostWarned = 10'000;  // clearing repeats at most one Event for each
    if (warned_of_volumes_.size() > kMostWarned) warned_of_volumes_.clear();
    const auto& claim = *observation.claim;
    const auto lost = lost_with(claim, observation.volumes);
    if (lost.empty() || !warned_of_volumes_.insert(claim.metadata.uid).second) return;
    const auto text = "data is lost with machine " + claim.status.machineID + " on host " +
                      claim.status.host + ", which is being removed: " + lost;
    events_.event(kube::target_of(claim), kube::EventType::warning, kLosingVolumes, text);
    if (observation.node)
        events_.event(kube::target_of(*observation.node), kube::EventType::warning, kLosingVolumes, text);
}

void Writer::note_stage(const NodeSmithClaim& claim, const char* stage, std::optional<api::Time> begin) {
    stages_
        .with({claim.metadata.namespace_, claim.spec.poolRef, claim.status.providerRef, std::string(stage)})
        .observe(seconds_between(begin, api::Time(clock_.wall_now())));
}

void Writer::measure(const NodeSmithClaim& before, const NodeSmithClaim& after) {
    if (became_true(before, after, conditions::kLaunched))
        note_stage(after, "launch", after.metadata.creationTimestamp);
    if (became_true(before, after, conditions::kRegistered))
        note_stage(after, "registration", since(after.status, conditions::kLaunched));
    if (became_true(before, after, conditions::kInitialized))
        note_stage(after, "initialization", since(after.status, conditions::kRegistered));
    const bool had_drain = api::is_false(before.status.conditions, conditions::kDrained);
    if (had_drain && is_true(after, conditions::kDrained))
        note_stage(after, "drain", since(before.status, conditions::kDrained));
    const auto& failure = after.status.lastFailure;
    if (failure && failure != before.status.lastFailure)
        failures_
            .with({after.metadata.namespace_, after.spec.poolRef, after.status.providerRef, failure->reason})
            .add();
}

}  // namespace controllers::claim
