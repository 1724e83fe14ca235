#include "test/simulators/proxmox/core/world_file.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <stdexcept>

#include "test/simulators/proxmox/core/json_fields.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/machine_rights.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAutoscalerPrivileges =
    "VM.Allocate VM.Audit VM.Clone VM.Migrate VM.PowerMgmt VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit "
    "VM.Config.Disk VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options "
    "VM.GuestAgent.Audit "
    "VM.GuestAgent.FileWrite VM.GuestAgent.Unrestricted Pool.Audit SDN.Use Sys.AccessNetwork Sys.Audit "
    "Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit";

Duration seconds(double value) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

Host read_host(const Fields& fields, int number) {
    Host host;
    host.name = fields.text("name");
    // Clients try this address, so it must be unused (RFC 5737).
    host.ip = fields.text("ip", "192.0.2." + std::to_string(number));
    host.node_id = number;
    host.cpus = static_cast<int>(fields.number("cpus", 16));
    host.memory = static_cast<std::uint64_t>(fields.number("memoryMiB", 64 * 1024)) * kMiB;
    host.maintenance = fields.flag("maintenance", false);
    host.bridges = {{"vmbr0", host.ip + "/24", "eno1"}};
    if (auto bridges = fields.find_list("bridges")) {
        host.bridges.clear();
        for (const auto& bridge : *bridges) {
            host.bridges.push_back(
                {bridge.text("name"), bridge.text("address", ""), bridge.text("port", "")});
        }
    }
    return host;
}

void read_volume(Storage& storage, const World& world, const Fields& fields) {
    Volume volume;
    volume.name = fields.text("name");
    volume.content = fields.text("content", "images");
    volume.format = fields.text("format", volume.content == "images" ? "qcow2" : volume.content);
    volume.data = fields.text("data", "");
    volume.size = volume.used = fields.has("sizeMiB")
                                    ? static_cast<std::uint64_t>(fields.number("sizeMiB", 0)) * kMiB
                                    : volume.data.size();
    if (fields.has("vmid")) volume.vmid = static_cast<int>(fields.number("vmid", 0));
    for (const auto& host : world.hosts) {
        if (!fields.has("host") || fields.text("host") == host.name) add_volume(storage, host.name, volume);
    }
}

Storage read_storage(const Fields& fields, const World& world) {
    Storage storage;
    storage.id = fields.text("id");
    storage.type = fields.text("type", "dir");
    storage.path = fields.text("path", storage.id == "local" ? "/var/lib/vz" : "/mnt/" + storage.id);
    auto content = fields.texts("content");
    if (!content.empty()) storage.content = {content.begin(), content.end()};
    auto hosts = fields.texts("hosts");
    storage.hosts = {hosts.begin(), hosts.end()};
    storage.shared = fields.flag("shared", false);
    storage.enabled = fields.flag("enabled", true);
    storage.active = fields.flag("active", true);
    storage.total = static_cast<std::uint64_t>(fields.number("totalGiB", 500)) * kGiB;
    auto used = static_cast<std::uint64_t>(fields.number("usedGiB", 0)) * kGiB;
    for (const auto& host : world.hosts) storage.foreign_used[storage.shared ? "" : host.name] = used;
    if (auto volumes = fields.find_list("volumes")) {
        for (const auto& volume : *volumes) read_volume(storage, world, volume);
    }
    return storage;
}

void make_drive(World& world, const Machine& machine, const std::string& option, std::string& value) {
    auto drive = parse_drive(option, value);
    auto disk = parse_new_disk(drive.volume, "");
    bool cloudinit = drive.volume.ends_with(":cloudinit");
    if (!disk && !cloudinit) return;
    auto id = disk ? disk->storage : drive.volume.substr(0, drive.volume.find(':'));
    auto& storage = find_storage(world, id);
    Volume volume;
    volume.content = "images";
    volume.vmid = machine.vmid;
    volume.format = is_file_based(storage) ? "qcow2" : "raw";
    volume.size = cloudinit ? 4 * kMiB : disk->size;
    volume.used = kMiB;
    volume.name = cloudinit ? cloudinit_name(storage, machine.vmid)
                            : new_disk_name(storage, machine.node, machine.vmid, volume.format);
    if (!cloudinit && config_flag(machine.config, "template"))
        volume.name.replace(volume.name.find("vm-"), 3, "base-");
    if (cloudinit) drive.properties["media"] = "cdrom";
    drive.properties["file"] = print_volume_id(id, add_volume(storage, machine.node, volume));
    drive.properties["size"] = format_size(volume.size);
    value = print_properties(property_group(drive_group(option)), drive.properties);
}

void read_machine(World& world, const Fields& fields) {
    Machine machine;
    machine.vmid = static_cast<int>(fields.number("vmid", 0));
    machine.node = fields.text("node", world.hosts.front().name);
    machine.guest.agent_silent = fields.flag("agentSilent", false);
    if (auto config = fields.find_object("config")) {
        for (const auto& [option, value] : config->object()) machine.config[option] = config->scalar(option);
    }
    for (auto& [option, value] : machine.config) {
        if (!vm_options().find(option)) throw std::invalid_argument("machines: unknown option " + option);
        if (is_drive(option)) make_drive(world, machine, option, value);
    }
    world.machines[machine.vmid] = std::move(machine);
}

void read_access(World& world, const Fields& fields) {
    if (auto roles = fields.find_object("roles")) {
        world.custom_roles.clear();
        for (const auto& [name, privileges] : roles->object()) {
            auto list = roles->texts(name);
            world.custom_roles[name] = {list.begin(), list.end()};
        }
    }
    if (auto users = fields.find_list("users")) {
        world.users = {{"root@pam", {"root@pam", "", true, 0}}};
        for (const auto& user : *users) {
            auto id = user.text("id");
            auto keys = user.texts("recoveryKeys");
            world.users[id] = {
                id,
                user.text("password", ""),
                user.flag("enabled", true),
                static_cast<std::int64_t>(user.number("expire", 0)),
                {user.text("totp", ""), {keys.begin(), keys.end()}, user.flag("webauthn", false)}};
        }
    }
    if (auto tokens = fields.find_list("tokens")) {
        world.tokens.clear();
        for (const auto& token : *tokens) {
            auto user = token.text("user"), id = token.text("id");
            world.tokens[user + "!" + id] = {id,
                                             user,
                                             token.text("secret"),
                                             token.flag("separated", true),
                                             static_cast<std::int64_t>(token.number("expire", 0)),
                                             ""};
        }
    }
    if (auto acl = fields.find_list("acl")) {
        world.acl.clear();
        for (const auto& entry : *acl) {
            bool token = entry.has("token");
            world.acl.push_back({entry.text("path"), token ? "token" : "user",
                                 entry.text(token ? "token" : "user"), entry.text("role"),
                                 entry.flag("propagate", true)});
        }
    }
}

World empty_default() {
    World world;
    world.cluster_name = "lab";
    world.durations.tasks = {{"qmcreate", 200ms}, {"qmclone", 1s},   {"qmclone-full", 1500ms},
                             {"qmstart", 500ms},  {"qmstop", 300ms}, {"qmdestroy", 300ms},
                             {"imgcopy", 100ms},  {"imgdel", 100ms}, {"allocate", 50ms}};
    return world;
}

}  // namespace

void read_durations(Durations& durations, const Fields& fields) {
    durations.boot = seconds(fields.number("boot", std::chrono::duration<double>(durations.boot).count()));
    durations.guest_shutdown = seconds(
        fields.number("guestShutdown", std::chrono::duration<double>(durations.guest_shutdown).count()));
    durations.request = seconds(fields.number("request", 0));
    durations.other = seconds(fields.number("other", std::chrono::duration<double>(durations.other).count()));
    if (auto tasks = fields.find_object("tasks")) {
        for (const auto& [type, value] : tasks->object())
            durations.tasks[type] = seconds(tasks->number(type, 0));
    }
}

World default_world() {
    World world = empty_default();
    for (const char* name : {"alfaromeo", "porsche", "zagato"}) {
        json::value description{{"name", name}};
        world.hosts.push_back(
            read_host(Fields(description, "hosts"), static_cast<int>(world.hosts.size()) + 1));
    }
    json::value local{{"id", "local"}, {"content", {"images", "iso", "vztmpl", "import", "snippets"}}};
    json::value shared{{"id", "shared"},
                       {"type", "nfs"},
                       {"shared", true},
                       {"totalGiB", 2000},
                       {"content", {"images", "iso", "snippets", "import"}}};
    for (const auto& description : {local, shared}) {
        auto storage = read_storage(Fields(description, "storages"), world);
        world.storages[storage.id] = std::move(storage);
    }
    auto privileges = split_list(kAutoscalerPrivileges);
    world.custom_roles["KubeNodeSmith"] = {privileges.begin(), privileges.end()};
    world.users["root@pam"] = {"root@pam", "", true, 0};
    world.users["automation@pve"] = {"automation@pve", "automation", true, 0};
    world.tokens["automation@pve!kubenodesmith"] = {
        "kubenodesmith", "automation@pve", kDefaultTokenSecret, false, 0, ""};
    world.acl = {{"/", "user", "automation@pve", "KubeNodeSmith", true}};
    world.pools["kubernetes"] = {"kubernetes", "", {}, {}};
    return world;
}

World world_from_json(const json::value& description) {
    World world = default_world();
    Fields fields(description, "world");
    world.cluster_name = fields.text("cluster", world.cluster_name);
    world.authority_fingerprint = fields.text("authority", world.authority_fingerprint);
    world.standalone = fields.flag("standalone", false);
    world.version = fields.text("version", world.version);
    world.qemu_lacks_savevm = fields.flag("qemuLacksSavevm", false);
    if (auto durations = fields.find_object("durations")) read_durations(world.durations, *durations);
    if (auto hosts = fields.find_list("hosts")) {
        world.hosts.clear();
        for (const auto& host : *hosts)
            world.hosts.push_back(read_host(host, static_cast<int>(world.hosts.size()) + 1));
        if (world.hosts.empty()) throw std::invalid_argument("hosts: at least one is needed");
    }
    if (auto storages = fields.find_list("storages")) {
        world.storages.clear();
        for (const auto& entry : *storages) {
            auto storage = read_storage(entry, world);
            world.storages[storage.id] = std::move(storage);
        }
    }
    read_access(world, fields);
    if (auto machines = fields.find_list("machines")) {
        for (const auto& machine : *machines) read_machine(world, machine);
    }
    if (auto pools = fields.find_list("pools")) {
        world.pools.clear();
        for (const auto& entry : *pools) {
            Pool pool{entry.text("id"), entry.text("comment", ""), {}, {}};
            for (auto vmid : entry.integers("vms")) pool.vms.insert(static_cast<int>(vmid));
            world.pools[pool.id] = std::move(pool);
        }
    }
    if (auto web = fields.find_list("web")) {
        for (const auto& file : *web)
            world.web[file.text("url")] = {file.text("data"),
                                           static_cast<std::uint64_t>(file.number("diskGiB", 2)) * kGiB};
    }
    if (auto options = fields.find_object("options")) {
        for (const auto& [name, value] : options->object()) world.options[name] = options->text(name);
    }
    return world;
}

}  // namespace proxmox_simulator
