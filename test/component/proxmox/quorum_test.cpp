// Tests a cluster without quorum, which answers queries and refuses every change.
#include <algorithm>
#include <set>

#include "providers/errors.hpp"
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using test::Lab;

TEST_CASE("Without quorum a change is tried with growing pauses, whoever calls meanwhile, in steady words") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.cluster().is_partitioned = true;
    lab.log.clear();
    std::set<std::string> messages;
    for (int second = 0; second < 68; ++second) {
        const auto result = lab.remove(spec);
        if (const auto* busy = std::get_if<RemovalInProgress>(&result)) {
            if (!busy->task.empty()) spec.record.task = busy->task;
            messages.insert(busy->message);
        }
        lab.wait(1s);
    }
    const auto refused = std::ranges::count_if(
        lab.log, [](const auto& record) { return record.method != "GET" && record.status == 500; });
    // The provider sends the first change to each endpoint.
    CHECK(refused >= 3);
    CHECK(refused <= 8);
    CHECK(messages.size() <= 4);
    const auto health = lab.run(lab.provider->check());
    CHECK(health.reason == "NoQuorum");
    lab.simulator.cluster().is_partitioned = false;
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.run(lab.provider->check()).reason.empty());
}

TEST_CASE("A token that may not read the cluster's status learns of missing quorum by what is refused") {
    Lab lab;
    auto& world = lab.simulator.cluster().world;
    world.custom_roles["KubeNodeSmith"].erase("Sys.Audit");
    world.custom_roles["Hosts"] = {"Sys.Audit"};
    world.acl.push_back({"/nodes", "user", "automation@pve", "Hosts", true});
    lab.simulator.cluster().is_partitioned = true;
    CHECK(lab.run(lab.provider->check()).reason.empty());
    auto spec = lab.machine(1);
    lab.place(spec);
    CHECK(std::holds_alternative<NotReady>(lab.ensure(spec)));
    CHECK(lab.run(lab.provider->check()).reason == "NoQuorum");
}

TEST_CASE(
    "A boot image that cannot be taken out without quorum is tried with growing pauses, in steady words") {
    Lab lab;
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    lab.simulator.cluster().is_partitioned = true;
    lab.log.clear();
    std::set<std::string> messages;
    const auto discard = [&] {
        return lab.run(lab.provider->discard_boot_image(spec.identity, spec.record));
    };
    for (int second = 0; second < 68; ++second) {
        try {
            const bool is_gone = discard();
            CHECK_FALSE(is_gone);
        } catch (const ProviderError& error) {
            messages.insert(error.what());
        }
        lab.wait(1s);
    }
    const auto refused = lab.count("PUT", ".*/config");
    CHECK(refused >= 3);
    CHECK(refused <= 8);
    CHECK(messages.size() == 1);
    lab.simulator.cluster().is_partitioned = false;
    bool is_gone = false;
    for (int second = 0; second < 90 && !is_gone; ++second) {
        lab.wait(1s);
        is_gone = discard();
    }
    CHECK(is_gone);
}

// The endpoints of Lab are alfaromeo, porsche and zagato, in this order.
TEST_CASE("An endpoint that is cut off from the others is left for one in the majority") {
    Lab lab;
    lab.config.spec.proxmox->nodeWhitelist = {"porsche", "zagato"};
    lab.restart();
    auto spec = lab.machine(1);
    SECTION("as the cluster's status says") {
        lab.simulator.cluster().isolate("alfaromeo");
        CHECK(lab.run(lab.provider->check()).reason.empty());
        lab.launch(spec);
    }
    SECTION("as a change that it refuses says") {
        lab.place(spec);
        lab.simulator.cluster().isolate("alfaromeo");
        lab.launch(spec);
    }
    CHECK(lab.vm(spec)->running.has_value());
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

namespace {

// Launches a machine that the only endpoint does not know, because it was cut off before.
MachineSpec launch_unseen(Lab& lab) {
    lab.config.spec.proxmox->endpoints.clear();
    lab.config.spec.proxmox->nodeWhitelist = {"porsche"};
    lab.restart();
    auto spec = lab.machine(1);
    lab.launch(spec);
    const auto machine = *lab.vm(spec);
    auto& cluster = lab.simulator.cluster();
    cluster.world.machines.erase(machine.vmid);
    cluster.isolate("alfaromeo");
    cluster.world.machines[machine.vmid] = machine;
    return spec;
}

}  // namespace

TEST_CASE("Nothing is gone by the word of an endpoint that is cut off") {
    Lab lab;
    const auto spec = launch_unseen(lab);
    CHECK_THROWS_AS(lab.run(lab.provider->get(spec.identity, spec.record)), ProviderError);
    CHECK(lab.run(lab.provider->check()).reason == "NoQuorum");
    lab.simulator.cluster().rejoin("alfaromeo");
    CHECK(lab.run(lab.provider->get(spec.identity, spec.record)));
}

namespace {

// CutOff is a cluster whose only endpoint was cut off before a machine was launched, so it does not know it.
struct CutOff {
    Lab lab;
    MachineSpec spec;

    CutOff() : spec(launch_unseen(lab)) { lab.restart(); }
    void end() { lab.simulator.cluster().rejoin("alfaromeo"); }
    auto get() { return lab.run(lab.provider->get(spec.identity, spec.record)); }
    auto list() { return lab.run(lab.provider->list()); }
};

}  // namespace

TEST_CASE("The answers of an endpoint that is cut off are believed by no later caller") {
    CutOff world;
    CHECK_THROWS_WITH(world.list(), Catch::Contains("it has none"));
    SECTION("that lists the machines again") {
        CHECK_THROWS_WITH(world.list(), Catch::Contains("it has none"));
    }
    SECTION("that asks for one machine") {
        CHECK_THROWS_WITH(world.get(), Catch::Contains("it has none"));
    }
    SECTION("that removes one machine") {
        CHECK(std::holds_alternative<RemovalInProgress>(world.lab.remove(world.spec)));
    }
    SECTION("that lists the machines once the endpoint sees the others again") {
        world.end();
        CHECK_THROWS_WITH(world.list(), Catch::Contains("it had none"));
        CHECK(world.list().size() == 1);
    }
}

TEST_CASE("By the word of an endpoint that is cut off nothing that is done to a machine is finished") {
    CutOff world;
    auto& [lab, spec] = world;
    const auto capabilities = lab.provider->capabilities();
    SECTION("not its removal") {
        CHECK(std::holds_alternative<RemovalInProgress>(lab.remove(spec)));
    }
    SECTION("not its stop") {
        const auto result = lab.run(capabilities.machine_stopper->stop(spec.identity, spec.record, {}));
        CHECK(std::holds_alternative<RemovalInProgress>(result));
    }
    SECTION("not its release") {
        CHECK_THROWS_WITH(lab.run(lab.provider->release(spec.identity, spec.record)),
                          Catch::Contains("it has none"));
    }
    SECTION("not the removal of its boot image") {
        CHECK_THROWS_WITH(lab.run(lab.provider->discard_boot_image(spec.identity, spec.record)),
                          Catch::Contains("it has none"));
    }
    SECTION("not its creation") {
        CHECK_THROWS_WITH(lab.run(capabilities.leftover_finder->under_way()), Catch::Contains("it has none"));
    }
    SECTION("not the removal of all templates") {
        CHECK_THROWS_WITH(lab.run(capabilities.dismantler->dismantle()), Catch::Contains("it has none"));
    }
}

TEST_CASE("A machine that an endpoint does not know is not gone, whoever asks that endpoint meanwhile") {
    for (auto delay = 0ms; delay < 60ms; ++delay) {
        CutOff world;
        auto& lab = world.lab;
        bool is_listed = false;
        asio::co_spawn(lab.context, lab.provider->list(),
                       [&](std::exception_ptr, const std::vector<Machine>&) { is_listed = true; });
        lab.wait(delay);
        INFO("the removal begins " << delay.count() << " ms after the list");
        const auto result = lab.remove(world.spec);
        CHECK_FALSE(std::holds_alternative<Gone>(result));
        while (!is_listed) lab.wait(1s);
    }
}

TEST_CASE("What an endpoint that is cut off has shown is not listed once it sees the others again") {
    CutOff world;
    world.lab.run(world.lab.provider->offerings());
    world.end();
    CHECK(world.list().size() == 1);
}

TEST_CASE("Machines are listed as they are now, and by the cluster's majority alone") {
    Lab lab;
    lab.config.spec.proxmox->endpoints.clear();
    lab.config.spec.proxmox->nodeWhitelist = {"porsche"};
    lab.restart();
    CHECK(lab.run(lab.provider->list()).empty());
    auto spec = lab.machine(1);
    lab.launch(spec);
    // A claim that loses its status right after its machine was made finds the machine by this list.
    const auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 1);
    CHECK(machines.front().identity.claim_uid == spec.identity.claim_uid);
    lab.simulator.cluster().isolate("alfaromeo");
    CHECK_THROWS_WITH(lab.run(lab.provider->list()), Catch::Contains("it has none"));
}

TEST_CASE("A token that may not read the cluster's status is told what is not checked") {
    Lab lab;
    lab.simulator.cluster().world.custom_roles["KubeNodeSmith"].erase("Sys.Audit");
    lab.simulator.cluster().world.custom_roles["Hosts"] = {"Sys.Audit"};
    lab.simulator.cluster().world.acl.push_back({"/nodes", "user", "automation@pve", "Hosts", true});
    lab.restart();
    CHECK_THAT(lab.run(lab.provider->check()).not_visible,
               Catch::Contains("whether the cluster has quorum is not visible without Sys.Audit on /"));
}
