// What to do next for a machine that shall be gone, or just off: decisions over what was seen, as tables.
// Pure.
#pragma once

#include <string>

#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/task_status.hpp"

namespace providers::proxmox {

enum class RemoveStep {
    wait,              // something is under way that ends by itself
    search_elsewhere,  // the ID is used by somebody else: is our machine under another one?
    unprotect,         // a clone that has its template's protection
    shut_down,
    stop,  // what did not shut down, or never came so far
    destroy,
    set_aside,  // off, and to stay: it does not start with its host, and a tag says that it takes no room
    stopped,    // and set aside
    gone,
    blocked,  // a person has to act, or the host has to come back
};

struct RemoveDecision {
    RemoveStep step = RemoveStep::wait;
    std::string reason;   // with blocked
    std::string message;  // for people
};

enum class Aim { removal, stop };

struct RemoveObservation {
    Look look;
    std::string explanation;  // of an ownership that is not ours
    bool is_running = false;
    bool lock_is_stale = false;  // the lock of a creation has been seen for long without a task
    bool searched_elsewhere = false;
    bool was_shut_down = false;    // it was asked to end before, and still runs
    bool is_own_creation = false;  // the task on record was ours and made it, so far as it came
    Aim aim = Aim::removal;
};
RemoveDecision next_removal_step(const RemoveObservation& seen);

}  // namespace providers::proxmox
