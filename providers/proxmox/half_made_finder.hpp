// Looks for VMs that tasks of ours left behind when they died. Changes nothing.
#pragma once

#include <optional>
#include <vector>

#include "providers/capabilities.hpp"
#include "providers/proxmox/cloner.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

class HalfMadeFinder {
public:
    // All must outlive this.
    HalfMadeFinder(const Settings& settings, Client& client, ClusterView& view, VmFinder& machines,
                   Cloner& cloner, Tasks& tasks)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          cloner_(cloner),
          tasks_(tasks) {}

    // Throws ProxmoxError.
    asio::awaitable<Leftovers> find();

private:
    enum class Maker { ours_at_work, others_at_work, ours_died, unknown };
    asio::awaitable<std::optional<Leftover>> judge(Guest guest, Maker maker);
    // On one host: what is in no resource pool yet, where the token has rights on nothing else.
    asio::awaitable<std::vector<Leftover>> find_hidden(std::string host, ClusterView::StatePointer state);
    // Whose the last task was that made something of that ID, and whether it is still at work.
    asio::awaitable<Maker> maker_of(Guest guest);

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    VmFinder& machines_;
    Cloner& cloner_;
    Tasks& tasks_;
};

}  // namespace providers::proxmox
