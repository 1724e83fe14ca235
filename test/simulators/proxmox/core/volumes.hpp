// Storages and their volumes: names, allocation, clones, space.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/file_locks.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

struct VolumeId {
    std::string storage;
    std::string name;  // name of the volume itself, without a linked clone's base
    std::string base;  // name of a linked clone's base; empty for others
};

VolumeId parse_volume_id(const std::string& text);
std::string print_volume_id(const std::string& storage, const Volume& volume);

// Throws "storage 'x' does not exist".
Storage& find_storage(World& world, const std::string& id);
const Storage& find_storage(const World& world, const std::string& id);
// Also throws if the storage is disabled or not available on the host.
Storage& usable_storage(World& world, const std::string& id, const std::string& host);
bool exists_on(const Storage& storage, const std::string& host);
// Throws "storage 'x' does not support content-type 'images'".
void require_content(const Storage& storage, const std::string& content);

// Returns the lock that serialises allocations in the storage.
LockName storage_lock(const World& world, const std::string& id, const std::string& host);

// Returns the volumes of a storage as one host sees them.
std::map<std::string, Volume>& volumes_on(Storage& storage, const std::string& host);
const Volume* find_volume(const World& world, const std::string& host, const std::string& volume_id);
Volume* find_volume(World& world, const std::string& host, const std::string& volume_id);
// Returns the volume's path in the host's file system.
std::string volume_path(const Storage& storage, const Volume& volume);

std::uint64_t used_space(const Storage& storage, const std::string& host);
std::uint64_t free_space(const Storage& storage, const std::string& host);
// DiskCommand is a command that makes `path`. The next function throws that it failed; only the task's log
// says why.
struct DiskCommand {
    std::string line;
    std::vector<std::string>& log;
};
void require_space(const Storage& storage, const std::string& host, std::uint64_t bytes, DiskCommand command);

bool is_file_based(const Storage& storage);
// Returns the first free "vm-105-disk-N" (or base-, or the fixed cloudinit name). Folder and extension depend
// on the storage type.
std::string new_disk_name(Storage& storage, const std::string& host, int vmid, const std::string& format);
std::string cloudinit_name(const Storage& storage, int vmid);
std::string default_format(const Storage& storage);

Volume& add_volume(Storage& storage, const std::string& host, Volume volume);
// Returns the IDs of the volumes that belong to the machine.
std::vector<std::string> owned_volumes(World& world, const std::string& host, int vmid);
// Throws "base volume '...' is still in use by linked cloned" for a base with clones. Returns false if the
// volume does not exist.
bool free_volume(World& world, const std::string& host, const std::string& volume_id);
void require_no_clones(World& world, const std::string& host, const std::string& volume_id);

}  // namespace proxmox_simulator
