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
