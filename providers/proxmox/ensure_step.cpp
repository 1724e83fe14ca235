#include "providers/proxmox/ensure_step.hpp"

#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

namespace {

EnsureDecision decide(EnsureStep step, std::string message = {}) {
    EnsureDecision decision;
    decision.step = step;
    decision.message = std::move(message);
    return decision;
}

EnsureDecision fail(std::string reason, std::string message, bool avoid_host) {
    auto decision = decide(EnsureStep::fail, std::move(message));
    decision.reason = std::move(reason);
    decision.avoid_host = avoid_host;
    return decision;
}

// Fails the attempt. A full storage is not the machine's fault, and affects its host only while it is full.
EnsureDecision fail_of(std::string reason, std::string message, const TaskStatus& task) {
    auto decision = fail(std::move(reason), std::move(message), true);
    decision.lacks_disk_room = lacks_disk_room(task.failure(), task.complaint());
    decision.is_excused = decision.lacks_disk_room;
    return decision;
}

EnsureDecision after_success(const std::string& type, const EnsureWish& wish) {
    if (type == "qmcreate" && !wish.image)
        return decide(wish.unfinished ? EnsureStep::look : EnsureStep::start);
    if (type == "qmcreate") return decide(EnsureStep::upload_image);
    if (type == "qmclone") return decide(wish.image ? EnsureStep::upload_image : EnsureStep::look);
    if (type == "resize") return decide(EnsureStep::start);
    if (type == "qmstart") return decide(EnsureStep::finish);
    return decide(EnsureStep::look);
}

EnsureDecision after_failure(const std::string& type, const TaskStatus& task) {
    const auto kind = task.failure();
    const auto why = task.complaint();
    // A person must grant a missing right. The failed task left nothing behind.
    if (is_tried_later(kind)) return decide(EnsureStep::try_again, "task " + type + " failed: " + why);
    if (type == "qmcreate") {
        if (kind == ErrorKind::exists) return decide(EnsureStep::choose_another_id, why);
        return fail_of("CreateFailed", "creating the VM failed: " + why, task);
    }
    if (type == "qmclone") {
        // Our earlier request may have been executed after all, or somebody else took the ID.
        if (kind == ErrorKind::exists) return decide(EnsureStep::look);
        return fail_of("CloneFailed", "cloning the template failed: " + why, task);
    }
    if (type == "resize") return fail_of("ResizeFailed", "enlarging the boot disk failed: " + why, task);
    if (type == "imgcopy") {
        auto failed = fail_of("BootImageFailed", "uploading the boot image failed: " + why, task);
        failed.lacks_disk_room = false;
        return failed;
    }
    if (type == "qmstart") {
        if (kind == ErrorKind::running) return decide(EnsureStep::look);
        auto failed = fail_of("StartFailed", "starting the VM failed: " + why, task);
        // A host that is busy for a while may start the next machine.
        if (why.find("got timeout") != std::string::npos) failed.is_excused = true;
        return failed;
    }
    return decide(EnsureStep::look);
}

std::string unlock_hint(const Look& look) {
    const auto id = std::to_string(look.vmid);
    return "VM " + id + " on " + look.host + " is locked (" + look.config.lock() +
           ") by a task that died; as root on that host: qm unlock " + id;
}

}  // namespace

std::string host_down_text(const Look& look) {
    if (look.has_host_left) return "VM " + std::to_string(look.vmid) + ": " + host_down_reason(look);
    return "host " + look.host + " went down while VM " + std::to_string(look.vmid) +
           " was being created on it";
}

namespace {

EnsureDecision for_our_machine(const EnsureObservation& seen) {
    const auto lock = seen.look.config.lock();
    if (is_creation_lock(lock)) {
        if (!seen.lock_is_stale)
            return decide(EnsureStep::find_creation, "waiting for the creation of the VM");
        auto stuck = fail("CreateFailed", unlock_hint(seen.look), true);
        stuck.is_excused = true;
        return stuck;
    }
    if (!lock.empty()) return decide(EnsureStep::retry_later, "VM is locked (" + lock + ")");
    if (seen.look.config.is_template()) return fail("IsTemplate", "the VM was turned into a template", false);
    if (seen.is_running) return decide(EnsureStep::finish);
    if (seen.needs_resize) return decide(EnsureStep::resize);
    if (!seen.wants_image || seen.has_image) return decide(EnsureStep::start);
    return decide(seen.image_uploaded ? EnsureStep::attach_and_start : EnsureStep::upload_image);
}

EnsureDecision for_unfinished_machine(const EnsureObservation& seen) {
    const auto lock = seen.look.config.lock();
    if (!lock.empty()) return for_our_machine(seen);
    const bool lacks_image = seen.wants_image && !seen.has_image && !seen.image_uploaded;
    return decide(lacks_image ? EnsureStep::upload_image : EnsureStep::configure);
}

}  // namespace

EnsureDecision after_task(const std::string& type, const TaskStatus& task, const EnsureWish& wish) {
    switch (task.outcome) {
        case TaskOutcome::running:
            return decide(EnsureStep::follow_task);
        case TaskOutcome::succeeded:
            return after_success(type, wish);
        case TaskOutcome::failed:
            return after_failure(type, task);
        case TaskOutcome::unknown:
            break;
    }
    return decide(EnsureStep::look);
}

EnsureDecision after_look(const EnsureObservation& seen) {
    switch (seen.look.presence) {
        case Presence::absent:
            return decide(EnsureStep::create);
        case Presence::hidden:
            // If the ID is taken, Proxmox refuses the creation. Without the right to see the result we would
            // repeat it forever.
            return seen.sees_own ? decide(EnsureStep::create)
                                 : decide(EnsureStep::retry_later,
                                          "the token lacks VM.Audit on the operator's machines");
        case Presence::host_down:
            return fail("HostDown", host_down_text(seen.look), true);
        case Presence::present:
            break;
    }
    switch (seen.look.ownership) {
        case Ownership::ours:
            return for_our_machine(seen);
        case Ownership::unfinished:
            return for_unfinished_machine(seen);
        case Ownership::foreign:
            return decide(EnsureStep::choose_another_id, seen.explanation);
        case Ownership::contradictory:
            return fail("OwnershipMismatch",
                        "VM " + std::to_string(seen.look.vmid) + " on " + seen.look.host +
                            " is only partly marked as this machine: " + seen.explanation,
                        false);
        case Ownership::half_made:
            if (!seen.lock_is_stale)
                return decide(EnsureStep::find_creation, "somebody is creating a VM with this ID");
            // A VM that we left behind stays on record until it is removed.
            if (seen.is_own_creation) {
                auto stuck = fail("CreateFailed", half_made_text(seen.look, true), true);
                stuck.is_excused = true;
                return stuck;
            }
            return decide(EnsureStep::choose_another_id, half_made_text(seen.look, false));
    }
    return decide(EnsureStep::look);
}

}  // namespace providers::proxmox
