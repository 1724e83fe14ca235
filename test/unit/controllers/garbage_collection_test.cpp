#include <algorithm>

#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/orphan_world.hpp"

namespace {

using namespace claims;
using namespace orphans;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

std::ptrdiff_t count_of(const World& world, const std::string& beginning) {
    return std::ranges::count_if(world.events,
                                 [&](const std::string& event) { return event.starts_with(beginning); });
}

void set_grace(World& world, api::Duration grace) {
    world.server.edit<NodeSmithProvider>({"default", "proxmox"},
                                         [grace](NodeSmithProvider& p) { p.spec.orphanGracePeriod = grace; });
}

TEST_CASE("a machine that was moved to another host is followed by its claim and its Node's labels") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.cloud.machines.begin()->second.host = "host-b";
    REQUIRE(world.run_until([&] { return world.claim()->status.host == "host-b"; }, 4min));
    world.run(10s);
    const auto node = *world.server.get<api::Node>({"", "c"});
    CHECK(node.metadata.labels->at("kubenodesmith.io/host") == "host-b");
    CHECK(count_of(world, "MachineMoved: ") == 1);
    CHECK(world.ready());
    CHECK(world.cloud.created() == 1);
}

TEST_CASE("what a creation left half made is reported, when it was seen twice and no launch knows of it") {
    World world;
    Process process(world);
    world.machines_join = false;
    world.launch();
    REQUIRE(world.run_until([&] { return world.claim() && !world.claim()->status.machineID.empty(); }));
    const auto status = world.claim()->status;
    world.cloud.leftovers = {{{status.host, status.machineID, ""}, "VM of a launch"}};
    world.run(8min);
    CHECK(orphans_found(world)->status == api::ConditionStatus::False);
    world.cloud.leftovers.push_back({{"host-a", "4711", ""}, "VM 4711 on host-a is locked; qm unlock 4711"});
    REQUIRE(
        world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::True; }, 8min));
    CHECK(orphans_found(world)->message.find("qm unlock 4711") != std::string::npos);
    CHECK(orphans_found(world)->message.find("of a launch") == std::string::npos);
    world.cloud.leftovers.clear();
    REQUIRE(
        world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::False; }, 8min));
}

TEST_CASE(
    "a second machine with a claim's mark and UUID is named, and left alone while a Node may run on it") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    auto twin = world.cloud.machines.begin()->second;
    twin.machine_id = "9999";
    world.cloud.machines.emplace("9999", twin);
    REQUIRE(
        world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::True; }, 8min));
    CHECK_THAT(orphans_found(world)->message, Catch::Contains("9999 on "));
    world.run(1h);
    CHECK(world.cloud.machines.contains("9999"));
    CHECK(world.ready());
}

TEST_CASE("a second machine with a claim's mark and UUID is left to people also when no Node runs on it") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    set_grace(world, api::Duration(10min));
    auto twin = world.cloud.machines.begin()->second;
    twin.machine_id = "9999";
    twin.state = providers::MachineState::stopped;
    world.cloud.machines.emplace("9999", twin);
    world.server.edit<api::Node>({"", "c"}, [&](api::Node& node) {
        objects::set_condition(node.status.conditions, conditions::kReady, api::ConditionStatus::Unknown,
                               api::Time(world.clock.wall_now()));
    });
    world.run(1h);
    CHECK(world.cloud.machines.contains("9999"));
    CHECK(world.cloud.machines.size() == 2);
    CHECK_THAT(orphans_found(world)->message, Catch::Contains("9999 on "));
}

TEST_CASE("machines with the mark of a claim that lost its status are left to people") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(2min);
    set_grace(world, api::Duration(10min));
    auto twin = world.cloud.machines.begin()->second;
    twin.machine_id = "9999";
    world.cloud.machines.emplace("9999", twin);
    world.server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) { claim.status = {}; });
    for (auto& [id, machine] : world.cloud.machines) machine.state = providers::MachineState::stopped;
    world.server.edit<api::Node>({"", "c"}, [&](api::Node& node) {
        objects::set_condition(node.status.conditions, conditions::kReady, api::ConditionStatus::Unknown,
                               api::Time(world.clock.wall_now()));
    });
    world.run(1h);
    CHECK(world.cloud.machines.size() == 2);
    CHECK(world.reason(conditions::kLaunched) == "SeveralMachines");
    CHECK_THAT(orphans_found(world)->message, Catch::Contains("whose status is lost"));
}

TEST_CASE("machines of providers that are gone are reported with the command, and never touched") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    const auto known = *world.server.get<NodeSmithProvider>({"default", "proxmox"});
    providers::Stray stray;
    stray.record.host = "host-a";
    stray.record.machine_id = "4711";
    stray.identity.provider_uid = known.metadata.uid;
    stray.identity.claim_namespace = "former";
    stray.identity.claim_name = "lost";
    stray.identity.claim_uid = kLostUid;
    stray.removal = "qm destroy 4711";
    // The stray's provider exists.
    world.cloud.strays = {stray};
    world.run(8min);
    CHECK(orphans_found(world)->status == api::ConditionStatus::False);
    // The stray's claim exists.
    stray.identity.provider_uid = "of-a-provider-that-is-gone";
    stray.identity.claim_uid = world.claim()->metadata.uid;
    world.cloud.strays = {stray};
    world.run(8min);
    CHECK(orphans_found(world)->status == api::ConditionStatus::False);
    stray.identity.claim_uid = kLostUid;
    world.cloud.strays = {stray};
    REQUIRE(
        world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::True; }, 8min));
    CHECK_THAT(orphans_found(world)->message,
               Catch::Contains("VM 4711 on host-a of claim former/lost (qm destroy 4711)"));
    world.run(1h);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(world.ready());
    world.cloud.strays.clear();
    REQUIRE(
        world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::False; }, 8min));
}

TEST_CASE(
    "a machine that no claim owns is removed after the grace period, counted from when it was first seen") {
    World world;
    world.cloud.plant(lost_machine());
    world.run(1h);  // no operator runs yet
    Process process(world);
    world.run(4min);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(orphans_found(world)->status == api::ConditionStatus::True);
    CHECK(world.run_until([&] { return world.cloud.machines.empty(); }, 5min));
    CHECK(world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::False; }, 5min));
}

TEST_CASE("a clone of one of our machines, with its mark but a UUID of its own, is somebody else's") {
    World world;
    auto clone = lost_machine();
    clone.identity.system_uuid = "0d9f1b7a-31c5-4b0c-9d3f-2f1d1c0b9a87";
    world.cloud.plant(clone);
    Process process(world);
    world.run(2h);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(orphans_found(world)->status == api::ConditionStatus::False);
}

// A user removed the finalizers of a claim while its machine was cloned.
TEST_CASE("a clone for a claim that is gone, which was never configured, is reported and left alone") {
    World world;
    auto clone = lost_machine();
    clone.identity.system_uuid = "0d9f1b7a-31c5-4b0c-9d3f-2f1d1c0b9a87";
    clone.state = providers::MachineState::stopped;
    world.cloud.plant(clone);
    Process process(world);
    world.run(2h);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(orphans_found(world)->status == api::ConditionStatus::True);
    CHECK_THAT(orphans_found(world)->message, Catch::Contains("lost (900 on host-a)"));
}

// HalfBlind fails every second query for a single machine.
class HalfBlind final : public fake::ProviderCalls {
    void before(const std::string& method) override {
        if (method == "get" && ++questions_ % 2 == 1) throw providers::ProviderError("the host is down");
    }
    int questions_ = 0;
};

TEST_CASE("a machine that cannot be looked at does not hide the others") {
    World world;
    HalfBlind calls;
    world.launch("c");
    world.launch("d");
    Process process(world, nullptr, &calls);
    REQUIRE(world.run_until([&] { return world.ready("c") && world.ready("d"); }));
    world.cloud.destroy(world.claim("c")->status.machineID);
    world.cloud.destroy(world.claim("d")->status.machineID);
    CHECK(world.run_until([&] { return world.reason(api::conditions::kMachineFound, "d") == "ManyVanished"; },
                          10min));
}

TEST_CASE("a process that starts anew begins to count anew") {
    World world;
    world.cloud.plant(lost_machine());
    for (int i = 0; i < 5; ++i) {
        Process process(world);
        world.run(4min);
    }
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("with a grace period of zero orphans are reported and kept") {
    World world;
    set_grace(world, api::Duration(0s));
    world.cloud.plant(lost_machine());
    Process process(world);
    world.run(2h);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(orphans_found(world)->status == api::ConditionStatus::True);
    CHECK(orphans_found(world)->message.find("lost (900 on host-a)") != std::string::npos);
}

TEST_CASE("a machine on which a Node runs is never removed, whoever lost its claim") {
    World world;
    world.cloud.plant(lost_machine());
    world.kubelet_joins(world.cloud.machines.at("900"));
    Process process(world);
    world.run(2h);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(orphans_found(world)->message.find("left alone") != std::string::npos);
}

// A user removed the finalizers of a claim while its machine was being removed.
TEST_CASE("a machine that is off and whose Node is not Ready serves nobody: both are removed") {
    World world;
    auto lost = lost_machine();
    lost.state = providers::MachineState::stopped;
    world.cloud.plant(lost);
    world.kubelet_joins(world.cloud.machines.at("900"));
    auto node = *world.server.get<api::Node>({"", "lost"});
    objects::set_condition(node.status.conditions, conditions::kReady, api::ConditionStatus::Unknown);
    node.metadata.labels["kubenodesmith.io/nodeclaim"] = "lost";
    node.metadata.labels["kubenodesmith.io/host"] = "host-a";
    node.metadata.labels["topology.kubenodesmith.io/pool"] = "p";
    world.server.put(node);
    Process process(world);
    CHECK(world.run_until([&] { return world.cloud.machines.empty(); }, 10min));
    CHECK(world.run_until([&] { return !world.server.get<api::Node>({"", "lost"}); }, 15min));
}

TEST_CASE("an orphan that cannot be removed is tried every few minutes and told of once") {
    World world;
    world.cloud.plant(lost_machine());
    const providers::RemovalBlocked blocked{"OwnershipMismatch", "its description has no mark"};
    for (int i = 0; i < 100; ++i) world.cloud.next_remove.emplace_back(blocked);
    Process process(world);
    world.run(10min);
    world.events.clear();
    const auto tried_before = 100 - world.cloud.next_remove.size();
    world.run(1h);
    CHECK(world.events.empty());
    CHECK(100 - world.cloud.next_remove.size() <= tried_before + 20);
    CHECK(orphans_found(world)->message ==
          "cannot be removed: lost (900 on host-a), because its description has no mark");
}

class CountsRemovals final : public fake::ProviderCalls {
public:
    int count = 0;

private:
    void before(const std::string& method) override { count += method == "remove" ? 1 : 0; }
};

// A task that hung kept the disk of a VM open.
TEST_CASE("an orphan whose removal fails for hours is tried after growing pauses, and why is said") {
    World world;
    CountsRemovals calls;
    world.cloud.plant(lost_machine());
    const providers::RemovalInProgress failed{"task qmdestroy failed: got timeout", "", 1s};
    for (int i = 0; i < 100; ++i) world.cloud.next_remove.emplace_back(failed);
    Process process(world, nullptr, &calls);
    world.run(10min);
    CHECK(calls.count >= 3);
    const auto tried_before = calls.count;
    world.run(1h);
    CHECK(calls.count > tried_before + 10);
    CHECK(calls.count <= tried_before + 25);
    CHECK_THAT(orphans_found(world)->message, Catch::Contains("task qmdestroy failed: got timeout"));
    world.cloud.next_remove.clear();
    CHECK(world.run_until([&] { return world.cloud.machines.empty(); }, 10min));
    CHECK(world.run_until([&] { return orphans_found(world)->status == api::ConditionStatus::False; }, 5min));
}

// JoinsLast lets the lost machine join when the operator lists all Nodes once more, after its cache was
// filled.
class JoinsLast final : public fake::Interference {
public:
    explicit JoinsLast(World& world) : world_(world) {}
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        const bool is_list = request.method == "GET" && request.target == "/api/v1/nodes?limit=50";
        if (is_list && ++lists_ == 2) world_.kubelet_joins(world_.cloud.machines.at("900"));
        return std::nullopt;
    }

private:
    World& world_;
    int lists_ = 0;
};

TEST_CASE("a machine that joined a moment ago is kept, though the cache does not show its Node yet") {
    World world;
    JoinsLast requests(world);
    world.cloud.plant(lost_machine());
    Process process(world, &requests, nullptr);
    world.run(20min);
    CHECK(world.server.get<api::Node>({"", "lost"}));
    CHECK(world.cloud.machines.size() == 1);
}

TEST_CASE("a claim that the API server knows protects its machine, also if the cache does not") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.run(1h);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(world.ready());
    CHECK(orphans_found(world)->status == api::ConditionStatus::False);
}

// A request to create the machine was under way when its process was killed.
TEST_CASE("a machine that appears after it was verified gone is removed, though its claim is still there") {
    World world;
    world.machines_join = false;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return !world.cloud.machines.empty(); }));
    const auto made = world.cloud.machines.begin()->second;
    REQUIRE(world.run_until([&] { return world.condition(conditions::kFailed) != nullptr; }, 3h));
    REQUIRE(world.run_until([&] { return world.cloud.machines.empty(); }));
    auto late = made;
    late.identity.attempt = world.claim()->status.launchAttempts;
    late.identity.system_uuid = world.claim()->status.systemUUID;
    late.machine_id = world.claim()->status.machineID;
    world.cloud.plant(late);
    world.run(30min);
    CHECK(world.claim());
    CHECK(world.cloud.machines.empty());
}

TEST_CASE("a claim whose machine has vanished is replaced and its Node deleted") {
    World world;
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    const auto status = world.claim()->status;
    world.cloud.destroy(world.cloud.machines.begin()->first);
    CHECK(world.run_until([&] { return world.gone(); }, 10min));
    CHECK(world.clean());
    CHECK(count_of(world, "MachineVanished: machine " + status.machineID + " on host " + status.host +
                              " no longer exists: the claim is replaced") == 1);
}

TEST_CASE("a Node that stayed behind without claim and machine is deleted, one that might live is not") {
    World world;
    const auto node_on = [](const std::string& host, const std::string& name) {
        return objects::a_node(name)
            .label("kubenodesmith.io/nodeclaim", name)
            .label("kubenodesmith.io/host", host)
            .label("topology.kubenodesmith.io/pool", "p");
    };
    // The host does not say whose the machine is. It may be a machine under removal whose claim is gone.
    auto unread = node_on("host-a", "unread").unready().node;
    fake::CloudMachine machine;
    machine.identity.claim_uid = "x";
    machine.host = "host-a";
    machine.machine_id = "700";
    machine.is_unread = true;
    unread.spec.providerID = "fake://cloud/700";
    world.cloud.plant(machine);
    world.cloud.hosts["host-b"].reachable = false;
    world.server.put(unread);
    world.server.put<api::Node>(node_on("host-a", "left").unready());
    world.server.put<api::Node>(node_on("host-a", "ready"));
    world.server.put<api::Node>(node_on("host-b", "elsewhere").unready());
    world.server.put<api::Node>(objects::a_node("foreign").unready());
    Process process(world);
    CHECK(world.run_until([&] { return !world.server.get<api::Node>({"", "left"}); }, 15min));
    world.run(2h);
    for (const char* name : {"ready", "elsewhere", "unread", "foreign"}) {
        CHECK(world.server.get<api::Node>({"", name}));
    }
}

}  // namespace
