// Tasks polls Proxmox tasks until their exit status.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "providers/proxmox/wire/client.hpp"
#include "providers/proxmox/wire/task_status.hpp"

namespace providers::proxmox {

class Tasks {
public:
    // Both arguments must outlive this.
    Tasks(ProxmoxClient& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // Sends one request to the host in the UPID. The outcome is unknown if nothing can be learned: invalid
    // UPID, missing log, or silent host. Throws ProxmoxError otherwise.
    asio::awaitable<TaskStatus> status(std::string upid);
    // Does the same for a task that blocks the caller. A task that was followed longer than its type may take
    // is stopped. Also throws FencedError. The task is stopped after `patience` at the latest; 0 sets no such
    // limit.
    asio::awaitable<TaskStatus> end_overdue(std::string upid, base::Duration patience = {});
    // Does the same for several tasks. A task that cannot be stopped must not affect the others.
    asio::awaitable<void> end_all_overdue(std::vector<std::string> upids);
    // Adds the cause from the log to a failed task if its exit status only names the failed step. This takes
    // one request. If the log cannot be read, the cause stays empty.
    asio::awaitable<TaskStatus> explained(std::string upid, TaskStatus status);
    // Returns our tasks that are running on the VM, or with vmid 0 on volumes of the host. This includes
    // unrecorded tasks whose UPID was lost with an answer. One of them holds a lock that never ends.
    asio::awaitable<std::vector<std::string>> at_work(std::string host, std::int64_t vmid);
    // Reports whether the task was stopped because it did not end. Check what it left behind.
    bool was_stopped(const std::string& upid) const;
    // Reports whether the task still runs some time after it was stopped. Then perhaps only the end of its
    // host ends it.
    bool defies_stopping(const std::string& upid) const;
    // Returns the time until the next poll: 0.5 s for a young task, up to 3 s for an old one.
    base::Duration next_poll(const std::string& upid);
    // Reports whether this process polled or started the task within the last minute. Then its end is new.
    bool is_followed(const std::string& upid) const;

private:
    ProxmoxClient& client_;
    base::Clock& clock_;
    struct Asked {
        base::TimePoint first;
        base::TimePoint last;
        std::optional<base::TimePoint> first_stopped;
        std::optional<base::TimePoint> last_stopped;
    };
    std::map<std::string, Asked> asked_;  // running tasks
    // Key: type and host. The value is a little less than the duration of the last such task, as earlier
    // polls are useless.
    std::map<std::string, base::Duration> typical_;
};

}  // namespace providers::proxmox
