// Worker tasks: the work that Proxmox does after it has answered with a UPID.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/condition_variable.hpp"
#include "base/task_group.hpp"
#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/faults.hpp"
#include "test/simulators/proxmox/core/file_locks.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

// WorkerDied says that the worker's process is gone, and nothing cleans up behind it.
struct WorkerDied {};

class Task {
public:
    Task(asio::any_io_executor executor, base::Clock& clock) : clock_(clock), changed_(std::move(executor)) {}

    std::string upid, node, type, id, user;
    unsigned pid = 0;
    std::uint64_t start_ticks = 0;
    std::int64_t start_time = 0;
    std::int64_t clock_ahead = 0;  // seconds, of its host
    std::optional<std::int64_t> end_time;
    std::string exit_status;
    std::vector<std::string> log;
    int warnings = 0;

    bool is_running() const { return !end_time; }
    // Makes the task hang from its next step on, in one of the ways of TaskTrouble.
    void hang(TaskTrouble how) { hangs_ = how; }
    bool hangs_in_kernel() const { return hangs_ == TaskTrouble::hang_in_kernel; }
    // Takes the given time. Throws if the task is aborted or its host dies meanwhile.
    asio::awaitable<void> spend(Duration duration);
    // Throws ApiError "received interrupt", the text of fail(), or WorkerDied if one of them happened.
    void check() const;
    void interrupt();
    // Ends the task as SIGKILL does.
    void destroy();
    // Makes the task fail at its next step. The worker cleans up, as after any failure.
    void fail(std::string complaint);
    // Ends the task because its host is gone.
    void kill();

private:
    base::Clock& clock_;
    base::ConditionVariable changed_;
    bool interrupted_ = false;
    bool killed_ = false;
    std::optional<TaskTrouble> hangs_;
    std::string complaint_;
};

class Tasks {
public:
    Tasks(asio::any_io_executor executor, base::Clock& clock, FileLocks& locks)
        : executor_(std::move(executor)), clock_(clock), locks_(locks) {}

    // Makes a task that does not run yet; run() starts it. The reference stays valid.
    Task& create(Host& host, const std::string& type, const std::string& id, const std::string& user);
    void run(base::TaskGroup& group, Task& task, asio::awaitable<void> work, std::optional<TaskFault> fault);

    // Returns nullptr if there is no such task.
    Task* find(const std::string& upid);
    const std::deque<std::unique_ptr<Task>>& all() const { return tasks_; }
    void interrupt(Task& task);
    // Stops a task as Proxmox does: SIGTERM, and SIGKILL if it has not ended within 5 s.
    asio::awaitable<void> stop(Task& task);
    // Ends all workers of a host that loses power.
    void kill_all_of(const std::string& host);

private:
    asio::awaitable<void> supervise(Task& task, asio::awaitable<void> work, std::optional<TaskFault> fault);
    asio::awaitable<void> perform(Task& task, asio::awaitable<void> work, std::optional<TaskFault> fault);

    asio::any_io_executor executor_;
    base::Clock& clock_;
    FileLocks& locks_;
    std::deque<std::unique_ptr<Task>> tasks_;
};

// Reports whether the text has the form of a task's identifier.
bool is_upid(const std::string& text);
std::int64_t to_seconds(WallTime time);

}  // namespace proxmox_simulator
