// Tests a host's life with a claim: chosen, taken, woken, put to sleep, released.
#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using redfish_simulator::Power;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_CASE("a claim wakes a host and gives it back off") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    CHECK(bmc.power() == Power::on);
    CHECK(claim.record.machine_id == "a");
    CHECK(claim.identity.system_uuid == bmc.profile().uuid);
    CHECK(world.host("a").use.owner->claim_uid == "uid-of-claim-c");
    CHECK(world.host("a").use.stage == HostStage::joining);
    world.joined("a");
    world.pass(minutes{10});
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
    CHECK_FALSE(world.host("a").use.owner);
    CHECK(world.host("a").use.failures == 0);
    CHECK(bmc.count("POST", "Reset") == 2);
}

TEST_CASE("a host that a claim has is turned off with the login that it had, although its Secret is gone") {
    World world;
    auto& bmc = world.add("a");
    auto& free_bmc = world.add("b");
    const Profile profile;
    world.inventory.secrets["own"] = {{"username", profile.username}, {"password", profile.password}};
    for (const auto* name : {"a", "b"}) world.host(name).bmc.credentials = providers::SecretName{"own", ""};
    world.host("a").priority = 1;
    world.examine("b");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    REQUIRE(claim.record.machine_id == "a");
    world.joined("a");
    world.pass(minutes{10});
    world.inventory.secrets.clear();
    CHECK(world.examine("a").reason.empty());
    // The operator does not query a host without a claim any longer.
    const auto asked = free_bmc.exchanges().size();
    CHECK_FALSE(world.examine("b").authenticated);
    CHECK(free_bmc.exchanges().size() == asked);
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::off);
    CHECK_FALSE(world.host("a").use.owner);
    CHECK_FALSE(world.examine("a").authenticated);
}

TEST_CASE("nothing is asked of a host before the claim knows its identity") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    world.ensure(claim);
    CHECK_FALSE(world.host("a").use.owner);
    const auto result = world.ensure(claim);
    CHECK(std::get<providers::Machine>(result).state == providers::MachineState::creating);
    CHECK(world.host("a").use.stage == HostStage::reserved);
    CHECK(bmc.exchanges().empty());
    REQUIRE(world.put_to_sleep(claim));
    CHECK(bmc.exchanges().empty());
    CHECK_FALSE(world.host("a").use.owner);
}

TEST_CASE("two claims that chose the same host do not both get it") {
    World world;
    world.add("a");
    auto first = world.claim("first");
    auto second = world.claim("second");
    world.ensure(first);
    world.ensure(second);
    REQUIRE(first.record.machine_id == second.record.machine_id);
    REQUIRE(world.wake(first));
    CHECK_FALSE(world.wake(second));
    CHECK(world.host("a").use.owner->claim_name == "first");
    CHECK(second.outcome.find("in use by claim first") != std::string::npos);
    world.add("b", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3133"});
    REQUIRE(world.wake(second));
    CHECK(second.record.machine_id == "b");
}

TEST_CASE("an operator that dies anywhere goes on where it was") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    for (int i = 0; i < 200 && claim.outcome != "running"; ++i) {
        const auto result = world.ensure(claim);
        const auto* machine = std::get_if<providers::Machine>(&result);
        if (machine && machine->state == providers::MachineState::running) claim.outcome = "running";
        world.restart();
        world.pass(seconds{1});
    }
    REQUIRE(claim.outcome == "running");
    world.joined("a");
    bool gone = false;
    for (int i = 0; i < 2000 && !gone; ++i) {
        gone = std::holds_alternative<providers::Gone>(world.remove(claim));
        if (i % 100 == 99) world.restart();
        world.pass(seconds{1});
    }
    CHECK(gone);
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a host that is on without a claim is left alone") {
    World world;
    auto& bmc = world.add("a");
    bmc.set_power(Power::on);
    auto claim = world.claim("c");
    world.ensure(claim);
    // The reconciler has noticed it meanwhile.
    world.host("a").power_state = "On";
    world.host("a").readiness = providers::HostReadiness{false, "is on"};
    CHECK_FALSE(world.wake(claim));
    // The claim never had the host, so there is nothing to remove.
    CHECK(world.put_to_sleep(claim));
    CHECK(bmc.power() == Power::on);
    CHECK(bmc.count("POST", "Reset") == 0);
}

TEST_CASE("a machine that is not the claim's is never turned off") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    bmc.profile().uuid = "99999999-0042-3510-8054-b4c04f4d3132";
    CHECK_FALSE(world.put_to_sleep(claim));
    CHECK(claim.outcome.find("OwnershipMismatch") == 0);
    CHECK(bmc.power() == Power::on);
    SECTION("the same UUID in the other byte order is the same machine") {
        bmc.profile().uuid = "44454c4c-4200-1035-8054-b4c04f4d3132";
        CHECK(world.put_to_sleep(claim));
    }
}

TEST_CASE("a host that turns out to be in use is not told to go off, until it is not") {
    World world;
    auto& bmc = world.add("a1");
    auto claim = world.claim("workers-1");
    REQUIRE(world.wake(claim));
    bool is_used = true;
    const auto in_use = [&]() -> asio::awaitable<bool> { co_return is_used; };
    for (int i = 0; i < 3; ++i) {
        world.remove(claim, in_use);
        world.pass(std::chrono::minutes{2});
    }
    CHECK(bmc.power() == Power::on);
    CHECK_FALSE(
        world.run(world.provider->switch_power(claim.identity, claim.record, providers::Power::off, in_use)));
    world.pass(std::chrono::minutes{2});
    CHECK(bmc.power() == Power::on);
    is_used = false;
    CHECK(world.put_to_sleep(claim));
}

TEST_CASE("a host that another process gave back during a slow visit is not asked for anything") {
    World world;
    auto& bmc = world.add("a", {.latency = seconds{1}});
    auto claim = world.claim("c");
    const auto give_back_in = [&](base::Duration wait) {
        return world.clock.call_at(world.clock.now() + wait, [&world] {
            world.host("a").use.owner.reset();
            world.inventory.touch("a");
        });
    };
    // The BMC dropped the first request, so the same request is due again.
    const auto drop_it_and_wait = [&](Power power) {
        bmc.set_power(power);
        world.pass(seconds{30});
    };
    while (bmc.count("POST", "Reset") == 0) world.ensure(claim);
    SECTION("to go on") {
        drop_it_and_wait(Power::off);
        world.restart();
        const auto alarm = give_back_in(std::chrono::milliseconds{500});
        world.ensure(claim);
        CHECK(bmc.count("POST", "Reset") == 1);
    }
    SECTION("to go off") {
        REQUIRE(world.wake(claim));
        world.remove(claim);
        REQUIRE(bmc.count("POST", "Reset") == 2);
        drop_it_and_wait(Power::on);
        const auto alarm = give_back_in(std::chrono::milliseconds{500});
        world.remove(claim);
        CHECK(bmc.count("POST", "Reset") == 2);
        CHECK(bmc.power() == Power::on);
    }
    SECTION("to be switched off for the repair of its Node") {
        REQUIRE(world.wake(claim));
        const auto alarm = give_back_in(std::chrono::milliseconds{500});
        CHECK_THROWS_WITH(
            world.run(world.provider->switch_power(claim.identity, claim.record, providers::Power::off, {})),
            "host a is not reserved for claim c");
        CHECK(bmc.count("POST", "Reset") == 1);
    }
}

TEST_CASE("a host that hangs on its way up fails the attempt and is tried later and later") {
    World world;
    world.add("a", {.sticks_powering_on = true});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("PowerOnFailed") == 0);
    REQUIRE(world.put_to_sleep(claim));
    CHECK(world.host("a").use.failures == 1);
    CHECK(world.host("a").use.next_retry);
    CHECK(world.bmc("a").power() == Power::off);
}

TEST_CASE(
    "a host that goes on and stays off again fails within minutes, and not by one answer that says so") {
    World world;
    world.add("a", {.falls_back = true, .remembers_power = seconds{0}});
    world.bmc("a").profile().power_on = seconds{60};
    auto claim = world.claim("c");
    world.wake(claim, minutes{5});
    world.pass(seconds{30});
    // The host had been seen on. Looks while the attempt is still open show what happened.
    CHECK(std::holds_alternative<providers::Machine>(world.ensure(claim)));
    world.pass(seconds{70});
    const auto result = world.ensure(claim);
    const auto* failed = std::get_if<providers::AttemptFailed>(&result);
    REQUIRE(failed);
    CHECK(failed->message.find("off again") != std::string::npos);
}

TEST_CASE("a system that does not shut down is cut off after its time, and not before") {
    api::v1alpha1::RedfishSpec spec;
    World world(spec);
    world.add("a", {.ignores_shutdown = true});
    auto claim = world.serving("c", "a");
    CHECK_FALSE(world.put_to_sleep(claim, minutes{2}));
    CHECK(world.bmc("a").power() == Power::on);
    CHECK(world.put_to_sleep(claim, minutes{3}));
    CHECK(world.bmc("a").power() == Power::off);
}

TEST_CASE("with GracefulOnly nothing is ever cut off") {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.mode = api::v1alpha1::PowerOffMode::GracefulOnly;
    World world(spec);
    world.add("a", {.ignores_shutdown = true});
    auto claim = world.serving("c", "a");
    CHECK_FALSE(world.put_to_sleep(claim, minutes{60}));
    CHECK(world.bmc("a").power() == Power::on);
}

TEST_CASE("hosts are chosen for the least waste, or by priority, or spread") {
    const auto chosen = [](api::v1alpha1::RedfishSpec spec) {
        World world(std::move(spec));
        world.add("big", {.processors = 64, .memory_gib = 512});
        world.add("small", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3133"});
        world.add("used", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3134"});
        world.host("big").priority = 5;
        world.host("big").labels["rack"] = "2";
        world.host("small").labels["rack"] = "1";
        world.host("used").labels["rack"] = "1";
        world.host("used").use.owner = providers::HostOwner{"other", "uid"};
        auto claim = world.claim("c");
        world.ensure(claim);
        return claim.record.machine_id;
    };
    api::v1alpha1::RedfishSpec spec;
    CHECK(chosen(spec) == "small");
    spec.selection = api::v1alpha1::HostSelection::Priority;
    CHECK(chosen(spec) == "big");
    spec.selection = api::v1alpha1::HostSelection::Spread;
    spec.spreadLabel = "rack";
    CHECK(chosen(spec) == "big");
}

TEST_CASE("no more hosts are turned on at a time than the fuse bears") {
    api::v1alpha1::RedfishSpec spec;
    spec.concurrency.powerOnsPerGroup = 1;
    spec.concurrency.groupLabel = "circuit";
    World world(spec);
    world.add("a", {.power_on = seconds{50}});
    world.add("b", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3133", .power_on = seconds{50}});
    for (const auto* name : {"a", "b"}) world.host(name).labels["circuit"] = "x";
    auto first = world.claim("first");
    auto second = world.claim("second");
    CHECK_FALSE(world.wake(first, seconds{20}));
    CHECK_FALSE(world.wake(second, seconds{10}));
    CHECK(second.outcome.find("powerOnsPerGroup") != std::string::npos);
    CHECK(world.wake(first));
    CHECK(world.wake(second));
}

TEST_CASE("a process that may not lead any more changes nothing") {
    World world;
    auto& bmc = world.add("a");
    auto claim = world.claim("c");
    world.ensure(claim);
    world.ensure(claim);
    world.may_mutate = false;
    CHECK_THROWS_AS(world.ensure(claim), providers::FencedError);
    CHECK(bmc.power() == Power::off);
}

TEST_CASE("a host whose object was restored from an older backup is the claim's again") {
    World world;
    world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    world.host("a").use.owner.reset();
    const auto machine = world.run(world.provider->get(claim.identity, claim.record));
    REQUIRE(machine);
    CHECK(world.host("a").use.owner->claim_uid == claim.identity.claim_uid);
    world.bmc("a").set_power(Power::off);
    world.host("a").use.owner.reset();
    CHECK_FALSE(world.run(world.provider->get(claim.identity, claim.record)));
}

TEST_CASE(
    "a host that is being turned off is not said to run, whatever its power state was at the last look") {
    World world;
    world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    world.host("a").power_state = "On";
    CHECK(world.run(world.provider->get(claim.identity, claim.record))->state ==
          providers::MachineState::running);
    world.host("a").use.stage = providers::HostStage::powering_off;
    CHECK(world.run(world.provider->get(claim.identity, claim.record))->state ==
          providers::MachineState::starting);
}

TEST_CASE("a BMC that answers as another machine does not prove that the claim's machine is gone") {
    World world;
    world.add("a");
    auto claim = world.claim("c");
    REQUIRE(world.wake(claim));
    world.host("a").use.owner.reset();
    claim.identity.system_uuid = "99999999-0000-4000-8000-000000000099";
    world.host("a").system_uuid = claim.identity.system_uuid;
    CHECK_THROWS_AS(world.run(world.provider->get(claim.identity, claim.record)), providers::ProviderError);
}

TEST_CASE("a host's drives are erased before it is anybody's again") {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    World world(spec);
    auto& bmc = world.add("a");
    auto claim = world.serving("c", "a");
    SECTION("all of them") {
        REQUIRE(world.put_to_sleep(claim));
        CHECK(bmc.erased_drives() == 2);
    }
    SECTION("all of many, without a word of failure") {
        bmc.profile().drives = 8;
        bool is_gone = false;
        for (int steps = 0; steps < 200 && !is_gone; ++steps) {
            const auto result = world.remove(claim);
            CHECK_FALSE(std::holds_alternative<providers::RemovalBlocked>(result));
            is_gone = std::holds_alternative<providers::Gone>(result);
            world.pass(seconds{15});
        }
        CHECK(is_gone);
        CHECK(bmc.erased_drives() == 8);
    }
    SECTION("a task that vanished proves nothing and is begun again") {
        bmc.profile().vanishing_tasks = 1;
        REQUIRE(world.put_to_sleep(claim));
        CHECK(bmc.erased_drives() == 2);
    }
    SECTION("a task that only the body of the answer names is followed") {
        bmc.profile().hides_task_location = true;
        const bool is_promised = GENERATE(true, false);
        world.odd("a").add({.is_for = redfish_simulator::requests("POST", "Drive.SecureErase"),
                            .alter = [&](const base::HttpRequest&, base::HttpResponse& response) {
                                if (!is_promised) response.status = 200;
                            }});
        for (int steps = 0; steps < 300 && world.host("a").use.owner; ++steps) {
            world.remove(claim);
            world.pass(seconds{2});
        }
        CHECK_FALSE(world.host("a").use.owner);
        CHECK(bmc.erased_drives() == 2);
    }
    SECTION("an answer that proves no erasure never makes a drive clean") {
        base::HttpResponse nothing;
        nothing.status = 202;
        auto error = redfish_simulator::refusal(200, "GeneralError", "the drive is frozen");
        base::HttpResponse failed;
        failed.status = 200;
        failed.body = R"({"@odata.id":"/redfish/v1/TaskService/Tasks/9","TaskState":"Exception",)"
                      R"("Messages":[{"Message":"the drive is frozen"}]})";
        const auto [answer, words] = GENERATE_COPY(table<base::HttpResponse, std::string>(
            {{nothing, "without a task"}, {error, "the drive is frozen"}, {failed, "the drive is frozen"}}));
        world.odd("a").add(
            {.is_for = redfish_simulator::requests("POST", "Drive.SecureErase"), .instead = answer});
        CHECK_FALSE(world.put_to_sleep(claim, std::chrono::hours{2}));
        CHECK(claim.outcome.starts_with("WipeFailed: "));
        CHECK_THAT(claim.outcome, Catch::Contains(words));
        CHECK(world.host("a").use.stage == HostStage::wiping);
    }
    SECTION("a drive that its BMC does not list at the moment is erased later") {
        const auto drop = redfish_simulator::merging(
            R"({"Drives":[{"@odata.id":"/redfish/v1/Systems/Blade1/Storage/1/Drives/1"}]})");
        const bool is_known = GENERATE(true, false);
        if (!is_known) world.host("a").disks = 0;
        auto& odd =
            world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Storage/1"), .alter = drop});
        if (!is_known)
            odd.is_for = [&](const base::HttpRequest& request) {
                return bmc.count("POST", "SecureErase") > 0 && request.target.ends_with("/Storage/1");
            };
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK_THAT(claim.outcome, Catch::Contains("lists 1 of 2 drives"));
        odd.times = 0;
        REQUIRE(world.put_to_sleep(claim));
        CHECK(bmc.erased_drives() == 2);
    }
    SECTION("drives that its BMC lists only while the host is on keep it reserved") {
        world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Storage"),
                            .alter = redfish_simulator::merging(R"({"Members":[]})")});
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK(claim.outcome.starts_with("WipeUnsupported: "));
        CHECK_THAT(claim.outcome, Catch::Contains("2 drives"));
    }
    SECTION("a controller that its BMC does not show keeps it reserved") {
        auto& odd =
            world.odd("a").add({.is_for = redfish_simulator::requests("GET", "/Storage"),
                                .alter = redfish_simulator::merging(
                                    R"({"Members":[{"@odata.id":"/redfish/v1/Systems/Blade1/Storage/1"},)"
                                    R"({"@odata.id":"/redfish/v1/Systems/Blade1/Storage/2"}]})")});
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK_THAT(claim.outcome, Catch::Contains("Storage/2"));
        CHECK_THAT(claim.outcome, Catch::Contains("spec.redfish.powerOff.wipe"));
        odd.times = 0;
        REQUIRE(world.put_to_sleep(claim));
        CHECK(bmc.erased_drives() == 2);
    }
    SECTION("an empty answer does not end a task") {
        base::HttpResponse empty;
        empty.status = 200;
        world.odd("a").add(
            {.is_for = redfish_simulator::requests("GET", "/Tasks/1"), .times = 1, .instead = empty});
        REQUIRE(world.put_to_sleep(claim));
        CHECK(bmc.erased_drives() == 2);
        CHECK(bmc.count("POST", "SecureErase") == 2);
    }
    SECTION("a task whose answers stay empty counts as failed") {
        base::HttpResponse empty;
        empty.status = 200;
        const auto asks_for_task = [](const base::HttpRequest& request) {
            return request.method == "GET" && request.target.find("/Tasks/") != std::string::npos;
        };
        world.odd("a").add({.is_for = asks_for_task, .times = std::nullopt, .instead = empty});
        CHECK_FALSE(world.put_to_sleep(claim, minutes{60}));
        CHECK(claim.outcome.find("WipeFailed") == 0);
    }
    SECTION("an erasure that fails keeps the host from everybody") {
        bmc.profile().erase_fails = true;
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK(world.host("a").use.owner);
        CHECK(world.host("a").use.stage == HostStage::wiping);
    }
    SECTION("an erasure that the BMC refuses is not asked for all the time") {
        int asked = 0;
        world.odd("a").add({.is_for =
                                [&asked](const base::HttpRequest& request) {
                                    const bool erases = request.target.ends_with("Drive.SecureErase");
                                    asked += erases ? 1 : 0;
                                    return erases;
                                },
                            .instead = redfish_simulator::refusal(400)});
        CHECK_FALSE(world.put_to_sleep(claim, minutes{30}));
        CHECK(asked >= 3);
        CHECK(asked <= 30);
        CHECK(claim.outcome.find("WipeFailed") == 0);
    }
    SECTION("an erasure that never succeeds wears no drive out") {
        const bool is_answered = GENERATE(true, false);
        INFO((is_answered ? "it fails" : "its answer is lost"));
        int asked = 0;
        world.odd("a").add({.is_for =
                                [&asked](const base::HttpRequest& request) {
                                    const bool erases = request.target.ends_with("Drive.SecureErase");
                                    asked += erases ? 1 : 0;
                                    return erases;
                                },
                            .is_lost = !is_answered});
        bmc.profile().erase_fails = true;
        CHECK_FALSE(world.put_to_sleep(claim, std::chrono::hours{72}));
        CHECK(asked >= 3);
        CHECK(asked <= 30);
        CHECK(claim.outcome.find("WipeFailed") == 0);
        CHECK(world.host("a").use.stage == HostStage::wiping);
    }
    SECTION("a drive that cannot be erased is said, not passed over") {
        bmc.profile().can_erase = false;
        CHECK_FALSE(world.put_to_sleep(claim));
        CHECK(claim.outcome.find("WipeUnsupported") == 0);
        CHECK(world.host("a").use.owner);
    }
}

TEST_CASE("a host whose BMC dies while it is turned on keeps no other host from its turn") {
    api::v1alpha1::RedfishSpec spec;
    spec.concurrency.powerOnsPerGroup = 1;
    spec.concurrency.groupLabel = "circuit";
    World world(spec);
    world.add("a", {.power_on = seconds{50}});
    world.add("b", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3133"});
    for (const auto* name : {"a", "b"}) world.host(name).labels["circuit"] = "x";
    auto first = world.claim("first");
    CHECK_FALSE(world.wake(first, seconds{20}));
    REQUIRE(world.host("a").use.stage == HostStage::powering_on);
    world.network.unplug("https://a");
    const bool restarts = GENERATE(false, true);
    if (restarts) world.restart();
    auto second = world.claim("second");
    CHECK_FALSE(world.wake(second, minutes{1}));
    CHECK(second.outcome.find("powerOnsPerGroup") != std::string::npos);
    CHECK(world.wake(second, minutes{5}));
    CHECK(world.host("a").use.stage == HostStage::powering_on);
}

TEST_CASE("an erasure without an end says how far it is, and what a person can do") {
    api::v1alpha1::RedfishSpec spec;
    spec.powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
    World world(spec);
    world.add("a", {.erase = std::chrono::hours{10}});
    world.odd("a").add({.is_for =
                            [](const base::HttpRequest& request) {
                                return request.target.find("/Tasks/") != std::string::npos;
                            },
                        .alter =
                            [](const base::HttpRequest&, base::HttpResponse& response) {
                                response.body = R"({"TaskState":"Starting","PercentComplete":0})";
                            }});
    auto claim = world.serving("c", "a");
    CHECK_FALSE(world.put_to_sleep(claim, minutes{20}));
    CHECK(claim.outcome.find("half an hour") == std::string::npos);
    CHECK_FALSE(world.put_to_sleep(claim, minutes{20}));
    CHECK_THAT(claim.outcome, Catch::Contains("is Starting, 0 percent"));
    CHECK_THAT(claim.outcome, Catch::Contains("spec.redfish.powerOff.wipe"));
}
