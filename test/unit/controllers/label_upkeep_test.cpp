// Tests labels and taints of a Node that others remove or overwrite. Tests the decisions, and the reconciler
// beside a program that never gives up.
#include <boost/json/parse.hpp>

#include "controllers/claim/facts/label_rules.hpp"
#include "controllers/claim/facts/label_upkeep.hpp"
#include "controllers/provisioning/machine_offer.hpp"
#include "controllers/state/contested_labels.hpp"
#include "controllers/state/field_managers.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/claim_scene.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using test::Scene;
using namespace controllers;
using namespace controllers::claim;
using namespace std::chrono_literals;
using objects::at;

Scene with_tier(const std::string& on_the_node) {
    Scene scene;
    scene.pool.spec.machineTemplate.labels = {{"tier", "web"}};
    scene.claim.metadata.labels["tier"] = "web";
    scene.in_service();
    if (!on_the_node.empty()) scene.node->metadata.labels["tier"] = on_the_node;
    return scene;
}

// Puts back everything that is due, as often as another program undoes it. Returns how often that happened
// within `duration`.
int put_backs(Scene& scene, std::chrono::seconds duration) {
    int count = 0;
    for (std::chrono::seconds now{0}; now < duration; now += 1s) {
        scene.now = at(now);
        const auto next =
            upkeep(scene.claim.status.contestedLabels, deviations(*scene.node, scene.origin()), scene.now);
        count += next.due.empty() ? 0 : 1;
        scene.claim.status.contestedLabels = after_putting_back(next, {}, scene.now);
    }
    return count;
}

TEST_CASE("a label that was taken off or overwritten is put back at once, and forgotten when it has stayed") {
    for (const auto* found : {"", "db"}) {
        auto scene = with_tier(found);
        auto decision = scene.decide();
        CHECK(decision.step == Step::put_back);
        const auto next = upkeep({}, scene.situation().deviations, scene.now);
        REQUIRE(next.due.size() == 1);
        CHECK(next.due[0].found == found);
        const auto node = with_put_back(*scene.node, next.due);
        CHECK(node.metadata.labels->at("tier") == "web");
        scene.node = node;
        scene.claim.status.contestedLabels = after_putting_back(next, {"someone"}, scene.now);
        CHECK(scene.claim.status.contestedLabels[0].manager == "someone");
        CHECK_FALSE(does_not_stay(scene.claim.status.contestedLabels[0]));
        decision = scene.decide();
        CHECK(decision.step == Step::nothing);
        REQUIRE(decision.look_again);
        scene.now = *decision.look_again;
        CHECK(scene.decide().status.contestedLabels.empty());
    }
}

TEST_CASE("a label that another program always overwrites is put back with growing pauses") {
    auto scene = with_tier("db");
    CHECK(put_backs(scene, 10min) < 10);
    REQUIRE(scene.claim.status.contestedLabels.size() == 1);
    CHECK(does_not_stay(scene.claim.status.contestedLabels[0]));
    CHECK(put_backs(scene, 24h) < 60);
    CHECK(scene.decide().step == Step::nothing);
    CHECK(scene.decide().look_again);
}

TEST_CASE("what is remembered of labels is bounded, and what exceeds it is left alone") {
    Scene scene;
    scene.in_service();
    for (int i = 0; i < 40; ++i) scene.claim.spec.labels["key" + std::to_string(i)] = "x";
    const auto next = upkeep({}, deviations(*scene.node, scene.origin()), scene.now);
    CHECK(next.due.size() == 16);
    const auto known = after_putting_back(next, {}, scene.now);
    CHECK(upkeep(known, deviations(*scene.node, scene.origin()), at(1s)).due.empty());
}

TEST_CASE("labels and taints that a template has got since a machine was made do not reach its Node") {
    auto scene = with_tier("web");
    scene.pool.spec.machineTemplate.labels["tier"] = "db";
    scene.pool.spec.machineTemplate.labels["new"] = "x";
    CHECK(deviations(*scene.node, scene.origin()).empty());
    scene.pool.spec.machineTemplate.taints = {{"dedicated", "a", "NoSchedule", std::nullopt}};
    auto origin = scene.origin();
    origin.has_present_template = false;
    CHECK(deviations(*scene.node, origin).empty());
}

TEST_CASE("a declared taint is put back, unless that would evict pods or it is one that startup takes off") {
    Scene scene;
    scene.in_service();
    auto& machine = scene.pool.spec.machineTemplate;
    machine.taints = {{"dedicated", "a", "NoSchedule", std::nullopt},
                      {"strict", "", "NoExecute", std::nullopt},
                      {"cni", "", "NoSchedule", std::nullopt}};
    machine.startupTaints = {{"cni", "", "NoSchedule", std::nullopt}};
    const auto found = deviations(*scene.node, scene.origin());
    REQUIRE(found.size() == 1);
    CHECK(found[0].key == "dedicated");
    const auto node = with_put_back(*scene.node, found);
    REQUIRE(api::find_taint(node.spec.taints, "dedicated", "NoSchedule"));
    CHECK(api::find_taint(node.spec.taints, "dedicated", "NoSchedule")->value == "a");
}

TEST_CASE("the region that a cloud controller writes is left to it") {
    Scene scene;
    scene.in_service();
    scene.provider.spec.proxmox.emplace();
    scene.provider.spec.proxmox->region = "lab";
    CHECK(deviations(*scene.node, scene.origin()).size() == 1);
    scene.node->metadata.labels["topology.kubernetes.io/region"] = "of the cloud";
    CHECK(deviations(*scene.node, scene.origin()).empty());
}

TEST_CASE("who wrote a label is what the API server has on record, but for the operator itself") {
    const auto node = boost::json::parse(R"({"metadata": {"managedFields": [
        {"manager": "kubenodesmith", "time": "2026-01-01T00:00:03Z",
         "fieldsV1": {"f:metadata": {"f:labels": {"f:tier": {}}}}},
        {"manager": "old", "time": "2026-01-01T00:00:01Z",
         "fieldsV1": {"f:metadata": {"f:labels": {"f:tier": {}}}}},
        {"manager": "ccm", "time": "2026-01-01T00:00:02Z",
         "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:tier": {}}}}},
        {"manager": "kubelet", "time": "2026-01-01T00:00:04Z", "fieldsV1": {"f:status": {}}}, 7]}})");
    CHECK(label_writer(node, "tier") == "ccm");
    CHECK(label_writer(node, "other").empty());
    CHECK(label_writer(boost::json::parse(R"({"metadata": {"managedFields": "x"}})"), "tier").empty());
}

// ---- the pool

struct Contest {
    Scene scene = with_tier("db");
    Nodes nodes;
    PoolObservation facts{scene.pool, {}, nodes};

    Contest() {
        put_backs(scene, 5min);
        observe();
    }
    // Lets two claims report the same deviation.
    void observe() {
        auto other = scene.claim;
        other.metadata.name = other.status.nodeName = "d";
        facts.claims = {std::make_shared<const NodeSmithClaim>(scene.claim),
                        std::make_shared<const NodeSmithClaim>(other)};
        nodes.clear();
        nodes[{"", "c"}] = std::make_shared<const api::Node>(*scene.node);
    }
    std::string message(api::Time now = at(5min)) {
        note_contested_labels(facts, scene.pool.status, now);
        const auto* condition =
            api::find_condition(scene.pool.status.conditions, conditions::kLabelsContested);
        return condition ? condition->message : "";
    }
};

TEST_CASE("a pool names the label that does not stay, both values and who writes it") {
    Contest contest;
    contest.scene.claim.status.contestedLabels[0].manager = "ccm";
    contest.observe();
    CHECK_THAT(contest.message(), Catch::Contains("label tier=web does not stay on Node c") &&
                                      Catch::Contains("field manager ccm") &&
                                      Catch::Contains("writes db instead"));
}

TEST_CASE("a label that does not stay is not offered to pods, also when its machines are gone") {
    Contest contest;
    contest.message();
    contest.facts.claims.clear();
    CHECK_FALSE(contest.message(at(100h)).empty());
    api::StringMap labels{{"tier", "web"}, {"zone", "a"}};
    take_contested_off(labels, contest.scene.pool);
    CHECK(labels == api::StringMap{{"zone", "a"}});
}

TEST_CASE("a kubelet that takes a label off its own Node takes it off no other machine of the pool") {
    Scene scene = with_tier("db");
    put_backs(scene, 5min);
    const Nodes nodes;
    const PoolObservation facts{scene.pool, {std::make_shared<const NodeSmithClaim>(scene.claim)}, nodes};
    REQUIRE(does_not_stay(scene.claim.status.contestedLabels.at(0)));
    note_contested_labels(facts, scene.pool.status, at(5min));
    CHECK(scene.pool.status.contestedLabels.empty());
    api::StringMap labels{{"tier", "web"}};
    take_contested_off(labels, scene.pool);
    CHECK(labels == api::StringMap{{"tier", "web"}});
}

TEST_CASE("a label that stays again, or that the pool has given up, is offered again") {
    Contest contest;
    contest.message();
    SECTION("it stays") {
        contest.scene.claim.status.contestedLabels.clear();
        contest.scene.node->metadata.labels["tier"] = "web";
        contest.observe();
        CHECK_FALSE(contest.message().empty());
        CHECK(contest.message(at(11min)).empty());
    }
    SECTION("it is another value now") {
        contest.facts.claims.clear();
        contest.scene.pool.spec.machineTemplate.labels["tier"] = "db";
        CHECK(contest.message().empty());
    }
    SECTION("it is not set any more") {
        contest.facts.claims.clear();
        contest.scene.pool.spec.machineTemplate.labels.clear();
        CHECK(contest.message().empty());
    }
    CHECK(contest.scene.pool.status.contestedLabels.empty());
}

// ---- keys and values

TEST_CASE("keys that Kubernetes, the kubelet or the operator sets cannot hold a pool's name") {
    for (const auto* key :
         {"kubenodesmith.io/host", "kubenodesmith.io/nodeclaim", "kubenodesmith.io/claim-uid",
          "kubernetes.io/hostname", "topology.kubernetes.io/zone", "node-role.kubernetes.io/worker",
          "node.kubernetes.io/instance-type", "beta.kubernetes.io/os", "x.k8s.io/y",
          "a.kubenodesmith.io/pool"})
        CHECK(is_reserved_pool_label(key));
    for (const auto* key :
         {"topology.kubenodesmith.io/pool", "example.org/pool", "pool", "notkubernetes.io/pool"})
        CHECK_FALSE(is_reserved_pool_label(key));
}

TEST_CASE("a pool whose label key is reserved says so, and no label of that key is written") {
    Scene scene;
    scene.in_service();
    scene.pool.spec.poolLabelKey = "kubenodesmith.io/host";
    CHECK(label_problem(scene.pool).reason == "PoolLabelKeyReserved");
    CHECK(node_labels(scene.origin()).at("kubenodesmith.io/host") == "pve1");
    CHECK(scene.decide().step == Step::nothing);
}

TEST_CASE("no machine gets a label that only people may set: for the operator's pod, or about its claim") {
    for (const std::string key :
         {"node-role.kubernetes.io/control-plane", "node-restriction.kubernetes.io/kubenodesmith-operator",
          "node-restriction.kubernetes.io/kubenodesmith-claim"}) {
        Scene scene;
        scene.in_service();
        scene.pool.spec.machineTemplate.labels = {{key, ""}};
        scene.claim.spec.labels = {{key, ""}};
        CHECK(label_problem(scene.pool).reason == "LabelInvalid");
        CHECK_THAT(label_problem(scene.pool).message, Catch::Contains(key));
        CHECK_FALSE(node_labels(scene.origin()).contains(key));
    }
}

TEST_CASE("labels that no Node can have are named before any machine is made") {
    struct Row {
        const char *key, *value;
        bool is_fine;
    };
    const auto row =
        GENERATE(Row{"tier", "web", true}, Row{"tier", "", true}, Row{"tier", "two words", false},
                 Row{"tier", "-web", false}, Row{"tier", "{{ .Host }}-{{.Zone}}", true},
                 Row{"tier", "{{ .Fantasy }}", false}, Row{"my tier", "x", false},
                 Row{"Example.org/a", "x", false}, Row{"example.org/a", "x", true}, Row{"a/b/c", "x", false},
                 Row{"tier", "0123456789012345678901234567890123456789012345678901234567890123", false});
    INFO(row.key << "=" << row.value);
    auto pool = objects::pool("p");
    pool.spec.machineTemplate.labels = {{row.key, row.value}};
    CHECK(label_problem(pool).reason == (row.is_fine ? "" : "LabelInvalid"));
}

TEST_CASE(
    "labels that the operator, its provider or the kubelet sets otherwise are no part of what a machine is") {
    auto pool = objects::pool("p");
    auto provider = objects::provider("proxmox");
    provider.spec.proxmox.emplace();
    const auto before = template_hash(pool, &provider);
    const auto zone_key = provider.spec.proxmox->placement.zoneLabel;
    for (const auto& key : {zone_key, std::string("kubernetes.io/hostname"), pool.spec.poolLabelKey}) {
        pool.spec.machineTemplate.labels = {{key, "mine"}};
        CHECK(template_hash(pool, &provider) == before);
        CHECK(labels_without_effect(pool, &provider).contains(key));
        CHECK(label_problem(pool).reason.empty());
    }
    pool.spec.machineTemplate.labels = {{"node.kubernetes.io/instance-type", "small"}};
    CHECK(template_hash(pool, &provider) != before);
}

// ---- the reconciler beside a program that never gives up

// LabelWriter writes its own value as soon as the API server reports another one.
class LabelWriter {
public:
    LabelWriter(claims::World& world, std::string key, std::optional<std::string> value)
        : world_(world), key_(std::move(key)), value_(std::move(value)) {}

    int run(base::Duration duration) {
        const auto before = patches();
        for (base::Duration passed{}; passed < duration; passed += 1s) {
            world_.run(1s);
            const auto node = world_.server.get<api::Node>({"", "c"});
            if (!node || !api::is_true(world_.claim()->status.conditions, conditions::kRegistered)) continue;
            const auto* found = api::find(node->metadata.labels, key_);
            if (value_ ? found && *found == *value_ : !found) continue;
            world_.server.edit<api::Node>({"", "c"}, [this](api::Node& edited) {
                if (value_)
                    edited.metadata.labels[key_] = *value_;
                else
                    edited.metadata.labels->erase(key_);
            });
        }
        return patches() - before;
    }

private:
    int patches() const {
        int count = 0;
        for (const auto& write : world_.server.writes())
            count += write.method == "PATCH" && write.target.find("/nodes/c") != std::string::npos ? 1 : 0;
        return count;
    }
    claims::World& world_;
    std::string key_;
    std::optional<std::string> value_;
};

TEST_CASE("no label that another program contests makes a loop, and each is named in the claim") {
    const std::string key = GENERATE("node.kubernetes.io/instance-type", "kubenodesmith.io/nodeclaim",
                                     "kubenodesmith.io/host", "topology.kubenodesmith.io/pool");
    const bool overwrites = GENERATE(true, false);
    INFO(key << (overwrites ? " overwritten" : " removed"));
    claims::World world;
    world.server.edit<claims::NodeSmithPool>({"default", "p"}, [](claims::NodeSmithPool& pool) {
        pool.spec.machineTemplate.labels["node.kubernetes.io/instance-type"] = "small";
    });
    claims::Process process(world);
    world.launch();
    // Provisioning creates the claim like this from such a pool.
    world.server.edit<claims::NodeSmithClaim>(claims::kClaim, [](claims::NodeSmithClaim& claim) {
        claim.metadata.labels["node.kubernetes.io/instance-type"] = "small";
    });
    REQUIRE(world.run_until([&] { return world.ready(); }));
    LabelWriter writer(world, key, overwrites ? std::optional<std::string>("theirs") : std::nullopt);
    CHECK(writer.run(10min) < 12);
    const auto contested = world.claim()->status.contestedLabels;
    REQUIRE(contested.size() == 1);
    CHECK(contested[0].key == key);
    CHECK(does_not_stay(contested[0]));
    world.run(90min);
    CHECK(world.claim()->status.contestedLabels.empty());
}

TEST_CASE("a pool that was stored with a reserved label key leaves its machines alone and makes no loop") {
    const std::string key = GENERATE("kubenodesmith.io/host", "kubenodesmith.io/nodeclaim");
    claims::World world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.edit<claims::NodeSmithPool>(
        {"default", "p"}, [&](claims::NodeSmithPool& pool) { pool.spec.poolLabelKey = key; });
    world.run(1min);
    const auto writes = world.server.writes().size();
    world.run(1h);
    CHECK(world.server.writes().size() == writes);
    CHECK(world.ready());
}

}  // namespace
