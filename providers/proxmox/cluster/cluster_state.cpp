#include "providers/proxmox/cluster/cluster_state.hpp"

#include <algorithm>

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/call.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/grammar.hpp"

namespace providers::proxmox {

namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

std::int64_t cpus_of(const json::object& entry) {
    return std::clamp<std::int64_t>(integer_of(entry, "maxcpu"), 0, kMostCpus);
}

using Grammar = bool (*)(std::string_view text);

// Returns a valid name of the entry. Throws ProxmoxError if it is not valid.
std::string name_in(const json::object& entry, std::string_view key, Grammar is_name) {
    auto name = text_of(entry, key);
    if (is_name(name)) return name;
    throw ProxmoxError(ErrorKind::other, get_cluster_resources().tried,
                       "the answer has an entry of type " + foreign::shown(text_of(entry, "type")) +
                           " whose " + std::string(key) + " is not one that Proxmox allows");
}

// Returns the uptime, limited to a value that fits into a Duration.
base::Duration uptime_of(const json::object& entry) {
    constexpr std::int64_t kCentury = std::int64_t{100} * 366 * 24 * 3600;  // s
    return std::chrono::seconds{std::clamp<std::int64_t>(integer_of(entry, "uptime"), 0, kCentury)};
}

Guest parse_guest(const json::object& entry) {
    Guest guest;
    guest.vmid = integer_of(entry, "vmid");
    guest.name = text_of(entry, "name");
    guest.is_container = text_of(entry, "type") == "lxc";
    guest.is_template = flag_of(entry, "template");
    guest.is_running = text_of(entry, "status") == "running";
    guest.uptime = uptime_of(entry);
    guest.tags = parse_tags(text_of(entry, "tags"));
    guest.lock = text_of(entry, "lock");
    guest.pool = text_of(entry, "pool");
    guest.cpus = cpus_of(entry);
    guest.memory_mib = (integer_of(entry, "maxmem") + kMiB - 1) / kMiB;
    return guest;
}

// Adds a guest even if its entry is malformed. Otherwise its VMID would seem free, or its machine gone.
void add_guest(ClusterState& state, const json::object& entry) {
    auto guest = parse_guest(entry);
    try {
        guest.node = name_in(entry, "node", is_host_name);
        state.guests.push_back(std::move(guest));
    } catch (const ProxmoxError& error) {
        state.passed_over.emplace_back(error.what());
        state.odd_guests.push_back(std::move(guest));
    }
}

HostState parse_host(const json::object& entry) {
    HostState host;
    host.name = name_in(entry, "node", is_host_name);
    host.is_online = text_of(entry, "status") == "online";
    host.is_silent = text_of(entry, "status") == "unknown";
    host.in_maintenance = text_of(entry, "hastate") == "maintenance";
    host.cpus = cpus_of(entry);
    host.memory_mib = integer_of(entry, "maxmem") / kMiB;
    host.cpu_use = number_of(entry, "cpu");
    host.memory_used_mib = integer_of(entry, "mem") / kMiB;
    host.uptime = uptime_of(entry);
    return host;
}

// Reports whether a kind of Proxmox storage keeps disks as files, which may be qcow2.
bool keeps_files(const std::string& kind) {
    return kind == "dir" || kind == "nfs" || kind == "cifs" || kind == "glusterfs" || kind == "cephfs";
}

StorageState parse_storage(const json::object& entry) {
    StorageState storage;
    storage.name = name_in(entry, "storage", is_storage_id);
    storage.node = name_in(entry, "node", is_host_name);
    storage.is_available = text_of(entry, "status") == "available";
    storage.is_shared = flag_of(entry, "shared");
    storage.total_mib = mib_of(entry, "maxdisk");
    storage.used_mib = mib_of(entry, "disk");
    // The content is a list such as "images,iso,vztmpl", which has the syntax of tags.
    const auto content = parse_tags(text_of(entry, "content"));
    storage.takes_iso = content.contains("iso");
    storage.takes_disks = content.contains("images");
    storage.keeps_files = keeps_files(text_of(entry, "plugintype"));
    // The VMs of an ESXi host are imports, too, but that storage takes no files.
    storage.takes_imports = content.contains("import") && text_of(entry, "plugintype") != "esxi";
    return storage;
}

}  // namespace

std::string HostState::why_unused() const {
    return is_silent ? "sends no statistics (as root on it: systemctl restart pvestatd)" : "offline";
}

const HostState* ClusterState::find_host(const std::string& name) const {
    const auto found = std::ranges::find(hosts, name, &HostState::name);
    return found == hosts.end() ? nullptr : &*found;
}

const Guest* ClusterState::find_guest(std::int64_t vmid) const {
    const auto found = std::ranges::lower_bound(guests, vmid, {}, &Guest::vmid);
    return found == guests.end() || found->vmid != vmid ? nullptr : &*found;
}

const StorageState* ClusterState::find_storage(const std::string& name, const std::string& host) const {
    const auto found = std::ranges::find_if(
        storages, [&](const StorageState& storage) { return storage.name == name && storage.node == host; });
    return found == storages.end() ? nullptr : &*found;
}

const StorageState* ClusterState::find_storage(const std::string& name) const {
    const auto found = std::ranges::find(storages, name, &StorageState::name);
    return found == storages.end() ? nullptr : &*found;
}

ClusterState parse_cluster_state(const json::value& data) {
    ClusterState state;
    for (const auto* entry : objects_of(data)) {
        const auto type = text_of(*entry, "type");
        if (type == "qemu" || type == "lxc") add_guest(state, *entry);
        if (type == "pool") state.pools.insert(text_of(*entry, "pool"));
        try {
            if (type == "node") state.hosts.push_back(parse_host(*entry));
            if (type == "storage") state.storages.push_back(parse_storage(*entry));
        } catch (const ProxmoxError& error) {
            // A host or storage with an odd entry is not used. The others are.
            state.passed_over.emplace_back(error.what());
        }
    }
    std::ranges::sort(state.hosts, {}, &HostState::name);
    std::ranges::sort(state.guests, {}, &Guest::vmid);
    return state;
}

}  // namespace providers::proxmox
