// A cluster without quorum answers questions and refuses every change.
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
    CHECK(refused >= 3);
    CHECK(refused <= 6);
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
    CHECK(refused <= 6);
    CHECK(messages.size() == 1);
    lab.simulator.cluster().is_partitioned = false;
    bool is_gone = false;
    for (int second = 0; second < 90 && !is_gone; ++second) {
        lab.wait(1s);
        is_gone = discard();
    }
    CHECK(is_gone);
}
