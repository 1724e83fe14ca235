// Follows Proxmox tasks to their exit status.
#pragma once

#include <map>
#include <string>

#include "providers/proxmox/client.hpp"
#include "providers/proxmox/task_status.hpp"

namespace providers::proxmox {

class Tasks {
public:
    // Both must outlive this.
    Tasks(Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // One request, to the host that the UPID names. Outcome unknown if nothing can be learned of the task: no
    // UPID, log gone, host not answering. Throws ApiError otherwise.
    asio::awaitable<TaskStatus> status(std::string upid);
    // When to ask again: 0.5 s for a young task, up to 3 s for an old one.
    base::Duration next_poll(const std::string& upid);

private:
    Client& client_;
    base::Clock& clock_;
    std::map<std::string, base::TimePoint> first_asked_;
    // By type and host: a little less than the last one took. Before that there is no use in asking often.
    std::map<std::string, base::Duration> typical_;  // of tasks under way
};

}  // namespace providers::proxmox
