#include "test/simulators/proxmox/core/tasks.hpp"

#include "test/simulators/proxmox/core/formats.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

// Time between the answer and the worker's first step. Requests that arrive in between race with it.
constexpr Duration kForkDelay = std::chrono::milliseconds{15};
constexpr Duration kForever = std::chrono::hours{24 * 365};
// Time between SIGTERM and SIGKILL, which is checked in steps.
constexpr Duration kPatience = std::chrono::seconds{5};
constexpr Duration kGlance = std::chrono::seconds{1};

bool is_hang(TaskTrouble trouble) {
    return trouble == TaskTrouble::hang || trouble == TaskTrouble::hang_deaf ||
           trouble == TaskTrouble::hang_in_kernel;
}

}  // namespace

std::int64_t to_seconds(WallTime time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

asio::awaitable<void> Task::spend(Duration duration) {
    const auto deadline = clock_.now() + (hangs_ ? kForever : duration);
    check();
    while (clock_.now() < deadline) {
        co_await changed_.wait_until(clock_, deadline);
        check();
    }
}

void Task::check() const {
    if (killed_) throw WorkerDied{};
    if (interrupted_) throw failure("received interrupt");
    if (!complaint_.empty()) throw failure(complaint_);
}

void Task::interrupt() {
    if (hangs_ && *hangs_ != TaskTrouble::hang) return;
    interrupted_ = true;
    changed_.notify_all();
}

void Task::destroy() {
    if (!hangs_in_kernel()) kill();
}

void Task::fail(std::string complaint) {
    complaint_ = std::move(complaint);
}

void Task::kill() {
    killed_ = true;
    changed_.notify_all();
}

Task& Tasks::create(Host& host, const std::string& type, const std::string& id, const std::string& user) {
    auto task = std::make_unique<Task>(executor_, clock_);
    task->node = host.name;
    task->type = type;
    task->id = id;
    task->user = user;
    task->pid = host.next_pid++;
    auto since_boot = clock_.now() - host.booted_at.value_or(TimePoint{});
    task->start_ticks = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_boot).count() / 10);
    task->clock_ahead = host.clock_ahead.count();
    task->start_time = to_seconds(clock_.wall_now()) + task->clock_ahead;
    task->upid = "UPID:" + host.name + ":" + hex(task->pid, 8) + ":" + hex(task->start_ticks, 8) + ":" +
                 hex(static_cast<std::uint64_t>(task->start_time), 8) + ":" + type + ":" + id + ":" + user +
                 ":";
    return *tasks_.emplace_back(std::move(task));
}

void Tasks::run(base::TaskGroup& group, Task& task, asio::awaitable<void> work,
                std::optional<TaskFault> fault) {
    group.spawn(supervise(task, std::move(work), std::move(fault)));
}

asio::awaitable<void> Tasks::supervise(Task& task, asio::awaitable<void> work,
                                       std::optional<TaskFault> fault) {
    try {
        co_await perform(task, std::move(work), std::move(fault));
        task.exit_status = task.warnings == 0 ? "OK" : "WARNINGS: " + std::to_string(task.warnings);
        task.log.push_back("TASK " + task.exit_status);
    } catch (const ApiError& error) {
        task.exit_status = error.what();
        task.log.push_back("TASK ERROR: " + task.exit_status);
    } catch (const WorkerDied&) {
        task.exit_status = "unexpected status";
    }
    task.end_time = to_seconds(clock_.wall_now()) + task.clock_ahead;
}

asio::awaitable<void> Tasks::perform(Task& task, asio::awaitable<void> work, std::optional<TaskFault> fault) {
    co_await task.spend(kForkDelay);
    if (fault && !fault->log.empty()) task.log.push_back(fault->log);
    if (fault && fault->trouble == TaskTrouble::fail_at_once) {
        // The request has already taken the VMID, and the worker gives it back.
        if (task.type != "qmcreate") throw failure(fault->text);
        task.fail(fault->text);
    }
    if (fault && is_hang(fault->trouble)) task.hang(fault->trouble);
    if (fault && fault->trouble == TaskTrouble::die) task.kill();
    co_await std::move(work);
    if (fault && fault->trouble == TaskTrouble::fail_at_end) throw failure(fault->text);
}

Task* Tasks::find(const std::string& upid) {
    for (auto& task : tasks_) {
        if (task->upid == upid) return task.get();
    }
    return nullptr;
}

void Tasks::interrupt(Task& task) {
    task.interrupt();
    locks_.wake();
}

asio::awaitable<void> Tasks::stop(Task& task) {
    interrupt(task);
    // A task that obeys the signal ends a moment later.
    co_await clock_.sleep_for(kForkDelay);
    for (const auto until = clock_.now() + kPatience; task.is_running() && clock_.now() < until;)
        co_await clock_.sleep_for(kGlance);
    if (!task.is_running()) co_return;
    task.destroy();
    locks_.wake();
}

void Tasks::kill_all_of(const std::string& host) {
    for (auto& task : tasks_) {
        if (task->node == host && task->is_running()) task->kill();
    }
    locks_.wake();
}

bool is_upid(const std::string& text) {
    return matches(
        R"(UPID:[a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8,9}:[0-9A-Fa-f]{8}:[^:\s]+:[^:\s]*:[^:\s]+:)",
        text);
}

}  // namespace proxmox_simulator
