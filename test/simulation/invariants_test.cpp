// Tests judges of the simulation on small worlds without any operator. Each judge must see a fault that a
// test plants, and nothing else.
#include "test/simulation/invariants/invariant.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"

using namespace simulation;
using namespace std::chrono_literals;
using api::ConditionStatus;

namespace {

using Maker = std::unique_ptr<Invariant> (*)(const Stage&);

// Court is a world without any operator, and one judge. Two providers have a pool each.
struct Court {
    explicit Court(Maker make) : judge(make(stage)) {
        world.faults.stop();
        world.run_for(1s);
    }
    ~Court() {
        others.shut_down();
        operators.stop_all();
        world.shut_down();
    }

    static Scenario scenario() {
        auto scenario = plain_scenario();
        scenario.providers.push_back(a_provider("annex", 2000));
        scenario.pools.push_back(a_pool("other", "annex"));
        scenario.deployments.clear();
        return scenario;
    }

    api::Time clock() const { return api::Time(world.clock.wall_now()); }

    static api::ObjectKey key(const std::string& name) { return {kNodesNamespace, name}; }

    // Applies a claim of the pool that ends only when its finalizer is removed.
    NodeSmithClaim& claim(const std::string& name, const std::string& pool) {
        auto& claim = claims[name];
        claim.metadata.name = name;
        claim.metadata.namespace_ = kNodesNamespace;
        claim.metadata.finalizers->emplace_back(api::finalizers::kClaim);
        claim.spec.poolRef = pool;
        return claim;
    }

    void set(const std::string& claim, std::string_view type, ConditionStatus status, std::string_view reason,
             const std::string& message = "") {
        world.server.edit<NodeSmithClaim>(key(claim), [&](NodeSmithClaim& edited) {
            api::set_condition(edited.status.conditions,
                               {std::string(type), status, std::string(reason), message, {}}, clock());
        });
        world.run_for(1s);
    }

    // Deletes the object, which stays because of a finalizer.
    template <api::Kind T>
    void remove(const std::string& name, std::string_view finalizer) {
        world.server.edit<T>(key(name),
                             [&](T& edited) { edited.metadata.finalizers->emplace_back(finalizer); });
        world.server.remove<T>(key(name));
    }

    std::vector<std::string> findings() const {
        std::vector<std::string> messages;
        for (const auto& finding : judge->at_rest()) messages.push_back(finding.message);
        return messages;
    }

    World world{1, scenario(), Recording::off};
    Operators operators{world};
    OtherCluster others{world};
    Adversary adversary{world, operators};
    std::vector<Violation> violations;
    SharedRackCounts counts;
    Stage stage{world, operators, adversary.deeds(), violations, others, counts};
    std::unique_ptr<Invariant> judge;
    std::map<std::string, NodeSmithClaim> claims;
};

// Deletes everything of provider lab. One of its claims waits for a person, because its VM's mark was
// changed.
struct Deletion : Court {
    Deletion() : Court(deletions_end) {
        world.server.put(claim("general-1", "general"));
        set("general-1", api::conditions::kMachineDeleted, ConditionStatus::False,
            api::reasons::kMarkMismatch);
        world.server.remove<NodeSmithClaim>(key("general-1"));
        world.server.edit<NodeSmithProvider>(
            key("lab"), [](NodeSmithProvider& edited) { edited.status.protectedSecret = "proxmox"; });
        world.is_demolished = true;  // nothing is shared with objects that live on
        remove<NodeSmithPool>("general", api::finalizers::kPool);
        remove<NodeSmithProvider>("lab", api::finalizers::kProvider);
        remove<api::Secret>("proxmox", api::finalizers::kCredentials);
    }
};

}  // namespace

TEST_CASE("a claim that waits for a person holds its pool, its provider and their Secret, and nothing else") {
    Deletion deletion;
    CHECK(deletion.findings().empty());
    std::string expected;
    SECTION("another claim of its pool ends") {
        deletion.world.server.put(deletion.claim("general-2", "general"));
        deletion.set("general-2", api::conditions::kDrained, ConditionStatus::True, "Drained");
        deletion.world.server.remove<NodeSmithClaim>(Court::key("general-2"));
        expected = "NodeSmithClaim general-2";
    }
    SECTION("another pool ends") {
        deletion.remove<NodeSmithPool>("other", api::finalizers::kPool);
        expected = "NodeSmithPool other";
    }
    SECTION("another provider ends") {
        deletion.remove<NodeSmithProvider>("annex", api::finalizers::kProvider);
        expected = "NodeSmithProvider annex";
    }
    SECTION("another Secret ends") {
        auto secret = deletion.world.scenario.credentials;
        secret.metadata.name = "annex";
        deletion.world.server.put(secret);
        deletion.remove<api::Secret>("annex", api::finalizers::kCredentials);
        expected = "Secret annex";
    }
    CHECK(deletion.findings() == std::vector<std::string>{expected + " is still there"});
}

namespace {

// Succession is a chain of claims, each of which replaces the one before it.
struct Succession : Court {
    explicit Succession(std::string_view reason_) : Court(series_end), reason(reason_) {}

    void come(int number, bool names_predecessor) {
        const auto name = "general-" + std::to_string(number);
        auto& next = claim(name, "general");
        if (number > 1 && names_predecessor)
            next.metadata.annotations[std::string(api::annotations::kReplaces)] =
                "general-" + std::to_string(number - 1);
        next.status.host = "alfaromeo";
        world.server.put(next);
        set(name, api::conditions::kInitialized, ConditionStatus::True, "Initialized");
        if (served_for == 0s) return;
        world.server.edit<NodeSmithClaim>(key(name), [this](NodeSmithClaim& edited) {
            for (auto& condition : edited.status.conditions)
                condition.lastTransitionTime = api::Time(clock().at - served_for);
        });
    }

    void go(int number) {
        const auto name = "general-" + std::to_string(number);
        set(name, api::conditions::kDisrupted, ConditionStatus::True, reason, message);
        world.server.remove<NodeSmithClaim>(key(name));
        world.run_for(1s);
    }

    void replace(int times, bool names_predecessor = true) {
        for (int i = 0; i < times; ++i) {
            come(++last, names_predecessor);
            go(last);
        }
    }

    std::string reason, message = "it is as it was";
    std::chrono::seconds served_for{};
    int last = 0;
};

}  // namespace

TEST_CASE("the judge sees the third replacement in a row for each cause") {
    const auto reason = GENERATE(as<std::string>{}, api::reasons::kDrifted, api::reasons::kUnhealthy,
                                 api::reasons::kUnderutilized, api::reasons::kEvacuation);
    INFO(reason);
    Succession succession(reason);
    SECTION("whose claims name their predecessors") {
        succession.replace(2);
        CHECK(succession.violations.empty());
        succession.replace(1);
        REQUIRE(succession.violations.size() == 1);
        CHECK(succession.violations.front().invariant == "no series without an end");
    }
    SECTION("whose claims do not") {
        succession.replace(2, false);
        CHECK(succession.violations.empty());
        succession.replace(1, false);
        CHECK(succession.violations.size() == 1);
    }
    SECTION("but not if a person asked for another try") {
        succession.replace(2);
        succession.world.server.edit<NodeSmithPool>(Court::key("general"), [](NodeSmithPool& edited) {
            edited.metadata.annotations[std::string(api::annotations::kRetryReplacement)] = "again";
        });
        succession.replace(2);
        CHECK(succession.violations.empty());
    }
    SECTION("but not if the settings changed") {
        succession.replace(2);
        succession.world.server.edit<NodeSmithPool>(Court::key("general"),
                                                    [](NodeSmithPool& edited) { edited.spec.weight = 7; });
        succession.replace(2);
        CHECK(succession.violations.empty());
    }
}

TEST_CASE("machines that served for a day are no series, and neither are removals without a replacement") {
    SECTION("served for a day") {
        Succession succession(api::reasons::kUnhealthy);
        succession.served_for = 25h;
        succession.replace(5);
        CHECK(succession.violations.empty());
    }
    SECTION("removed as their pods fit elsewhere") {
        Succession succession(api::reasons::kUnderutilized);
        succession.message = "its pods fit on other nodes";
        succession.replace(5);
        CHECK(succession.violations.empty());
    }
}

TEST_CASE("the judge counts repairs of machines that fail in different ways as one series") {
    Succession succession(api::reasons::kUnhealthy);
    for (int i = 0; i < 3; ++i) {
        CHECK(succession.violations.empty());
        succession.message = i % 2 == 0 ? "the node's machine is switched off" : "the node is not Ready";
        succession.replace(1);
    }
    CHECK(succession.violations.size() == 1);
}

namespace {

// Neighbours are two claims in different pools. Both have a machine and the same address.
struct Neighbours : Court {
    Neighbours() : Court(addresses_are_given_once) {
        tag_annex(std::nullopt);
        for (const std::string pool : {"general", "other"}) {
            auto& mine = claim(pool + "-1", pool);
            mine.status.machineID = pool == "general" ? "1000" : "2000";
            world.server.put(mine);
            world.server.edit<NodeSmithPool>(key(pool), [&pool](NodeSmithPool& edited) {
                edited.spec.machineTemplate.network = a_dual_stack_network(0);
                edited.status.addresses = {{"10.7.0.9", pool + "-1", ""}};
            });
        }
    }

    void name_network(const std::string& pool) {
        world.server.edit<NodeSmithPool>(
            key(pool), [](NodeSmithPool& edited) { edited.spec.machineTemplate.network->name = "site-b"; });
    }
    void tag_annex(std::optional<std::int32_t> tag) {
        world.server.edit<NodeSmithProvider>(key("annex"), [tag](NodeSmithProvider& edited) {
            edited.spec.proxmox->networkInterfaces.front().vlanTag = tag;
        });
    }
    std::size_t faults() {
        judge->after_change();
        return violations.size();
    }
};

}  // namespace

TEST_CASE("the judge sees an address that is given twice on one network, and none on two networks") {
    Neighbours neighbours;
    SECTION("one bridge") {
        CHECK(neighbours.faults() == 1);
    }
    SECTION("two VLANs of one bridge") {
        neighbours.tag_annex(20);
        CHECK(neighbours.faults() == 0);
    }
    SECTION("one of them has a name") {
        neighbours.name_network("general");
        CHECK(neighbours.faults() == 0);
    }
    SECTION("two VLANs under one name") {
        neighbours.tag_annex(20);
        neighbours.name_network("general");
        neighbours.name_network("other");
        CHECK(neighbours.faults() == 1);
    }
    SECTION("one of them has no machine yet") {
        neighbours.world.server.edit<NodeSmithClaim>(
            Court::key("other-1"), [](NodeSmithClaim& edited) { edited.status.machineID.clear(); });
        CHECK(neighbours.faults() == 0);
    }
}

namespace {

// Silence is a claim whose machine runs on a host that sends no statistics.
struct Silence : Court {
    Silence() : Court(running_machines_are_seen) {
        auto& cluster = world.proxmox.cluster();
        auto& host = cluster.world.hosts.front();
        host.sends_statistics = false;
        auto& machine = cluster.world.machines[1000];
        machine.vmid = 1000;
        machine.node = host.name;
        machine.config = {
            {"name", "general-1"}, {"memory", "512"}, {"smbios1", std::string("uuid=") + kUuid}};
        cluster.start_machine(machine);
        auto& mine = claim("general-1", "general");
        mine.status.machineID = "1000";
        mine.status.systemUUID = kUuid;
        world.server.put(mine);
    }

    // Has a process write the condition.
    void say(const std::string& condition) {
        const auto wire = world.network.connect(process, world.server);
        base::HttpRequest request;
        request.method = "PATCH";
        request.target = "/apis/" + std::string(api::kGroup) + "/" + std::string(api::kVersion) +
                         "/namespaces/nodes/nodesmithclaims/general-1/status";
        request.headers.set("Content-Type", "application/merge-patch+json");
        request.body = R"({"status":{"conditions":[)" + condition + "]}}";
        REQUIRE(test::run(world.context, world.clock, wire->send(std::move(request))).status == 200);
    }

    static constexpr const char* kUuid = "4c4c4544-0042-4510-8054-000000000001";
    Process process{"operator", world.context.get_executor(), world.clock};
};

}  // namespace

TEST_CASE("the judge sees a running machine that is taken for stopped or gone") {
    Silence silence;
    const std::string time = R"("lastTransitionTime":"2024-01-01T00:00:00Z",)";
    const auto mistake = GENERATE(
        as<std::string>{}, R"("type":"PoweredOff","status":"True","reason":"Starting","message":"")",
        R"("type":"MachineDeleted","status":"True","reason":"MachineVanished","message":"")",
        R"("type":"Disrupted","status":"True","reason":"Unhealthy","message":"the node's machine is switched off")");
    INFO(mistake);
    SECTION("for minutes") {
        silence.world.run_for(4min);
        silence.say("{" + time + mistake + "}");
        REQUIRE(silence.violations.size() == 1);
        CHECK(silence.violations.front().invariant == "running machines are not taken for stopped");
    }
    SECTION("not if it has just been started") {
        silence.say("{" + time + mistake + "}");
        CHECK(silence.violations.empty());
    }
    SECTION("not if it is off") {
        auto& cluster = silence.world.proxmox.cluster();
        cluster.stop_machine(cluster.world.machines.at(1000));
        silence.world.run_for(4min);
        silence.say("{" + time + mistake + "}");
        CHECK(silence.violations.empty());
    }
}

namespace {

// Shortage is a pod that a machine would help, while a webhook hangs for the status of a kind.
struct Shortage : Court {
    explicit Shortage(const std::string& resource) : Court(refusals_hold_up_no_others) {
        world.faults.have_only({});
        world.workloads.apply(a_deployment("web", 1, "1", "1Gi"));
        world.server.edit<NodeSmithProvider>(key("lab"), [this](NodeSmithProvider& edited) {
            api::set_condition(edited.status.conditions,
                               {std::string(api::conditions::kReady), ConditionStatus::True, "Ready", "", {}},
                               clock());
        });
        world.interference.status_hang = {resource, true, {}};
    }

    void wait(std::chrono::seconds duration) {
        for (auto left = duration; left > 0s && violations.empty(); left -= 1s) {
            world.run_for(1s);
            judge->each_second();
        }
    }
};

}  // namespace

TEST_CASE("the judge sees a pod that waits because another kind's status cannot be written") {
    SECTION("of providers") {
        Shortage shortage("nodesmithproviders");
        shortage.wait(4min);
        CHECK(shortage.violations.empty());
        shortage.wait(3min);
        REQUIRE(shortage.violations.size() == 1);
        CHECK(shortage.violations.front().invariant == "a refusal holds up no others");
    }
    SECTION("but not of pools, whose status reserves what a launch needs") {
        Shortage shortage("nodesmithpools");
        shortage.wait(7min);
        CHECK(shortage.violations.empty());
    }
}
