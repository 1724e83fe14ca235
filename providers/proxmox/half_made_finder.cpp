#include "providers/proxmox/half_made_finder.hpp"

#include <set>

#include "base/log.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/vm/hidden_creation.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kGuestsAge = std::chrono::seconds{10};
constexpr std::string_view kRunning = "RUNNING";
// The lock of a VM while and after its disks are freed.
constexpr std::string_view kDestroyedLock = "destroyed";

constexpr std::string_view kDestruction = "qmdestroy";

bool is_left_behind(const std::string& lock) {
    return is_creation_lock(lock) || lock == kDestroyedLock;
}

// Reports whether the worker of such a task sets that lock.
bool may_leave_lock(const std::string& type, const std::string& lock) {
    if (lock == kDestroyedLock) return type == kDestruction;
    return type == "qmcreate" || type == "qmrestore" || type == "qmclone";
}

// A clone's task has its template's ID, so the ID of the clone is unknown.
Leftover under_way(const Upid& task) {
    const bool is_clone = task.type == "qmclone";
    const auto vm = "VM " + task.id + " on " + task.node;
    Leftover made;
    made.record = {task.node, is_clone ? std::string() : task.id, task.text};
    made.is_removal = task.type == kDestruction;
    if (is_clone)
        made.message = "a clone of " + vm + ", which a task is still making";
    else
        made.message = vm + ", which a task is still " + (made.is_removal ? "destroying" : "creating");
    made.message += " (if the task does not end, stop it in the task viewer of " + task.node + ")";
    return made;
}

// Logs the error and goes on. One silent host or unreadable VM must not hide all others.
void skip(const std::string& what, const std::string& host, const ProxmoxError& error, Leftovers& all) {
    const auto level = is_passing(error.kind) ? base::log::Level::debug : base::log::Level::warning;
    base::log::write(level, "Cannot check whether a creation left something behind",
                     {{"host", host}, {"error", error.what()}});
    if (error.kind != ErrorKind::permission) all.unseen.push_back(what + " (" + error.what() + ")");
}

}  // namespace

asio::awaitable<Leftovers> HalfMadeFinder::find() {
    const auto state = co_await view_.state(kGuestsAge);
    Leftovers all;
    for (const auto& guest : state->guests) {
        // A VM with tags also has the data that identify its owner, so it is not half made.
        const bool may_be_one = !guest.is_container && is_left_behind(guest.lock) && guest.tags.empty();
        const auto* host = state->find_host(guest.node);
        if (!may_be_one || !host || host->is_down()) continue;
        try {
            const auto maker = co_await maker_of(guest);
            auto leftover = co_await judge(guest, maker);
            if (leftover) all.found.push_back(*std::move(leftover));
        } catch (const ProxmoxError& error) {
            skip("VM " + std::to_string(guest.vmid) + " on " + guest.node, guest.node, error, all);
        }
    }
    if (settings_.spec.resourcePool.empty()) co_return all;
    for (const auto& host : state->hosts) {
        if (host.is_down()) continue;
        try {
            const auto hidden = co_await find_hidden(host.name, state);
            all.found.insert(all.found.end(), hidden.begin(), hidden.end());
        } catch (const ProxmoxError& error) {
            skip("tasks that failed on " + host.name, host.name, error, all);
        }
    }
    co_return all;
}

asio::awaitable<std::vector<Leftover>> HalfMadeFinder::find_under_way() {
    // An endpoint that is cut off takes the other hosts for offline.
    const auto state = co_await view_.majority_state(kGuestsAge);
    std::vector<Leftover> all;
    for (const auto& host : state->hosts) {
        if (host.is_down()) continue;
        const auto active = co_await client_.read(get_active_tasks(host.name, 0));
        for (const auto* entry : objects_of(active)) {
            const auto task = parse_upid(text_of(*entry, "upid"));
            const bool concerns_vm =
                task && (task->type == "qmcreate" || task->type == "qmclone" || task->type == kDestruction);
            if (concerns_vm && task->user == client_.user()) all.push_back(under_way(*task));
        }
    }
    co_return all;
}

// Finds hidden remains in the task log. It shows creations but no clones, as the task of a clone has its
// template's ID.
asio::awaitable<std::vector<Leftover>> HalfMadeFinder::find_hidden(std::string host,
                                                                   ClusterView::StatePointer state) {
    std::vector<Leftover> found;
    std::set<std::int64_t> seen;
    const auto failed = co_await client_.read(get_failed_creations(host));
    for (const auto* entry : objects_of(failed)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        const auto vmid = task ? vmid_of(task->id) : 0;
        if (!task || !began_creation(task->text, client_.user(), vmid) || state->find_guest(vmid)) continue;
        if (!seen.insert(vmid).second) continue;
        Leftover leftover;
        leftover.record.host = host;
        leftover.record.machine_id = task->id;
        const bool is_free = co_await machines_.is_free(vmid);
        const bool is_left = !is_free && co_await died_out_of_sight(client_, tasks_, leftover.record);
        if (!is_left) continue;
        leftover.message = hidden_half_made_text(leftover.record);
        leftover.is_certain = true;
        found.push_back(std::move(leftover));
    }
    co_return found;
}

asio::awaitable<std::optional<Leftover>> HalfMadeFinder::judge(Guest guest, Maker maker) {
    if (maker == Maker::at_work) co_return std::nullopt;
    const bool died = maker == Maker::ours_died;
    // The task of a clone has its template's ID. So only an ID in a range that is ours alone identifies a
    // clone.
    const auto& ids = settings_.ids;
    const bool has_our_id = ids && guest.vmid >= ids->lower && guest.vmid <= ids->upper;
    if (!died && !has_our_id) co_return std::nullopt;
    Look look;
    look.presence = Presence::present;
    look.host = guest.node;
    look.vmid = guest.vmid;
    try {
        const auto data = co_await client_.read(get_vm_config(guest.node, guest.vmid));
        look.config = parse_vm_config(data);
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::not_found && error.kind != ErrorKind::permission) throw;
        co_return std::nullopt;
    }
    // A machine whose removal died has lost its tags, so no list shows it.
    const bool is_remains = died && look.config.lock() == kDestroyedLock;
    const bool is_marked =
        !is_remains && (parse_mark(look.config.option("description")) || !look.config.system_uuid().empty());
    if (is_marked || !is_left_behind(look.config.lock())) co_return std::nullopt;
    Leftover leftover;
    leftover.record.host = guest.node;
    leftover.record.machine_id = std::to_string(guest.vmid);
    leftover.message = half_made_text(look, died);
    leftover.is_certain = died;
    co_return leftover;
}

asio::awaitable<HalfMadeFinder::Maker> HalfMadeFinder::maker_of(Guest guest) {
    if (guest.lock == "clone") {
        bool is_at_work = false;
        if (settings_.spec.template_) is_at_work = co_await cloner_.is_cloning(guest.node);
        co_return is_at_work ? Maker::at_work : Maker::unknown;
    }
    const auto tasks = co_await client_.read(get_last_tasks(guest.node, guest.vmid));
    for (const auto* entry : objects_of(tasks)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (!task || !may_leave_lock(task->type, guest.lock)) continue;
        const auto status = text_of(*entry, "status");
        const bool is_running = status == kRunning || status.empty();
        // The process that began a destruction may have died, and no other follows it.
        if (is_running && task->type == kDestruction && task->user == client_.user())
            co_await tasks_.end_overdue(task->text);
        if (is_running) co_return Maker::at_work;
        // A task that succeeded or cleaned up left no lock.
        co_return task->user == client_.user() && status != "OK" ? Maker::ours_died : Maker::unknown;
    }
    co_return Maker::unknown;
}

}  // namespace providers::proxmox
