// Finds disks that a destruction of ours left behind: Proxmox destroys the VM all the same, and says so in
// the task's log alone. Changes nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "providers/capabilities.hpp"
#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// The volumes that the log of a destruction says could not be removed. Pure.
std::vector<std::string> left_volumes(const boost::json::value& log);

class LeftVolumeFinder {
public:
    // All must outlive this.
    LeftVolumeFinder(Client& client, ClusterView& view, base::Clock& clock)
        : client_(client), view_(view), clock_(clock) {}

    // One for each disk, with the command that removes it. Throws ProxmoxError.
    asio::awaitable<Leftovers> find();

private:
    asio::awaitable<std::vector<Leftover>> find_on(std::string host);
    asio::awaitable<std::vector<std::string>> volumes_of(std::string host, std::string upid);
    asio::awaitable<bool> is_left(std::string host, std::string volume, bool is_recent);

    Client& client_;
    ClusterView& view_;
    base::Clock& clock_;
    std::map<std::string, std::vector<std::string>> logs_;  // by UPID; they do not change
};

}  // namespace providers::proxmox
