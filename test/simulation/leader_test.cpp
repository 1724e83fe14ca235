// A change of leader changes no decision. Each world runs twice. In one run the leader is killed at the
// moment when it holds something in memory. docs/operations.md lists what that is.
#include "test/simulation/leader_check.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

std::size_t claims(World& world) {
    return world.view.all<NodeSmithClaim>().size();
}

// Sets whether the creation of claims is refused.
void refuse_claims(World& world, bool is_refused) {
    world.network.authorize =
        [is_refused](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        if (!is_refused || request.method != "POST" || !request.target.ends_with("/nodesmithclaims"))
            return std::nullopt;
        return fake::status_response(403, "Forbidden", "exceeded quota: objects, used: 7, limited: 7");
    };
}

// Sets whether an admission webhook refuses all evictions.
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

void switch_machines_off(World& world) {
    for (const int vmid : world.administrators.marked()) world.administrators.stop(vmid);
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
                   // The operator decides this once a minute.
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
                   // This is the pause after a failed eviction.
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
                   // The operator probes a refused creation once a minute.
                   1min});
    all.push_back({"the removal of a machine that failed, which is not stuck while the next leader waits",
                   20min,
                   [](Scenario& scenario) {
                       scenario.pools.front().spec.scaleUp.registrationTimeout = 2min;
                       scenario.pools.front().spec.scaleUp.maxLaunchAttempts = 3;
                   },
                   {{20s, switch_machines_off}},
                   any_with(conditions::kMachineDeleted, ConditionStatus::False)});
    all.push_back(
        {"that the machine of a broken node runs", 40min, {}, {{10min, break_a_node}}, is_past(12min), 1min});
    all.push_back(
        {"that a machine has vanished",
         40min,
         {},
         {{10min, [](World& world) { world.administrators.destroy(world.administrators.marked().front()); }}},
         is_past(10min + 20s),
         // The operator compares a provider's machines with the claims at the start and from time to time.
         10min});
    return all;
}

}  // namespace

TEST_CASE("a leader that is killed while it holds something in memory decides as if it lived on") {
    for (const auto& story : stories()) check_change_of_leader(story);
}

TEST_CASE("a machine that waits while no operator runs is not given up by the next leader") {
    using api::ConditionStatus;
    namespace conditions = api::conditions;
    const auto check = [](std::string name, std::function<bool(World&)> is_held) {
        Story story{std::move(name), 50min, {}, {}, std::move(is_held)};
        story.without_leader = 20min;
        check_change_of_leader(story);
    };
    check("a machine that is not started yet", any_with(conditions::kLaunched, ConditionStatus::Unknown));
    check("a machine that is about to ask for its certificate",
          any_with(conditions::kLaunched, ConditionStatus::True));
    check("a Node that is still closed to pods", any_with(conditions::kRegistered, ConditionStatus::True));
}

TEST_CASE("a leader that is killed at any of its writes decides as if it lived on") {
    const Story story{"", 15min, {}, {{5min, scales_to(0)}}, {}, 2s};
    std::vector<LeaderDecision> undisturbed;
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
        CHECK(difference(undisturbed, tale.decisions(), story).empty());
    }
}
