// Decides the next step towards a removed or stopped machine. The decisions are tables over observations.
// Pure.
#pragma once

#include <string>

#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/task_status.hpp"

namespace providers::proxmox {

enum class RemoveStep {
    wait,              // something is running that ends by itself
    search_elsewhere,  // somebody else uses the ID: look for our machine under another one
    unprotect,         // a clone that has its template's protection
    shut_down,
    stop,  // it did not shut down, or never started completely
    destroy,
    set_aside,  // off and kept: tagged as without committed capacity, and not started with its host
    stopped,    // off and set aside
    gone,
    blocked,  // a person must act, or the host must come back
};

struct RemoveDecision {
    RemoveStep step = RemoveStep::wait;
    std::string reason;   // set for blocked
    std::string message;  // shown to people
};

enum class Aim { removal, stop };

struct RemoveObservation {
    Look look;
    std::string explanation;  // why the ownership is not ours
    bool is_running = false;
    bool lock_is_stale = false;  // the lock of a creation has been seen for a long time without a task
    bool searched_elsewhere = false;
    bool was_shut_down = false;    // it was asked to shut down, and still runs
    bool is_own_creation = false;  // the recorded task was ours and made it as far as it is
    Aim aim = Aim::removal;
};
RemoveDecision next_removal_step(const RemoveObservation& seen);

}  // namespace providers::proxmox
