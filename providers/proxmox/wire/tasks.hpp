// Follows Proxmox tasks to their exit status.
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
    // Both must outlive this.
    Tasks(Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // One request, to the host that the UPID names. Outcome unknown if nothing can be learned of the task: no
    // UPID, log gone, host not answering. Throws ProxmoxError otherwise.
    asio::awaitable<TaskStatus> status(std::string upid);
    // The same for a task in whose way something stands that cannot go on before its end: once it has been
    // followed for longer than a task of its kind may take, it is stopped. Throws FencedError as well.
    // It is stopped after `patience` at the latest; 0 sets no such bound.
    asio::awaitable<TaskStatus> end_overdue(std::string upid, base::Duration patience = {});
    // The same for several: one that cannot be stopped must not keep the others.
    asio::awaitable<void> end_all_overdue(std::vector<std::string> upids);
    // The status of a task that failed, with the cause from its log if its exit status only names what
    // failed: one more request. Without it if the log cannot be read.
    asio::awaitable<TaskStatus> explained(std::string upid, TaskStatus status);
    // Tasks of ours that are at work on the VM, or (vmid 0) on volumes of the host: also those that nobody
    // has on record, as the answer that named them was lost. What holds a lock without end is one of them.
    asio::awaitable<std::vector<std::string>> at_work(std::string host, std::int64_t vmid);
    // It was stopped, as it did not end by itself. What it leaves has to be looked at.
    bool was_stopped(const std::string& upid) const;
    // It was stopped a while ago and still runs: nothing but the end of its host may end it.
    bool defies_stopping(const std::string& upid) const;
    // When to ask again: 0.5 s for a young task, up to 3 s for an old one.
    base::Duration next_poll(const std::string& upid);
    // This process has asked for it, or begun it, within the last minute: how it ended is news.
    bool is_followed(const std::string& upid) const;

private:
    Client& client_;
    base::Clock& clock_;
    struct Asked {
        base::TimePoint first;
        base::TimePoint last;
        std::optional<base::TimePoint> first_stopped;
        std::optional<base::TimePoint> last_stopped;
    };
    std::map<std::string, Asked> asked_;  // of tasks under way
    // By type and host: a little less than the last one took. Before that there is no use in asking often.
    std::map<std::string, base::Duration> typical_;
};

}  // namespace providers::proxmox
