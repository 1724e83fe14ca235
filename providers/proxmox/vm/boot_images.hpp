// NoCloud images on Proxmox: uploaded as ISO content, attached as a CD-ROM, ejected and deleted again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "providers/proxmox/vm/uploader.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

// No storage can take the image; the message says which one was looked for.
class NoIsoStorage : public ProviderError {
public:
    using ProviderError::ProviderError;
};

// The storage for the images of machines on that host: the configured one, or the first by name that is
// active there; empty: none.
std::string image_storage(const Settings& settings, const ClusterState& state, const std::string& host);

class BootImages {
public:
    // All must outlive this.
    BootImages(const Settings& settings, Client& client, ClusterView& view, VmFinder& machines, Tasks& tasks,
               ProviderEnvironment& environment)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          tasks_(tasks),
          uploader_(client, environment),
          pauses_(environment.clock) {}

    // Returns the task's UPID. An image of the same name is replaced. Throws ProxmoxError, FencedError,
    // NoIsoStorage.
    asio::awaitable<std::string> upload(MachineIdentity identity, std::string host, std::string image);
    // Where the images of machines on that host are kept. Throws ProxmoxError, NoIsoStorage.
    asio::awaitable<std::string> storage_on(std::string host);
    // The volume ID that the image has, or would have, on that host.
    asio::awaitable<std::string> volume_on(MachineIdentity identity, std::string host);
    // Puts the uploaded image into a drive that `config` leaves free. The boot order stays as it is.
    asio::awaitable<void> attach(MachineIdentity identity, std::string host, std::int64_t vmid,
                                 VmConfig config);
    // Ejects and deletes; true when nothing is left. Call again until then.
    asio::awaitable<bool> discard(MachineIdentity identity, MachineRecord record);
    // Deletes the image of a machine that is off and about to be destroyed, attached or not. The task's UPID;
    // empty: there is no image any more. Throws ProxmoxError, also where deleting it is not permitted:
    // whatever is done without it must not be called done.
    asio::awaitable<std::string> delete_for_destruction(MachineIdentity identity, Look machine);

private:
    asio::awaitable<bool> discard_now(MachineIdentity identity, MachineRecord record);
    bool may_be_left(const Look& machine) const;
    asio::awaitable<std::string> delete_image(std::string host, std::string volume);

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    VmFinder& machines_;
    Tasks& tasks_;
    Uploader uploader_;
    std::map<std::string, std::string> deletions_;  // task by SMBIOS UUID
    GrowingPauses pauses_;                          // after deletions that failed
};

}  // namespace providers::proxmox
