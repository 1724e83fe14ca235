// HalfMadeFinder finds VMs that our dead tasks left behind, and what our tasks are making. It changes
// nothing.
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
    // All arguments must outlive this.
    HalfMadeFinder(const Settings& settings, ProxmoxClient& client, ClusterView& view, VmFinder& machines,
                   Cloner& cloner, Tasks& tasks)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          cloner_(cloner),
          tasks_(tasks) {}

    // Also stops a task of ours that has been destroying a VM for too long. Throws ProxmoxError.
    asio::awaitable<Leftovers> find();
    // Finds what our tasks are making or destroying, including VMs that are hidden from us until they are in
    // our resource pool. A state of the cluster that is read later shows what they have finished by then.
    // Throws ProxmoxError if a host does not answer.
    asio::awaitable<std::vector<Leftover>> find_under_way();

private:
    enum class Maker { at_work, ours_died, unknown };
    asio::awaitable<std::optional<Leftover>> judge(Guest guest, Maker maker);
    // Finds VMs on one host that are not in the resource pool yet, for a token with rights on nothing else.
    asio::awaitable<std::vector<Leftover>> find_hidden(std::string host, ClusterView::StatePointer state);
    // Returns whose task last made this VM, and whether it is still running.
    asio::awaitable<Maker> maker_of(Guest guest);

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    VmFinder& machines_;
    Cloner& cloner_;
    Tasks& tasks_;
};

}  // namespace providers::proxmox
