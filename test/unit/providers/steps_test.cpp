// Tests every row of the two decision tables.
#include "providers/proxmox/ensure_step.hpp"
#include "providers/proxmox/remove_step.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "test/support/catch.hpp"

using namespace providers::proxmox;
using Catch::Contains;

namespace {

TaskStatus task(TaskOutcome outcome, std::string exit_status = {}) {
    return {outcome, std::move(exit_status), false};
}

Look look(Presence presence, Ownership ownership = Ownership::ours, const std::string& lock = {}) {
    Look result;
    result.presence = presence;
    result.ownership = ownership;
    result.host = "pve1";
    result.vmid = 105;
    if (!lock.empty()) result.config.options["lock"] = lock;
    return result;
}

}  // namespace

TEST_CASE("After a task: what follows its end") {
    struct Row {
        const char* type;
        TaskStatus status;
        bool wants_image;
        EnsureStep step;
        bool is_clone = false;
    };
    using enum TaskOutcome;
    const Row rows[] = {
        {"qmcreate", task(running), true, EnsureStep::follow_task},
        {"qmcreate", task(succeeded), true, EnsureStep::upload_image},
        {"qmcreate", task(succeeded), false, EnsureStep::start},
        {"qmcreate", task(unknown), false, EnsureStep::look},
        {"qmcreate", task(failed, "unable to create VM 105: config file already exists"), false,
         EnsureStep::choose_another_id},
        {"qmcreate", task(failed, "can't lock file '/x' - got timeout"), false, EnsureStep::try_again},
        {"qmcreate", task(failed, "no space"), false, EnsureStep::fail},
        {"imgcopy", task(succeeded), true, EnsureStep::look},
        {"imgcopy", task(failed, "no space"), true, EnsureStep::fail},
        {"imgcopy", task(unknown), true, EnsureStep::look},
        {"qmclone", task(succeeded), true, EnsureStep::upload_image, true},
        {"qmclone", task(succeeded), false, EnsureStep::look, true},
        {"qmclone", task(failed, "unable to create VM 105: config file already exists"), false,
         EnsureStep::look, true},
        {"qmclone", task(failed, "can't lock file '/x' - got timeout"), false, EnsureStep::try_again, true},
        {"qmclone", task(failed, "no space"), false, EnsureStep::fail, true},
        {"imgcopy", task(succeeded), true, EnsureStep::look, true},
        {"resize", task(succeeded), true, EnsureStep::start, true},
        {"resize", task(failed, "no space"), true, EnsureStep::fail, true},
        {"qmstart", task(running), true, EnsureStep::follow_task},
        {"qmstart", task(succeeded), true, EnsureStep::finish},
        {"qmstart", task(failed, "VM 105 already running"), true, EnsureStep::look},
        {"qmstart", task(failed, "MAX 2 vcpus allowed per VM on this node"), true, EnsureStep::fail},
        {"qmstart", task(unknown), true, EnsureStep::look},
        {"qmstop", task(succeeded), true, EnsureStep::look},
        {"", task(unknown), true, EnsureStep::look},
    };
    for (const auto& row : rows) {
        INFO(row.type << " " << row.status.exit_status);
        CHECK(after_task(row.type, row.status, {row.wants_image, row.is_clone}).step == row.step);
    }
}

TEST_CASE("After a task that found no room: whether the storage of the disks is the full one") {
    const auto full = task(TaskOutcome::failed, "No space left on device");
    for (const auto* type : {"qmcreate", "qmclone", "resize", "imgcopy"}) {
        INFO(type);
        const auto decision = after_task(type, full, {});
        CHECK(decision.is_excused);
        // Images are uploaded to another storage.
        CHECK(decision.lacks_disk_room == (type != std::string("imgcopy")));
    }
}

TEST_CASE("After a look: what a machine lacks to run") {
    struct Row {
        const char* name;
        EnsureObservation seen;
        EnsureStep step;
    };
    const auto seen = [](Look what, auto change) {
        EnsureObservation observation;
        observation.look = std::move(what);
        change(observation);
        return observation;
    };
    const auto nothing = [](EnsureObservation&) {};
    const auto stale = [](EnsureObservation& o) { o.lock_is_stale = true; };
    const Row rows[] = {
        {"absent", seen(look(Presence::absent), nothing), EnsureStep::create},
        {"hidden", seen(look(Presence::hidden), nothing), EnsureStep::create},
        {"hidden for ever", seen(look(Presence::hidden), [](auto& o) { o.sees_own = false; }),
         EnsureStep::retry_later},
        {"host down", seen(look(Presence::host_down), nothing), EnsureStep::fail},
        {"foreign", seen(look(Presence::present, Ownership::foreign), nothing),
         EnsureStep::choose_another_id},
        {"contradictory", seen(look(Presence::present, Ownership::contradictory), nothing), EnsureStep::fail},
        {"half made", seen(look(Presence::present, Ownership::half_made, "create"), nothing),
         EnsureStep::find_creation},
        {"half made for long", seen(look(Presence::present, Ownership::half_made, "create"), stale),
         EnsureStep::choose_another_id},
        {"half made for long, by a task of ours",
         seen(look(Presence::present, Ownership::half_made, "create"),
              [](auto& o) { o.lock_is_stale = o.is_own_creation = true; }),
         EnsureStep::fail},
        {"ours, under creation", seen(look(Presence::present, Ownership::ours, "create"), nothing),
         EnsureStep::find_creation},
        {"ours, creation died", seen(look(Presence::present, Ownership::ours, "create"), stale),
         EnsureStep::fail},
        {"ours, backed up", seen(look(Presence::present, Ownership::ours, "backup"), nothing),
         EnsureStep::retry_later},
        {"ours, running", seen(look(Presence::present), [](auto& o) { o.is_running = true; }),
         EnsureStep::finish},
        {"ours, disk too small", seen(look(Presence::present), [](auto& o) { o.needs_resize = true; }),
         EnsureStep::resize},
        {"unfinished clone", seen(look(Presence::present, Ownership::unfinished), nothing),
         EnsureStep::configure},
        {"unfinished clone, image missing",
         seen(look(Presence::present, Ownership::unfinished), [](auto& o) { o.wants_image = true; }),
         EnsureStep::upload_image},
        {"unfinished clone, image uploaded",
         seen(look(Presence::present, Ownership::unfinished),
              [](auto& o) { o.wants_image = o.image_uploaded = true; }),
         EnsureStep::configure},
        {"unfinished clone, still copied",
         seen(look(Presence::present, Ownership::unfinished, "clone"), nothing), EnsureStep::find_creation},
        {"ours, stopped", seen(look(Presence::present), nothing), EnsureStep::start},
        {"ours, image missing", seen(look(Presence::present), [](auto& o) { o.wants_image = true; }),
         EnsureStep::upload_image},
        {"ours, image uploaded",
         seen(look(Presence::present), [](auto& o) { o.wants_image = o.image_uploaded = true; }),
         EnsureStep::attach_and_start},
        {"ours, image there",
         seen(look(Presence::present), [](auto& o) { o.wants_image = o.has_image = true; }),
         EnsureStep::start},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        CHECK(after_look(row.seen).step == row.step);
    }
    auto made_template = seen(look(Presence::present), nothing);
    made_template.look.config.options["template"] = "1";
    CHECK(after_look(made_template).reason == "IsTemplate");
}

TEST_CASE("A creation was ours if the task on record says so: by its user, its type and its ID") {
    const std::string start = "UPID:pve1:000005CF:000572C5:6B0139E8:";
    const std::string user = "automation@pve!kubenodesmith";
    CHECK(began_creation(start + "qmcreate:105:" + user + ":", user, 105));
    CHECK_FALSE(began_creation(start + "qmcreate:106:" + user + ":", user, 105));
    CHECK_FALSE(began_creation(start + "qmcreate:105:root@pam:", user, 105));
    CHECK_FALSE(began_creation(start + "qmcreate:105:automation@pve:", user, 105));
    CHECK_FALSE(began_creation(start + "qmstart:105:" + user + ":", user, 105));
    CHECK(began_creation(start + "qmclone:9000:" + user + ":", user, 105));  // the task has its template's ID
    CHECK_FALSE(began_creation("", user, 105));
}

TEST_CASE("A removal touches only what is proven, and says what stands in its way") {
    struct Row {
        const char* name;
        RemoveObservation seen;
        RemoveStep step;
        std::string reason;
    };
    const auto seen = [](Look what, bool running = false, bool stale = false, bool searched = false) {
        return RemoveObservation{std::move(what), "", running, stale, searched};
    };
    auto left_behind = seen(look(Presence::hidden));
    left_behind.is_own_creation = true;
    const Row rows[] = {
        {"absent", seen(look(Presence::absent)), RemoveStep::gone, ""},
        {"hidden", seen(look(Presence::hidden)), RemoveStep::blocked, "MissingPrivileges"},
        {"hidden, and our creation died", left_behind, RemoveStep::blocked, "Locked"},
        {"host down", seen(look(Presence::host_down)), RemoveStep::blocked, "HostUnreachable"},
        {"running", seen(look(Presence::present), true), RemoveStep::shut_down, ""},
        {"running, unfinished", seen(look(Presence::present, Ownership::unfinished), true), RemoveStep::stop,
         ""},
        {"stopped", seen(look(Presence::present)), RemoveStep::destroy, ""},
        {"foreign", seen(look(Presence::present, Ownership::foreign), true), RemoveStep::search_elsewhere,
         ""},
        {"foreign, ours nowhere", seen(look(Presence::present, Ownership::foreign), true, false, true),
         RemoveStep::gone, ""},
        {"contradictory", seen(look(Presence::present, Ownership::contradictory)), RemoveStep::blocked,
         "OwnershipMismatch"},
        {"unfinished clone", seen(look(Presence::present, Ownership::unfinished)), RemoveStep::destroy, ""},
        {"unfinished clone, still copied", seen(look(Presence::present, Ownership::unfinished, "clone")),
         RemoveStep::wait, ""},
        {"half made", seen(look(Presence::present, Ownership::half_made, "create")), RemoveStep::wait, ""},
        {"half made for long", seen(look(Presence::present, Ownership::half_made, "create"), false, true),
         RemoveStep::blocked, "Locked"},
        {"being destroyed", seen(look(Presence::present, Ownership::ours, "destroyed")), RemoveStep::wait,
         ""},
        {"backed up", seen(look(Presence::present, Ownership::ours, "backup"), true), RemoveStep::blocked,
         "Locked"},
        // Proxmox destroys it in spite of this lock.
        {"suspended to disk", seen(look(Presence::present, Ownership::ours, "suspended")),
         RemoveStep::destroy, ""},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        CHECK(next_removal_step(row.seen).step == row.step);
        CHECK(next_removal_step(row.seen).reason == row.reason);
    }
    auto unheeding = seen(look(Presence::present), true);
    unheeding.was_shut_down = true;
    CHECK(next_removal_step(unheeding).step == RemoveStep::stop);
    auto stuck = seen(look(Presence::present, Ownership::ours, "clone"), false, true);
    CHECK_THAT(next_removal_step(stuck).message, Contains("qm unlock 105"));
    const auto backed_up = seen(look(Presence::present, Ownership::ours, "backup"), true);
    CHECK_THAT(next_removal_step(backed_up).message, Contains("qm unlock 105"));
    auto guarded = seen(look(Presence::present), true);
    guarded.look.config.options["protection"] = "1";
    CHECK(next_removal_step(guarded).reason == "ProtectionEnabled");
    // The template's protection is not the user's.
    auto inherited = seen(look(Presence::present, Ownership::unfinished));
    inherited.look.config.options["protection"] = "1";
    CHECK(next_removal_step(inherited).step == RemoveStep::unprotect);
    // A machine that is kept only has to be off, so its protection does not matter then.
    auto off = seen(look(Presence::present));
    off.aim = Aim::stop;
    CHECK(next_removal_step(off).step == RemoveStep::set_aside);
    for (const auto& [name, value] : set_aside_change(off.look.config)) off.look.config.options[name] = value;
    CHECK(next_removal_step(off).step == RemoveStep::stopped);
    off.look.config.options["protection"] = "1";
    CHECK(next_removal_step(off).step == RemoveStep::stopped);
    off.is_running = true;
    CHECK(next_removal_step(off).step == RemoveStep::shut_down);
    auto starting = seen(look(Presence::present));
    starting.aim = Aim::stop;
    starting.look.config.options["tags"] = kSetAsideTag;
    starting.look.config.options["onboot"] = "1";
    CHECK(next_removal_step(starting).step == RemoveStep::set_aside);
    auto made_template = seen(look(Presence::present));
    made_template.look.config.options["template"] = "1";
    CHECK(next_removal_step(made_template).step == RemoveStep::blocked);
}

TEST_CASE("What passes, or another host has, uses up no attempt") {
    using enum TaskOutcome;
    const auto full = after_task("qmclone", task(failed, "No space left on device"), {});
    CHECK(full.step == EnsureStep::fail);
    CHECK(full.is_excused);
    CHECK(full.lacks_disk_room);
    const auto late =
        after_task("qmstart", task(failed, "start failed: command '...' failed: got timeout"), {});
    CHECK(late.step == EnsureStep::fail);
    CHECK(late.is_excused);
    CHECK(late.avoid_host);
    CHECK_FALSE(late.lacks_disk_room);
    const auto memory = after_task("qmstart", task(failed, "pc.ram: Cannot allocate memory"), {});
    CHECK_FALSE(memory.is_excused);
    CHECK_FALSE(memory.lacks_disk_room);
    const auto right =
        after_task("qmcreate", task(failed, "403 Permission check failed (/vms/105, VM.Config.Disk)"), {});
    CHECK(right.step == EnsureStep::try_again);
    EnsureObservation stuck;
    stuck.look = look(Presence::present, Ownership::ours, "create");
    stuck.lock_is_stale = true;
    CHECK(after_look(stuck).is_excused);
}
