// Tests two clusters on one rack. The second one works, and the judge sees which cluster turns off the
// other's hosts.
#include "api/bytes.hpp"
#include "providers/redfish/bmc/asset_tag.hpp"
#include "test/simulation/invariants/invariant.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

// SharedRack is the first seed whose drawn rack is shared, is locked as wanted, and has no processes that act
// late.
struct SharedRack {
    explicit SharedRack(bool is_locked) {
        for (std::uint64_t seed = 1; !is_as_wanted(is_locked); ++seed) {
            forget();
            const auto random = fake::make_seeded_random(seed);
            world =
                std::make_unique<World>(seed, draw_scenario(*random, Variety::plain, 1.0), Recording::off);
            world->faults.stop();
            operators = std::make_unique<Operators>(*world);
            others = std::make_unique<OtherCluster>(*world);
        }
        adversary = std::make_unique<Adversary>(*world, *operators);
        stage = std::make_unique<Stage>(
            Stage{*world, *operators, adversary->deeds(), violations, *others, counts});
        judge = two_clusters_share_a_rack(*stage);
    }
    ~SharedRack() { shut_down(); }

    bool is_as_wanted(bool is_locked) const {
        if (!others || !others->exists() || locks_hosts(*world) != is_locked) return false;
        const auto& faults = world->faults;
        return !faults.has(Fault::paused) && !faults.has(Fault::provider_slow) &&
               !others->has_late_requests();
    }
    // Ends the parts of a rejected seed before their world, which their timers need.
    void forget() {
        if (others) shut_down();
        others.reset();
        operators.reset();
    }
    void shut_down() {
        others->shut_down();
        operators->stop_all();
        world->shut_down();
    }

    int ask(Cluster cluster, const std::string& host, const std::string& type) {
        return post(cluster, host, "Systems/Blade1/Actions/ComputerSystem.Reset",
                    R"({"ResetType":")" + type + R"("})");
    }
    int post(Cluster cluster, const std::string& host, const std::string& path, const std::string& body) {
        const redfish_simulator::Profile known;
        base::HttpRequest request;
        request.method = "POST";
        request.target = "/redfish/v1/" + path;
        request.headers.set("Authorization",
                            "Basic " + api::Bytes{known.username + ":" + known.password}.str());
        request.body = body;
        const auto wire = world->bmcs.connect("https://" + host, cluster);
        const auto status = test::run(world->context, world->clock, wire->send(request)).status;
        world->run_for(40s);
        return status;
    }
    // Returns a host that is off and comes on when it is asked to.
    std::string wakeable() const {
        for (const auto& name : world->bmcs.names()) {
            auto& bmc = world->bmcs.bmc(name);
            const auto& habits = bmc.profile();
            const bool is_plain = !habits.sticks_powering_on && !habits.falls_back;
            if (is_plain && bmc.power() == Power::off) return name;
        }
        throw std::logic_error("no host of the rack comes on");
    }

    std::unique_ptr<World> world;
    std::unique_ptr<Operators> operators;
    std::unique_ptr<OtherCluster> others;
    std::unique_ptr<Adversary> adversary;
    std::vector<Violation> violations;
    SharedRackCounts counts;
    std::unique_ptr<Stage> stage;
    std::unique_ptr<Invariant> judge;
};

}  // namespace

TEST_CASE("a second cluster wakes hosts of the rack for its pods, marks them, and leaves nothing behind") {
    SharedRack rack(true);
    rack.others->begin();
    bool woke = false;
    bool marked = false;
    for (int i = 0; i < 120 * 60 && !(woke && marked); ++i) {
        rack.world->run_for(1s);
        for (const auto& name : rack.world->bmcs.names()) {
            const bool is_theirs = rack.world->bmcs.woken_by(name) == Cluster::theirs;
            const auto& bmc = rack.world->bmcs.bmc(name);
            woke = woke || is_theirs;
            marked = marked || (is_theirs && (bmc.asset_tag().starts_with("kns-") ||
                                              bmc.asset_tag(true).starts_with("kns-")));
        }
    }
    CHECK(woke);
    CHECK(marked);
    CHECK_FALSE(rack.others->leftovers().empty());
    rack.others->make_peace();
    rack.world->run_for(3h);
    CHECK(rack.others->leftovers().empty());
    CHECK(rack.violations.empty());
}

TEST_CASE("the judge sees a cluster that turns off, or with a lock turns on, what the other one woke") {
    const bool is_locked = GENERATE(false, true);
    SharedRack rack(is_locked);
    // Some hosts refuse to come on right after they went off.
    rack.world->run_for(1min);
    const auto host = rack.wakeable();
    REQUIRE(rack.ask(Cluster::theirs, host, "On") == 204);
    REQUIRE(rack.world->bmcs.woken_by(host) == Cluster::theirs);
    CHECK(rack.violations.empty());
    SECTION("it never asked for it") {
        rack.ask(Cluster::ours, host, "ForceOff");
        REQUIRE(rack.violations.size() == 1);
        CHECK(rack.violations.front().invariant == "nobody cuts the power of another cluster's host");
    }
    SECTION("both asked for it") {
        rack.ask(Cluster::ours, host, "On");
        CHECK(rack.counts.contested == 1);
        CHECK(rack.violations.size() == (is_locked ? 1 : 0));
        rack.ask(Cluster::ours, host, "ForceOff");
        CHECK(rack.violations.size() == (is_locked ? 2 : 0));
        CHECK(rack.counts.cut_unknowingly == (is_locked ? 0 : 1));
    }
    SECTION("it turns off its own") {
        rack.ask(Cluster::theirs, host, "ForceOff");
        CHECK(rack.violations.empty());
        CHECK_FALSE(rack.world->bmcs.woken_by(host));
    }
}

TEST_CASE("the judge sees a cluster that erases drives of a host that the other one has") {
    SharedRack rack(true);
    rack.world->run_for(1min);
    const auto host = rack.wakeable();
    const auto erase = [&](Cluster cluster) {
        rack.post(cluster, host, "Systems/Blade1/Storage/1/Drives/1/Actions/Drive.SecureErase", "{}");
    };
    SECTION("it runs there") {
        REQUIRE(rack.ask(Cluster::theirs, host, "On") == 204);
        erase(Cluster::ours);
        REQUIRE(rack.violations.size() == 1);
        CHECK(rack.violations.front().invariant == "nobody erases drives of another cluster's host");
    }
    SECTION("it has marked it") {
        rack.world->server.edit<NodeSmithHost>({kNodesNamespace, host}, [](NodeSmithHost& edited) {
            edited.status.claimRef.emplace();
            edited.status.claimRef->uid = "uid-of-the-claim";
        });
        rack.world->run_for(1s);
        erase(Cluster::theirs);
        CHECK(rack.violations.empty());
        rack.world->bmcs.bmc(host).set_asset_tag(providers::redfish::lock_mark(
            {.cluster_id = "uid-of-the-cluster", .claim_uid = "uid-of-the-claim"}));
        erase(Cluster::theirs);
        CHECK(rack.violations.size() == 1);
        erase(Cluster::ours);
        CHECK(rack.violations.size() == 1);
    }
}

TEST_CASE("the judge sees a host that is given back with the mark of its claim") {
    SharedRack rack(true);
    rack.world->run_for(1min);
    const auto host = rack.wakeable();
    const api::ObjectKey key{kNodesNamespace, host};
    rack.world->server.edit<NodeSmithHost>(key, [](NodeSmithHost& edited) {
        edited.status.phase = api::v1alpha1::HostPhase::PoweringOff;
        edited.status.claimRef.emplace();
        edited.status.claimRef->uid = "uid-of-the-claim";
    });
    const bool is_left = GENERATE(true, false);
    if (is_left)
        rack.world->bmcs.bmc(host).set_asset_tag(providers::redfish::lock_mark(
            {.cluster_id = "uid-of-the-cluster", .claim_uid = "uid-of-the-claim"}));
    rack.world->server.edit<NodeSmithHost>(key, [](NodeSmithHost& edited) {
        edited.status.claimRef.reset();
        api::ConditionUpdate ready;
        ready.type = api::conditions::kReady;
        ready.reason = "Discovering";
        ready.message = "was returned; it is examined before it is used again";
        api::set_condition(edited.status.conditions, ready,
                           api::Time(std::chrono::system_clock::time_point{}));
    });
    rack.world->run_for(1s);
    REQUIRE(rack.violations.size() == (is_left ? 1 : 0));
    if (is_left) CHECK(rack.violations.front().invariant == "locks are taken back before their hosts");
}
