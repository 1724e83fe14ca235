// Tests claims whose status somebody replaced, or that a tool restored without it. The operator finds their
// machines again.
#include <set>

#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

TEST_CASE("a claim that lost its status takes its machine up again, and makes no second one") {
    World world;
    world.launch();
    auto process = std::make_unique<Process>(world);
    REQUIRE(world.run_until([&] { return world.ready(); }));
    SECTION("while it is as young as a new claim") {
        world.lose_status();
    }
    world.run(2min);
    const auto before = world.claim()->status;
    SECTION("while it serves") {
        world.lose_status();
    }
    SECTION("while the operator does not run") {
        process.reset();
        world.lose_status();
        process = std::make_unique<Process>(world);
    }
    SECTION("while its machine is not configured yet") {
        auto& machine = world.cloud.machines.begin()->second;
        machine.is_unfinished = true;
        SECTION("and lists show it") {}
        SECTION("and nothing but its name shows it") {
            machine.has_only_name = true;
        }
        world.lose_status();
        REQUIRE(world.run_until([&] { return !world.claim()->status.machineID.empty(); }, 1min));
        machine.is_unfinished = machine.has_only_name = false;
    }
    REQUIRE(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.cloud.created() == 1);
    CHECK(world.claim()->status.machineID == before.machineID);
    CHECK(world.claim()->status.systemUUID == before.systemUUID);
    CHECK(world.claim()->status.nodeName == before.nodeName);
    CHECK(world.claim()->status.templateHash == before.templateHash);
    world.server.remove<NodeSmithClaim>(kClaim);
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

namespace {

// Slow is a cloud whose machines take minutes to make, and show whose they are only then.
struct Slow : World {
    explicit Slow(base::Duration create_time = 4min) : World({.create_time = create_time}) {
        cloud.marks_late = true;
    }
    bool is_being_made() { return !cloud.machines.empty() && !claim()->status.machineID.empty(); }
    bool waits_for_half_made() {
        const auto* launched = condition(conditions::kLaunched);
        return launched && launched->reason == "MachineNotKnown" &&
               launched->message.find("which a task is still creating") != std::string::npos;
    }
};

}  // namespace

TEST_CASE("a claim that loses its status while its machine is made waits for it, and makes no second one") {
    Slow world;
    auto process = std::make_unique<Process>(world);
    world.run(2s);
    auto& host = world.cloud.hosts.begin()->second;
    const bool had_to_wait = GENERATE(false, true);
    host.usable = !had_to_wait;
    world.launch();
    if (had_to_wait) world.run(5s);
    const auto backup = world.server.store().back_up();
    host.usable = true;
    REQUIRE(world.run_until([&] { return world.is_being_made(); }, 1min));
    const auto uuid = world.claim()->status.systemUUID;
    SECTION("while the operator runs") {
        world.server.restore(backup);
        process->list_anew();
    }
    SECTION("while the operator runs, and somebody else took the status away") {
        world.lose_status();
    }
    SECTION("while the operator does not run") {
        process.reset();
        world.lose_status();
        process = std::make_unique<Process>(world);
    }
    SECTION("while the operator does not run, and the backup knows of the attempt") {
        process.reset();
        world.server.restore(backup);
        process = std::make_unique<Process>(world);
    }
    SECTION("while the operator runs, and somebody wrote to the claim since") {
        world.server.restore(backup);
        for (int i = 0; i < 20; ++i)
            world.server.edit<NodeSmithClaim>(kClaim, [i](NodeSmithClaim& claim) {
                claim.metadata.annotations["example.org/note"] = std::to_string(i);
            });
        process->list_anew();
    }
    REQUIRE(world.run_until([&] { return world.waits_for_half_made(); }, 30s));
    CHECK(world.run_until([&] { return world.ready(); }, 10min));
    CHECK(world.cloud.created() == 1);
    CHECK(world.claim()->status.systemUUID == uuid);
}

namespace {

// TwoAttempts is a world whose claim fails one attempt and then serves with the machine of the second.
struct TwoAttempts : World {
    TwoAttempts() { launch(); }
    bool is_at(std::string_view type) { return condition(type) != nullptr; }
    bool serves_with_second() {
        return ready() && claim()->status.launchAttempts == 2 && cloud.machines.size() == 1;
    }
    bool is_launched() { return claim() && api::is_true(claim()->status.conditions, conditions::kLaunched); }
};

}  // namespace

TEST_CASE(
    "a claim that is restored to an earlier attempt while no operator runs takes its machine up again") {
    // The API server, whose clock makes a claim's time of creation, may go back with the operator's.
    const auto went_back = GENERATE(base::Duration(0h), base::Duration(1h));
    TwoAttempts world;
    auto process = std::make_unique<Process>(world);
    world.machines_join = false;
    SECTION("that is about to be created") {
        REQUIRE(world.run_until([&] { return world.claim() && !world.claim()->status.machineID.empty(); }));
    }
    SECTION("whose machine ran") {
        REQUIRE(world.run_until([&] { return world.is_launched(); }));
    }
    SECTION("whose machine is being removed") {
        REQUIRE(world.run_until([&] { return world.is_at(conditions::kMachineDeleted); }));
    }
    SECTION("that has ended") {
        REQUIRE(world.run_until([&] { return world.is_at(conditions::kMachineDeleted); }));
        REQUIRE(world.run_until([&] { return !world.is_at(conditions::kMachineDeleted); }));
    }
    const auto backup = world.server.store().back_up();
    REQUIRE(world.run_until([&] { return world.claim()->status.launchAttempts == 2; }));
    world.machines_join = true;
    REQUIRE(world.run_until([&] { return world.serves_with_second(); }));
    const auto second = world.claim()->status;
    process.reset();
    world.server.restore(backup);
    world.kubelet_joins(world.cloud.machines.begin()->second);  // its Node is younger than the backup
    world.clock.shift_wall(-went_back);
    process = std::make_unique<Process>(world);
    CHECK(world.run_until([&] { return world.serves_with_second(); }, 30min));
    CHECK(world.cloud.created() == 2);
    CHECK(world.claim()->status.systemUUID == second.systemUUID);
    CHECK(world.cloud.violations().empty());
    world.server.remove<NodeSmithClaim>(kClaim);
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

TEST_CASE("a claim that is restored to before it was placed, and then deleted, ends only with its machine") {
    World world;
    auto process = std::make_unique<Process>(world);
    world.run(2s);
    auto& host = world.cloud.hosts.begin()->second;
    host.usable = false;
    world.launch();
    world.run(5s);
    REQUIRE(world.claim()->status.launchAttempts == 1);
    const auto backup = world.server.store().back_up();
    host.usable = true;
    REQUIRE(world.run_until([&] { return world.ready(); }));
    process.reset();
    world.server.restore(backup);
    world.server.remove<NodeSmithClaim>(kClaim);
    process = std::make_unique<Process>(world);
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

TEST_CASE("a claim does not take up the machine of an attempt that a person declared gone") {
    World world;
    auto process = std::make_unique<Process>(world);
    world.machines_join = false;
    world.launch();
    REQUIRE(world.run_until([&] { return !world.cloud.machines.empty(); }));
    world.run(1min);
    auto left = world.cloud.machines.begin()->second;
    left.machine_id = "9999";
    REQUIRE(world.run_until([&] { return world.claim()->status.launchAttempts == 2; }));
    world.machines_join = true;
    REQUIRE(world.run_until([&] { return world.ready(); }));
    process.reset();
    world.cloud.plant(left);
    world.server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) { claim.status.machineID.clear(); });
    process = std::make_unique<Process>(world);
    CHECK(world.run_until([&] { return !world.claim()->status.machineID.empty(); }, 5min));
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.claim()->status.launchAttempts == 2);
}

TEST_CASE("a new leader goes on with the machine that the claim names, whatever else cannot be read") {
    Slow world;
    auto process = std::make_unique<Process>(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_being_made(); }, 1min));
    process.reset();
    auto strange = world.cloud.machines.begin()->second;
    strange.machine_id = "9999";
    strange.identity.claim_uid = "someone";
    strange.state = providers::MachineState::running;
    strange.is_unread = true;
    world.cloud.plant(strange);
    process = std::make_unique<Process>(world);
    world.run(1min);
    CHECK(world.reason(conditions::kLaunched) == "Launching");
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.cloud.created() == 1);
}

// With rights on a resource pool alone, the account sees a machine only once its creation has ended.
TEST_CASE("a new leader goes on with the creation that the claim records, though nothing shows the machine") {
    Slow world;
    world.cloud.hides_half_made = true;
    auto process = std::make_unique<Process>(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_being_made() && !world.claim()->status.taskRef.empty(); },
                            1min));
    process.reset();
    process = std::make_unique<Process>(world);
    world.run(1min);
    CHECK(world.reason(conditions::kLaunched) == "Launching");
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.cloud.created() == 1);
}

TEST_CASE("a new leader gives up a recorded creation that does not end, though nothing shows the machine") {
    Slow world(24h);
    world.cloud.hides_half_made = true;
    auto process = std::make_unique<Process>(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.is_being_made() && !world.claim()->status.taskRef.empty(); },
                            1min));
    process.reset();
    process = std::make_unique<Process>(world);
    CHECK(world.run_until([&] { return world.claim()->status.launchAttempts == 2; }, 1h));
    CHECK(world.cloud.violations().empty());
}

TEST_CASE("a claim that lost its status does not wait for a half-made machine of another one") {
    Slow world;
    Process process(world);
    world.cloud.marks_late = false;
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.cloud.marks_late = true;
    world.launch("other");
    REQUIRE(world.run_until([&] { return world.cloud.created() == 2; }, 1min));
    world.lose_status();
    CHECK(world.run_until([&] { return world.ready(); }, 2min));
    CHECK(world.cloud.created() == 2);
}

TEST_CASE("a claim that loses its status while it is drained ends only with its machine") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.condition(conditions::kDrained) != nullptr; }, 1min));
    world.lose_status();
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}

TEST_CASE("a claim without a status makes no machine while it is not known which one is its own") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    auto& machines = world.cloud.machines;
    SECTION("as two bear its mark") {
        auto twin = machines.begin()->second;
        machines.emplace("9999", twin);
        world.lose_status();
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "SeveralMachines"; }));
    }
    SECTION("as one cannot be read") {
        machines.begin()->second.is_unread = true;
        world.lose_status();
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }));
        world.run(5min);
        machines.begin()->second.is_unread = false;
        CHECK(world.run_until([&] { return world.ready(); }, 5min));
    }
    SECTION("as its provider does not show it, though its Node is there") {
        auto hidden = machines.extract(machines.begin());
        world.lose_status();
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotShown"; }));
        world.run(5min);
        machines.insert(std::move(hidden));
        CHECK(world.run_until([&] { return world.ready(); }, 5min));
    }
    SECTION("as its provider lacks rights") {
        world.server.edit<objects::NodeSmithProvider>({"default", "proxmox"}, [](auto& provider) {
            objects::set_condition(provider.status.conditions, conditions::kReady,
                                   api::ConditionStatus::False, objects::kStart, "MissingPrivileges");
        });
        machines.clear();
        world.lose_status();
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }));
    }
    SECTION("as the one with its mark has another UUID") {
        machines.begin()->second.identity.system_uuid = "4c4c4544-0042-3510-8054-b4c04f4d3131";
        world.lose_status();
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MarkOfOtherMachine"; }));
    }
    CHECK(world.cloud.created() == 1);
}

namespace {

// Silent is a provider that does not answer some methods.
struct Silent final : fake::ProviderCalls {
    explicit Silent(std::set<std::string> methods) : methods_(std::move(methods)) {}

    void before(const std::string& method) override {
        if (on && methods_.contains(method))
            throw providers::ProviderError(method + ": 595 no route to host");
    }
    void after(const std::string&) override {}

    bool on = false;

private:
    std::set<std::string> methods_;
};

// Manual is a pool for one machine, which a claim that a user applied has.
struct Manual : World {
    Manual() {
        server.edit<NodeSmithPool>({"default", "p"},
                                   [](NodeSmithPool& pool) { pool.spec.limits.maxNodes = 1; });
    }
    void apply(const std::string& name) {
        auto claim = objects::claim(name, *server.get<NodeSmithPool>({"default", "p"}));
        claim.metadata.uid.clear();
        server.put(claim);
    }
    // Does what the pool's reconciler does if no claim shows a machine.
    void settle() {
        server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) { pool.status.reserved = {}; });
    }
};

}  // namespace

TEST_CASE("a claim that a user applied and that lost its status keeps its place within the limits") {
    Manual world;
    Silent silent({"list"});
    auto process = std::make_unique<Process>(world, nullptr, &silent);
    world.run(2s);
    world.apply("c");
    REQUIRE(world.run_until([&] { return world.ready(); }));
    const auto look_takes_long = [&world] { world.cloud.latency = 20s; };
    SECTION("while the operator runs and looks for its machine") {
        look_takes_long();
        world.lose_status();
    }
    SECTION("while a new operator looks for its machine") {
        process.reset();
        world.lose_status();
        look_takes_long();
        process = std::make_unique<Process>(world, nullptr, &silent);
        world.run(2s);
    }
    SECTION("while the provider does not answer") {
        silent.on = true;
        world.lose_status();
        REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }));
    }
    world.settle();
    world.apply("d");
    world.run(10s);
    CHECK(world.reason(conditions::kLaunched, "d") == "LimitExceeded");
    world.cloud.latency = 1ms;
    silent.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
    world.run(5min);
    CHECK(world.reason(conditions::kLaunched, "d") == "LimitExceeded");
    CHECK(world.cloud.created() == 1);
}

TEST_CASE("a claim that a user applied gets its place once it is known that it has no machine") {
    Manual world;
    Silent silent({"list"});
    world.apply("d");
    silent.on = true;
    Process process(world, nullptr, &silent);
    world.server.edit<NodeSmithClaim>({"default", "d"}, [](NodeSmithClaim& claim) {
        claim.metadata.finalizers->push_back(std::string(api::finalizers::kClaim));
    });
    REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched, "d") == "MachineNotKnown"; }));
    silent.on = false;
    CHECK(world.run_until([&] { return world.ready("d"); }, 5min));
    CHECK(world.cloud.created() == 1);
}

namespace {

void set_mode(World& world, api::v1alpha1::Mode mode) {
    world.server.edit<api::v1alpha1::NodeSmithControlPlane>(
        {"default", "main"},
        [mode](api::v1alpha1::NodeSmithControlPlane& manager) { manager.spec.mode = mode; });
}

}  // namespace

TEST_CASE("a claim that had to wait is not held up by the machine of another one that cannot be read") {
    World world;
    Process process(world);
    world.launch("other");
    REQUIRE(world.run_until([&] { return world.ready("other"); }));
    set_mode(world, api::v1alpha1::Mode::Paused);
    world.launch();
    world.run(2min);
    world.cloud.machines.begin()->second.is_unread = true;
    set_mode(world, api::v1alpha1::Mode::Active);
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
}

TEST_CASE("a new claim is launched without a look for a machine") {
    World world;
    Silent calls({"list", "under_way"});
    calls.on = true;
    Process process(world, nullptr, &calls);
    world.run(2s);
    world.launch();
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
}

TEST_CASE("a claim that is older than the operator makes no machine before it is known to have none") {
    World world;
    Silent calls({"under_way"});
    calls.on = true;
    world.launch();
    Process process(world, nullptr, &calls);
    REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "MachineNotKnown"; }, 1min));
    world.run(2min);
    CHECK(world.cloud.created() == 0);
    calls.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
}

// The list of machines still shows those of a dead host as running.
TEST_CASE("a machine that is taken up again is not said to run while its host is down") {
    World world;
    Silent calls({"get", "ensure"});
    Process process(world, nullptr, &calls);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    const auto machine = world.claim()->status.machineID;
    calls.on = true;
    world.lose_status();
    REQUIRE(world.run_until([&] { return world.claim()->status.machineID == machine; }, 1min));
    CHECK(world.condition(conditions::kLaunched)->status == api::ConditionStatus::Unknown);
    CHECK(world.condition(conditions::kLaunched)->message.find("595 no route to host") != std::string::npos);
    calls.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 5min));
    CHECK(world.cloud.created() == 1);
}

// A process died after it added the finalizer. Then everything was deleted at once.
TEST_CASE(
    "a claim that is deleted without its status waits for a missing Secret only if its provider had it") {
    World world;
    const bool had_machines = GENERATE(false, true);
    world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [&](NodeSmithProvider& provider) {
        provider.spec.credentialsSecretRef.emplace().name = "token";
        provider.status.protectedSecret = had_machines ? "token" : "";
    });
    world.launch();
    world.server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) {
        claim.metadata.finalizers->push_back(std::string(api::finalizers::kClaim));
    });
    SECTION("it is deleted") {
        world.server.remove<NodeSmithClaim>(kClaim);
        Process process(world);
        CHECK(world.run_until([&] { return world.gone(); }, 5min) != had_machines);
        if (had_machines) CHECK(world.reason(conditions::kLaunched) == "MachineNotKnown");
    }
    SECTION("it is not deleted") {
        Process process(world);
        world.run(5min);
        CHECK(world.reason(conditions::kLaunched) == "MachineNotKnown");
        CHECK(world.cloud.created() == 0);
    }
}

namespace {

struct NoRights final : fake::Interference {
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (request.target.find("/secrets") == std::string::npos) return std::nullopt;
        return fake::status_response(403, "Forbidden", "cannot get resource secrets");
    }
};

}  // namespace

// The namespace took the RoleBinding with it, which the operator then cannot get back.
TEST_CASE("a claim that is deleted without its status waits for rights only if its provider had a machine") {
    World world;
    const bool had_machines = GENERATE(false, true);
    world.server.edit<NodeSmithProvider>({"default", "proxmox"}, [&](NodeSmithProvider& provider) {
        provider.spec.credentialsSecretRef.emplace().name = "token";
        provider.status.protectedSecret = had_machines ? "token" : "";
    });
    world.launch();
    world.server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) {
        claim.metadata.finalizers->push_back(std::string(api::finalizers::kClaim));
    });
    world.server.remove<NodeSmithClaim>(kClaim);
    NoRights no_rights;
    Process process(world, &no_rights, nullptr);
    CHECK(world.run_until([&] { return world.gone(); }, 5min) != had_machines);
}

TEST_CASE("a claim that is deleted without its status ends only when its machine is known, and gone") {
    World world;
    world.machines_join = false;
    Silent calls({"list"});
    auto process = std::make_unique<Process>(world, nullptr, &calls);
    world.launch();
    REQUIRE(world.run_until([&] {
        return world.claim() && api::is_true(world.claim()->status.conditions, conditions::kLaunched);
    }));
    process.reset();
    world.lose_status();
    world.server.remove<NodeSmithClaim>(kClaim);
    auto& machine = world.cloud.machines.begin()->second;
    SECTION("while the machine cannot be read") {
        machine.is_unread = true;
    }
    SECTION("while the provider does not answer") {
        calls.on = true;
    }
    process = std::make_unique<Process>(world, nullptr, &calls);
    world.run(5min);
    REQUIRE(world.claim());
    CHECK(world.reason(conditions::kLaunched) == "MachineNotKnown");
    machine.is_unread = false;
    calls.on = false;
    CHECK(world.run_until([&] { return world.gone(); }, 5min));
    CHECK(world.clean());
}
