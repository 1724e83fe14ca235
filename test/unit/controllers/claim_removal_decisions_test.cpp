// Tests how a claim is removed, as tables from a state to a step and conditions.
#include "controllers/claim/act/adoption.hpp"
#include "controllers/state/course.hpp"
#include "test/unit/controllers/claim_scene.hpp"

namespace {

using namespace test;

TEST_CASE("a machine is not removed under a Node that may be its own, unless its user says that it is gone") {
    Scene scene;
    scene.in_service();
    scene.node.reset();
    scene.node_refusal =
        "Node x has the machine's system UUID and is left alone: it is not younger than the claim";
    scene.claim.metadata.deletionTimestamp = scene.now;
    CHECK(scene.decide().step == Step::nothing);
    const auto drained = condition(scene.decide().status, conditions::kDrained);
    CHECK(drained.reason == reasons::kNodeIdentityMismatch);
    CHECK(drained.message.find("annotate the claim with kubenodesmith.io/machine-gone=true") !=
          std::string::npos);
    SECTION("its user does") {
        scene.claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
        CHECK(scene.decide().step == Step::remove_machine);
    }
    SECTION("the provider proves that there is no machine") {
        scene.machine.is_gone = true;
        CHECK(scene.decide().step == Step::remove_machine);
    }
    SECTION("the provider shows many machines no more") {
        scene.machine.is_gone = true;
        scene.machine.doubt = "and 5 of 6 machines of the provider disappeared at the same time";
        CHECK(scene.decide().step == Step::nothing);
    }
}

TEST_CASE("a claim deleted before anything was launched ends at once") {
    Scene scene;
    SECTION("nothing begun") {}
    SECTION("an attempt on record, but no machine placed") {
        scene.begun();
    }
    scene.deleted();
    CHECK(scene.decide().step == Step::drop_finalizer);
}

TEST_CASE("removal is taint, drain, volumes, machine, Node, token, finalizer") {
    Scene scene;
    scene.in_service().deleted();
    scene.claim.status.bootstrapTokenID = "abcdef";
    CHECK(scene.decide().step == Step::taint_node);
    scene.tainted();
    CHECK(scene.decide().step == Step::drain);
    scene.set(conditions::kDrained, ConditionStatus::True, reasons::kDrained, at(10s));
    scene.volumes = true;
    scene.now = at(20s);
    CHECK(scene.decide().step == Step::nothing);
    CHECK(scene.decide().look_again == at(130s));
    scene.volumes = false;
    auto removal = scene.decide();
    CHECK(removal.step == Step::remove_machine);
    CHECK(condition(removal.status, conditions::kVolumesDetached).status == ConditionStatus::True);
    CHECK(condition(removal.status, conditions::kMachineDeleted).reason == reasons::kDeleting);
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    CHECK(scene.decide().step == Step::delete_node);
    scene.node.reset();
    CHECK(scene.decide().step == Step::revoke_token);
    scene.claim.status.bootstrapTokenID.clear();
    CHECK(scene.decide().step == Step::drop_finalizer);
}

TEST_CASE("once the machine and its Node are gone, another Node that shows its UUID is a stranger's") {
    Scene scene;
    scene.in_service().deleted().tainted();
    scene.set(conditions::kDrained, ConditionStatus::True, reasons::kDrained, at(10s));
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    REQUIRE(scene.decide().step == Step::delete_node);
    scene.node->metadata.name = "stranger";
    CHECK(scene.decide().step == Step::drop_finalizer);
}

TEST_CASE("pods do not wait for a failed attempt whose Node a person has to settle") {
    Scene scene;
    scene.in_service();
    scene.set(conditions::kMachineDeleted, ConditionStatus::False, reasons::kAttemptFailed, at(0s));
    CHECK_FALSE(controllers::removal_hangs(scene.claim));
    scene.set(conditions::kDrained, ConditionStatus::False, reasons::kNodeIdentityMismatch, at(0s));
    CHECK(controllers::removal_hangs(scene.claim));
}

TEST_CASE("a machine that never joined cannot join any more before anybody looks whether it did") {
    Scene scene;
    scene.launched().deleted();
    scene.claim.status.bootstrapTokenID = "abcdef";
    CHECK(scene.decide().step == Step::revoke_token);
    scene.claim.status.bootstrapTokenID.clear();
    scene.searched_in_vain();
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("volumes that stay attached delay the removal only until their timeout") {
    Scene scene;
    scene.in_service().deleted().tainted();
    scene.set(conditions::kDrained, ConditionStatus::True, reasons::kDrained, at(0s));
    scene.volumes = true;
    scene.now = at(120s);
    auto decision = scene.decide();
    CHECK(decision.step == Step::remove_machine);
    CHECK(condition(decision.status, conditions::kVolumesDetached).reason == reasons::kVolumeDetachTimeout);
}

TEST_CASE("a removal that is not over after five minutes says so, and goes on") {
    Scene scene;
    scene.in_service().deleted().tainted();
    scene.set(conditions::kMachineDeleted, ConditionStatus::False, reasons::kDeleting, at(0s));
    const auto reason_at = [&scene](std::chrono::seconds when) {
        scene.now = at(when);
        scene.claim.status =
            after_removal(scene.situation(), providers::RemovalInProgress{"waiting for task", "UPID", {}});
        return condition(scene.claim.status, conditions::kMachineDeleted).reason;
    };
    CHECK(reason_at(299s) == reasons::kDeleting);
    CHECK(reason_at(300s) == "RemovalStalled");
    CHECK(reason_at(301s) == "RemovalStalled");
    CHECK(scene.claim.status.taskRef == "UPID");
    CHECK(scene.decide().step == Step::remove_machine);
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    CHECK(condition(scene.claim.status, conditions::kMachineDeleted).status == ConditionStatus::True);
}

TEST_CASE("a failed attempt's Node that is not drained within five minutes is none to wait for") {
    const auto intent = GENERATE(reasons::kAttemptFailed, reasons::kDeleting);
    Scene scene;
    scene.in_service().tainted();
    scene.set(conditions::kLaunched, ConditionStatus::False, "ProvisionTimeout", at(0s));
    scene.set(conditions::kMachineDeleted, ConditionStatus::False, intent, at(0s));
    scene.set(conditions::kDrained, ConditionStatus::False, reasons::kDraining, at(0s));
    controllers::DrainProgress progress;
    const auto reason_at = [&](std::chrono::seconds when) {
        scene.now = at(when);
        scene.claim.status = after_drain(scene.situation(), progress);
        return condition(scene.claim.status, conditions::kDrained).reason;
    };
    progress.blocked = {"default/web-1: Cannot evict pod"};
    CHECK(reason_at(299s) == reasons::kBlockedByBudget);
    CHECK_FALSE(controllers::removal_hangs(scene.claim));
    CHECK(reason_at(300s) == "DrainStalled");
    CHECK(controllers::removal_hangs(scene.claim));
    progress.blocked.clear();
    progress.waiting = {"default/web-1"};
    CHECK(reason_at(300s) == "DrainStalled");
    scene.set(conditions::kDrained, ConditionStatus::False, reasons::kDraining, at(0s));
    CHECK(reason_at(299s) == reasons::kDraining);
    CHECK_FALSE(controllers::removal_hangs(scene.claim));
    progress.waiting.clear();
    progress.done = true;
    CHECK(reason_at(301s) == reasons::kDrained);
    CHECK_FALSE(controllers::removal_hangs(scene.claim));
    progress.done = false;
    progress.blocked = {"default/web-1: Cannot evict pod"};
    scene.set(conditions::kDrained, ConditionStatus::False, reasons::kDraining, at(0s));
    scene.deleted();
    CHECK(reason_at(600s) == reasons::kBlockedByBudget);
}

TEST_CASE("R3: whatever blocks the removal keeps the claim, until the machine is gone or the user says so") {
    Scene scene;
    scene.in_service().deleted().tainted();
    scene.set(conditions::kMachineDeleted, ConditionStatus::False, reasons::kDeleting);
    scene.claim.status = after_removal(scene.situation(),
                                       providers::RemovalBlocked{"HostUnreachable", "pve1 does not answer"});
    CHECK(condition(scene.claim.status, conditions::kMachineDeleted).reason == reasons::kHostUnreachable);
    scene.claim.status = scene.decide().status;
    CHECK(scene.decide().step == Step::remove_machine);
    CHECK(scene.decide().status == scene.claim.status);

    SECTION("by the claim's annotation") {
        scene.claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
    }
    SECTION("by the Node's out-of-service taint") {
        scene.node->spec.taints.push_back(
            {"node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute", std::nullopt});
    }
    scene.claim.status = after_removal(scene.situation(), providers::RemovalBlocked{"HostUnreachable", ""});
    CHECK(condition(scene.claim.status, conditions::kMachineDeleted).status == ConditionStatus::True);
    CHECK(scene.decide().step == Step::delete_node);
}

TEST_CASE("a machine that is said to be gone is drained first while its Node is Ready") {
    Scene scene;
    scene.in_service().deleted();
    SECTION("by the claim's annotation") {
        scene.claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
    }
    SECTION("by the Node's out-of-service taint") {
        scene.node->spec.taints.push_back(
            {"node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute", std::nullopt});
    }
    CHECK(scene.decide().step == Step::taint_node);
    scene.tainted();
    CHECK(scene.decide().step == Step::drain);
    // The kubelet of a machine that is gone falls silent, and its pods are not waited for.
    objects::set_condition(scene.node->status.conditions, conditions::kReady, ConditionStatus::Unknown);
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("an error of the provider says nothing of a machine that is known to be gone meanwhile") {
    Scene scene;
    scene.in_service().deleted().tainted();
    scene.set(conditions::kMachineDeleted, ConditionStatus::False, reasons::kDeleting);
    const auto blocked = after_error(scene.situation(), reasons::kProviderError, "got timeout");
    CHECK(condition(blocked, conditions::kMachineDeleted).reason == reasons::kProviderError);
    CHECK(condition(blocked, conditions::kMachineDeleted).message == "got timeout");
    scene.claim.status = after_removal(scene.situation(), providers::Gone{});
    CHECK(after_error(scene.situation(), reasons::kProviderError, "got timeout") == scene.claim.status);
}

TEST_CASE("a machine that joins after its removal was intended, but before it is down, is drained first") {
    Scene scene;
    scene.joined().deleted().tainted();
    scene.set(conditions::kMachineDeleted, ConditionStatus::False, reasons::kDeleting);
    CHECK(scene.decide().step == Step::drain);
    // The task may be the start that failed, or a shutdown that may fail.
    scene.claim.status.taskRef = "UPID:pve1:1";
    CHECK(scene.decide().step == Step::drain);
    SECTION("once the drain has ended, it goes") {
        scene.set(conditions::kDrained, ConditionStatus::True, reasons::kDrained);
    }
    SECTION("what is down is not drained") {
        objects::set_condition(scene.node->status.conditions, conditions::kReady, ConditionStatus::Unknown);
    }
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("R2: a claim whose pool is gone is removed like any other") {
    Scene scene;
    scene.in_service().deleted();
    scene.with_pool = false;
    CHECK(scene.decide().step == Step::taint_node);
    scene.tainted();
    scene.set(conditions::kDrained, ConditionStatus::True);
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE(
    "a machine of the Go operator is destroyed only once it is adopted; else the user has to say it is "
    "gone") {
    Scene scene;
    scene.claim.status.providerID = "proxmox://c";
    scene.deleted();
    CHECK(scene.decide().step == Step::adopt);
    providers::NotAdopted no;
    no.message = "two are called c";
    scene.claim.status = after_adoption(scene.situation(), no, "");
    CHECK(condition(scene.claim.status, conditions::kMachineDeleted).reason == reasons::kNotAdopted);
    CHECK(condition(scene.claim.status, conditions::kAdopted).message.find("two are called c") !=
          std::string::npos);
    CHECK(scene.decide().step == Step::adopt);
    scene.claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
    CHECK(scene.decide().step == Step::drop_finalizer);
}

TEST_CASE("an adopted machine is removed like any other") {
    Scene scene;
    scene.claim.status.providerID = "proxmox://c";
    scene.deleted();
    providers::NotAdopted no;
    scene.claim.status = after_adoption(scene.situation(), no, "");
    providers::Adopted yes;
    yes.record = {"pve1", "105", ""};
    yes.provider_id = "proxmox://lab/vms/105";
    scene.claim.status = after_adoption(scene.situation(), yes, kUid);
    CHECK(scene.claim.status.launchAttempts == 1);
    scene.searched_in_vain();
    CHECK(scene.decide().step == Step::remove_machine);
}

TEST_CASE("a claim whose machine is reported gone says so, also in Ready, and does not drain its Node") {
    Scene scene;
    scene.in_service();
    scene.node = objects::node("c", false);
    scene.machine.is_gone = true;
    const auto decision = scene.decide();
    CHECK(decision.step == Step::nothing);
    scene.claim.status = decision.status;
    controllers::conclude(scene.claim, true, scene.now);
    for (const auto type : {conditions::kMachineDeleted, conditions::kDisrupted, conditions::kReady})
        CHECK(has_reason(scene.claim.status, type, reasons::kMachineVanished));
    CHECK(scene.decide().step == Step::delete_claim);
}

TEST_CASE("what is reported of a machine that is being made or removed changes nothing") {
    Scene placed;
    placed.placed();
    Scene leaving;
    leaving.in_service().deleted();
    for (auto* scene : {&placed, &leaving}) {
        const auto before = scene->decide();
        scene->machine.is_gone = true;
        const auto after = scene->decide();
        CHECK(after.step == before.step);
        CHECK(after.status == before.status);
    }
    placed.machine = {false, "pve2", "z2"};
    CHECK(placed.decide().status.host == "pve1");
}

TEST_CASE("a claim follows its machine to another host, also while it leaves") {
    Scene scene;
    scene.in_service().deleted();
    scene.machine = {false, "pve2", "z2"};
    const auto decision = scene.decide();
    CHECK(decision.step == Step::nothing);
    CHECK(decision.status.host == "pve2");
    CHECK(decision.status.zone == "z2");
    scene.claim.status = decision.status;
    CHECK(scene.decide().step == Step::taint_node);
}

TEST_CASE("a machine that has vanished takes no drain: the claim ends and its Node goes") {
    Scene scene;
    scene.in_service();
    scene.set(conditions::kMachineDeleted, ConditionStatus::True, reasons::kMachineVanished);
    scene.set(conditions::kDisrupted, ConditionStatus::True, reasons::kMachineVanished);
    CHECK(scene.decide().step == Step::delete_claim);
    scene.deleted();
    CHECK(scene.decide().step == Step::delete_node);
}

TEST_CASE("a drain ends only after the taint had time to be seen") {
    Scene scene;
    scene.in_service().deleted().tainted();
    controllers::DrainProgress empty;
    empty.done = true;
    scene.claim.status = after_drain(scene.situation(), empty);
    CHECK_FALSE(is_true(scene.claim, conditions::kDrained));
    scene.now = at(2s);
    scene.claim.status = after_drain(scene.situation(), empty);
    CHECK(is_true(scene.claim, conditions::kDrained));
}

TEST_CASE("the deadline of a drain is the claim's own, from its deletion") {
    Scene scene;
    scene.in_service().deleted(at(5s));
    CHECK_FALSE(drain_request(scene.situation()).deadline);
    scene.claim.spec.terminationGracePeriod = api::Duration(60s);
    CHECK(drain_request(scene.situation()).deadline == at(65s));
}

}  // namespace
