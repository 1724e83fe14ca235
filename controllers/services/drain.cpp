#include "controllers/services/drain.hpp"

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "controllers/claim/facts/pool_counts.hpp"
#include "controllers/state/pod_budgets.hpp"
#include "scheduling/pods/tolerations.hpp"
#include "scheduling/table/amounts.hpp"

namespace controllers {

namespace {

// Passing time brings deadlines closer, and makes pods count as stuck.
constexpr base::Duration kLookAgain = std::chrono::seconds{5};
constexpr base::Duration kNotAtOnce = std::chrono::seconds{1};
// Sets when answers about pods are dropped that are no longer asked for.
constexpr base::Duration kForgetAfter = std::chrono::minutes{10};
// A kubelet that has not ended a pod this long after its grace period will not do so (dead host).
constexpr auto kStuckAfter = std::chrono::minutes{1};
// A kubelet that is silent for this long ends no pod, however long its grace period is.
// Such a Node would be repaired by now.
constexpr auto kUnheardPatience = std::chrono::minutes{10};
// Priority of system-cluster-critical and system-node-critical.
constexpr std::int32_t kCriticalPriority = 2'000'000'000;

std::string name_of(const api::Pod& pod) {
    return api::key_of(pod).str();
}

bool is_critical(const api::Pod& pod) {
    return pod.spec.priority.value_or(0) >= kCriticalPriority;
}

base::Seconds grace_of(const api::Pod& pod) {
    // The API server counts a negative grace period as one second.
    const auto seconds = pod.spec.terminationGracePeriodSeconds.value_or(30);
    return base::Seconds{seconds < 0 ? 1 : seconds};
}

// Uses deletionTimestamp, which is when the grace period ends.
bool ends_too_late(const api::Pod& pod, api::Time deadline) {
    return pod.metadata.deletionTimestamp && pod.metadata.deletionTimestamp->at > deadline.at;
}

bool must_be_killed(const api::Pod& pod, const DrainRequest& request, api::Time now) {
    if (!request.deadline) return false;
    if (pod.metadata.deletionTimestamp) return ends_too_late(pod, *request.deadline);
    return now.at + grace_of(pod) >= request.deadline->at;
}

// Reports whether the pod was created during the drain. The one before it was evicted already.
bool came_back(const api::Pod& pod, const DrainRequest& request) {
    const auto& created = pod.metadata.creationTimestamp;
    return request.began && created && *created >= *request.began && may_come_back(pod);
}

void look_in(DrainProgress& progress, base::Duration wait) {
    const bool is_first = progress.retry_after == base::Duration::zero();
    progress.retry_after = is_first ? wait : std::min(progress.retry_after, wait);
}

// Schedules the next step when the first pod must be deleted in order to end by the deadline.
void look_before(DrainProgress& progress, api::Time deadline, const DrainPlan& plan, api::Time now) {
    for (const auto* group : {&plan.evict, &plan.later, &plan.protected_})
        for (const auto& pod : *group)
            look_in(progress, std::max<base::Duration>(deadline.at - now.at - grace_of(*pod), kNotAtOnce));
}

bool lasts(const std::string& duration, const api::Pod& pod, api::Time now) {
    try {
        // The kubelet's clock writes one of them, and the API server's clock the other.
        const auto start = std::max(pod.status.startTime.value_or(now),
                                    pod.metadata.creationTimestamp.value_or(api::Time{}));
        return now.at <
               start.at + std::chrono::ceil<std::chrono::seconds>(api::Duration::parse(duration).value);
    } catch (const std::invalid_argument&) {
        return false;  // "false", or a mistake: nothing is protected
    }
}

std::string listed(const std::vector<std::string>& names) {
    return base::joined_first(names, 3);
}

}  // namespace

bool is_drainable(const api::Pod& pod) {
    if (pod.status.phase == api::PodPhase::Succeeded || pod.status.phase == api::PodPhase::Failed)
        return false;
    if (pod.metadata.annotations->contains(std::string(api::annotations::kMirrorPod))) return false;
    const auto* owner = api::controller_of(pod.metadata);
    return !owner || (owner->kind != "DaemonSet" && owner->kind != "Node");
}

bool may_come_back(const api::Pod& pod) {
    static const std::vector<api::Taint> kTaints{
        {std::string(api::taints::kDisrupted), "", std::string(api::taints::kNoSchedule), std::nullopt}};
    return api::controller_of(pod.metadata) && !scheduling::untolerated(kTaints, pod.spec.tolerations);
}

namespace {

// Returns the annotation that keeps the pod, such as "karpenter.sh/do-not-disrupt=true"; empty: none does.
std::string protecting_annotation(const api::Pod& pod, api::Time now) {
    const auto& annotations = pod.metadata.annotations;
    for (const auto name : {api::annotations::kDoNotDisrupt, api::annotations::kKarpenterDoNotDisrupt}) {
        const auto* value = api::find(annotations, name);
        if (value && (*value == "true" || lasts(*value, pod, now))) return std::string(name) + "=" + *value;
    }
    const auto* safe = api::find(annotations, api::annotations::kSafeToEvict);
    return safe && *safe == "false" ? std::string(api::annotations::kSafeToEvict) + "=false" : "";
}

}  // namespace

bool is_protected(const api::Pod& pod, api::Time now) {
    return !protecting_annotation(pod, now).empty();
}

bool is_safe_to_evict(const api::Pod& pod) {
    const auto* safe = api::find(pod.metadata.annotations, api::annotations::kSafeToEvict);
    return safe && *safe == "true";
}

std::string protection_of(const api::Pod& pod, api::Time now) {
    if (const auto annotation = protecting_annotation(pod, now); !annotation.empty())
        return "is annotated not to be disrupted (" + annotation + ")";
    const bool is_bare = !api::controller_of(pod.metadata) && !is_safe_to_evict(pod);
    return is_bare ? "has no controller that would create it again" : "";
}

asio::awaitable<PodPointers> live_pods(kube::Client& client, std::string node) {
    kube::ListOptions options;
    options.field_selector = "spec.nodeName=" + node;
    auto listed_pods = co_await client.list<api::Pod>(std::move(options));
    PodPointers pods;
    for (auto& pod : listed_pods.objects) pods.push_back(std::make_shared<const api::Pod>(std::move(pod)));
    // A pod that cannot be decoded counts as running.
    for (auto& pod : listed_pods.undecodable) {
        pod.rest.status.phase = api::PodPhase::Running;
        pods.push_back(std::make_shared<const api::Pod>(std::move(pod.rest)));
    }
    co_return pods;
}

LongestEnd longest_end(const PodPointers& pods) {
    const api::Pod* ordinary = nullptr;
    const api::Pod* critical = nullptr;
    for (const auto& pod : pods) {
        if (!is_drainable(*pod) || pod->metadata.deletionTimestamp) continue;
        auto& longest = is_critical(*pod) ? critical : ordinary;
        if (!longest || grace_of(*longest) < grace_of(*pod)) longest = pod.get();
    }
    LongestEnd end;
    for (const auto* pod : {ordinary, critical}) {
        if (!pod) continue;
        end.duration += grace_of(*pod);
        end.pods += (end.pods.empty() ? "" : ", and after it ") + name_of(*pod) + " (" +
                    api::Duration(grace_of(*pod)).str() + ")";
    }
    return end;
}

DrainPlan plan_drain(const PodPointers& pods, const DrainRequest& request, api::Time now,
                     const std::set<std::string>& stuck) {
    DrainPlan plan;
    PodPointers ordinary;
    PodPointers critical;
    bool ordinary_ending = false;
    for (const auto& pod : pods) {
        if (!is_drainable(*pod) || request.spared.contains(pod->metadata.uid)) continue;
        if (request.deadline && now >= *request.deadline) continue;
        const bool is_kept = request.kind == DrainRequest::Kind::voluntary && is_protected(*pod, now);
        if (!pod->metadata.deletionTimestamp && !is_kept && came_back(*pod, request)) {
            plan.came_back.push_back(pod);
        } else if (must_be_killed(*pod, request, now)) {
            plan.kill.push_back(pod);
        } else if (pod->metadata.deletionTimestamp) {
            if (stuck.contains(pod->metadata.uid)) continue;
            plan.ending.push_back(pod);
            ordinary_ending = ordinary_ending || !is_critical(*pod);
        } else if (is_kept) {
            plan.protected_.push_back(pod);
        } else {
            (is_critical(*pod) ? critical : ordinary).push_back(pod);
        }
    }
    const bool critical_wait = !ordinary.empty() || ordinary_ending || !plan.protected_.empty();
    plan.evict = std::move(ordinary);
    (critical_wait ? plan.later : plan.evict)
        .insert((critical_wait ? plan.later : plan.evict).end(), critical.begin(), critical.end());
    // Sorted by priority, the lowest first, then by size, and then by name. Large pods find
    // places while there is most room.
    scheduling::ResourceNames names;
    const auto rank = [&names](const api::Pod& pod) {
        const auto wants = scheduling::requests_of(pod.spec, names);
        return std::tuple(pod.spec.priority.value_or(0), -wants.base[scheduling::kCpu],
                          -wants.base[scheduling::kMemory], api::key_of(pod));
    };
    std::ranges::sort(plan.evict, [&rank](const auto& a, const auto& b) { return rank(*a) < rank(*b); });
    return plan;
}

std::string DrainProgress::message() const {
    if (done && came_back.empty()) return "no pod is left that has to be evicted";
    if (done)
        return "no pod is left that has to be evicted; these tolerate the Node's taint, came back, and end "
               "with the machine: " +
               listed(came_back);
    std::string text =
        "waiting for " + base::counted(std::ssize(waiting) + std::ssize(blocked), "pod") + ": ";
    if (blocked.empty()) return text + listed(waiting);
    return text + "blocked " + listed(blocked) + (waiting.empty() ? "" : "; ending " + listed(waiting));
}

Drainer::Drainer(Informers& informers, kube::Client& client, base::Clock& clock)
    : informers_(informers), client_(client), clock_(clock), evictions_(client, clock) {}

asio::awaitable<DrainProgress> Drainer::step(DrainRequest request) {
    const api::Time now(clock_.wall_now());
    const auto pods = informers_.pods.store().by_index(kPodsByNode, request.node);
    const auto plan = plan_drain(pods, request, now, stuck_among(request.node, pods));
    DrainProgress progress;
    for (const auto& pod : plan.ending) progress.waiting.push_back(name_of(*pod));
    for (const auto& pod : plan.later) progress.waiting.push_back(name_of(*pod));
    for (const auto& pod : plan.protected_) {
        progress.blocked.push_back(name_of(*pod) + ": annotated do-not-disrupt");
        look_in(progress, std::chrono::minutes{1});
    }
    std::vector<EvictionRequest> requests;
    for (const auto& pod : plan.kill) requests.push_back({pod, grace_until(*pod, *request.deadline)});
    for (const auto& pod : plan.evict) requests.push_back({pod, std::nullopt});
    co_await evictions_.send(requests);
    for (const auto& each : requests) note(each, progress);
    progress.done = progress.waiting.empty() && progress.blocked.empty();
    if (progress.done) {
        co_await confirm(request, progress);
    } else if (request.deadline || !plan.ending.empty()) {
        look_in(progress, kLookAgain);
        if (request.deadline) look_before(progress, *request.deadline, plan, now);
    }
    co_return progress;
}

PodPointers Drainer::protected_on(const std::string& node) const {
    const api::Time now(clock_.wall_now());
    PodPointers found;
    for (const auto& pod : informers_.pods.store().by_index(kPodsByNode, node)) {
        const bool is_asked = is_drainable(*pod) && !pod->metadata.deletionTimestamp;
        if (is_asked && !protection_of(*pod, now).empty()) found.push_back(pod);
    }
    return found;
}

// Measures with our own clock. deletionTimestamp uses another clock, and ours may be wrong.
std::set<std::string> Drainer::stuck_among(const std::string& node, const PodPointers& pods) {
    const auto known = informers_.nodes.store().get({"", node});
    const bool is_heard_of = known && is_ready(*known);
    std::erase_if(endings_,
                  [this](const auto& entry) { return entry.second.last_seen + kForgetAfter < clock_.now(); });
    std::set<std::string> stuck;
    for (const auto& pod : pods) {
        if (!pod->metadata.deletionTimestamp) continue;
        auto& ending =
            endings_.try_emplace(pod->metadata.uid, Ending{clock_.now(), {}, std::nullopt}).first->second;
        ending.last_seen = clock_.now();
        if (is_heard_of)
            ending.unheard_since.reset();
        else if (!ending.unheard_since)
            ending.unheard_since = clock_.now();
        const bool is_over = ending.first_seen + grace_of(*pod) + kStuckAfter <= clock_.now();
        const bool is_given_up =
            ending.unheard_since && *ending.unheard_since + kUnheardPatience <= clock_.now();
        if (is_over || is_given_up) stuck.insert(pod->metadata.uid);
    }
    return stuck;
}

// Reads the pods live, because the scheduler may have bound one that the watch has not shown yet.
asio::awaitable<void> Drainer::confirm(DrainRequest request, DrainProgress& progress) {
    const auto pods = co_await live_pods(client_, request.node);
    const auto plan =
        plan_drain(pods, request, api::Time(clock_.wall_now()), stuck_among(request.node, pods));
    for (const auto* group : {&plan.evict, &plan.kill, &plan.ending, &plan.later, &plan.protected_}) {
        for (const auto& pod : *group) progress.waiting.push_back(name_of(*pod));
    }
    for (const auto& pod : plan.came_back) progress.came_back.push_back(name_of(*pod));
    progress.done = progress.waiting.empty();
    progress.retry_after = std::chrono::seconds{1};
}

void Drainer::note(const EvictionRequest& request, DrainProgress& progress) const {
    using Kind = EvictionState::Kind;
    const auto state = evictions_.state_of(request);
    const auto name = name_of(*request.pod);
    const auto budgets = informers_.pod_disruption_budgets.store().values();
    switch (state.kind) {
        case Kind::gone:
            break;
        case Kind::accepted:
        case Kind::under_way:
            progress.waiting.push_back(name);
            break;
        case Kind::budget:
            progress.blocked.push_back(name + ": " + state.message);
            break;
        case Kind::several_budgets:
            progress.blocked.push_back(name + ": " + several_budgets(budgets_of(*request.pod, budgets)));
            break;
        case Kind::failed:
            progress.fails = true;
            progress.blocked.insert(
                progress.blocked.begin(),
                name + (request.grace ? ": deletion failed: " : ": eviction failed: ") + state.message);
            break;
    }
    if (state.look_in > base::Duration::zero()) look_in(progress, state.look_in);
}

base::Seconds Drainer::grace_until(const api::Pod& pod, api::Time deadline) const {
    const base::Seconds left = deadline.at - api::Time(clock_.wall_now()).at;
    return std::min(std::max(left, base::Seconds{1}), grace_of(pod));
}

}  // namespace controllers
