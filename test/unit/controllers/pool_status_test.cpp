#include "controllers/pool_reconciler.hpp"

#include "controllers/claim/facts/template_hash.hpp"
#include "controllers/provisioning/machine_offer.hpp"
#include "controllers/state/failure_pause.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace std::chrono_literals;
using api::ConditionStatus;
using api::v1alpha1::NodeSmithHost;
using Catch::Contains;
using objects::a_node;

namespace {

struct World {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithControlPlane manager = objects::control_plane("main", {"*"});
    objects::NodeSmithProvider provider = objects::provider("proxmox");
    std::vector<objects::NodeSmithClaim> claims;
    std::vector<api::Node> nodes;
    std::vector<NodeSmithHost> bare_metal;
    std::string no_address;
    std::int64_t creations_last_hour = 0;
    bool is_managed = true;
    std::vector<api::Time> others_joined;
    const objects::NodeSmithPool* conflict = nullptr;

    // Returns what the reconciler would write, and makes it the state of the pool.
    api::v1alpha1::PoolStatus look(std::chrono::seconds now = 0s) {
        const auto known_nodes = objects::store_of<api::Node>(nodes);
        PoolObservation facts{pool, objects::pointers(claims), known_nodes};
        for (const auto& host : bare_metal) facts.bare_metal.push_back(std::make_shared<NodeSmithHost>(host));
        facts.manager = is_managed ? &manager : nullptr;
        facts.provider = &provider;
        facts.label_conflict = conflict;
        facts.no_address = no_address;
        facts.others_joined = others_joined;
        facts.creations_last_hour = creations_last_hour;
        pool.status = next_status(facts, objects::at(now));
        return pool.status;
    }
    api::Condition condition(std::string_view type, std::chrono::seconds now = 0s) {
        look(now);
        const auto* found = api::find_condition(pool.status.conditions, type);
        REQUIRE(found);
        return *found;
    }
    objects::ClaimBuilder a_claim(const std::string& name) const { return objects::a_claim(name, pool); }
    void fail(const std::string& name, std::chrono::seconds when) {
        claims.push_back(a_claim(name).failed(objects::at(when)));
    }
    // Adds a claim for which the provider made no machine.
    void refuse(const std::string& name, std::chrono::seconds when) {
        fail(name, when);
        claims.back().status.lastFailure = {"CloneFailed", "the storage is offline", "pve1",
                                            objects::at(when), true};
    }
    // Fails so many claims that their pauses have grown to the longest one.
    void fail_often(std::chrono::seconds until) {
        for (int i = 0; i < 20; ++i) {
            fail("often" + std::to_string(i), until - std::chrono::seconds{20 - i});
            look(until - std::chrono::seconds{20 - i});
        }
    }
};

}  // namespace

TEST_CASE("a pool with nothing to complain about is Ready, Available, Managed and Stable") {
    World world;
    for (const auto* type : {"Ready", "Available", "Managed", "ProviderReady"})
        CHECK(world.condition(type).status == ConditionStatus::True);
    CHECK(world.condition("Progressing").reason == "Stable");
    CHECK(world.pool.status.observedGeneration == 1);
}

TEST_CASE("looking again changes nothing") {
    World world;
    world.claims.push_back(world.a_claim("a").in_service());
    world.nodes.push_back(a_node("a"));
    world.fail("b", 5s);
    const auto first = world.look(6s);
    CHECK(world.look(9s) == first);
}

TEST_CASE("claims and nodes are counted by what they are") {
    World world;
    world.nodes = {a_node("a"), a_node("b").unready()};
    world.claims = {world.a_claim("a").sized(4, 8192).in_service(), world.a_claim("b").in_service(),
                    world.a_claim("coming"), world.a_claim("leaving").in_service().leaving(),
                    objects::claim("not-admitted", world.pool)};
    world.fail("failed", 0s);

    const auto status = world.look();
    CHECK(status.nodes == 2);
    CHECK(status.readyNodes == 1);
    CHECK(status.pendingNodes == 2);
    CHECK(status.claims.ready == 2);
    CHECK(status.claims.pending == 2);
    CHECK(status.claims.deleting == 1);
    CHECK(status.claims.failed == 1);
    CHECK(status.cpuCores == 4 + 2 + 2 + 2 + 2);
    CHECK(world.condition("Progressing").reason == "ScalingUp");
}

TEST_CASE("a pool that is listed nowhere is Ready as it is, and says so") {
    World world;
    world.is_managed = false;
    CHECK(world.condition("Managed").reason == "NotSelected");
    CHECK(world.condition("Ready").status == ConditionStatus::True);
    CHECK(world.condition("Ready").reason == "NotSelected");
    CHECK(world.condition("Ready").message.find("spec.pools") != std::string::npos);
}

TEST_CASE("why a pool is not Ready is said with what to do") {
    World world;
    SECTION("label conflict") {
        const auto older = objects::pool("small", "older");
        world.conflict = &older;
        CHECK(world.condition("Ready").reason == "LabelConflict");
        CHECK(world.condition("Ready").message.find("older/small") != std::string::npos);
    }
    SECTION("provider not ready") {
        world.provider = objects::provider("proxmox", ConditionStatus::False);
        CHECK(world.condition("Ready").reason == "ProviderNotReady");
        CHECK(world.condition("ProviderReady").status == ConditionStatus::False);
    }
    SECTION("being deleted") {
        world.pool.metadata.deletionTimestamp = objects::kStart;
        CHECK(world.condition("Ready").reason == "Deleting");
    }
}

TEST_CASE("a pool is not Available while nothing can be created, and says why and what to do") {
    World world;
    const auto check = [&](const std::string& reason, const std::string& words) {
        const auto condition = world.condition("Available");
        CHECK(condition.status == ConditionStatus::False);
        CHECK(condition.reason == reason);
        CHECK_THAT(condition.message, Contains(words));
    };
    SECTION("not listed") {
        world.is_managed = false;
        check("NotSelected", "add it there");
    }
    SECTION("the mode") {
        world.manager.spec.mode = api::v1alpha1::Mode::Observe;
        check("Observe",
              "control plane main has spec.mode Observe: nothing is created or removed; set it to Active");
        CHECK(world.condition("Ready").status == ConditionStatus::True);
        CHECK(world.condition("Ready").reason == "Observe");
        world.manager.spec.mode = api::v1alpha1::Mode::Paused;
        check("Paused", "has spec.mode Paused");
    }
    SECTION("the provider, in its own words") {
        world.provider.status.conditions[0] = {"Ready", ConditionStatus::False, {},
                                               {},      "SecretKeyMissing",     "PROXMOX_SECRET is missing"};
        check("ProviderNotReady", "provider proxmox: PROXMOX_SECRET is missing");
    }
    SECTION("limits of the control plane") {
        world.manager.spec.limits.maxNodes = 1;
        world.manager.status.reserved.nodes = 1;
        check("MaxNodesReached", "control plane main: ");
    }
    SECTION("the rate of the control plane") {
        world.creations_last_hour = 3;
        CHECK(world.condition("Available").status == ConditionStatus::True);
        world.manager.spec.rateLimits.maxCreationsPerHour = 3;
        check("RateLimited", "control plane main: 3 claims were created in the last hour");
    }
    SECTION("static addresses") {
        world.no_address = "no address of network.addresses is free (of 2)";
        check("AddressesExhausted", "no address of network.addresses is free");
    }
    SECTION("boot data that are not complete") {
        auto waits = objects::claim("a", world.pool);
        objects::set_condition(waits.status.conditions, "Launched", ConditionStatus::False, objects::at(0s),
                               "BootDataMissing");
        world.claims = {waits};
        check("BootDataMissing", "claim a: ");
    }
    SECTION("scaleUp of the pool") {
        world.claims = {objects::claim("a", world.pool)};
        world.pool.spec.scaleUp.maxConcurrent = 2;
        CHECK(world.condition("Available").status == ConditionStatus::True);
        world.pool.spec.scaleUp.maxConcurrent = 1;
        check("MaxConcurrent", "1 node is already being created (scaleUp.maxConcurrent)");
        world.pool.spec.scaleUp.maxConcurrent = 0;
        world.pool.spec.scaleUp.stabilizationWindow = std::chrono::minutes(1);
        world.pool.status.lastScaleUpTime = objects::at(0s);
        check("StabilizationWindow", "scaleUp.stabilizationWindow");
    }
    SECTION("too many nodes are not Ready") {
        world.manager.status.conditions = {{"ClusterHealthy",
                                            ConditionStatus::False,
                                            {},
                                            {},
                                            "TooManyUnready",
                                            "5 of 6 nodes are not Ready"}};
        check("TooManyUnready", "control plane main: 5 of 6 nodes are not Ready");
    }
    SECTION("no host has room") {
        api::v1alpha1::ProviderHost full;
        full.name = "a";
        full.online = true;
        auto off = full;
        off.name = "b";
        off.online = false;
        off.message = "offline";
        world.provider.status.hosts = {full, off};
        check("InsufficientCapacity",
              "no host has room for its smallest machine (1c/1Gi): a: is full; b: offline");
        world.provider.status.hosts[0].freeCPUCores = 4;
        world.provider.status.hosts[0].freeMemoryMiB = 8192;
        CHECK(world.condition("Available").status == ConditionStatus::True);
        world.provider.status.hosts[0].largestMachine = api::v1alpha1::Size{0, 8192};
        check("InsufficientCapacity", "a: is too small for it");
    }
    SECTION("no bare-metal host is free") {
        world.provider.spec.proxmox.reset();
        world.provider.spec.redfish.emplace();
        world.bare_metal.emplace_back();
        check("InsufficientCapacity", "no NodeSmithHost of provider proxmox is free");
        objects::set_condition(world.bare_metal[0].status.conditions, "Ready", ConditionStatus::True);
        CHECK(world.condition("Available").status == ConditionStatus::True);
        world.bare_metal[0].status.architecture = "arm64";
        check("InsufficientCapacity",
              "suits the pool: 1 host with another architecture than amd64 (machineTemplate.architecture)");
        world.bare_metal[0].status.architecture = "amd64";
        CHECK(world.condition("Available").status == ConditionStatus::True);
        world.bare_metal[0].spec.taints = {{"gpu", "", "NoSchedule", std::nullopt}};
        check("InsufficientCapacity", "1 host with a taint that machineTemplate.taints does not state");
        world.bare_metal[0].spec.taints.clear();
        auto& selector = world.provider.spec.redfish->hostSelector.emplace();
        selector.matchLabels["rack"] = "a";
        check("InsufficientCapacity", "1 host without the labels of the provider's hostSelector");
        world.bare_metal[0].metadata.labels["rack"] = "a";
        CHECK(world.condition("Available").status == ConditionStatus::True);
        world.bare_metal[0].status.claimRef.emplace();
        CHECK(world.condition("Available").status == ConditionStatus::False);
    }
    SECTION("the API server refuses what a claim needs") {
        auto claim = world.a_claim("small-1").claim;
        claim.status.conditions = {{GENERATE("Launched", "Registered"),
                                    ConditionStatus::False,
                                    {},
                                    {},
                                    "RequestRefused",
                                    "cannot create resource secrets in kube-system"}};
        world.claims.push_back(claim);
        check("RequestRefused", "claim small-1: cannot create resource secrets in kube-system");
        CHECK(world.condition("Stalled").reason == "RequestRefused");
    }
}

TEST_CASE("what limits leave is said while there is still something left") {
    World world;
    world.pool.spec.limits.cpuCores = 4;
    world.claims = {world.a_claim("a").sized(2, 4096)};
    CHECK(world.condition("Available").message ==
          "another machine can be created, with at most 2 CPUs, which is all that the limits leave");
}

TEST_CASE("a zone label of the pool's own that has no effect is told") {
    World world;
    world.pool.spec.machineTemplate.labels["topology.kubernetes.io/zone"] = "a";
    CHECK_THAT(world.condition("Ready").message,
               Contains("label topology.kubernetes.io/zone=a of machineTemplate.labels has no effect") &&
                   Contains("spec.proxmox.placement.zoneLabel"));
    world.pool.spec.machineTemplate.labels["topology.kubernetes.io/zone"] = "{{ .Zone }}";
    CHECK(world.condition("Ready").message == "machines can be created and removed");
}

TEST_CASE("R10: Available is one writer's, from what is known, so it never flips between two writers") {
    World world;
    world.pool.spec.limits.maxNodes = 2;
    world.claims = {world.a_claim("a")};
    CHECK(world.condition("Available").status == ConditionStatus::True);
    world.pool.status.reserved.nodes = 2;  // reserved, but not created yet
    CHECK(world.condition("Available").reason == "MaxNodesReached");
    const auto before = world.pool.status;
    for (int i = 0; i < 10; ++i) CHECK(world.look(std::chrono::seconds{i}) == before);

    world.pool.status.reserved.nodes = 1;
    world.pool.spec.limits.cpuCores = 2;
    CHECK(world.condition("Available").reason == "ResourceLimitReached");
}

TEST_CASE(
    "the pool learns by how much machines offer less than expected, and keeps the largest difference seen") {
    World world;
    CHECK_FALSE(world.look().learnedReserved);
    world.claims = {world.a_claim("a").sized(2, 4096).in_service()};
    world.nodes = {
        a_node("a").having("memory", "3900Mi").offering("memory", "3800Mi").offering("cpu", "1900m")};
    CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{100, 296});

    world.nodes[0].status.allocatable["memory"] = api::Quantity::parse("4000Mi");
    CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{100, 296});
    // The operator learns nothing from a machine that offers more than expected.
    world.nodes[0].status.allocatable["memory"] = api::Quantity::parse("8Gi");
    world.pool.status.learnedReserved.reset();
    CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{100, 0});
}

TEST_CASE(
    "one Node alone moves what is expected of machines by a quarter, two that agree by a half at most") {
    World world;
    world.claims = {world.a_claim("a").sized(8, 16384).in_service(),
                    world.a_claim("b").sized(8, 16384).in_service()};
    const auto liar = a_node("a").having("memory", "16Gi").offering("memory", "1Ki").offering("cpu", "1m");
    const auto honest =
        a_node("b").having("memory", "16Gi").offering("memory", "16Gi").offering("cpu", "7900m");
    SECTION("one that lies, alone or beside an honest one") {
        world.nodes = {liar};
        CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{2100, 256 + 4096});
        world.nodes = {liar, honest};
        CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{2100, 256 + 4096});
        CHECK(world.condition("Available").status == ConditionStatus::True);
    }
    SECTION("two that agree") {
        auto second = liar;
        second.node.metadata.name = "b";
        world.nodes = {liar, second};
        CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{4000, 8192});
    }
    SECTION("one that says it takes a single pod, or all there are") {
        const auto hash = controllers::claim::template_hash(world.pool, &world.provider);
        for (auto& claim : world.claims) claim.status.templateHash = hash;
        world.provider.status.bootDiskGiB = 20;
        world.nodes = {a_node("a").offering("pods", "1").offering("ephemeral-storage", "1Ki")};
        CHECK(world.look().learnedOffer == api::v1alpha1::LearnedOffer{hash, 55, 10240});
        world.nodes = {a_node("a").offering("pods", "100000").offering("ephemeral-storage", "1Pi")};
        CHECK(world.look().learnedOffer == api::v1alpha1::LearnedOffer{hash, 220, 20480});
        world.nodes = {a_node("a").offering("pods", "30"), a_node("b").offering("pods", "30")};
        CHECK(world.look().learnedOffer->pods == 30);
    }
}

TEST_CASE("what no Node shows any more is kept for a week, and not for another template") {
    World world;
    world.claims = {world.a_claim("a").sized(2, 4096).in_service()};
    world.nodes = {
        a_node("a").having("memory", "3900Mi").offering("memory", "3800Mi").offering("cpu", "1900m")};
    CHECK_FALSE(world.look().learnedExpires);
    world.claims.clear();
    CHECK(world.look(1h).learnedExpires == objects::at(169h));
    CHECK(world.look(168h).learnedReserved == api::v1alpha1::SystemReserved{100, 296});
    SECTION("a week is over") {
        CHECK_FALSE(world.look(169h).learnedReserved);
        CHECK_FALSE(world.look(170h).learnedExpires);
    }
    SECTION("a Node shows it again") {
        world.claims = {world.a_claim("a").sized(2, 4096).in_service()};
        CHECK_FALSE(world.look(168h).learnedExpires);
    }
    SECTION("the template changes") {
        world.pool.spec.machineTemplate.labels["a"] = "b";
        CHECK_FALSE(world.look(168h).learnedReserved);
    }
}

TEST_CASE("a pool whose largest machine offers nothing says so") {
    World world;
    world.pool.spec.machineTemplate.sizes = {{"small", 1, 1024}, {"large", 2, 2048}};
    world.pool.spec.machineTemplate.systemReserved = {100, 2048};
    const auto condition = world.condition("Available");
    CHECK(condition.reason == "NothingOffered");
    CHECK_THAT(condition.message, Contains("the largest machine (2c/2Gi) offers nothing to pods, because "
                                           "100m CPU and 2048 MiB are reserved for the system"));
    world.pool.spec.machineTemplate.systemReserved.memoryMiB = 1500;
    CHECK(world.condition("Available").status == ConditionStatus::True);
}

TEST_CASE("pods and disk that Nodes of the present template offer are learned, the least of them") {
    World world;
    const auto hash = controllers::claim::template_hash(world.pool, &world.provider);
    const auto add = [&](const std::string& name, const std::string& pods, const std::string& storage) {
        world.claims.push_back(world.a_claim(name).of_template(hash).in_service());
        world.nodes.push_back(a_node(name).offering("pods", pods).offering("ephemeral-storage", storage));
    };
    world.provider.status.bootDiskGiB = 32;
    CHECK_FALSE(world.look().learnedOffer);
    add("a", "60", "20Gi");
    CHECK(world.look().learnedOffer == api::v1alpha1::LearnedOffer{hash, 60, 20480});
    add("b", "110", "17Gi");
    CHECK(world.look().learnedOffer == api::v1alpha1::LearnedOffer{hash, 60, 17408});

    world.claims.clear();
    CHECK(world.look().learnedOffer->pods == 60);
    scheduling::Pool picture;
    provisioning::describe_machines(picture, world.pool, &world.provider, hash);
    CHECK(picture.pods_per_node == 60);
    // Machines of another template may have another disk, and an image may have another kubelet.
    world.provider.spec.proxmox->vmOptions.push_back({"scsi0", "local-lvm:64"});
    scheduling::Pool changed;
    provisioning::describe_machines(changed, world.pool, &world.provider,
                                    claim::template_hash(world.pool, &world.provider));
    CHECK(changed.pods_per_node == 110);
    CHECK(changed.ephemeral_storage_mib == 32 * 1024 * 85 / 100);
}

// Otherwise the reserve of the smallest machine would be assumed for all machines.
TEST_CASE("what a machine without a disk keeps in memory says nothing about larger ones") {
    World world;
    const auto hash = controllers::claim::template_hash(world.pool, &world.provider);
    world.claims = {world.a_claim("a").of_template(hash).in_service()};
    world.nodes = {a_node("a").offering("ephemeral-storage", "692Mi")};
    CHECK(world.look().learnedOffer->ephemeralStorageMiB == 0);
}

TEST_CASE("what a Node offers is learned when it has joined, though it is not Ready yet") {
    World world;
    const auto hash = controllers::claim::template_hash(world.pool, &world.provider);
    world.claims = {world.a_claim("a").of_template(hash)};
    world.claims[0].status.nodeName = "a";
    world.nodes = {a_node("a").unready().offering("cpu", "0").offering("pods", "60")};
    CHECK_FALSE(world.look().learnedReserved);
    CHECK_FALSE(world.look().learnedOffer);
    objects::set_condition(world.claims[0].status.conditions, "Registered", ConditionStatus::True);
    // The kubelet cannot report yet how many CPUs there are.
    CHECK_FALSE(world.look().learnedReserved);
    CHECK(world.look().learnedOffer->pods == 60);
    world.nodes[0].status.allocatable["cpu"] = api::Quantity::parse("1100m");
    CHECK(world.look().learnedReserved == api::v1alpha1::SystemReserved{600, 0});
}

TEST_CASE("a claim that found no room says nothing about the pool's other sizes") {
    World world;
    for (const auto reason : {api::reasons::kInsufficientCapacity, api::reasons::kNoHostLargeEnough}) {
        world.claims = {world.a_claim("f").failed(objects::at(1s), std::string(reason))};
        CHECK_FALSE(world.look(2s).nextRetryTime);
        CHECK(world.condition("Available", 2s).status == ConditionStatus::True);
    }
}

TEST_CASE("claims that fail in a row back the pool off from 10 s, doubling, to 30 min") {
    World world;
    world.fail("f1", 100s);
    CHECK(world.look(100s).nextRetryTime == objects::at(110s));
    CHECK(world.condition("Available", 105s).reason == "BackingOff");
    CHECK(world.condition("Available", 105s).message ==
          "1 claim failed in a row: nothing is created before " + objects::at(110s).str());
    world.claims[0].status.lastFailure = {"RegistrationTimeout", "no Node appeared", "", objects::at(100s)};
    CHECK(world.condition("Available", 106s).message ==
          "1 claim failed in a row: nothing is created before " + objects::at(110s).str() +
              "; the last was f1: no Node appeared");
    CHECK(world.condition("Available", 110s).reason == "Available");
    world.fail("f2", 120s);
    CHECK(world.look(120s).nextRetryTime == objects::at(140s));
    for (int i = 0; i < 20; ++i) {
        world.fail("more" + std::to_string(i), std::chrono::seconds{200 + i});
        world.look(std::chrono::seconds{200 + i});
    }
    CHECK(world.pool.status.consecutiveFailures == 22);
    CHECK(world.pool.status.nextRetryTime == objects::at(219s + 30min));
    // The failure still counts after its claim was read and deleted.
    world.claims.clear();
    CHECK(world.look(300s).consecutiveFailures == 22);
}

TEST_CASE("a pool whose machines keep failing says so, with the last cause, until one joins") {
    World world;
    auto trying = world.a_claim("trying").claim;
    trying.status.launchAttempts = 3;
    trying.status.systemUUID = "bbbbbbbb-0000-5000-8000-000000000001";
    trying.status.lastFailure = {"CloneFailed", "storage fast is full", "pve1", objects::at(90s)};
    world.claims = {trying};
    CHECK(world.condition("Available", 100s).reason == "Available");
    trying.status.launchAttempts = 4;
    trying.status.systemUUID.clear();
    world.claims = {trying};
    CHECK(world.condition("Available", 100s).reason == "CreationFails");
    CHECK_THAT(world.condition("Available", 100s).message,
               Contains("the last 4 attempts to create a machine failed") &&
                   Contains("the last was trying: storage fast is full"));
    world.claims.push_back(world.a_claim("new").in_service(objects::at(130s)));
    CHECK(world.condition("Available", 131s).reason == "Available");
    world.claims.clear();
    for (const auto* name : {"f1", "f2", "f3"}) world.fail(name, 200s);
    CHECK(world.condition("Available", 201s).reason == "BackingOff");
    CHECK(world.condition("Available", 3000s).reason == "CreationFails");
}

TEST_CASE("the machine that a pool keeps for a look is named, the last one of them") {
    World world;
    CHECK_FALSE(world.look().keptMachine);
    world.fail("older", 100s);
    world.fail("younger", 200s);
    for (auto& claim : world.claims) {
        claim.status.host = "pve1";
        claim.status.machineID = claim.metadata.name == "older" ? "101" : "102";
        claim.status.lastFailure = {"RegistrationTimeout", "no Node appeared", "", objects::at(100s)};
    }
    world.claims[0].status.keptSince = objects::at(110s);
    CHECK(world.look(111s).keptMachine->machineID == "101");
    world.claims[1].status.keptSince = objects::at(210s);
    const api::v1alpha1::KeptMachine last{"younger", "pve1", "102", "no Node appeared", objects::at(210s)};
    CHECK(world.look(211s).keptMachine == last);
    CHECK(world.pool.status.memoryMiB == 0);
    for (auto& claim : world.claims) claim.metadata.deletionTimestamp = objects::at(220s);
    CHECK_FALSE(world.look(221s).keptMachine);
}

TEST_CASE("a pool whose provider made no machine is tried at least once a minute") {
    World world;
    world.fail_often(100s);
    world.refuse("refused", 200s);
    CHECK(world.look(200s).nextRetryTime == objects::at(260s));
    CHECK(world.pool.status.lastFailureRefused);
    CHECK(world.condition("Available", 201s).message ==
          "21 claims failed in a row: nothing is created before " + objects::at(260s).str() +
              "; the provider made no machine for the last one, so another is tried at least once a minute; "
              "the last was refused: the storage is offline");
    // The failure still counts as it was when its claim is deleted.
    world.claims.clear();
    CHECK(world.look(210s).nextRetryTime == objects::at(260s));
    CHECK(world.condition("Available", 260s).reason == "CreationFails");
    CHECK_THAT(world.condition("Available", 260s).message, Contains("is tried at least once a minute"));
    SECTION("a machine that was made and did not join makes the pause grow") {
        world.fail("made", 300s);
        CHECK(world.look(300s).nextRetryTime == objects::at(300s + 30min));
    }
    SECTION("so does a refusal of the last attempt, where a machine of an earlier one did not join") {
        world.refuse("made-first", 300s);
        world.claims.back().status.hasRun = true;
        CHECK(world.look(300s).nextRetryTime == objects::at(300s + 30min));
    }
    SECTION("of claims that failed together, one that had a machine decides") {
        world.refuse("refused-too", 300s);
        world.fail("made", 300s);
        world.refuse("refused-again", 300s);
        CHECK(world.look(300s).nextRetryTime == objects::at(300s + 30min));
    }
}

TEST_CASE("a pause ends when the settings with which the last claim failed have changed") {
    World world;
    world.fail_often(100s);
    REQUIRE(world.look(101s).nextRetryTime == objects::at(99s + 30min));
    SECTION("of the pool") {
        world.pool.spec.machineTemplate.labels["rack"] = "2";
        CHECK_FALSE(world.look(102s).nextRetryTime);
        world.fail("still", 200s);
        CHECK(world.look(200s).nextRetryTime == objects::at(200s + 30min));
    }
    SECTION("of the control plane") {
        world.manager.spec.bootstrap.emplace().apiServerEndpoint = "10.0.0.9:6443";
        CHECK_FALSE(world.look(102s).nextRetryTime);
    }
    SECTION("of the provider") {
        ++*world.provider.metadata.generation;
        CHECK_FALSE(world.look(102s).nextRetryTime);
    }
    SECTION("limits make no machine better") {
        world.pool.spec.limits.maxNodes = 7;
        ++*world.pool.metadata.generation;
        CHECK(world.look(102s).nextRetryTime);
    }
    SECTION("before the claim failed that was made with the older ones") {
        world.fail("older", 200s);
        world.claims.back().status.templateHash =
            controllers::claim::template_hash(world.pool, &world.provider);
        world.pool.spec.machineTemplate.labels["rack"] = "2";
        // The pause is the shortest one, in case the settings change all the time.
        CHECK(world.look(200s).nextRetryTime == objects::at(210s));
    }
}

TEST_CASE("a pause ends when machines of other pools of the provider join again") {
    World world;
    world.fail_often(100s);
    world.claims.back().metadata.creationTimestamp = objects::at(50s);
    REQUIRE(world.look(101s).nextRetryTime);
    world.others_joined = {objects::at(40s)};
    CHECK(world.look(102s).nextRetryTime);
    world.others_joined.push_back(objects::at(110s));
    CHECK_FALSE(world.look(111s).nextRetryTime);
    // They joined all the time, so this pool has an obstacle of its own.
    world.others_joined.push_back(objects::at(60s));
    CHECK(world.look(112s).nextRetryTime == objects::at(99s + 30min));
}

TEST_CASE("while the obstacle may still be there, claims are tried one at a time") {
    World world;
    const auto trial = [&](std::chrono::seconds now) {
        return trial_of(world.pool, objects::pointers(world.claims), objects::at(now));
    };
    CHECK_FALSE(trial(0s).is_needed);
    const auto try_claim = [&](std::chrono::seconds when) {
        world.claims.push_back(objects::created_claim("trial", world.pool, 1));
        world.claims.back().metadata.creationTimestamp = objects::at(when);
    };
    SECTION("after refusals until a machine runs, and once a minute in any case") {
        world.refuse("refused", 100s);
        world.look(100s);
        CHECK(trial(110s).is_needed);
        CHECK(trial(110s).claim.empty());
        try_claim(111s);
        CHECK(trial(112s).claim == "trial");
        CHECK(trial(112s).ends == objects::at(171s));
        CHECK(trial(171s).is_needed);
        CHECK(trial(171s).claim.empty());
        objects::set_condition(world.claims.back().status.conditions, "Launched", ConditionStatus::True,
                               objects::at(150s));
        CHECK_FALSE(trial(151s).is_needed);
    }
    SECTION("after a pause that ended early, because each trial costs a machine") {
        world.fail_often(100s);
        CHECK(trial(101s).is_needed);
        try_claim(102s);
        objects::set_condition(world.claims.back().status.conditions, "Launched", ConditionStatus::True,
                               objects::at(150s));
        CHECK(trial(200s).claim == "trial");
        CHECK(trial(200s).ends == objects::at(99s + 30min));
        CHECK_FALSE(trial(99s + 30min).is_needed);
    }
    SECTION("a claim that waits for room says nothing") {
        world.refuse("refused", 100s);
        world.look(100s);
        try_claim(111s);
        objects::set_condition(world.claims.back().status.conditions, "Launched", ConditionStatus::False,
                               objects::at(112s), "InsufficientCapacity");
        CHECK(trial(113s).claim.empty());
    }
}

TEST_CASE("a claim that became a Node after the last failure ends the series") {
    World world;
    world.claims.push_back(world.a_claim("old").in_service(objects::at(50s)));
    world.fail("f1", 100s);
    CHECK(world.look(100s).consecutiveFailures == 1);
    world.claims.push_back(world.a_claim("new").in_service(objects::at(130s)));
    const auto status = world.look(131s);
    CHECK(status.consecutiveFailures == 0);
    CHECK_FALSE(status.nextRetryTime);
}
