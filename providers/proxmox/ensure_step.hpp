// What to do next for a machine that shall exist: decisions over what was seen, as tables. Pure.
#pragma once

#include <string>

#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/property_string.hpp"
#include "providers/proxmox/wire/task_status.hpp"

namespace providers::proxmox {

enum class EnsureStep {
    look,         // read the machine, then decide by after_look
    follow_task,  // it is under way: ask again
    retry_later,  // nothing is under way, what stands in the way may be gone soon
    try_again,    // a task failed by what passes: once more, after a pause that grows
    create,       // blank, or by cloning
    configure,    // what is unfinished gets its identity, size, tags and drives
    resize,       // the boot disk
    upload_image,
    attach_and_start,  // the image is uploaded
    start,
    finish,             // it runs
    choose_another_id,  // the ID is somebody else's
    find_creation,      // locked while being created, by whom is not known: look for our task, else wait
    fail,               // this attempt cannot succeed
};

struct EnsureDecision {
    EnsureStep step = EnsureStep::look;
    std::string reason;   // with fail
    std::string message;  // for people
    bool avoid_host = false;
    bool is_excused = false;       // see AttemptFailed
    bool lacks_disk_room = false;  // a storage for disks is full; images may be on another one
};

// What makes the ways of machines differ.
struct EnsureWish {
    bool image = false;       // a boot image of ours
    bool unfinished = false;  // made from a template, or without tags: it is configured after its creation
};
// After the recorded task was asked for; `type` is the UPID's.
EnsureDecision after_task(const std::string& type, const TaskStatus& task, const EnsureWish& wish);

struct EnsureObservation {
    Look look;
    std::string explanation;  // of an ownership that is not ours
    bool sees_own = true;     // the token may see the machines that it makes
    bool is_running = false;
    bool wants_image = false;
    bool has_image = false;       // in a drive
    bool image_uploaded = false;  // just now
    bool needs_resize = false;
    bool lock_is_stale = false;    // the lock of a creation has been seen for long without a task
    bool is_own_creation = false;  // the task on record was ours and made it, so far as it came
};
EnsureDecision after_look(const EnsureObservation& seen);

// Why a machine that is not made yet is given up: what there is of it cannot be finished now, and what waits
// for the machine needs not wait for the host.
std::string host_down_text(const Look& look);

}  // namespace providers::proxmox
