// A change of leader changes no decision: each world is run twice, once with a leader that is killed at the
// moment when something is held in memory. docs/operations.md lists what that is.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <map>
#include <vector>

#include "test/simulation/operators.hpp"
#include "test/support/catch.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

constexpr const char* kWeb = "web";

struct Decision {
    std::string what;
    base::TimePoint at;
};

// So many of these decisions within an hour.
struct Rate {
    std::string what;
    std::ptrdiff_t most = 0;  // 0: any number
};

struct Story {
    std::string name;
    base::Duration lasts;
    std::function<void(Scenario&)> adapt;
    std::map<base::Duration, std::function<void(World&)>> happens;  // at these times
    std::function<bool(World&)> is_held;                            // the leader is killed then
    // A new leader knows less of pauses after requests that failed: it may decide so much earlier.
    base::Duration earlier = 2s;
    Rate rate{};
};

// A machine for each pod of the deployment, which goes soon when it is empty.
void adapt_plain(Scenario& scenario) {
    scenario.leader_election = true;
    auto& pool = scenario.pools.front();
    pool.spec.machineTemplate.sizes = {{"one", 2, 4096}};
    auto& down = pool.spec.scaleDown;
    down.emptyGracePeriod = 1min;
    down.minNodeAge = 1min;
    down.unneededDuration = 1min;
    down.stabilizationWindow = 0s;
    down.delayAfterFailure = 0s;
    down.maxConcurrent = 5;
    pool.spec.disruption.budgets.clear();
    scenario.deployments = {a_deployment(kWeb, 2, "1500m", "1Gi")};
}

class Tale {
public:
    explicit Tale(const Story& story)
        : story_(story), world_(1, scenario_of(story), Recording::off), operators_(world_) {
        world_.faults.stop();
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) { note(before, after); });
        world_.observe([this](const Process&, const base::HttpRequest& request, const base::HttpResponse&) {
            if (request.method != "GET" && request.target.find("/leases") == std::string::npos) note_write();
        });
        for (const auto& [when, what] : story.happens)
            alarms_.push_back(world_.clock.call_at(world_.now() + when, [this, what] { what(world_); }));
        operators_.keep(1);
    }
    ~Tale() {
        operators_.stop_all();
        world_.shut_down();
    }

    enum class Kill { never, when_held };
    void run(Kill kill) {
        const auto end = world_.now() + story_.lasts;
        while (world_.now() < end) {
            world_.run_for(100ms);
            if (kill == Kill::never || was_killed_ || !story_.is_held(world_)) continue;
            kill_leader();
        }
    }
    void run_and_kill_at_write(int number) {
        kill_at_ = number;
        world_.run_for(story_.lasts);
    }

    const std::vector<Decision>& decisions() const { return decisions_; }
    bool was_killed() const { return was_killed_; }
    int writes() const { return writes_; }

private:
    static Scenario scenario_of(const Story& story) {
        auto scenario = plain_scenario();
        adapt_plain(scenario);
        if (story.adapt) story.adapt(scenario);
        return scenario;
    }

    void kill_leader() {
        was_killed_ = true;
        operators_.kill(*operators_.alive().front());
    }

    // Not from within the process' own code; its answer is still under way then.
    void note_write() {
        if (++writes_ == kill_at_) boost::asio::post(world_.context, [this] { kill_leader(); });
    }

    void note(const NodeSmithClaim* before, const NodeSmithClaim* after) {
        if (!after) return;
        const auto pool = after->spec.poolRef;
        if (!before) decide("creates a claim of " + pool);
        const auto disrupted = [](const NodeSmithClaim* claim) {
            const auto* condition =
                claim ? api::find_condition(claim->status.conditions, api::conditions::kDisrupted) : nullptr;
            return condition ? std::string(to_string(condition->status)) + " " + condition->reason : "";
        };
        if (disrupted(after) != disrupted(before))
            decide("finds a node of " + pool + ": " + disrupted(after));
        if (after->metadata.deletionTimestamp && !(before && before->metadata.deletionTimestamp))
            decide("removes a claim of " + pool);
    }
    void decide(std::string what) { decisions_.push_back({std::move(what), world_.now()}); }

    const Story& story_;
    World world_;
    Operators operators_;
    std::vector<std::unique_ptr<base::Alarm>> alarms_;
    std::vector<Decision> decisions_;
    int writes_ = 0;
    int kill_at_ = 0;
    bool was_killed_ = false;
};

using Times = std::map<std::string, std::vector<base::TimePoint>>;

Times by_what(const std::vector<Decision>& decisions) {
    Times times;
    for (const auto& decision : decisions) times[decision.what].push_back(decision.at);
    return times;
}

std::string text_of(const std::vector<Decision>& decisions) {
    std::string text;
    for (const auto& decision : decisions) text += "\n  " + time_text(decision.at) + " " + decision.what;
    return text;
}

// Until another process has started and has the Lease, and has learned again what providers say.
constexpr auto kLater = 4min;

// Returns how they differ; "" if they are the same, each of the same at about the same time.
std::string difference(const std::vector<Decision>& undisturbed, const std::vector<Decision>& with_kill,
                       base::Duration earlier) {
    const auto expected = by_what(undisturbed), found = by_what(with_kill);
    std::string text;
    for (const auto& [what, times] : expected) {
        const auto other = found.find(what);
        if (other == found.end() || other->second.size() != times.size()) {
            text += "\n  another number: " + what;
            continue;
        }
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (other->second[i] < times[i] - earlier) text += "\n  earlier: " + what;
            if (other->second[i] > times[i] + kLater) text += "\n  later: " + what;
        }
    }
    for (const auto& [what, times] : found)
        if (!expected.contains(what)) text += "\n  only with the kill: " + what;
    return text;
}

bool holds(const Rate& rate, const std::vector<Decision>& decisions) {
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

std::size_t claims(World& world) {
    return world.view.all<NodeSmithClaim>().size();
}

auto scales_to(std::int64_t replicas) {
    return [replicas](World& world) { world.workloads.scale(kWeb, replicas); };
}

auto is_past(base::Duration time) {
    return [time](World& world) { return world.now().time_since_epoch() >= time; };
}

auto any_with(std::string_view type, api::ConditionStatus status) {
    return [type, status](World& world) {
        return any_claim(world, [&](const NodeSmithClaim& claim) {
            const auto* condition = api::find_condition(claim.status.conditions, type);
            return condition && condition->status == status;
        });
    };
}

// Claims cannot be created for the time being.
void refuse_claims(World& world, bool is_refused) {
    world.network.authorize =
        [is_refused](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (!is_refused || request.method != "POST" || !request.target.ends_with("/nodesmithclaims"))
            return std::nullopt;
        return fake::status_response(403, "Forbidden", "exceeded quota: objects, used: 7, limited: 7");
    };
}

// An admission webhook refuses all evictions for the time being.
void refuse_evictions(World& world, bool is_refused) {
    world.network.admit = [is_refused](const base::HttpRequest& request) -> Admission {
        if (!is_refused || !request.target.ends_with("/eviction")) return {};
        return {{},
                fake::status_response(403, "Forbidden",
                                      "admission webhook \"evictions.example\" denied the request")};
    };
}

void change_template(World& world) {
    world.server.edit<NodeSmithPool>({kNodesNamespace, "general"}, [](NodeSmithPool& pool) {
        pool.spec.machineTemplate.labels["revision"] = "2";
    });
}

void break_a_node(World& world) {
    world.kubelets.set_well(world.kubelets.running().front(), false);
}

std::vector<Story> stories() {
    using api::ConditionStatus;
    namespace conditions = api::conditions;
    std::vector<Story> all;
    all.push_back({"the pods of a burst, which are collected", 10min, {}, {}, [](World& world) {
                       return claims(world) == 0 && !world.view.all<api::Pod>().empty() &&
                              is_past(500ms)(world);
                   }});
    all.push_back({"the task that makes a machine", 10min, {}, {}, [](World& world) {
                       return any_claim(world,
                                        [](const auto& claim) { return !claim.status.taskRef.empty(); });
                   }});
    all.push_back({"when a machine that boots was last asked",
                   10min,
                   {},
                   {},
                   any_with(conditions::kLaunched, ConditionStatus::True)});
    all.push_back({"since when a node is empty", 20min, {}, {{5min, scales_to(0)}}, [](World& world) {
                       return any_claim(
                           world, [](const auto& claim) { return claim.status.emptySince.has_value(); });
                   }});
    all.push_back({"that a leaving node has been tainted for long enough, and that it may be drained",
                   20min,
                   {},
                   {{5min, scales_to(0)}},
                   any_with(conditions::kDisrupted, ConditionStatus::True)});
    all.push_back({"the task that removes a machine", 20min, {}, {{5min, scales_to(0)}}, [](World& world) {
                       return any_claim(world, [](const auto& claim) {
                           return claim.metadata.deletionTimestamp && !claim.status.taskRef.empty();
                       });
                   }});
    all.push_back({"how many claims were created within the hour",
                   80min,
                   [](Scenario& scenario) { scenario.control_plane.spec.rateLimits.maxCreationsPerHour = 2; },
                   {{5min, scales_to(0)}, {25min, scales_to(2)}},
                   is_past(30min),
                   // It is judged once a minute.
                   1min,
                   {"creates a claim of general", 2}});
    all.push_back({"how many nodes were removed within the hour",
                   90min,
                   [](Scenario& scenario) { scenario.control_plane.spec.rateLimits.maxRemovalsPerHour = 1; },
                   {{5min, scales_to(0)}},
                   [](World& world) { return claims(world) == 1; },
                   1min,
                   {"removes a claim of general", 1}});
    all.push_back({"which evictions failed",
                   40min,
                   {},
                   {{1s, [](World& world) { refuse_evictions(world, true); }},
                    {10min, change_template},
                    {20min, [](World& world) { refuse_evictions(world, false); }}},
                   any_with(conditions::kDrained, ConditionStatus::False),
                   // The pause after a failed eviction.
                   1min});
    all.push_back({"that a drain was given up",
                   40min,
                   [](Scenario& scenario) { scenario.pools.front().spec.scaleDown.drainTimeout = 2min; },
                   {{1s, [](World& world) { refuse_evictions(world, true); }}, {10min, change_template}},
                   any_with(conditions::kDisrupted, ConditionStatus::False)});
    all.push_back({"which claims were refused",
                   20min,
                   {},
                   {{100ms, [](World& world) { refuse_claims(world, true); }},
                    {6min, [](World& world) { refuse_claims(world, false); }}},
                   is_past(3min),
                   // A refused creation is probed once a minute.
                   1min});
    all.push_back(
        {"that the machine of a broken node runs", 40min, {}, {{10min, break_a_node}}, is_past(12min), 1min});
    all.push_back(
        {"that a machine has vanished",
         40min,
         {},
         {{10min, [](World& world) { world.administrators.destroy(world.administrators.marked().front()); }}},
         is_past(10min + 20s),
         // The machines of a provider are compared with the claims now and then, and at the start.
         10min});
    return all;
}

}  // namespace

TEST_CASE("a leader that is killed while it holds something in memory decides as if it lived on") {
    for (const auto& story : stories()) {
        std::vector<Decision> undisturbed;
        {
            Tale tale(story);
            tale.run(Tale::Kill::never);
            undisturbed = tale.decisions();
        }
        Tale tale(story);
        tale.run(Tale::Kill::when_held);
        INFO("held: " << story.name << text_of(undisturbed)
                      << "\nwith the kill:" << text_of(tale.decisions()));
        CHECK(tale.was_killed());
        CHECK(undisturbed.size() >= 2);
        CHECK(holds(story.rate, undisturbed));
        CHECK(holds(story.rate, tale.decisions()));
        CHECK(difference(undisturbed, tale.decisions(), story.earlier).empty());
    }
}

TEST_CASE("a leader that is killed at any of its writes decides as if it lived on") {
    const Story story{"", 15min, {}, {{5min, scales_to(0)}}, {}, 2s};
    std::vector<Decision> undisturbed;
    int writes = 0;
    {
        Tale tale(story);
        tale.run(Tale::Kill::never);
        undisturbed = tale.decisions();
        writes = tale.writes();
    }
    CHECK(undisturbed.size() >= 6);
    for (int number = 1; number <= writes; ++number) {
        Tale tale(story);
        tale.run_and_kill_at_write(number);
        INFO("write " << number << text_of(undisturbed) << "\nwith the kill:" << text_of(tale.decisions()));
        CHECK(tale.was_killed());
        CHECK(difference(undisturbed, tale.decisions(), story.earlier).empty());
    }
}
