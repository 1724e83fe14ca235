#include "providers/proxmox/tasks.hpp"

#include <algorithm>

#include "providers/proxmox/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kShortestPoll = std::chrono::milliseconds{500};
constexpr base::Duration kLongestPoll = std::chrono::seconds{3};
// Of a task that is not expected to end before; it may still fail early.
constexpr base::Duration kBeforeEnd = std::chrono::seconds{10};
// Tasks that nobody asks for any more.
constexpr base::Duration kForgotten = std::chrono::hours{24};

}  // namespace

asio::awaitable<TaskStatus> Tasks::status(std::string upid) {
    TaskStatus status;
    const auto parsed = parse_upid(upid);
    if (!parsed) co_return status;
    try {
        const auto data = co_await client_.read(get_task_status(parsed->node, upid));
        status = parse_task_status(data);
    } catch (const ApiError& error) {
        const bool is_unknown = error.kind == ErrorKind::no_such_task ||
                                error.kind == ErrorKind::outcome_unknown ||
                                error.kind == ErrorKind::invalid_request;
        if (!is_unknown) throw;
    }
    if (status.outcome != TaskOutcome::running) {
        const auto asked = first_asked_.extract(upid);
        if (asked && status.outcome == TaskOutcome::succeeded) {
            typical_[parsed->type + "@" + parsed->node] = (clock_.now() - asked.mapped()) * 9 / 10;
        }
    }
    co_return status;
}

base::Duration Tasks::next_poll(const std::string& upid) {
    const auto now = clock_.now();
    std::erase_if(first_asked_, [&](const auto& task) { return now - task.second > kForgotten; });
    const auto age = now - first_asked_.try_emplace(upid, now).first->second;
    const auto parsed = parse_upid(upid);
    const auto typical = parsed ? typical_.find(parsed->type + "@" + parsed->node) : typical_.end();
    if (typical == typical_.end()) return std::clamp<base::Duration>(age / 4, kShortestPoll, kLongestPoll);
    if (age < typical->second) return std::clamp(typical->second - age, kShortestPoll, kBeforeEnd);
    return std::clamp<base::Duration>((age - typical->second) / 4, kShortestPoll, kLongestPoll);
}

}  // namespace providers::proxmox
