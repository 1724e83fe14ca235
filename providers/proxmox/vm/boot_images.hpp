// NoCloud images on Proxmox. They are uploaded as ISO content, attached as a CD-ROM, and later ejected and
// deleted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "providers/proxmox/vm/uploader.hpp"
#include "providers/proxmox/vm/vm_finder.hpp"
#include "providers/proxmox/wire/growing_pauses.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

// NoIsoStorage means that no storage can take the image. The message names the storage that was looked for.
class NoIsoStorage : public ProviderError {
public:
    using ProviderError::ProviderError;
};

// Returns the storage for images on that host: the configured one, or the first active one by name. Empty:
// none.
std::string image_storage(const Settings& settings, const ClusterState& state, const std::string& host);

class BootImages {
public:
    // All arguments must outlive this.
    BootImages(const Settings& settings, ProxmoxClient& client, ClusterView& view, VmFinder& machines,
               Tasks& tasks, ProviderEnvironment& environment)
        : settings_(settings),
          client_(client),
          view_(view),
          machines_(machines),
          tasks_(tasks),
          uploader_(client, environment),
          pauses_(environment.clock) {}

    // Returns the task's UPID. Replaces an image of the same name. Throws ProxmoxError, FencedError,
    // NoIsoStorage.
    asio::awaitable<std::string> upload(MachineIdentity identity, std::string host, std::string image);
    // Returns the storage for images on that host. Throws ProxmoxError, NoIsoStorage.
    asio::awaitable<std::string> storage_on(std::string host);
    // Returns the volume ID of the image on that host, whether it exists or not.
    asio::awaitable<std::string> volume_on(MachineIdentity identity, std::string host);
    // Puts the uploaded image into a free drive of `config`. The boot order is kept.
    asio::awaitable<void> attach(MachineIdentity identity, std::string host, std::int64_t vmid,
                                 VmConfig config);
    // Ejects and deletes the image. Returns true when nothing is left; otherwise call again.
    asio::awaitable<bool> discard(MachineIdentity identity, MachineRecord record);
    // Deletes the image of a stopped machine before its destruction, attached or not. Returns the task's
    // UPID, or an empty text if there is no image. Throws ProxmoxError, also if deleting is not permitted, so
    // that an incomplete removal is not reported as done.
    asio::awaitable<std::string> delete_for_destruction(MachineIdentity identity, Look machine);

private:
    asio::awaitable<bool> discard_now(MachineIdentity identity, MachineRecord record);
    bool may_be_left(const Look& machine) const;
    asio::awaitable<std::string> delete_image(std::string host, std::string volume);

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    VmFinder& machines_;
    Tasks& tasks_;
    Uploader uploader_;
    std::map<std::string, std::string> deletions_;  // task by SMBIOS UUID
    GrowingPauses pauses_;                          // after failed deletions
};

}  // namespace providers::proxmox
