#include "test/simulators/proxmox/core/volumes.hpp"

#include <algorithm>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

std::string share_key(const Storage& storage, const std::string& host) {
    return storage.shared ? "" : host;
}

}  // namespace

// Parses IDs such as local:9100/base-9100-disk-1.qcow2/101/vm-101-disk-0.qcow2,
// lvm:base-9100-disk-0/vm-101-disk-0 and local:iso/x.iso.
VolumeId parse_volume_id(const std::string& text) {
    auto colon = text.find(':');
    if (colon == std::string::npos) throw failure("unable to parse volume ID '" + text + "'");
    VolumeId id{text.substr(0, colon), text.substr(colon + 1), {}};
    auto base = id.name.find("base-");
    auto own = id.name.find("/", base == std::string::npos ? id.name.size() : base);
    if (own != std::string::npos) {
        id.base = id.name.substr(0, own);
        id.name = id.name.substr(own + 1);
    }
    return id;
}

std::string print_volume_id(const std::string& storage, const Volume& volume) {
    return storage + ":" + (volume.parent.empty() ? "" : volume.parent + "/") + volume.name;
}

const Storage& find_storage(const World& world, const std::string& id) {
    auto found = world.storages.find(id);
    if (found == world.storages.end()) throw failure("storage '" + id + "' does not exist");
    return found->second;
}

Storage& find_storage(World& world, const std::string& id) {
    return const_cast<Storage&>(find_storage(std::as_const(world), id));
}

bool exists_on(const Storage& storage, const std::string& host) {
    return storage.hosts.empty() || storage.hosts.contains(host);
}

Storage& usable_storage(World& world, const std::string& id, const std::string& host) {
    auto& storage = find_storage(world, id);
    if (!storage.enabled) throw failure("storage '" + id + "' is disabled");
    if (!exists_on(storage, host))
        throw failure("storage '" + id + "' is not available on node '" + host + "'");
    if (!storage.active) throw failure("storage '" + id + "' is not online");
    return storage;
}

void require_content(const Storage& storage, const std::string& content) {
    if (storage.content.contains(content)) return;
    throw failure("storage '" + storage.id + "' does not support content-type '" + content + "'");
}

LockName storage_lock(const World& world, const std::string& id, const std::string& host) {
    return find_storage(world, id).shared ? shared_storage_lock(id) : local_storage_lock(id, host);
}

std::map<std::string, Volume>& volumes_on(Storage& storage, const std::string& host) {
    return storage.volumes[share_key(storage, host)];
}

const Volume* find_volume(const World& world, const std::string& host, const std::string& volume_id) {
    if (volume_id.find(':') == std::string::npos) return nullptr;
    auto id = parse_volume_id(volume_id);
    auto storage = world.storages.find(id.storage);
    if (storage == world.storages.end() || !exists_on(storage->second, host)) return nullptr;
    auto volumes = storage->second.volumes.find(share_key(storage->second, host));
    if (volumes == storage->second.volumes.end()) return nullptr;
    auto volume = volumes->second.find(id.name);
    return volume == volumes->second.end() ? nullptr : &volume->second;
}

Volume* find_volume(World& world, const std::string& host, const std::string& volume_id) {
    return const_cast<Volume*>(find_volume(std::as_const(world), host, volume_id));
}

std::string volume_path(const Storage& storage, const Volume& volume) {
    if (!is_file_based(storage)) return "/dev/" + storage.id + "/" + volume.name;
    if (volume.content == "images") return storage.path + "/images/" + volume.name;
    if (volume.content == "iso") return storage.path + "/template/" + volume.name;
    return storage.path + "/" + volume.name;
}

std::uint64_t used_space(const Storage& storage, const std::string& host) {
    auto key = share_key(storage, host);
    std::uint64_t used = 0;
    if (auto foreign = storage.foreign_used.find(key); foreign != storage.foreign_used.end())
        used = foreign->second;
    if (auto volumes = storage.volumes.find(key); volumes != storage.volumes.end()) {
        for (const auto& [name, volume] : volumes->second) used += volume.used;
    }
    return std::min(used, storage.total);
}

std::uint64_t free_space(const Storage& storage, const std::string& host) {
    return storage.total - used_space(storage, host);
}

void require_space(const Storage& storage, const std::string& host, std::uint64_t bytes,
                   DiskCommand command) {
    if (bytes <= free_space(storage, host)) return;
    command.log.push_back("qemu-img: error while writing at byte 0: No space left on device");
    throw failure("command '" + command.line + "' failed: exit code 1");
}

bool is_file_based(const Storage& storage) {
    return storage.type == "dir" || storage.type == "nfs" || storage.type == "cifs" ||
           storage.type == "cephfs" || storage.type == "btrfs";
}

std::string default_format(const Storage&) {
    return "raw";
}

std::string new_disk_name(Storage& storage, const std::string& host, int vmid, const std::string& format) {
    auto owner = std::to_string(vmid);
    const auto& volumes = volumes_on(storage, host);
    for (int number = 0;; ++number) {
        bool taken = false;
        for (const char* kind : {"vm-", "base-"}) {
            auto stem = kind + owner + "-disk-" + std::to_string(number);
            if (is_file_based(storage)) stem = owner + "/" + stem + ".";
            auto after = volumes.lower_bound(stem);
            taken = taken || (after != volumes.end() && after->first.starts_with(stem) &&
                              (is_file_based(storage) || after->first == stem));
        }
        if (taken) continue;
        auto name = "vm-" + owner + "-disk-" + std::to_string(number);
        return is_file_based(storage) ? owner + "/" + name + "." + format : name;
    }
}

std::string cloudinit_name(const Storage& storage, int vmid) {
    auto owner = std::to_string(vmid);
    auto name = "vm-" + owner + "-cloudinit";
    return is_file_based(storage) ? owner + "/" + name + ".qcow2" : name;
}

Volume& add_volume(Storage& storage, const std::string& host, Volume volume) {
    auto name = volume.name;
    auto& volumes = volumes_on(storage, host);
    auto [entry, added] = volumes.insert_or_assign(name, std::move(volume));
    return entry->second;
}

std::vector<std::string> owned_volumes(World& world, const std::string& host, int vmid) {
    std::vector<std::string> ids;
    for (auto& [id, storage] : world.storages) {
        if (!exists_on(storage, host)) continue;
        for (const auto& [name, volume] : volumes_on(storage, host)) {
            if (volume.vmid == vmid && volume.content == "images") ids.push_back(print_volume_id(id, volume));
        }
    }
    return ids;
}

void require_no_clones(World& world, const std::string& host, const std::string& volume_id) {
    auto id = parse_volume_id(volume_id);
    auto& storage = find_storage(world, id.storage);
    for (const auto& [name, volume] : volumes_on(storage, host)) {
        if (!volume.parent.empty() && volume.parent == id.name) {
            throw failure("base volume '" + volume_id + "' is still in use by linked cloned");
        }
    }
}

bool free_volume(World& world, const std::string& host, const std::string& volume_id) {
    if (!find_volume(world, host, volume_id)) return false;
    require_no_clones(world, host, volume_id);
    auto id = parse_volume_id(volume_id);
    volumes_on(find_storage(world, id.storage), host).erase(id.name);
    return true;
}

}  // namespace proxmox_simulator
