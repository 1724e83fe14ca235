#include "providers/proxmox/remove_step.hpp"

#include "providers/proxmox/vm/half_made.hpp"

namespace providers::proxmox {

namespace {

RemoveDecision decide(RemoveStep step, std::string message = {}) {
    RemoveDecision decision;
    decision.step = step;
    decision.message = std::move(message);
    return decision;
}

RemoveDecision block(std::string reason, std::string message) {
    auto decision = decide(RemoveStep::blocked, std::move(message));
    decision.reason = std::move(reason);
    return decision;
}

const char* done_to(Aim aim) {
    return aim == Aim::removal ? "removed" : "stopped";
}

std::string vm_of(const Look& look) {
    return "VM " + std::to_string(look.vmid) + " on " + look.host;
}

RemoveDecision for_lock(const RemoveObservation& seen) {
    const auto lock = seen.look.config.lock();
    const auto text = vm_of(seen.look) + " is locked (" + lock + ")";
    const bool is_creation = is_creation_lock(lock);
    // A running destruction has this lock until it ends.
    if (lock == "destroyed" || (is_creation && !seen.lock_is_stale)) return decide(RemoveStep::wait, text);
    if (!is_creation)
        return block("Locked", text + "; it is " + done_to(seen.aim) + " once the lock is gone; " +
                                   stale_lock_hint(seen.look.vmid));
    // Even without its lock, a half-made VM would not identify its owner.
    if (seen.look.ownership == Ownership::half_made)
        return block("Locked", half_made_text(seen.look, seen.is_own_creation));
    return block("Locked", text + ", and no task is at work on it; as root on that host: qm unlock " +
                               std::to_string(seen.look.vmid));
}

RemoveDecision for_our_machine(const RemoveObservation& seen) {
    const auto& config = seen.look.config;
    if (config.is_template())
        return block("IsTemplate", vm_of(seen.look) + " was turned into a template; remove it by hand");
    const bool is_removal = seen.aim == Aim::removal;
    if (is_removal && config.is_protected() && seen.look.ownership == Ownership::unfinished &&
        config.lock().empty()) {
        return decide(RemoveStep::unprotect);
    }
    if (is_removal && config.is_protected()) {
        return block("ProtectionEnabled",
                     vm_of(seen.look) + " is protected against removal; its option protection must be 0");
    }
    const bool is_suspended = is_removal && config.is_suspended();
    if (!config.lock().empty() && !is_suspended) return for_lock(seen);
    if (!seen.is_running && is_removal) return decide(RemoveStep::destroy);
    if (!seen.is_running) return decide(is_set_aside(config) ? RemoveStep::stopped : RemoveStep::set_aside);
    const bool may_serve = seen.look.ownership == Ownership::ours;
    return decide(may_serve && !seen.was_shut_down ? RemoveStep::shut_down : RemoveStep::stop);
}

}  // namespace

RemoveDecision next_removal_step(const RemoveObservation& seen) {
    switch (seen.look.presence) {
        case Presence::absent:
            return decide(RemoveStep::gone);
        case Presence::hidden:
            if (seen.is_own_creation) return block("Locked", seen.explanation);
            return block(
                "MissingPrivileges",
                vm_of(seen.look) +
                    " cannot be seen because the token lacks VM.Audit on it, so it is not known whose it is. "
                    "If a creation by the operator left it (it is locked, and in no resource pool), " +
                    unlock_and_destroy(seen.look.host, seen.look.vmid) +
                    "; if it belongs to someone else: annotate the claim with "
                    "kubenodesmith.io/machine-gone=true");
        case Presence::host_down:
            return block("HostUnreachable",
                         vm_of(seen.look) + ": " + host_down_reason(seen.look) +
                             (seen.look.has_host_left
                                  ? std::string()
                                  : std::string("; the VM is ") + done_to(seen.aim) + " once it is back"));
        case Presence::present:
            break;
    }
    switch (seen.look.ownership) {
        case Ownership::ours:
        case Ownership::unfinished:
            return for_our_machine(seen);
        case Ownership::half_made:
            return for_lock(seen);
        case Ownership::foreign:
            return decide(seen.searched_elsewhere ? RemoveStep::gone : RemoveStep::search_elsewhere);
        case Ownership::contradictory:
            break;
    }
    return block("OwnershipMismatch",
                 vm_of(seen.look) +
                     " is not provably the machine of this claim and is left alone: " + seen.explanation);
}

}  // namespace providers::proxmox
