// Finds disks that our destruction of a VM left behind. Proxmox destroys the VM all the same, and only the
// task's log mentions the disks. Changes nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "providers/capabilities.hpp"
#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

// Returns the volumes that could not be removed, according to the log of a destruction. Pure.
std::vector<std::string> left_volumes(const boost::json::value& log);

class LeftVolumeFinder {
public:
    // All arguments must outlive this.
    LeftVolumeFinder(ProxmoxClient& client, ClusterView& view, base::Clock& clock)
        : client_(client), view_(view), clock_(clock) {}

    // Returns one entry for each disk, with the command that removes it. Throws ProxmoxError.
    asio::awaitable<Leftovers> find();

private:
    asio::awaitable<std::vector<Leftover>> find_on(std::string host);
    asio::awaitable<std::vector<std::string>> volumes_of(std::string host, std::string upid);
    asio::awaitable<bool> is_left(std::string host, std::string volume, bool is_recent);

    ProxmoxClient& client_;
    ClusterView& view_;
    base::Clock& clock_;
    std::map<std::string, std::vector<std::string>> logs_;  // by UPID; logs of ended tasks never change
};

}  // namespace providers::proxmox
