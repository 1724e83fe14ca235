// Tests the next step of a claim until it is in service, as tables from a state to a step and conditions.
#include "controllers/claim/act/adoption.hpp"
#include "controllers/claim/facts/template_hash.hpp"
#include "test/unit/controllers/claim_scene.hpp"

namespace {

using namespace test;

TEST_CASE("a claim gets its finalizer before anything else") {
    Scene scene;
    scene.claim.metadata.finalizers->clear();
    CHECK(scene.decide().step == Step::add_finalizer);
    CHECK(scene.decide().status == scene.claim.status);
}

TEST_CASE("an attempt is on record before the provider is asked for anything") {
    Scene scene;
    auto decision = scene.decide();
    CHECK(decision.step == Step::launch);
    CHECK(decision.status.launchAttempts == 1);
    CHECK(decision.status.systemUUID == system_uuid(kUid, 1));
    CHECK(decision.status.providerRef == "proxmox");
    CHECK(decision.status.size == "2c/4Gi");
    CHECK(decision.status.machineID.empty());
}

TEST_CASE("R12: after a crash the attempt on record goes on at once, it is not counted again") {
    Scene scene;
    scene.begun(2);
    auto decision = scene.decide();
    CHECK(decision.step == Step::launch);
    CHECK(decision.status == scene.claim.status);
}

TEST_CASE("R16: a claim without requirements gets the pool's smallest size") {
    Scene scene;
    scene.claim.spec.requirements = {};
    scene.pool.spec.machineTemplate.sizes = {{"large", 8, 16384}, {"small", 1, 2048}};
    CHECK(scene.decide().status.size == "1c/2Gi");
}

TEST_CASE("a claim that no pool created must be admitted") {
    Scene scene;
    scene.claim.spec.idempotencyKey.clear();
    CHECK(scene.decide().step == Step::admit);
    scene.claim.status.providerRef = "proxmox";
    CHECK(scene.decide().step == Step::launch);
}

TEST_CASE("nothing is begun while it must not be, and the condition says why") {
    Scene scene;
    SECTION("no pool") {
        scene.with_pool = false;
        CHECK(condition(scene.decide().status, conditions::kLaunched).reason == reasons::kPoolMissing);
    }
    SECTION("the pool is being deleted") {
        scene.pool.metadata.deletionTimestamp = at(0s);
    }
    SECTION("the ControlPlane is paused") {
        scene.hold = Hold{"Paused", "NodeSmithControlPlane main has mode Paused"};
        CHECK(condition(scene.decide().status, conditions::kLaunched).reason == "Paused");
    }
    SECTION("the pause after a failed attempt is not over") {
        scene.claim.status.launchAttempts = 1;
        scene.claim.status.providerRef = "proxmox";
        scene.claim.status.nextRetryTime = at(60s);
        CHECK(scene.decide().look_again == at(60s));
    }
    CHECK(scene.decide().step == Step::nothing);
    CHECK(scene.decide().status.launchAttempts == scene.claim.status.launchAttempts);
}

TEST_CASE("no machine is made for a claim whose name somebody else has") {
    Scene scene;
    scene.name_taken = "Node c exists and does not belong to this claim";
    SECTION("one that a person created waits for the person") {
        scene.claim.spec.idempotencyKey.clear();
        scene.claim.status.providerRef = "proxmox";
        SECTION("before it was begun") {}
        SECTION("when it has its place already, and no token yet") {
            scene.placed();
        }
        const auto decision = scene.decide();
        CHECK(decision.step == Step::nothing);
        CHECK(condition(decision.status, conditions::kLaunched).reason == reasons::kNameTaken);
        CHECK(condition(decision.status, conditions::kLaunched).message ==
              "Node c exists and does not belong to this claim: no machine is created for this claim. Delete "
              "the claim and create one with another name, or remove the object that has the name");
        CHECK_FALSE(api::find_condition(decision.status.conditions, conditions::kFailed));
    }
    SECTION("as the provider says") {
        scene.name_taken.clear();
        scene.begun();
        const providers::NameTaken taken{"VM 104 on pve1 has the name c already"};
        CHECK(condition(after_ensure(scene.situation(), taken), conditions::kFailed).reason ==
              reasons::kNameTaken);
        scene.claim.spec.idempotencyKey.clear();
        const auto status = after_ensure(scene.situation(), taken);
        CHECK_FALSE(api::find_condition(status.conditions, conditions::kFailed));
        CHECK(condition(status, conditions::kLaunched).reason == reasons::kNameTaken);
    }
    SECTION("one of a pool fails, so that another takes its place") {
        const auto decision = scene.decide();
        CHECK(decision.step == Step::nothing);
        CHECK(decision.status.launchAttempts == 0);
        CHECK(condition(decision.status, conditions::kFailed).reason == reasons::kNameTaken);
    }
    SECTION("one whose machine has its certificate bears the name itself, with a UUID that is not its own") {
        scene.placed();
        scene.claim.status.bootstrapKeySHA256 = "bada788f";
        CHECK(scene.decide().step == Step::launch);
    }
    SECTION("one of a person that has a machine comes to an end like any whose Node does not appear") {
        scene.claim.spec.idempotencyKey.clear();
        scene.placed();
        scene.set(conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching, at(0s));
        CHECK(scene.decide().step == Step::launch);
    }
    SECTION("one in service is not touched by it") {
        scene.in_service();
        CHECK(scene.decide().step == Step::nothing);
        CHECK_FALSE(api::find_condition(scene.decide().status.conditions, conditions::kFailed));
    }
}

TEST_CASE("a Node whose system UUID another Node shows, too, gets no label that kubelets may not set") {
    Scene scene;
    scene.pool.spec.machineTemplate.labels = {{"node-restriction.kubernetes.io/team", "a"},
                                              {"node-role.kubernetes.io/worker", ""},
                                              {"tier", "web"}};
    scene.joined();
    scene.contest = "Nodes c, d all have system UUID x";
    const auto decision = scene.decide();
    CHECK(decision.step == Step::register_node);
    CHECK(condition(decision.status, conditions::kIdentityContested).message == scene.contest);
    const auto labels = node_labels(scene.origin());
    CHECK(labels.contains("tier"));
    CHECK_FALSE(labels.contains("node-restriction.kubernetes.io/team"));
    CHECK_FALSE(labels.contains("node-role.kubernetes.io/worker"));
    scene.claim.status = decision.status;
    scene.contest.clear();
    CHECK(node_labels(scene.origin()).contains("node-role.kubernetes.io/worker"));
    CHECK_FALSE(api::find_condition(scene.decide().status.conditions, conditions::kIdentityContested));
}

TEST_CASE("a claim of the Go operator is adopted before anything else, wherever it stands") {
    Scene scene;
    scene.claim.status.providerID = "proxmox://c";
    CHECK(scene.decide().step == Step::adopt);
    for (const auto type : {conditions::kLaunched, conditions::kRegistered, conditions::kInitialized})
        scene.set(type, ConditionStatus::True);
    CHECK(scene.decide().step == Step::adopt);
    providers::Adopted yes;
    yes.record = {"pve1", "105", ""};
    yes.provider_id = "proxmox://lab/vms/105";
    scene.claim.status = after_adoption(scene.situation(), yes, kUid);
    CHECK(condition(scene.claim.status, conditions::kAdopted).status == ConditionStatus::True);
    CHECK(scene.claim.status.systemUUID == kUid);
    CHECK(scene.decide().step != Step::adopt);
    CHECK(scene.decide().step != Step::launch);
}

TEST_CASE("a placed machine is followed even if nothing new may be launched, because it may exist already") {
    Scene scene;
    scene.placed();
    scene.hold = Hold{"Paused", ""};
    CHECK(scene.decide().step == Step::launch);
    scene.with_pool = false;
    CHECK(scene.decide().step == Step::launch);
}

providers::Machine machine(providers::MachineState state) {
    providers::Machine result;
    result.state = state;
    result.record = {"pve1", "101", "UPID:1"};
    result.provider_id = "proxmox://lab/vms/101";
    result.zone = "zone-1";
    result.message = "waiting for task qmcreate";
    return result;
}

TEST_CASE("host and ID are recorded before the machine is made, providerID when it runs") {
    Scene scene;
    scene.begun();
    auto placed = after_ensure(scene.situation(), machine(providers::MachineState::placed));
    CHECK(placed.host == "pve1");
    CHECK(placed.machineID == "101");
    CHECK(placed.zone == "zone-1");
    CHECK(condition(placed, conditions::kLaunched).status == ConditionStatus::False);

    scene.claim.status = placed;
    auto creating = after_ensure(scene.situation(), machine(providers::MachineState::creating));
    CHECK(creating.taskRef == "UPID:1");
    CHECK(condition(creating, conditions::kLaunched).status == ConditionStatus::Unknown);

    scene.claim.status = creating;
    auto running = after_ensure(scene.situation(), machine(providers::MachineState::running));
    CHECK(running.providerID == "proxmox://lab/vms/101");
    CHECK(condition(running, conditions::kLaunched).status == ConditionStatus::True);
}

TEST_CASE("waiting for room or for the provider burns no attempt and is visible") {
    Scene scene;
    scene.begun();
    auto full = after_ensure(scene.situation(), providers::InsufficientCapacity{"pve1: 2 GiB missing"});
    CHECK(condition(full, conditions::kLaunched).reason == reasons::kInsufficientCapacity);
    CHECK(condition(full, conditions::kLaunched).message == "pve1: 2 GiB missing");
    auto busy = after_ensure(scene.situation(), providers::NotReady{"no quorum"});
    CHECK(condition(busy, conditions::kLaunched).reason == reasons::kProviderNotReady);
    for (const auto& status : {full, busy}) {
        CHECK(status.launchAttempts == 1);
        CHECK_FALSE(api::find_condition(status.conditions, conditions::kMachineDeleted));
    }
}

TEST_CASE("a claim that found a host waits for room no more") {
    Scene scene;
    scene.begun();
    scene.claim.status = after_ensure(scene.situation(), providers::InsufficientCapacity{"full"});
    scene.now = at(5min);
    scene.claim.status = after_ensure(scene.situation(), machine(providers::MachineState::placed));
    CHECK_FALSE(scene.claim.status.waitsForRoomSince);
}

TEST_CASE("R4: a failed attempt removes its machine, then pauses, then counts up") {
    Scene scene;
    scene.placed();
    scene.claim.status =
        after_ensure(scene.situation(), providers::AttemptFailed{"StartFailed", "no bootable disk", true});
    CHECK(scene.claim.status.lastFailure->host == "pve1");
    CHECK_FALSE(is_true(scene.claim, conditions::kFailed));

    scene.searched_in_vain();
    CHECK(scene.decide().step == Step::remove_machine);
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    auto pause = scene.decide();
    CHECK(pause.step == Step::nothing);
    CHECK(pause.status.machineID.empty());
    CHECK(pause.status.nextRetryTime == at(10s));

    scene.claim.status = pause.status;
    CHECK(scene.decide().step == Step::nothing);
    scene.now = at(10s);
    auto second = scene.decide();
    CHECK(second.step == Step::launch);
    CHECK(second.status.launchAttempts == 2);
    CHECK(second.status.systemUUID == system_uuid(kUid, 2));
}

TEST_CASE("a name for which a certificate was approved is not used by a second attempt") {
    Scene scene;
    scene.pool.spec.scaleUp.maxLaunchAttempts = 3;
    scene.launched();
    scene.claim.status.bootstrapKeySHA256 = "0f";
    scene.now = at(1h);
    const auto decision = scene.decide();
    const auto& failed = condition(decision.status, conditions::kFailed);
    CHECK(failed.reason == reasons::kCertificateIssued);
    CHECK(failed.message.find("attempt 1 of 3 failed") == 0);
    CHECK(failed.message.find("if you created this one, delete it and create one with another name") !=
          std::string::npos);
    CHECK(condition(decision.status, conditions::kMachineDeleted).status == ConditionStatus::False);
}

TEST_CASE("R4: the pauses double up to the pool's maximum") {
    api::v1alpha1::Retry retry;
    retry.maxBackoff = 35s;
    for (auto [attempts, seconds] : {std::pair{1, 10s}, {2, 20s}, {3, 35s}, {9, 35s}}) {
        ClaimStatus status;
        status.launchAttempts = attempts;
        forget_attempt(status, retry, at(0s));
        CHECK(status.nextRetryTime == at(seconds));
    }
}

TEST_CASE("an attempt for which the provider made no machine is repeated within a minute") {
    Scene scene;
    scene.placed();
    providers::AttemptFailed failed{"CloneFailed", "the storage is offline", true};
    failed.is_refused = true;
    const auto status = after_ensure(scene.situation(), failed);
    CHECK(status.lastFailure->refused);
    for (auto [attempts, seconds] : {std::pair{1, 10s}, {3, 40s}, {4, 60s}, {13, 60s}}) {
        auto again = status;
        again.launchAttempts = attempts;
        forget_attempt(again, {}, at(0s));
        CHECK(again.nextRetryTime == at(seconds));
    }
}

TEST_CASE("the last attempt makes the claim Failed; its machine goes, and an hour later the claim") {
    Scene scene;
    scene.placed(3);
    scene.claim.status =
        after_ensure(scene.situation(), providers::AttemptFailed{"StartFailed", "no bootable disk"});
    CHECK(condition(scene.claim.status, conditions::kFailed).reason == reasons::kLaunchAttemptsExceeded);
    scene.searched_in_vain();
    CHECK(scene.decide().step == Step::remove_machine);
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    CHECK(scene.decide().step == Step::nothing);
    CHECK(scene.decide().look_again == at(3600s));
    scene.now = at(3600s);
    CHECK(scene.decide().step == Step::delete_claim);
}

TEST_CASE("a machine that does not come up in time is a failed attempt") {
    Scene scene;
    scene.placed();
    scene.set(conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching, at(0s));
    scene.now = at(599s);
    CHECK_FALSE(after_ensure(scene.situation(), machine(providers::MachineState::starting)).lastFailure);
    scene.now = at(600s);
    auto late = after_ensure(scene.situation(), machine(providers::MachineState::starting));
    CHECK(late.lastFailure->reason == reasons::kProvisionTimeout);
}

TEST_CASE("a machine that others keep from running uses up no attempt, and its host is not blamed") {
    Scene scene;
    scene.placed();
    scene.set(conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching, at(0s));
    auto locked = machine(providers::MachineState::creating);
    locked.message = "VM is locked (backup)";
    locked.waits_for_others = true;
    locked.waited = 599s;
    scene.now = at(599s);
    CHECK_FALSE(after_ensure(scene.situation(), locked).lastFailure);
    locked.waited = 600s;
    scene.now = at(600s);
    const auto late = after_ensure(scene.situation(), locked);
    REQUIRE(late.lastFailure);
    CHECK(late.lastFailure->reason == reasons::kProvisionTimeout);
    CHECK(late.lastFailure->host.empty());
    CHECK(late.failedHosts.empty());
    CHECK(late.excusedAttempts == 1);
    CHECK_THAT(late.lastFailure->message, Catch::Contains("VM is locked (backup)"));
}

TEST_CASE("the time in which a machine waited for others is not taken from the time of its host") {
    Scene scene;
    scene.placed();
    scene.set(conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching, at(0s));
    auto starting = machine(providers::MachineState::starting);
    starting.waited = 500s;
    scene.now = at(1099s);
    CHECK_FALSE(after_ensure(scene.situation(), starting).lastFailure);
    scene.now = at(1100s);
    const auto late = after_ensure(scene.situation(), starting);
    REQUIRE(late.lastFailure);
    CHECK(late.lastFailure->host == "pve1");
    CHECK(late.excusedAttempts == 0);
}

TEST_CASE("a machine whose Node is Ready is no failed attempt, whatever its provider says of its power") {
    Scene scene;
    scene.placed();
    scene.set(conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching, at(0s));
    scene.now = at(600s);
    scene.node = objects::node("c");
    objects::set_condition(scene.node->status.conditions, "Ready", ConditionStatus::True, at(0s),
                           "KubeletReady");
    auto after = after_ensure(scene.situation(), machine(providers::MachineState::starting));
    CHECK_FALSE(after.lastFailure);
    CHECK_FALSE(api::is_true(after.conditions, conditions::kLaunched));
}

TEST_CASE("a running machine waits for its Node until the registration timeout") {
    Scene scene;
    scene.launched();
    CHECK(condition(scene.decide().status, conditions::kRegistered).reason == reasons::kNodeNotFound);
    CHECK(scene.decide().look_again == at(900s));
    scene.now = at(900s);
    auto late = scene.decide().status;
    CHECK(late.lastFailure->reason == reasons::kRegistrationTimeout);
    CHECK(condition(late, conditions::kMachineDeleted).status == ConditionStatus::False);
}

TEST_CASE("a machine whose certificate a webhook refuses is kept, and has its whole time after the refusal") {
    Scene scene;
    scene.launched();
    scene.certificate.refusal = "failed calling webhook guard.example";
    for (const auto now : {1s, 900s, 90'000s}) {
        scene.now = at(now);
        const auto decision = scene.decide();
        CHECK(decision.step == Step::nothing);
        CHECK(condition(decision.status, conditions::kRegistered).reason == reasons::kRequestRefused);
        CHECK(condition(decision.status, conditions::kRegistered).message == scene.certificate.refusal);
        CHECK_FALSE(decision.status.lastFailure);
    }
    scene.certificate = {"", at(90'000s)};
    CHECK(condition(scene.decide().status, conditions::kRegistered).reason == reasons::kNodeNotFound);
    CHECK(scene.decide().look_again == at(90'900s));
    scene.now = at(90'900s);
    CHECK(scene.decide().status.lastFailure->reason == reasons::kRegistrationTimeout);
}

TEST_CASE("a machine that waited while no leader ran gets three minutes of the next one") {
    Scene scene;
    scene.leads_since = at(3600s);
    const auto fails_at = [&scene](std::chrono::seconds time, const auto& next) {
        scene.now = at(time);
        return next().lastFailure.has_value();
    };
    const auto fails_after_three_minutes = [&](const auto& next) {
        CHECK_FALSE(fails_at(3600s, next));
        CHECK_FALSE(fails_at(3600s + 179s, next));
        CHECK(fails_at(3600s + 180s, next));
    };
    SECTION("for its certificate") {
        scene.launched();
        CHECK(scene.decide().look_again == at(3780s));
        fails_after_three_minutes([&] { return scene.decide().status; });
    }
    SECTION("for its taint to be removed") {
        scene.registered();
        objects::set_condition(scene.node->status.conditions, "Ready", ConditionStatus::True, at(0s),
                               "KubeletReady");
        scene.node->spec.taints = {{std::string(api::taints::kUnregistered), "", "NoExecute", std::nullopt}};
        fails_after_three_minutes([&] { return scene.decide().status; });
    }
    SECTION("for its start") {
        scene.placed();
        scene.set(conditions::kLaunched, ConditionStatus::Unknown, reasons::kLaunching, at(0s));
        fails_after_three_minutes(
            [&] { return after_ensure(scene.situation(), machine(providers::MachineState::starting)); });
    }
    SECTION("for room") {
        scene.begun();
        scene.claim.status.waitsForRoomSince = at(0s);
        const auto is_failed = [&](std::chrono::seconds time) {
            scene.now = at(time);
            const auto after = after_ensure(scene.situation(), providers::InsufficientCapacity{"full"});
            return api::is_true(after.conditions, conditions::kFailed);
        };
        CHECK_FALSE(is_failed(3600s + 179s));
        CHECK(is_failed(3600s + 180s));
    }
}

TEST_CASE(
    "R1: a machine that never joined is removed before the next attempt, and the last one fails the claim") {
    Scene scene;
    scene.launched();
    scene.claim.status.launchAttempts = 3;
    scene.now = at(900s);
    scene.claim.status = scene.decide().status;
    CHECK(condition(scene.claim.status, conditions::kFailed).reason == reasons::kRegistrationTimeoutExceeded);
    scene.searched_in_vain();
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("R13: a Node of our machine is registered, one that only bears the name is left alone") {
    Scene scene;
    scene.joined();
    CHECK(scene.decide().step == Step::register_node);
    scene.node.reset();
    scene.namesake = objects::node("c");
    scene.namesake->status.nodeInfo.systemUUID = "11111111-2222-3333-4444-555555555555";
    CHECK(scene.decide().step == Step::nothing);
    CHECK(condition(scene.decide().status, conditions::kRegistered).reason == reasons::kNodeIdentityMismatch);
    scene.leftover = true;
    CHECK(scene.decide().step == Step::delete_node);
}

TEST_CASE("a Node that is not proven to be the claim's is not taken, nor is it taken for gone") {
    Scene scene;
    scene.launched();
    scene.node_refusal =
        "Node x has the machine's system UUID and is left alone: it is not younger than the claim";
    CHECK(scene.decide().step == Step::nothing);
    CHECK(condition(scene.decide().status, conditions::kRegistered).message == scene.node_refusal);
    scene.in_service();
    scene.node.reset();
    CHECK(scene.decide().step == Step::nothing);
    scene.node_refusal.clear();
    CHECK(scene.decide().step == Step::confirm_node_gone);
}

TEST_CASE("a registered Node is initialized when it is Ready, untainted and has its resources") {
    Scene scene;
    scene.registered();
    scene.pool.spec.machineTemplate.startupTaints = {{"cni", "", "NoSchedule", std::nullopt}};
    scene.pool.spec.machineTemplate.extendedResources = {{"example.com/gpu", api::Quantity::of(1)}};
    auto reason = [&scene] { return condition(scene.decide().status, conditions::kInitialized).reason; };
    scene.node->status.conditions.clear();
    CHECK(reason() == reasons::kNodeNotReady);
    objects::set_condition(scene.node->status.conditions, conditions::kReady, ConditionStatus::True);
    // The cluster removes this taint a moment after the Node is Ready; until then no pod can be bound.
    scene.node->spec.taints = {{std::string(api::taints::kNotReady), "", "NoSchedule", std::nullopt}};
    CHECK(reason() == reasons::kNodeNotReady);
    scene.node->spec.taints = {{"cni", "", "NoSchedule", std::nullopt}};
    CHECK(reason() == reasons::kStartupTaintsPresent);
    scene.node->spec.taints.clear();
    CHECK(reason() == reasons::kResourcesMissing);
    CHECK(scene.decide().look_again == at(900s));
    scene.node->status.allocatable["example.com/gpu"] = api::Quantity::of(1);
    CHECK(reason() == reasons::kInitialized);
    CHECK(scene.decide().status.allocatable.contains("example.com/gpu"));

    scene.node->spec.taints = {{"cni", "", "NoSchedule", std::nullopt}};
    scene.now = at(900s);
    CHECK(scene.decide().status.lastFailure->reason == reasons::kInitializationTimeout);
}

TEST_CASE(
    "a claim records as many of its Node's resources as its status holds, the kubelet's own in any case") {
    constexpr std::size_t kMost = 64;  // crds/nodesmithclaims.yaml
    Scene scene;
    scene.registered();
    auto& resources = scene.node->status;
    for (int port = 0; port < 80; ++port)
        resources.capacity["a.example.org/port-" + std::to_string(port)] = api::Quantity::of(1);
    for (const auto* name : {"cpu", "memory", "pods"}) resources.capacity[name] = api::Quantity::of(4);
    resources.allocatable = resources.capacity;
    const auto status = scene.decide().status;
    for (const auto* list : {&status.capacity, &status.allocatable}) {
        CHECK(list->size() == kMost);
        for (const auto* name : {"cpu", "memory", "pods"}) CHECK(list->contains(name));
    }
}

TEST_CASE("a machine counts as made from what its pool has now when an operator of another version made it") {
    Scene scene;
    scene.in_service();
    scene.claim.status.templateHash = "0123456789abcdef";
    const auto renewed = scene.decide().status.templateHash;
    CHECK(renewed == template_hash(scene.pool, &scene.provider));
    scene.claim.status.templateHash = "3-0123456789abcdef";
    CHECK(scene.decide().status.templateHash == "3-0123456789abcdef");
    scene.claim.status.templateHash.clear();
    CHECK(scene.decide().status.templateHash.empty());
}

TEST_CASE("in service: lost labels come back, boot data goes") {
    Scene scene;
    scene.in_service();
    scene.claim.status.bootstrapTokenID = "abcdef";
    CHECK(scene.decide().step == Step::discard_boot_data);
    scene.claim.status.bootstrapTokenID.clear();
    CHECK(scene.decide().step == Step::nothing);
    scene.node->metadata.labels->erase(std::string(api::labels::kClaim));
    CHECK(scene.decide().step == Step::put_back);
    scene.node->status.conditions.clear();
    CHECK(condition(scene.decide().status, conditions::kInitialized).status == ConditionStatus::True);
}

TEST_CASE("a claim in service that nothing happens to is not written to") {
    Scene scene;
    scene.in_service();
    auto once = scene.decide().status;
    scene.claim.status = once;
    scene.now = at(86400s);
    CHECK(scene.decide().status == once);
    CHECK(scene.decide().step == Step::nothing);
    CHECK_FALSE(scene.decide().look_again);
}

TEST_CASE("a Node that somebody deleted is looked for, then the claim is replaced") {
    Scene scene;
    scene.in_service();
    scene.node.reset();
    CHECK(scene.decide().step == Step::confirm_node_gone);
    scene.set(conditions::kDisrupted, ConditionStatus::True, reasons::kNodeDeleted);
    CHECK(scene.decide().step == Step::delete_claim);
}

TEST_CASE("a Node that its kubelet made anew is registered again") {
    Scene scene;
    scene.in_service();
    scene.node->spec.taints = {{"kubenodesmith.io/unregistered", "", "NoExecute", std::nullopt}};
    CHECK(scene.decide().step == Step::register_node);
}

TEST_CASE("a Node that served is looked for before its machine is removed without a drain") {
    Scene scene;
    scene.in_service().deleted();
    scene.node.reset();
    CHECK(scene.decide().step == Step::confirm_node_gone);
    scene.set(conditions::kDrained, ConditionStatus::True, reasons::kNodeDeleted);
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("a machine that has not joined goes only after the API server was asked whether it has") {
    Scene scene;
    scene.launched().deleted();
    CHECK_FALSE(api::find_condition(scene.decide().status.conditions, conditions::kMachineDeleted));
    scene.searched_in_vain();
    CHECK(condition(scene.claim.status, conditions::kMachineDeleted).reason == reasons::kDeleting);
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("a placed machine that the provider has no room for any more waits without burning the attempt") {
    Scene scene;
    scene.placed();
    auto status =
        after_ensure(scene.situation(), providers::InsufficientCapacity{"pve1 is down, pve2 is full"});
    CHECK(condition(status, conditions::kLaunched).reason == reasons::kInsufficientCapacity);
    CHECK_FALSE(status.lastFailure);
    CHECK(status.machineID == "101");
}

TEST_CASE("a place that was given back is forgotten, also when there is no room elsewhere") {
    Scene scene;
    scene.placed();
    providers::InsufficientCapacity full{"host a was found on and is left to whoever turned it on"};
    full.is_given_back = true;
    const auto status = after_ensure(scene.situation(), full);
    CHECK(condition(status, conditions::kLaunched).reason == reasons::kInsufficientCapacity);
    CHECK(status.machineID.empty());
    CHECK(status.host.empty());
    CHECK(status.providerID.empty());
}

TEST_CASE("the phase is derived from the conditions") {
    CHECK(phase_of(Scene().claim) == ClaimPhase::Pending);
    CHECK(phase_of(Scene().begun().claim) == ClaimPhase::Launching);
    CHECK(phase_of(Scene().launched().claim) == ClaimPhase::Registering);
    CHECK(phase_of(Scene().registered().claim) == ClaimPhase::Initializing);
    CHECK(phase_of(Scene().in_service().claim) == ClaimPhase::Ready);
    CHECK(phase_of(Scene().in_service().deleted().claim) == ClaimPhase::Terminating);
    Scene draining;
    draining.in_service().deleted();
    draining.set(conditions::kDrained, ConditionStatus::False);
    CHECK(phase_of(draining.claim) == ClaimPhase::Draining);
    Scene failed;
    failed.placed();
    failed.set(conditions::kFailed, ConditionStatus::True);
    CHECK(phase_of(failed.claim) == ClaimPhase::Failed);
}

TEST_CASE("the words of a refused change to the Node stay while the change is due") {
    Scene scene;
    scene.registered().set(conditions::kInitialized, ConditionStatus::False, reasons::kRequestRefused);
    scene.node->spec.taints.push_back(
        {std::string(api::taints::kUnregistered), "", std::string(api::taints::kNoExecute), {}});
    const auto due = scene.decide();
    CHECK(due.step == Step::register_node);
    CHECK(condition(due.status, conditions::kInitialized).reason == reasons::kRequestRefused);
    scene.node->spec.taints.clear();
    CHECK(condition(scene.decide().status, conditions::kInitialized).reason != reasons::kRequestRefused);
}

}  // namespace
