// If others keep removing the Nodes or machines of a pool, the pool makes fewer and fewer new ones. While a
// young Node has a taint for a while, its pods get no other machine, and the Node is not removed as empty.
#include <algorithm>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

using api::v1alpha1::Retry;

// The operator learns late of a taking, especially of a machine.
constexpr std::int64_t kLearnsOfTaking = 30;  // s
constexpr std::int64_t kTakingsWindow = 3600;
constexpr std::size_t kExtraRounds = 6;
// The operator knows a taint when it has been there for this long.
constexpr std::chrono::seconds kTaintKnown{30};
// The operator itself waits five minutes. A restart or a slow API server may use up a part of that.
constexpr std::chrono::minutes kCountsAsTemporary{4};

// Returns how many rounds fit into an hour if each begins as soon as its pause allows.
std::size_t most_rounds(const Retry& retry) {
    auto pause = retry.initialBackoff.value;
    std::size_t rounds = 0;
    for (std::chrono::nanoseconds at{0}; at < std::chrono::hours{1}; ++rounds) {
        at += std::max<std::chrono::nanoseconds>(pause, std::chrono::seconds{1});
        pause = std::min<std::chrono::nanoseconds>(pause * 2, retry.maxBackoff.value);
    }
    return rounds;
}

class OutsidersAreWaitedFor final : public Invariant {
public:
    explicit OutsidersAreWaitedFor(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<api::Node>(
            [this](const api::Node* before, const api::Node* after) { follow(before, after); });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (after) follow(before, *after);
            });
    }

    void each_second() override {
        const auto& takings = world_.interference.takings;
        for (; judged_ < takings.size(); ++judged_) judge(takings[judged_]);
    }

private:
    // Counts rounds of takings. The taking of a replacement begins another round.
    void judge(const Taking& taking) {
        auto& rounds = rounds_[taking.pool];
        if (!rounds.empty() && taking.created_seconds < rounds.back() + kLearnsOfTaking) return;
        rounds.push_back(taking.seconds);
        const auto recent = static_cast<std::size_t>(std::ranges::count_if(
            rounds, [&](std::int64_t when) { return taking.seconds - when < kTakingsWindow; }));
        const auto slash = taking.pool.find('/');
        const auto* pool =
            world_.view.find<NodeSmithPool>({taking.pool.substr(0, slash), taking.pool.substr(slash + 1)});
        if (!pool || recent <= most_rounds(pool->spec.scaleUp.retry) + kExtraRounds) return;
        stage_.violate("what others take away is not made for ever",
                       "replacements of pool " + taking.pool + " were taken away " + std::to_string(recent) +
                           " times within an hour");
    }

    bool has_temporary_taint(const api::Node& node) const {
        return std::ranges::any_of(node.spec.taints, [this](const api::Taint& taint) {
            return world_.interference.taint_keys.contains(taint.key);
        });
    }

    void follow(const api::Node* before, const api::Node* after) {
        const auto& name = after ? after->metadata.name : before->metadata.name;
        if (!after || !has_temporary_taint(*after))
            tainted_.erase(name);
        else
            tainted_.try_emplace(name, world_.now());
    }

    // Reports whether the operator must wait for the Node's taint to go. It has had the taint long enough to
    // know it, and the Node is still young.
    bool is_awaited(const NodeSmithClaim& claim) const {
        const auto since = tainted_.find(claim.status.nodeName);
        const auto service = in_service_.find(claim.metadata.uid);
        if (since == tainted_.end() || since->second + kTaintKnown > world_.now()) return false;
        return service != in_service_.end() && world_.now() < service->second + kCountsAsTemporary;
    }

    void follow(const NodeSmithClaim* before, const NodeSmithClaim& after) {
        if (api::is_true(after.status.conditions, api::conditions::kInitialized))
            in_service_.try_emplace(after.metadata.uid, world_.now());
        if (!before) return check_launch(after);
        const auto* why = api::find_condition(after.status.conditions, api::conditions::kDisrupted);
        const auto* then = api::find_condition(before->status.conditions, api::conditions::kDisrupted);
        const bool was_decided = then && then->status == api::ConditionStatus::True;
        const bool is_empty =
            why && why->status == api::ConditionStatus::True && why->reason == api::reasons::kEmpty;
        if (is_empty && !was_decided && is_awaited(after))
            stage_.violate("temporary taints are waited for",
                           "claim " + after.metadata.name +
                               " leaves as empty while its Node has a taint that "
                               "somebody takes off in a while");
    }

    void check_launch(const NodeSmithClaim& claim) {
        for (const auto& [key, other] : world_.view.all<NodeSmithClaim>()) {
            const bool leaves =
                other->metadata.deletionTimestamp ||
                api::find_condition(other->status.conditions, api::conditions::kMachineDeleted) ||
                api::is_true(other->status.conditions, api::conditions::kDisrupted);
            if (other->metadata.uid == claim.metadata.uid || leaves || !is_awaited(*other)) continue;
            const auto shared = pod_of_both(claim, *other);
            if (shared.empty() || !has_room_for_all(*other)) continue;
            stage_.violate("temporary taints are waited for",
                           "claim " + claim.metadata.name + " is created for pod " + shared +
                               ", which waits for "
                               "that of claim " +
                               other->metadata.name + ", whose Node has a taint for a while");
        }
    }

    std::string pod_of_both(const NodeSmithClaim& claim, const NodeSmithClaim& other) const {
        const auto* one = api::find(claim.metadata.annotations, api::annotations::kLaunchedFor);
        const auto* two = api::find(other.metadata.annotations, api::annotations::kLaunchedFor);
        if (!one || !two) return {};
        for (const auto& [key, pod] : world_.view.all<api::Pod>())
            if (one->find(pod->metadata.uid) != std::string::npos &&
                two->find(pod->metadata.uid) != std::string::npos)
                return key.str();
        return {};
    }

    // Reports whether the Node has room for all pods it was launched for. Kubelets may reserve more than the
    // pool says, and spreads and ports may demand another Node.
    bool has_room_for_all(const NodeSmithClaim& claim) const {
        const auto* node = world_.view.find<api::Node>({"", claim.status.nodeName});
        const auto* uids = api::find(claim.metadata.annotations, api::annotations::kLaunchedFor);
        if (!node || !is_ready(*node) || node->spec.unschedulable || !uids) return false;
        std::int64_t milli = 0, bytes = 0, pods = 0;
        const auto take = [&](const api::Pod& pod) {
            const auto wanted = requests_of(pod);
            if (const auto cpu = wanted.find("cpu"); cpu != wanted.end()) milli += cpu->second.milli();
            if (const auto memory = wanted.find("memory"); memory != wanted.end())
                bytes += memory->second.value();
            ++pods;
        };
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            const bool waits =
                uids->find(pod->metadata.uid) != std::string::npos && pod->spec.nodeName.empty();
            const bool is_there = pod->spec.nodeName == node->metadata.name;
            if (waits && has_wishes(*pod)) return false;
            if (waits || is_there) take(*pod);
        }
        const auto offered = [node](const char* name) {
            const auto found = node->status.allocatable.find(name);
            return found == node->status.allocatable.end() ? api::Quantity() : found->second;
        };
        return milli <= offered("cpu").milli() && bytes <= offered("memory").value() &&
               pods + kDaemons <= offered("pods").value();
    }

    static bool has_wishes(const api::Pod& pod) {
        const bool has_ports = std::ranges::any_of(
            pod.spec.containers, [](const api::Container& container) { return !container.ports.empty(); });
        return pod.spec.affinity || has_ports || !pod.spec.topologySpreadConstraints->empty() ||
               !pod.spec.volumes->empty() || requests_of(pod).contains("ephemeral-storage");
    }

    static constexpr std::int64_t kDaemons = 5;

    std::size_t judged_ = 0;
    std::map<std::string, std::vector<std::int64_t>> rounds_;  // times in seconds, by pool
    std::map<std::string, base::TimePoint> tainted_;           // time of the taint, by name of the Node
    std::map<std::string, base::TimePoint> in_service_;        // time of initialization, by UID of the claim
};

}  // namespace

std::unique_ptr<Invariant> outsiders_are_waited_for(const Stage& stage) {
    return std::make_unique<OutsidersAreWaitedFor>(stage);
}

}  // namespace simulation
