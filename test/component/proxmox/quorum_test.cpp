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

TEST_CASE("Nothing is gone by the word of an endpoint that is cut off") {
    Lab lab;
    lab.config.spec.proxmox->endpoints.clear();
    lab.config.spec.proxmox->nodeWhitelist = {"porsche"};
    lab.restart();
    auto spec = lab.machine(1);
    // The endpoint never knew the machine, because it was cut off before.
    lab.launch(spec);
    const auto machine = *lab.vm(spec);
    auto& cluster = lab.simulator.cluster();
    cluster.world.machines.erase(machine.vmid);
    cluster.isolate("alfaromeo");
    cluster.world.machines[machine.vmid] = machine;
    CHECK_THROWS_AS(lab.run(lab.provider->get(spec.identity, spec.record)), ProviderError);
    CHECK(lab.run(lab.provider->check()).reason == "NoQuorum");
    cluster.rejoin("alfaromeo");
    CHECK(lab.run(lab.provider->get(spec.identity, spec.record)));
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
