#include "providers/proxmox/vm/power_history.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr std::array<std::string_view, 4> kSwitchOff = {"qmstop", "qmshutdown", "qmsuspend", "hastop"};
constexpr std::array<std::string_view, 5> kSwitchOn = {"qmstart", "qmreboot", "qmreset", "qmresume",
                                                       "hastart"};
// Limit of the time that a host gives its guests before it goes down.
constexpr std::int64_t kLongestHostShutdown = 1800;  // seconds
// Limit of the difference between a host's clock at the task and now. Without the host's time: from ours.
constexpr std::int64_t kClocksDiffer = 300;  // seconds
// A backup in the mode "stop" shuts guests down by a command of root, whoever began the backup.
constexpr std::string_view kUserOfCommands = "root@pam";

struct PowerTask {
    Upid upid;
    bool switches_off = false;
};

bool has_succeeded(const json::object& task) {
    const auto status = text_of(task, "status");
    return status == "OK" || status.starts_with("WARNINGS");
}

// Returns the tasks that switched the VM on or off, newest first.
std::vector<PowerTask> power_tasks(const json::value& tasks) {
    std::vector<PowerTask> all;
    for (const auto* entry : objects_of(tasks)) {
        auto upid = parse_upid(text_of(*entry, "upid"));
        if (!upid || !has_succeeded(*entry)) continue;
        const bool off = std::ranges::find(kSwitchOff, upid->type) != kSwitchOff.end();
        const bool on = std::ranges::find(kSwitchOn, upid->type) != kSwitchOn.end();
        if (off || on) all.push_back({*std::move(upid), off});
    }
    std::ranges::sort(all, std::greater(), [](const PowerTask& task) { return task.upid.start_time; });
    return all;
}

bool was_started_since(const Upid& shutdown, const Boots& boots) {
    const auto booted = boots.find(shutdown.node);
    return booted != boots.end() && shutdown.start_time <= booted->second + kClocksDiffer;
}

// Reports whether a backup shut the VM down. The backup starts it again without a task. A job for several
// guests has no VMID.
bool is_of_backup(const Upid& task, const json::value& host_tasks) {
    if (task.type != "qmshutdown" || task.user != kUserOfCommands) return false;
    return std::ranges::any_of(objects_of(host_tasks), [&](const json::object* entry) {
        const auto backup = parse_upid(text_of(*entry, "upid"));
        if (!backup || backup->type != "vzdump" || backup->node != task.node) return false;
        if (!backup->id.empty() && backup->id != task.id) return false;
        const auto end = integer_of(*entry, "endtime");  // 0: it still runs
        return backup->start_time <= task.start_time && (end <= 0 || task.start_time <= end);
    });
}

bool is_of_host_shutdown(const Upid& task, const json::value& host_tasks, const Boots& boots) {
    return std::ranges::any_of(objects_of(host_tasks), [&](const json::object* entry) {
        const auto shutdown = parse_upid(text_of(*entry, "upid"));
        if (!shutdown || shutdown->type != "stopall" || shutdown->node != task.node) return false;
        if (!was_started_since(*shutdown, boots)) return false;
        const auto end = integer_of(*entry, "endtime");
        const auto last = end > 0 ? end : shutdown->start_time + kLongestHostShutdown;
        return shutdown->start_time <= task.start_time && task.start_time <= last;
    });
}

}  // namespace

std::string switched_off_by(const json::value& tasks, const json::value& host_tasks,
                            const std::string& own_user, const Boots& boots) {
    const auto all = power_tasks(tasks);
    if (all.empty()) return {};
    const auto& last = all.front();
    const bool is_somebody = last.switches_off && last.upid.user != own_user;
    if (!is_somebody || is_of_host_shutdown(last.upid, host_tasks, boots) ||
        is_of_backup(last.upid, host_tasks))
        return {};
    return foreign::shown(last.upid.user);
}

}  // namespace providers::proxmox
