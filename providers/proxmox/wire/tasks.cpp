#include "providers/proxmox/wire/tasks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/log.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kShortestPoll = std::chrono::milliseconds{500};
constexpr base::Duration kLongestPoll = std::chrono::seconds{3};
constexpr base::Duration kNews = std::chrono::minutes{1};
// Longest pause between polls before a task's expected end, as it may fail early.
constexpr base::Duration kBeforeEnd = std::chrono::seconds{10};
// A task is forgotten this long after its first poll.
constexpr base::Duration kForgotten = std::chrono::hours{24};
// A stopped task ends after 5 s, or it ignores the request.
constexpr base::Duration kDefies = std::chrono::seconds{30};
constexpr base::Duration kStopAgain = std::chrono::minutes{2};

struct Bound {
    std::string_view type;
    std::chrono::minutes bound;
};
// Limits for waiting on a task whose result is no longer needed. They are generous: a worker that is killed
// half-way leaves a lock that only root can remove. The pool's scaleUp.provisionTimeout limits the creation
// of a machine.
constexpr std::array<Bound, 9> kBounds = {{
    {"qmcreate", std::chrono::minutes{2}},
    {"qmclone", std::chrono::minutes{10}},  // copies whole disks
    {"imgcopy", std::chrono::minutes{5}},
    {"resize", std::chrono::minutes{2}},
    {"qmstart", std::chrono::minutes{5}},     // longer with much memory
    {"qmshutdown", std::chrono::minutes{3}},  // stops the guest after a minute, see shut_down_vm()
    {"qmstop", std::chrono::minutes{2}},
    {"imgdel", std::chrono::minutes{5}},
    {"download", std::chrono::minutes{120}},  // for a slow line
}};
// Limit of all other types, such as qmdestroy. Discarding large disks takes time, and an interrupted
// destruction cannot be undone.
constexpr std::chrono::minutes kBoundOfOthers{15};

base::Duration bound_of(std::string_view type) {
    const auto known = std::ranges::find(kBounds, type, &Bound::type);
    return known == kBounds.end() ? kBoundOfOthers : known->bound;
}

}  // namespace

asio::awaitable<TaskStatus> Tasks::status(std::string upid) {
    TaskStatus status;
    const auto parsed = parse_upid(upid);
    if (!parsed) co_return status;
    try {
        const auto data = co_await client_.read(get_task_status(parsed->node, upid));
        status = parse_task_status(data);
    } catch (const ProxmoxError& error) {
        const bool is_unknown = error.kind == ErrorKind::no_such_task ||
                                error.kind == ErrorKind::outcome_unknown ||
                                error.kind == ErrorKind::invalid_request;
        if (!is_unknown) throw;
    }
    if (status.outcome != TaskOutcome::running) {
        const auto asked = asked_.extract(upid);
        if (asked && status.outcome == TaskOutcome::succeeded) {
            typical_[parsed->type + "@" + parsed->node] = (clock_.now() - asked.mapped().first) * 9 / 10;
        }
    }
    co_return status;
}

asio::awaitable<TaskStatus> Tasks::explained(std::string upid, TaskStatus status) {
    const auto parsed = parse_upid(upid);
    const bool is_unexplained = parsed && status.outcome == TaskOutcome::failed &&
                                classify_exit(status.exit_status) == ErrorKind::other;
    if (!is_unexplained) co_return status;
    try {
        const auto log = co_await client_.read(get_task_log(parsed->node, upid));
        status.cause = client_.without_credentials(cause_in(log, status.exit_status));
    } catch (const ProxmoxError& error) {
        base::log::debug("Cannot read the log of a task that failed",
                         {{"task", upid}, {"error", error.what()}});
    }
    co_return status;
}

asio::awaitable<TaskStatus> Tasks::end_overdue(std::string upid, base::Duration patience) {
    auto seen = co_await status(upid);
    const auto task = parse_upid(upid);
    if (seen.outcome != TaskOutcome::running || !task) co_return seen;
    next_poll(upid);  // starts the measurement with the first look, also after a restart
    const auto now = clock_.now();
    const auto& asked = asked_.at(upid);
    const auto usual = bound_of(task->type);
    const auto bound = patience > base::Duration::zero() ? std::min(usual, patience) : usual;
    const bool is_overdue = now - asked.first >= bound;
    const bool is_due = !asked.last_stopped || now - *asked.last_stopped >= kStopAgain;
    if (!is_overdue || !is_due) co_return seen;
    base::log::warning("Stopping a task that does not end",
                       {{"type", task->type}, {"host", task->node}, {"task", upid}});
    auto& stopped = asked_.at(upid);
    stopped.last_stopped = now;
    if (!stopped.first_stopped) stopped.first_stopped = now;
    co_await client_.change(stop_task(task->node, upid));
    co_return co_await status(upid);
}

asio::awaitable<void> Tasks::end_all_overdue(std::vector<std::string> upids) {
    for (const auto& upid : upids) {
        try {
            co_await end_overdue(upid);
        } catch (const ProxmoxError& error) {
            base::log::warning("Could not stop a task", {{"task", upid}, {"error", error.what()}});
        }
    }
}

asio::awaitable<std::vector<std::string>> Tasks::at_work(std::string host, std::int64_t vmid) {
    const auto active = co_await client_.read(get_active_tasks(host, vmid));
    std::vector<std::string> upids;
    for (const auto* entry : objects_of(active)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (!task || task->user != client_.user()) continue;
        const bool is_of_volumes = task->type == "imgdel" || task->type == "imgcopy";
        if (vmid > 0 || is_of_volumes) upids.push_back(task->text);
    }
    co_return upids;
}

bool Tasks::was_stopped(const std::string& upid) const {
    const auto asked = asked_.find(upid);
    return asked != asked_.end() && asked->second.first_stopped;
}

bool Tasks::defies_stopping(const std::string& upid) const {
    return was_stopped(upid) && clock_.now() - *asked_.at(upid).first_stopped >= kDefies;
}

base::Duration Tasks::next_poll(const std::string& upid) {
    const auto now = clock_.now();
    std::erase_if(asked_, [&](const auto& task) { return now - task.second.first > kForgotten; });
    auto& asked = asked_.try_emplace(upid, Asked{now, now, {}, {}}).first->second;
    asked.last = now;
    const auto age = now - asked.first;
    const auto parsed = parse_upid(upid);
    const auto typical = parsed ? typical_.find(parsed->type + "@" + parsed->node) : typical_.end();
    if (typical == typical_.end()) return std::clamp<base::Duration>(age / 4, kShortestPoll, kLongestPoll);
    if (age < typical->second) return std::clamp(typical->second - age, kShortestPoll, kBeforeEnd);
    return std::clamp<base::Duration>((age - typical->second) / 4, kShortestPoll, kLongestPoll);
}

bool Tasks::is_followed(const std::string& upid) const {
    const auto asked = asked_.find(upid);
    return asked != asked_.end() && clock_.now() - asked->second.last <= kNews;
}

}  // namespace providers::proxmox
