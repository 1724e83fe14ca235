// Decides the next step towards an existing machine. The decisions are tables over observations. Pure.
#pragma once

#include <string>

#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/property_string.hpp"
#include "providers/proxmox/wire/task_status.hpp"

namespace providers::proxmox {

enum class EnsureStep {
    look,         // read the machine, then decide with after_look
    follow_task,  // the task is running: poll it again
    // Both wait for what is not the host's fault:
    retry_later,  // no task is running; the obstacle may disappear soon
    try_again,    // a task failed for a temporary reason: repeat it after a growing pause
    create,       // blank, or as a clone
    configure,    // set identity, size, tags and drives of the unfinished machine
    resize,       // the boot disk
    upload_image,
    attach_and_start,  // the image is uploaded
    start,
    finish,             // the machine is running
    choose_another_id,  // somebody else has the ID
    find_creation,      // locked while being created, maker unknown: look for our task, else wait
    fail,               // this attempt cannot succeed
};

struct EnsureDecision {
    EnsureStep step = EnsureStep::look;
    std::string reason;   // set for fail
    std::string message;  // shown to people
    bool avoid_host = false;
    bool is_excused = false;       // see AttemptFailed
    bool lacks_disk_room = false;  // a storage for disks is full; images may be on another storage
};

// EnsureWish has the options that change the sequence of steps.
struct EnsureWish {
    bool image = false;       // it gets one of our boot images
    bool unfinished = false;  // made from a template or without tags: configured after its creation
};
// Decides after the recorded task was polled; `type` is the UPID's.
EnsureDecision after_task(const std::string& type, const TaskStatus& task, const EnsureWish& wish);

struct EnsureObservation {
    Look look;
    std::string explanation;  // why the ownership is not ours
    bool sees_own = true;     // the token may see the machines that it makes
    bool is_running = false;
    bool wants_image = false;
    bool has_image = false;       // the image is in a drive
    bool image_uploaded = false;  // in this step
    bool needs_resize = false;
    bool lock_is_stale = false;    // the lock of a creation has been seen for a long time without a task
    bool is_own_creation = false;  // the recorded task was ours and made it as far as it is
};
EnsureDecision after_look(const EnsureObservation& seen);

// Explains why an unfinished machine is given up. Its remains cannot be completed now, and its pods need not
// wait for the host.
std::string host_down_text(const Look& look);

}  // namespace providers::proxmox
