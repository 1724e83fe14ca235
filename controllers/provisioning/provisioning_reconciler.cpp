#include "controllers/provisioning/provisioning_reconciler.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <map>
#include <numeric>

#include "base/log.hpp"
#include "base/text.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/replacements.hpp"
#include "controllers/provisioning/announcements.hpp"
#include "controllers/provisioning/facts/room.hpp"
#include "controllers/provisioning/kinds.hpp"
#include "controllers/provisioning/pod_groups.hpp"
#include "controllers/provisioning/triggers.hpp"

namespace controllers::provisioning {

using scheduling::Availability;

namespace {

// Returns when a failed write is repeated. After a conflict that is as soon
// as the store shows the other write.
api::Time next_try(const kube::ApiError& error, const base::Clock& clock) {
    return api::Time(clock.wall_now() + std::chrono::seconds{error.is_conflict() ? 1 : 30});
}

kube::ObjectKey the_key() {
    return {"", "provisioning"};
}

std::string name_of(const api::Pod& pod) {
    return api::key_of(pod).str();
}

// Returns pods that contradict a prediction. Some would fit a Node in service but wait. Others fit no Node
// while one launched for them is empty in service.
std::set<std::string> contradicted_pods(const ProvisioningDecision& decision, const Informers& informers) {
    std::set<std::string> pods, fitting;
    if (decision.demand.waiting.empty()) return pods;
    const auto& nodes = decision.world.snapshot.nodes;
    for (const auto& placement : decision.result.placements) {
        if (!placement.node) continue;
        fitting.insert(placement.pod->metadata.uid);
        if (nodes[*placement.node].availability == Availability::ready &&
            !decision.freed.nodes.contains(*placement.node))
            pods.insert(placement.pod->metadata.uid);
    }
    for (const auto& uid : pods_of_empty_machines(informers))
        if (!fitting.contains(uid)) pods.insert(uid);
    // Pods of a PodGroup wait until as many have a place as start together.
    auto gathering = provisioning::needed_together(decision.demand, informers);
    for (const auto& pod : decision.demand.pods)
        if (const auto group = gathering.find(pod_group_of(*pod));
            group != gathering.end() && pods.contains(pod->metadata.uid))
            --group->second;
    for (const auto& pod : decision.demand.pods)
        if (const auto group = gathering.find(pod_group_of(*pod));
            group != gathering.end() && group->second > 0)
            pods.erase(pod->metadata.uid);
    return pods;
}

// Returns when the last machine for each PodGroup came into service, by the group.
std::map<std::string, api::Time> gathering_ends(const PodPointers& pods, const Informers& informers) {
    std::map<std::string, std::string> groups;  // by UID of the pod
    for (const auto& pod : pods)
        if (auto group = pod_group_of(*pod); !group.empty()) groups[pod->metadata.uid] = std::move(group);
    std::map<std::string, api::Time> ends;
    if (groups.empty()) return ends;
    for (const auto& claim : informers.claims.store().values()) {
        const auto since = claim::usable_since(*claim);
        if (!since) continue;
        for (const auto& uid : launched_for(*claim)) {
            const auto group = groups.find(uid);
            if (group == groups.end()) continue;
            auto& end = ends.try_emplace(group->second, *since).first->second;
            end = std::max(end, *since);
        }
    }
    return ends;
}

// Returns an empty kind if machines launched for it were used: then this
// pod's problem does not affect others.
std::string doubtful_kind_of(const api::Pod& pod, const KindHistories& kinds, const Informers& informers) {
    auto kind = kind_of(informers, pod);
    const auto history = kinds.find(kind);
    return history != kinds.end() && history->second.of_use > 0 ? std::string() : kind;
}

// Returns those pods with a wrong prediction that run by now.
std::set<std::string> placed_of(const NodeSmithPool& pool, const Informers& informers) {
    std::set<std::string> uids;
    for (const auto& entry : pool.status.mispredictions) {
        const auto slash = entry.pod.find('/');
        if (slash == std::string::npos) continue;
        const auto pod =
            informers.pods.store().get({entry.pod.substr(0, slash), entry.pod.substr(slash + 1)});
        if (pod && pod->metadata.uid == entry.podUID && !pod->spec.nodeName.empty())
            uids.insert(entry.podUID);
    }
    return uids;
}

}  // namespace

ProvisioningReconciler::Metrics::Metrics(base::MetricsRegistry& registry)
    : created(registry.counter("kubenodesmith_claims_created_total", "Claims that were created for pools",
                               {"namespace", "pool"})),
      pod_to_claim(registry.histogram("kubenodesmith_pod_to_claim_seconds",
                                      "Time from seeing a pod as unschedulable to creating the claim for it",
                                      {0.05, 0.1, 0.5, 1, 1.1, 1.5, 2, 5, 10, 11, 15, 30, 60, 300, 1800})),
      solve(registry.histogram("kubenodesmith_scheduling_solve_seconds",
                               "Duration of one scheduling decision",
                               {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10})),
      decisions(registry.counter("kubenodesmith_scheduling_decisions_total",
                                 "Scheduling decisions, by result", {"result"})),
      unplaced(registry.gauge("kubenodesmith_pods_unplaced",
                              "Pods that fit no node and that no new machine can help now")) {}

ProvisioningReconciler::ProvisioningReconciler(const Context& context, Reservations& reservations,
                                               std::function<bool()> may_mutate)
    : InContext(context),
      announcer_(context.events),
      reservations_(reservations),
      metrics_(context.metrics),
      claim_creator_(
          context, reservations, std::move(may_mutate),
          [this](const NodeSmithClaim& claim, const PlannedClaim& planned_claim) {
              note_created(claim, planned_claim);
          },
          [this] { look_again(); }) {}

asio::awaitable<void> ProvisioningReconciler::end() {
    return claim_creator_.end();
}

asio::awaitable<kube::Result> ProvisioningReconciler::reconcile(kube::ObjectKey) {
    kube::Result result;
    if (is_due())
        co_await run();
    else if (is_early_look_due())
        co_await look_early();
    if (window_.is_open() || next_look_) result.requeue_after = time_left();
    co_return result;
}

bool ProvisioningReconciler::is_due() const {
    const auto now = clock_.now();
    return unfinished_ || (window_.is_open() && window_.closes_at(durations()) <= now) ||
           (next_look_ && *next_look_ <= now);
}

bool ProvisioningReconciler::is_early_look_due() const {
    if (!window_.is_open()) return false;
    const auto at = window_.looks_early_at(durations());
    return at && *at <= clock_.now();
}

base::Duration ProvisioningReconciler::time_left() const {
    auto until = base::TimePoint::max();
    if (window_.is_open()) {
        const auto closes = window_.closes_at(durations());
        until = window_.looks_early_at(durations()).value_or(closes);
    }
    if (next_look_) until = std::min(until, *next_look_);
    return std::max(until - clock_.now(), base::Duration::zero());
}

asio::awaitable<void> ProvisioningReconciler::run() {
    unfinished_ = true;
    window_.close();
    next_look_.reset();
    co_await claim_creator_.work_off();
    co_await informers_.pod_groups.read(client_, unschedulable_pods(informers_));

    const auto decision = decide(api::Time(clock_.wall_now()));
    const auto& result = decision.result;
    const char* outcome =
        result.claims.empty() ? (result.unplaced.empty() ? "nothing_needed" : "nothing_possible") : "launch";
    metrics_.decisions.with({outcome}).add();

    const auto unplaced = say_what_is_missing(decision, informers_, announcer_, api::Time(clock_.wall_now()));
    metrics_.unplaced.with({}).set(static_cast<double>(unplaced));
    say_cuts(decision.world, result, informers_, announcer_);
    look_at(next_look(decision, informers_, api::Time(clock_.wall_now())));
    auto contradicted = contradicted_pods(decision, informers_);
    co_await launch(decision);
    co_await withdraw_superfluous();
    co_await judge_predictions(std::move(contradicted), decision.demand.waiting);
    continue_creations();
    unfinished_ = false;
}

asio::awaitable<void> ProvisioningReconciler::look_early() {
    unfinished_ = true;
    co_await claim_creator_.work_off();
    co_await informers_.pod_groups.read(client_, unschedulable_pods(informers_));
    const auto begun = clock_.now();
    auto decision = decide(api::Time(clock_.wall_now()));
    keep_what_is_certain(decision);
    if (!decision.launches.empty()) metrics_.decisions.with({"launch_early"}).add();
    co_await launch(decision);
    window_.note_early_look(clock_.now(), waits_since(decision, begun));
    continue_creations();
    unfinished_ = false;
}

// Continues interrupted creations after a pause, even if something else triggers an earlier look.
void ProvisioningReconciler::continue_creations() {
    const auto next = claim_creator_.next_try();
    if (next) next_look_ = next_look_ ? std::min(*next_look_, *next) : *next;
}

base::TimePoint ProvisioningReconciler::waits_since(const ProvisioningDecision& decision,
                                                    base::TimePoint now) const {
    std::set<std::string> served;
    for (const auto& placement : decision.result.placements)
        if (placement.node) served.insert(placement.pod->metadata.uid);
    for (const auto& launch : decision.launches)
        for (const auto claim : launch.claims)
            for (const auto* pod : decision.result.claims[claim].pods) served.insert(pod->metadata.uid);
    for (const auto& pod : decision.demand.pods) {
        const auto waiting = waiting_.find(pod->metadata.uid);
        if (waiting != waiting_.end() && !served.contains(waiting->first))
            now = std::min(now, waiting->second.since);
    }
    return now;
}

ProvisioningDecision ProvisioningReconciler::decide(api::Time now) {
    const auto begun = clock_.now();
    auto decision = provisioning::decide(inputs(), solver_, now);
    metrics_.solve.with({}).observe(std::chrono::duration<double>(clock_.now() - begun).count());
    return decision;
}

namespace {

// A reservation that takes so long was held up, most probably by an admission webhook.
constexpr std::chrono::seconds kLateWrite{10};

}  // namespace

asio::awaitable<void> ProvisioningReconciler::launch(const ProvisioningDecision& decision) {
    // A pool that cannot launch now must not stop the others. Limits are shared, so places are reserved one
    // pool after the other. The claims of all pools are created concurrently.
    std::exception_ptr failure;
    const auto id_of = [&decision](std::size_t launch) {
        return api::key_of(*decision.world.pools[decision.launches[launch].pool].pool).str();
    };
    std::vector<std::size_t> order(decision.launches.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    bool was_one_late = false;
    for (const auto number : reserving_turns_.in_turn(std::move(order), id_of)) {
        // An admission webhook that hangs for some pools costs each decision the time of one write only.
        if (was_one_late && reserving_turns_.is_late(id_of(number))) {
            look_at(api::Time(clock_.wall_now()));
            continue;
        }
        const auto& launch = decision.launches[number];
        std::vector<PlannedClaim> planned_claims;
        for (const auto claim : launch.claims)
            planned_claims.push_back(planned_claim_of(decision.result.claims[claim], informers_));
        const auto& supply = decision.world.pools[launch.pool];
        take_places(*supply.pool, planned_claims);
        const auto begun = clock_.now();
        try {
            co_await launch_for(supply, launch.observed_by, std::move(planned_claims));
        } catch (const std::exception&) {
            if (!failure) failure = std::current_exception();
        }
        const bool is_late = clock_.now() - begun >= kLateWrite;
        is_late ? reserving_turns_.note_late(id_of(number)) : reserving_turns_.note_success(id_of(number));
        was_one_late = was_one_late || is_late;
        co_await claim_creator_.begin();
    }
    co_await claim_creator_.work_off();
    if (failure) std::rethrow_exception(failure);
    // During its pause, the pods of a refused claim get the reason, or another machine.
    for (const auto& launch : decision.launches)
        if (!reservations_.refusals().pauses_of(*decision.world.pools[launch.pool].pool).empty())
            look_at(api::Time(clock_.wall_now()));
}

// Records in new claims which machines they replace, if any of their pool are being replaced. Which one each
// gets does not matter, because the cause that ends a series is the same.
void ProvisioningReconciler::take_places(const NodeSmithPool& pool,
                                         std::vector<PlannedClaim>& planned_claims) {
    const auto claims = informers_.claims.store().by_index(kClaimsByPool, api::key_of(pool).str());
    auto open = open_replacements(pool, claims, api::Time(clock_.wall_now()));
    for (std::size_t i = 0; i < std::min(open.size(), planned_claims.size()); ++i)
        planned_claims[i].replaces = std::move(open[i]);
}

asio::awaitable<void> ProvisioningReconciler::launch_for(PoolSupply supply, std::string observed_by,
                                                         std::vector<PlannedClaim> planned_claims) {
    const auto about = kube::target_of(*supply.pool);
    if (!observed_by.empty()) {
        announcer_.say(about, kube::EventType::normal, "WouldCreate",
                       "would create " + base::counted(std::ssize(planned_claims), "claim") +
                           (planned_claims.size() == 1 ? " " : ", the first ") +
                           explain(planned_claims.front()) + ", if the mode of control plane " + observed_by +
                           " were Active");
        co_return;
    }
    const auto hit = co_await claim_creator_.reserve(supply.pool, std::move(planned_claims));
    if (hit) announcer_.say(about, kube::EventType::warning, "ScaleUpBlocked", hit->message);
}

// Withdraws waiting claims that are no longer needed. Without a machine, such a
// claim would take the next free room.
asio::awaitable<void> ProvisioningReconciler::withdraw_superfluous() {
    const auto keys = withdrawals_.in_turn(superfluous_waits(informers_),
                                           [](const kube::ObjectKey& key) { return key.str(); });
    for (const auto& key : keys) {
        const auto claim = informers_.claims.store().get(key);
        if (!claim) continue;
        const auto* manager =
            manager_of({key.namespace_, claim->spec.poolRef}, informers_.control_planes.store().all());
        if (!manager || observes_only(*manager)) continue;
        api::Preconditions same;
        same.uid = claim->metadata.uid;
        same.resourceVersion = claim->metadata.resourceVersion;
        try {
            co_await client_.remove<NodeSmithClaim>(key, std::move(same));
        } catch (const kube::ApiError& error) {
            // The next round tries again; the other claims are withdrawn now.
            base::log::warning("A claim that no pod needs could not be withdrawn",
                               {{"claim", key.str()}, {"error", error.what()}});
            look_at(next_try(error, clock_));
            // Decisions wait for one time-out at most. The next round begins with the others.
            if (withdrawals_.note_failure(key.str(), error)) co_return;
            continue;
        }
        withdrawals_.note_success(key.str());
        const std::string why = lacks_room(*claim) ? "no host had room for its machine"
                                                   : "its provider could not create its machine";
        events_.normal(*claim, "Withdrawn",
                       why + ", and the pods for which it was created no longer need it");
    }
}

asio::awaitable<void> ProvisioningReconciler::judge_predictions(std::set<std::string> doubted,
                                                                std::set<std::string> waiting) {
    const auto now = api::Time(clock_.wall_now());
    const auto pools = predictions_.in_turn(informers_.pools.store().values(),
                                            [](const auto& pool) { return api::key_of(*pool).str(); });
    doubted.merge(pods_of_leaving_claims(informers_.claims.store().values()));
    const auto kinds = doubted.empty() ? KindHistories() : launches_by_kind(informers_, now);
    std::vector<ContradictedPod> contradicted;
    const auto unschedulable = unschedulable_pods(informers_);
    const auto ends = gathering_ends(unschedulable, informers_);
    for (const auto& pod : unschedulable) {
        const auto& uid = pod->metadata.uid;
        if (!doubted.contains(uid) || !waiting.contains(uid)) continue;
        const auto end = ends.find(pod_group_of(*pod));
        contradicted.push_back({uid, name_of(*pod), doubtful_kind_of(*pod, kinds, informers_),
                                end == ends.end() ? std::nullopt : std::optional(end->second)});
    }
    for (const auto& known : pools) {
        const auto key = api::key_of(*known);
        const auto claims = informers_.claims.store().by_index(kClaimsByPool, key.str());
        const auto predictions = judge(*known, claims, contradicted, waiting, placed_of(*known, informers_),
                                       informers_.pools.store().all(), now);
        look_at(predictions.judge_at);
        const auto pool = informers_.pools.store().get(key);
        if (!pool || predictions.list == pool->status.mispredictions) continue;
        auto after = *pool;
        after.status.mispredictions = predictions.list;
        try {
            co_await write_status(client_, informers_.pools, *pool, std::move(after));
        } catch (const kube::ApiError& error) {
            // Results for other pools are recorded nevertheless.
            base::log::warning("The wrong predictions of a pool could not be noted",
                               {{"pool", key.str()}, {"error", error.what()}});
            look_at(next_try(error, clock_));
            // Decisions wait for one time-out at most. The next round begins with the others.
            if (predictions_.note_failure(key.str(), error)) co_return;
            continue;
        }
        predictions_.note_success(key.str());
        for (const auto& entry : predictions.added) {
            look_at(entry.nextRetryTime);
            const auto slash = entry.pod.find('/');
            const auto pod =
                informers_.pods.store().get({entry.pod.substr(0, slash), entry.pod.substr(slash + 1)});
            if (!pod) continue;
            const auto* scheduled = api::find_condition(pod->status.conditions, conditions::kPodScheduled);
            events_.warning(*pod, "PredictionFailed",
                            "a node that was created for the pod did not help it; the scheduler says: " +
                                (scheduled ? scheduled->message : std::string("nothing")));
        }
    }
}

void ProvisioningReconciler::note_created(const NodeSmithClaim& claim, const PlannedClaim& planned_claim) {
    const auto& namespace_ = claim.metadata.namespace_;
    metrics_.created.with({namespace_, claim.spec.poolRef}).add();
    for (const auto& uid : planned_claim.pod_uids) {
        const auto pod = waiting_.find(uid);
        if (pod == waiting_.end()) continue;
        pod->second.launches.push_back(clock_.now());
        metrics_.pod_to_claim.with({}).observe(
            std::chrono::duration<double>(clock_.now() - pod->second.since).count());
    }
}

DecisionInputs ProvisioningReconciler::inputs() {
    return {informers_, reservations_, template_hashes_, remembered_launches(), claim_creator_.under_way()};
}

std::map<std::string, int> ProvisioningReconciler::remembered_launches() const {
    std::map<std::string, int> launches;
    for (const auto& [uid, pod] : waiting_) {
        const auto recent = std::ranges::count_if(pod.launches, [this](base::TimePoint when) {
            return clock_.now() - when <= std::chrono::hours{1};
        });
        if (recent > 0) launches.emplace(uid, static_cast<int>(recent));
    }
    return launches;
}

World ProvisioningReconciler::world_for_removals() {
    return provisioning::world_for_removals(inputs(), api::Time(clock_.wall_now()));
}

// Returns the shortest durations of all ControlPlanes, because a decision covers all pools.
BatchingDurations ProvisioningReconciler::durations() const {
    std::optional<BatchingDurations> shortest;
    for (const auto& [key, control_plane] : informers_.control_planes.store().all()) {
        const auto& wish = control_plane->spec.batching;
        const auto idle = wish.idleDuration.value;
        const auto maximum = wish.maxDuration.value;
        if (!shortest) shortest = BatchingDurations{idle, maximum};
        shortest->idle = std::min(shortest->idle, idle);
        shortest->maximum = std::min(shortest->maximum, maximum);
    }
    return shortest.value_or(BatchingDurations{});
}

void ProvisioningReconciler::changed() {
    window_.note_change(clock_.now());
    queue_->add(the_key());
}

void ProvisioningReconciler::look_again() {
    next_look_ = clock_.now();
    queue_->add(the_key());
}

void ProvisioningReconciler::subscribe(kube::WorkQueue& queue) {
    queue_ = &queue;
    const auto begins_to_wait = [this](const api::Pod& pod) {
        waiting_.try_emplace(pod.metadata.uid, Waiting{clock_.now(), {}});
        window_.note_demand(clock_.now());
        queue_->add(the_key());
    };
    const auto waits_no_longer = [this](const api::Pod& pod) {
        waiting_.erase(pod.metadata.uid);
        changed();
    };
    subscribe_to_changes(informers_, {begins_to_wait, waits_no_longer, [this] { changed(); },
                                      [this] { return !waiting_.empty(); }});
}

void ProvisioningReconciler::look_at(std::optional<api::Time> when) {
    if (!when) return;
    const auto left =
        std::chrono::duration_cast<base::Duration>(base::WallTime(when->at) - clock_.wall_now());
    const auto at = clock_.now() + std::max<base::Duration>(left, std::chrono::seconds{1});
    next_look_ = next_look_ ? std::min(*next_look_, at) : at;
}

}  // namespace controllers::provisioning
