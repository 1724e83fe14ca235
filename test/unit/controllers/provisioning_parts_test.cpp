#include <set>

#include "controllers/cache/informers.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/provisioning/batching_window.hpp"
#include "controllers/provisioning/expected_node.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/gates.hpp"
#include "controllers/provisioning/kinds.hpp"
#include "controllers/provisioning/past_launches.hpp"
#include "controllers/provisioning/world.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using namespace controllers::provisioning;
using namespace std::chrono_literals;
using controllers::PoolCounts;

TEST_CASE("a batching window closes after the idle duration and never later than the maximum") {
    const base::TimePoint start{};
    const BatchingDurations durations{1s, 10s};
    BatchingWindow window;
    CHECK_FALSE(window.is_open());
    window.note_demand(start);
    CHECK(window.closes_at(durations) == start + 1s);
    window.note_demand(start + 900ms);
    CHECK(window.closes_at(durations) == start + 1900ms);
    window.note_change(start + 1800ms);  // a change is no demand, so the decision does not wait for it
    CHECK(window.closes_at(durations) == start + 1900ms);
    for (auto now = start; now < start + 30s; now += 500ms) window.note_demand(now);
    CHECK(window.closes_at(durations) == start + 10s);
    window.close();
    CHECK_FALSE(window.is_open());
    window.note_change(start + 60s);
    CHECK(window.closes_at(durations) == start + 61s);
}

TEST_CASE("while demand keeps a window open there is a look in each idle duration") {
    const base::TimePoint start{};
    const BatchingDurations durations{1s, 10s};
    BatchingWindow window;
    window.note_demand(start);
    CHECK_FALSE(window.looks_early_at(durations));  // the window closes at that time
    window.note_demand(start + 200ms);
    CHECK(window.looks_early_at(durations) == start + 1s);
    // The first demand was launched for, so the rest gets its own ten seconds.
    window.note_early_look(start + 1s, start + 200ms);
    CHECK_FALSE(window.looks_early_at(durations));
    for (auto now = start; now < start + 30s; now += 500ms) window.note_demand(now);
    CHECK(window.looks_early_at(durations) == start + 2s);
    CHECK(window.closes_at(durations) == start + 10200ms);
    window.note_early_look(start + 2s, start);
    CHECK(window.closes_at(durations) == start + 10200ms);
    CHECK(window.looks_early_at(durations) == start + 3s);
}

TEST_CASE("a pool whose machine gets no certificate makes no other one") {
    const auto pool = objects::pool("small");
    const auto manager = objects::control_plane("kubenodesmith", {"small"});
    auto provider = objects::provider("proxmox");
    objects::set_condition(provider.status.conditions, api::conditions::kReady, api::ConditionStatus::True);
    GateFacts facts{pool, &manager, &provider};
    REQUIRE(gate_of(facts, objects::at(0s)).open);
    facts.without_certificate = "claim a: the webhook guard.example denies its certificate";
    const auto gate = gate_of(facts, objects::at(0s));
    CHECK_FALSE(gate.open);
    CHECK(gate.reason == "RequestRefused");
    CHECK_THAT(gate.message, Catch::Contains("guard.example"));
    // Pods may go to other pools meanwhile.
    CHECK(gate.for_a_while);
}

TEST_CASE("launches that an earlier release recorded under its annotations are still counted") {
    auto pool = objects::pool("small");
    auto claim = objects::created_claim("c", pool, 1);
    claim.metadata.annotations = {{"kubenodesmith.io/bought-for", "uid-1,uid-2"},
                                  {"kubenodesmith.io/bought-for-kinds", "kind-1"}};
    CHECK(launched_for(claim) == std::vector<std::string>{"uid-1", "uid-2"});
    CHECK(kinds_launched_for(claim) == std::vector<std::string>{"kind-1"});
    pool.metadata.annotations = {{"kubenodesmith.io/past-purchases",
                                  R"([{"claim": "c", "time": "2026-01-01T00:00:00Z", "pods": ["uid-1"]}])"}};
    REQUIRE(past_launches(pool).size() == 1);
    CHECK(past_launches(pool).front().pod_uids == std::vector<std::string>{"uid-1"});
}

TEST_CASE("claim names differ for each launch, repeat for the same one, and fit a host name") {
    auto pool = objects::pool("small");
    std::set<std::string> names;
    for (std::int64_t sequence = 1; sequence <= 20000; ++sequence) names.insert(claim_name(pool, sequence));
    CHECK(names.size() == 20000);
    const auto name = claim_name(pool, 7);
    CHECK(name == claim_name(pool, 7));
    CHECK(name.size() == std::string("small-").size() + 5);
    CHECK(name.starts_with("small-"));
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);

    pool.spec.machineTemplate.kubeNodeNamePrefix = "Zelos.K8s_Worker";
    CHECK(claim_name(pool, 7) == "zelos-k8s-worker-" + name.substr(6));
    pool.spec.machineTemplate.kubeNodeNamePrefix = std::string(200, 'x');
    CHECK(claim_name(pool, 7).size() == 63);
}

TEST_CASE("a claim is complete when it is created") {
    auto pool = objects::pool("small");
    pool.spec.machineTemplate.labels = {{"node-role.kubernetes.io/worker", ""}, {"rack", "{{ .Host }}"}};
    pool.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Retain;
    PlannedClaim planned_claim;
    planned_claim.size = {4, 8192};
    planned_claim.zone = "pve1";
    planned_claim.pod_uids = {"u1", "u2"};
    const auto claim = make_claim(pool, 3, planned_claim);

    CHECK(api::has_finalizer(claim.metadata, api::finalizers::kClaim));
    const auto* owner = api::controller_of(claim.metadata);
    REQUIRE(owner);
    CHECK(owner->uid == pool.metadata.uid);
    CHECK(owner->apiVersion == "kubenodesmith.parawell.cloud/v1alpha1");
    CHECK(owner->blockOwnerDeletion == true);
    CHECK(controllers::limits::is_created_by_pool(claim));
    CHECK(claim.metadata.labels == api::StringMap{{"topology.kubenodesmith.io/pool", "small"},
                                                  {"node-role.kubernetes.io/worker", ""}});
    CHECK(claim.spec.requirements == api::v1alpha1::Size{4, 8192});
    CHECK(claim.spec.zone == "pve1");
    CHECK(claim.spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain);
    CHECK(launched_for(claim) == std::vector<std::string>{"u1", "u2"});
    CHECK(launched_for(objects::claim("manual", pool)).empty());
}

TEST_CASE("a launch is explained by its pods, or by its other reason") {
    PlannedClaim planned_claim;
    planned_claim.reason = "to have at least 2 nodes";
    CHECK(explain(planned_claim) == "to have at least 2 nodes");
    planned_claim.pods = {{"default", "a"}};
    CHECK(explain(planned_claim) == "for pod default/a");
    planned_claim.pods = {{"d", "1"}, {"d", "2"}, {"d", "3"}, {"d", "4"}, {"d", "5"}, {"d", "6"}, {"d", "7"}};
    CHECK(explain(planned_claim) == "for pods d/1, d/2, d/3, d/4, d/5 and 2 more");
}

namespace {

struct GateWorld {
    objects::NodeSmithPool pool = objects::pool("small");
    objects::NodeSmithControlPlane manager = objects::control_plane("main", {"*"});
    objects::NodeSmithProvider provider = objects::provider("proxmox");
    PoolCounts fleet, manager_counts;
    std::int64_t creations = 0;
    std::optional<api::Time> unknown_until;
    std::string last_failure;
    controllers::Trial trial;
    std::int64_t under_way = 0;

    LaunchGate gate(std::chrono::seconds now = 0s) const {
        GateFacts facts{pool, &manager, &provider, nullptr, fleet, manager_counts, creations};
        facts.unknown_until = unknown_until;
        facts.last_failure = last_failure;
        facts.trial = trial;
        facts.under_way = under_way;
        return gate_of(facts, objects::at(now));
    }
};

}  // namespace

TEST_CASE("a pool may not launch machines that join in a way for which its provider lacks a right") {
    using namespace api::v1alpha1;
    GateWorld world;
    const auto lack = [&](std::string_view type) {
        api::ConditionUpdate update;
        update.type = type;
        update.status = api::ConditionStatus::False;
        update.message = "a@pve lacks a right";
        api::set_condition(world.provider.status.conditions, update, objects::kStart);
    };
    const auto joins_by = [&](BootstrapMethod method, BootstrapDelivery delivery) {
        world.pool.spec.bootstrap.emplace();
        world.pool.spec.bootstrap->method = method;
        world.pool.spec.bootstrap->delivery = delivery;
        return world.gate();
    };
    lack(api::conditions::kBootImagesUsable);
    CHECK(joins_by(BootstrapMethod::CloudInit, BootstrapDelivery::ISO).reason == "MissingPrivileges");
    CHECK(world.gate().message == "its provider proxmox: a@pve lacks a right");
    CHECK(joins_by(BootstrapMethod::CloudInit, BootstrapDelivery::HTTP).open);
    CHECK(joins_by(BootstrapMethod::GuestAgent, BootstrapDelivery::ISO).open);
    lack(api::conditions::kGuestAgentUsable);
    CHECK(joins_by(BootstrapMethod::GuestAgent, BootstrapDelivery::ISO).reason == "MissingPrivileges");
    CHECK(joins_by(BootstrapMethod::None, BootstrapDelivery::ISO).open);
    world.pool.spec.bootstrap.reset();
    CHECK(world.gate().open);
    world.manager.spec.bootstrap.emplace().method = BootstrapMethod::CloudInit;
    CHECK(world.gate().reason == "MissingPrivileges");
}

TEST_CASE("a healthy managed pool may launch") {
    const auto gate = GateWorld{}.gate();
    CHECK(gate.open);
    CHECK(gate.most_claims > 1000000);
}

TEST_CASE(
    "a pool may not launch without control plane, while paused, deleted, in conflict or without provider") {
    GateWorld world;
    const GateFacts unmanaged{world.pool, nullptr, &world.provider, nullptr, {}, {}, 0};
    CHECK(gate_of(unmanaged, objects::kStart).reason == "NotSelected");
    const auto other = objects::pool("small", "older");
    const GateFacts conflict{world.pool, &world.manager, &world.provider, &other, {}, {}, 0};
    CHECK(gate_of(conflict, objects::kStart).reason == "LabelConflict");
    const GateFacts homeless{world.pool, &world.manager, nullptr, nullptr, {}, {}, 0};
    CHECK(gate_of(homeless, objects::kStart).reason == "ProviderNotFound");

    world.manager.spec.mode = api::v1alpha1::Mode::Paused;
    CHECK(world.gate().reason == "Paused");
    world.manager.spec.mode = api::v1alpha1::Mode::Observe;
    CHECK(world.gate().open);
    CHECK(observes_only(world.manager));
    world.provider = objects::provider("proxmox", api::ConditionStatus::False);
    world.provider.status.conditions[0].message = "PROXMOX_SECRET is missing";
    CHECK(world.gate().reason == "ProviderNotReady");
    CHECK(world.gate().message == "its provider proxmox is not Ready: PROXMOX_SECRET is missing");
    world.manager_counts.in_service = 8;
    world.manager_counts.unready = 4;
    CHECK(world.gate().reason == "TooManyUnready");
    world.pool.metadata.deletionTimestamp = objects::kStart;
    CHECK(world.gate().reason == "Deleting");
}

TEST_CASE("a pool launches no more while claims may exist that the cache does not show") {
    GateWorld world;
    world.unknown_until = objects::at(61s);
    CHECK(world.gate(60s).reason == "ReservationUnsettled");
    CHECK(world.gate(61s).open);
}

TEST_CASE("R15: a pool waits scaleUp.stabilizationWindow after its last launch") {
    GateWorld world;
    world.pool.spec.scaleUp.stabilizationWindow = 2min;
    CHECK(world.gate().open);
    world.pool.status.lastScaleUpTime = objects::kStart;
    const auto gate = world.gate(119s);
    CHECK_FALSE(gate.open);
    CHECK(gate.opens_at == objects::at(120s));
    CHECK(world.gate(120s).open);
}

TEST_CASE("a pool whose claims failed waits until its next retry") {
    GateWorld world;
    world.pool.status.consecutiveFailures = 2;
    world.pool.status.nextRetryTime = objects::at(20s);
    CHECK(world.gate(19s).reason == "BackingOff");
    CHECK(world.gate(19s).opens_at == objects::at(20s));
    CHECK(world.gate(19s).message == "2 claims failed in a row");
    world.last_failure = "; the last was workers-1: no Node appeared";
    CHECK(world.gate(19s).message == "2 claims failed in a row; the last was workers-1: no Node appeared");
    CHECK(world.gate(20s).open);
}

TEST_CASE("a pool whose claims failed launches one at a time until it is known that the obstacle is gone") {
    GateWorld world;
    world.pool.status.consecutiveFailures = 4;
    world.trial.is_needed = true;
    CHECK(world.gate().open);
    CHECK(world.gate().most_claims == 1);
    world.under_way = 1;
    CHECK(world.gate().reason == "OneAtATime");
    world.under_way = 0;
    world.trial.claim = "workers-7";
    world.trial.ends = objects::at(60s);
    CHECK(world.gate().reason == "OneAtATime");
    CHECK(world.gate().opens_at == objects::at(60s));
    CHECK(world.gate().message ==
          "4 claims failed in a row, so claims are created one at a time: the next one once the machine of "
          "claim workers-7 is there, at the latest at " +
              objects::at(60s).str());
}

TEST_CASE("batch size, concurrency and rate limit bound what one decision may launch") {
    GateWorld world;
    world.pool.spec.scaleUp.batchSize = 5;
    CHECK(world.gate().most_claims == 5);
    world.pool.spec.scaleUp.maxConcurrent = 4;
    world.fleet.pending_nodes = 1;
    CHECK(world.gate().most_claims == 3);
    world.manager.spec.rateLimits.maxCreationsPerHour = 10;
    // The rate is shared with other pools, so it does not limit this pool alone.
    world.creations = 8;
    CHECK(world.gate().most_claims == 3);
    world.creations = 10;
    CHECK(world.gate().reason == "RateLimited");
    world.creations = 0;
    world.fleet.pending_nodes = 4;
    CHECK(world.gate().reason == "MaxConcurrent");
}

TEST_CASE("a claim that cannot go on is no Node to wait for") {
    auto pool = objects::pool("p");
    api::v1alpha1::NodeSmithProvider provider;
    const auto waits = [&](std::string_view type, std::string_view reason) {
        auto claim = objects::created_claim("c", pool, 1);
        controllers::claim::set(claim.status, type, api::ConditionStatus::False, reason, "", objects::at(0s));
        return can_be_waited_for(claim, &provider, objects::at(1h));
    };
    CHECK(waits(api::conditions::kLaunched, api::reasons::kWaiting));
    CHECK_FALSE(waits(api::conditions::kLaunched, api::reasons::kInsufficientCapacity));
    CHECK_FALSE(waits(api::conditions::kLaunched, api::reasons::kLimitExceeded));
    CHECK(waits(api::conditions::kMachineDeleted, api::reasons::kAttemptFailed));
    CHECK(waits(api::conditions::kMachineDeleted, api::reasons::kDeleting));
    CHECK_FALSE(waits(api::conditions::kMachineDeleted, "OwnershipMismatch"));
    CHECK_FALSE(waits(api::conditions::kMachineDeleted, "HostUnreachable"));
}

TEST_CASE("a claim whose failed machine cannot be removed is no node to wait for") {
    const auto provider = objects::provider("proxmox");
    auto claim = objects::created_claim("a", objects::pool("small"), 1);
    claim.status.providerRef = "proxmox";
    const auto awaited = [&](const std::string& reason) {
        objects::set_condition(claim.status.conditions, "MachineDeleted", api::ConditionStatus::False,
                               objects::kStart, reason);
        return can_be_waited_for(claim, &provider, objects::at(1h));
    };
    CHECK(awaited("AttemptFailed"));
    CHECK(awaited("Deleting"));
    CHECK(controllers::is_coming(claim));
    for (const auto* reason :
         {"OwnershipMismatch", "HostUnreachable", "Locked", "TaskHangs", "RemovalStalled"}) {
        INFO(reason);
        CHECK_FALSE(awaited(reason));
        CHECK(is_held_up(claim));
        // The claim takes no place of scaleUp.maxConcurrent either, but it counts against limits.
        CHECK_FALSE(controllers::is_coming(claim));
        CHECK(controllers::limits::counts(claim));
    }
}

TEST_CASE("of a pod is kept what decisions read") {
    api::Pod pod;
    pod.metadata.annotations = {{"checksum/config", "abc"},
                                {"karpenter.sh/do-not-disrupt", "true"},
                                {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}};
    pod.spec.volumes->resize(3);
    pod.spec.volumes->at(0).name = "configuration";
    pod.spec.volumes->at(1).emptyDir.emplace();
    pod.spec.volumes->at(2).persistentVolumeClaim.emplace().claimName = "data";
    const auto add = [&pod](const char* type, api::ConditionStatus status) {
        objects::set_condition(*pod.status.conditions, type, status);
    };
    add("Ready", api::ConditionStatus::True);
    add("PodScheduled", api::ConditionStatus::False);
    add("PodResizePending", api::ConditionStatus::True);
    controllers::forget_unread(pod);
    CHECK(pod.metadata.annotations.size() == 2);
    CHECK(pod.spec.volumes.size() == 2);
    CHECK(pod.status.conditions.size() == 3);
    add("PodScheduled", api::ConditionStatus::True);
    controllers::forget_unread(pod);
    CHECK(pod.status.conditions.size() == 2);
}

TEST_CASE("of a pod's status resources are kept only while they differ from its spec") {
    api::Pod pod;
    for (const auto* name : {"settled", "growing"}) {
        auto& container = pod.spec.containers->emplace_back();
        container.name = name;
        container.resources.requests["cpu"] = api::Quantity::of(2);
        auto& status = pod.status.containerStatuses->emplace_back();
        status.name = name;
        status.allocatedResources = container.resources.requests;
        status.resources.emplace().requests = container.resources.requests;
    }
    pod.status.containerStatuses->at(1).resources->requests["cpu"] = api::Quantity::of(1);
    auto& sidecar = pod.status.initContainerStatuses->emplace_back();
    sidecar.name = "without-report";
    pod.status.resources.emplace().requests["cpu"] = api::Quantity::of(4);
    controllers::forget_unread(pod);
    REQUIRE(pod.status.containerStatuses.size() == 1);
    CHECK(pod.status.containerStatuses->at(0).name == "growing");
    CHECK(pod.status.initContainerStatuses.empty());
    CHECK_FALSE(pod.status.resources.has_value());

    pod.spec.resources.emplace().requests["cpu"] = api::Quantity::of(4);
    pod.status.resources.emplace().requests["cpu"] = api::Quantity::of(5);
    controllers::forget_unread(pod);
    CHECK(pod.status.resources.has_value());
}
