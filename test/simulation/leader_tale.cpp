#include "test/simulation/leader_tale.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace simulation {
namespace {

using namespace std::chrono_literals;

// Time until another process has started, has the Lease, and has learned again what providers report.
constexpr auto kLater = 4min;

Scenario scenario_of(const Story& story) {
    auto scenario = two_machine_scenario(kStoryDeployment);
    scenario.pools.front().spec.scaleDown.delayAfterFailure = 0s;
    if (story.adapt) story.adapt(scenario);
    return scenario;
}

using Times = std::map<std::string, std::vector<base::TimePoint>>;

Times by_what(const std::vector<LeaderDecision>& decisions) {
    Times times;
    for (const auto& decision : decisions) times[decision.what].push_back(decision.at);
    return times;
}

}  // namespace

Tale::Tale(const Story& story)
    : story_(story), world_(1, scenario_of(story), Recording::off), operators_(world_) {
    world_.faults.stop();
    world_.view.subscribe<NodeSmithClaim>(
        [this](const NodeSmithClaim* before, const NodeSmithClaim* after) { note(before, after); });
    world_.observe([this](const Process&, const base::HttpRequest& request, const base::HttpResponse&) {
        if (request.method != "GET" && request.target.find("/leases") == std::string::npos) note_write();
    });
    world_.observe([this](const proxmox_simulator::RequestRecord& record) { note(record); });
    for (const auto& [when, what] : story.happens)
        alarms_.push_back(world_.clock.call_at(world_.now() + when, [this, what] { what(world_); }));
    operators_.keep(1);
}

Tale::~Tale() {
    operators_.stop_all();
    world_.shut_down();
}

void Tale::run(Kill kill) {
    const auto end = world_.now() + story_.lasts;
    while (world_.now() < end) {
        world_.run_for(100ms);
        if (kill == Kill::never || was_killed_ || !story_.is_held(world_)) continue;
        kill_leader();
    }
}

void Tale::run_and_kill_at_write(int number) {
    kill_at_ = number;
    world_.run_for(story_.lasts);
}

void Tale::kill_leader() {
    was_killed_ = true;
    operators_.kill(*operators_.alive().front());
    if (story_.without_leader == base::Duration::zero()) return;
    operators_.keep(0);
    const auto returns = world_.now() + story_.without_leader;
    alarms_.push_back(world_.clock.call_at(returns, [this] { operators_.keep(1); }));
}

// The kill is not done within the process's own code, and its answer is still under way then.
void Tale::note_write() {
    if (++writes_ == kill_at_) boost::asio::post(world_.context, [this] { kill_leader(); });
}

void Tale::note(const NodeSmithClaim* before, const NodeSmithClaim* after) {
    if (!after) return;
    const auto pool = after->spec.poolRef;
    if (!before) decide("creates a claim of " + pool);
    const auto failure = [](const NodeSmithClaim* claim) {
        return claim && claim->status.lastFailure ? claim->status.lastFailure->reason : std::string();
    };
    if (failure(after) != failure(before) && !failure(after).empty())
        decide("gives up a machine of " + pool + ": " + failure(after));
    const auto disrupted = [](const NodeSmithClaim* claim) {
        const auto* condition =
            claim ? api::find_condition(claim->status.conditions, api::conditions::kDisrupted) : nullptr;
        return condition ? std::string(to_string(condition->status)) + " " + condition->reason : "";
    };
    if (disrupted(after) != disrupted(before)) decide("finds a node of " + pool + ": " + disrupted(after));
    if (after->metadata.deletionTimestamp && !(before && before->metadata.deletionTimestamp))
        decide("removes a claim of " + pool);
}

// Notes removals of machines without a claim. The decisions about claims already cover the others.
void Tale::note(const proxmox_simulator::RequestRecord& record) {
    const bool is_removal =
        record.method == "DELETE" && record.status == 200 && record.path.find("/qemu/") != std::string::npos;
    if (is_removal && world_.view.all<NodeSmithClaim>().empty()) decide("removes an orphan");
}

std::string text_of(const std::vector<LeaderDecision>& decisions) {
    std::string text;
    for (const auto& decision : decisions) text += "\n  " + time_text(decision.at) + " " + decision.what;
    return text;
}

std::string difference(const std::vector<LeaderDecision>& undisturbed,
                       const std::vector<LeaderDecision>& with_kill, const Story& story) {
    const auto expected = by_what(undisturbed), found = by_what(with_kill);
    std::string text;
    for (const auto& [what, times] : expected) {
        const auto other = found.find(what);
        if (other == found.end() || other->second.size() != times.size()) {
            text += "\n  another number: " + what;
            continue;
        }
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (other->second[i] < times[i] - story.earlier) text += "\n  earlier: " + what;
            if (other->second[i] > times[i] + kLater + story.without_leader) text += "\n  later: " + what;
        }
    }
    for (const auto& [what, times] : found)
        if (!expected.contains(what)) text += "\n  only with the kill: " + what;
    return text;
}

bool holds(const DecisionRate& rate, const std::vector<LeaderDecision>& decisions) {
    if (rate.most == 0) return true;
    const auto times = by_what(decisions).at(rate.what);
    for (std::size_t i = static_cast<std::size_t>(rate.most); i < times.size(); ++i)
        if (times[i] - times[i - static_cast<std::size_t>(rate.most)] < 59min) return false;
    return true;
}

bool any_claim(World& world, const std::function<bool(const NodeSmithClaim&)>& is_so) {
    return std::ranges::any_of(world.view.all<NodeSmithClaim>(),
                               [&is_so](const auto& entry) { return is_so(*entry.second); });
}

std::function<void(World&)> scales_to(std::int64_t replicas) {
    return [replicas](World& world) { world.workloads.scale(kStoryDeployment, replicas); };
}

std::function<bool(World&)> is_past(base::Duration time) {
    return [time](World& world) { return world.now().time_since_epoch() >= time; };
}

std::function<bool(World&)> any_with(std::string_view type, api::ConditionStatus status) {
    return [type, status](World& world) {
        return any_claim(world, [&](const NodeSmithClaim& claim) {
            const auto* condition = api::find_condition(claim.status.conditions, type);
            return condition && condition->status == status;
        });
    };
}

}  // namespace simulation
