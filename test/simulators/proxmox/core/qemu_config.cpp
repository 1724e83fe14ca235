// Endpoints to read and change a machine's configuration.
#include <algorithm>
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/machine_disks.hpp"
#include "test/simulators/proxmox/core/machine_rights.hpp"
#include "test/simulators/proxmox/core/pci_devices.hpp"
#include "test/simulators/proxmox/core/qemu.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/tag_rights.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr Duration kPollInterval = std::chrono::seconds{1};

struct Change {
    std::string node, user;
    int vmid = 0;
    Config settings;
    std::vector<std::string> removed, reverted;
    std::string digest;
    bool force = false;
};

Config with_pending(const Machine& machine) {
    auto config = machine.config;
    for (const auto& option : machine.pending_delete) config.erase(option);
    for (const auto& [option, value] : machine.pending) config[option] = value;
    return config;
}

asio::awaitable<json::value> get_config(Call& call) {
    const auto& machine = call.machine();
    if (call.has("snapshot")) throw failure("snapshot '" + call.text("snapshot") + "' does not exist");
    auto result = config_json(call.flag("current") ? machine.config : with_pending(machine));
    result["digest"] = config_digest(machine.config);
    co_return result;
}

asio::awaitable<json::value> get_pending(Call& call) {
    const auto& machine = call.machine();
    json::array result;
    auto options = machine.config;
    for (const auto& [option, value] : machine.pending) options.try_emplace(option);
    for (const auto& [option, ignored] : options) {
        json::object entry{{"key", option}};
        if (auto value = machine.config.find(option); value != machine.config.end())
            entry["value"] = option_json(option, value->second);
        if (auto value = machine.pending.find(option); value != machine.pending.end())
            entry["pending"] = option_json(option, value->second);
        if (machine.pending_delete.contains(option)) entry["delete"] = 1;
        result.push_back(std::move(entry));
    }
    result.push_back({{"key", "digest"}, {"value", config_digest(machine.config)}});
    co_return result;
}

void keep_as_unused(Machine& machine, const std::string& volume) {
    for (int number = 0;; ++number) {
        auto option = "unused" + std::to_string(number);
        if (machine.config.contains(option)) continue;
        machine.config[option] = volume;
        return;
    }
}

// Detaches a disk. It becomes an unused disk unless the caller wants it destroyed. Generated drives are
// always deleted.
void detach(Cluster& cluster, Machine& machine, const std::string& option, bool force) {
    auto value = machine.config.find(option);
    if (value == machine.config.end()) return;
    bool unused = option.starts_with("unused");
    auto volume = unused ? value->second : parse_drive(option, value->second).volume;
    const auto* known = find_volume(std::as_const(cluster.world), machine.node, volume);
    bool own = known && known->vmid == machine.vmid;
    machine.config.erase(value);
    if (own && (unused || force || is_cloudinit_volume(volume)))
        free_volume(cluster.world, machine.node, volume);
    else if (own)
        keep_as_unused(machine, volume);
}

// Moves pending changes into the configuration. A running machine only gets those that take effect
// immediately.
void settle(Cluster& cluster, Machine& machine, bool force) {
    const auto waits = [&](const std::string& option) { return machine.running && !is_hotpluggable(option); };
    for (const auto& option : std::set(machine.pending_delete)) {
        if (waits(option) && machine.config.contains(option)) continue;
        machine.pending_delete.erase(option);
        if (is_drive(option) || option.starts_with("unused")) {
            detach(cluster, machine, option, force);
        } else {
            machine.config.erase(option);
        }
    }
    for (const auto& [option, value] : Config(machine.pending)) {
        if (waits(option) && config_text(machine.config, option) != value) continue;
        machine.pending.erase(option);
        const auto old = is_drive(option) ? machine.config.find(option) : machine.config.end();
        const bool is_replaced = old != machine.config.end() &&
                                 parse_drive(option, old->second).volume != parse_drive(option, value).volume;
        if (is_replaced) detach(cluster, machine, option, false);
        machine.config[option] = value;
    }
}

void require_unmodified(const World& world, const Machine& machine, const std::string& digest) {
    if (digest.empty() || digest == config_digest(machine.config)) return;
    // qemu-server 7.4 to 8.1 writes two s. Which later version corrected it is not known.
    const std::string word = std::stoi(world.version) < 9 ? "missmatch" : "mismatch";
    throw failure("checksum " + word + " (file change by other user?)");
}

std::vector<std::string> shuffled(const Config& settings, base::Random& random) {
    std::vector<std::string> options;
    for (const auto& [option, value] : settings) options.push_back(option);
    for (auto left = options.size(); left > 1; --left)
        std::swap(options[left - 1], options[random.below(left)]);
    return options;
}

// Deletions come before the new values, so a change that also sets protection to 0 is refused.
void require_unprotected_drive(const Config& config, const std::string& option) {
    if (!config_flag(config, "protection")) return;
    const bool is_unused = option.starts_with("unused");
    if (is_unused)
        throw failure("can't remove unused disk '" + config_text(config, option) +
                      "' - protection mode enabled");
    if (is_drive(option)) throw failure("can't remove drive '" + option + "' - protection mode enabled");
}

void write_deletion(Cluster& cluster, const Change& change, const std::string& option) {
    cluster.require_writable(change.node, change.vmid);
    auto& machine = cluster.machine(change.node, change.vmid);
    machine.pending.erase(option);
    if (!machine.config.contains(option)) return;
    if (option == "tags") {
        require_tag_rights(cluster.world, change.user, change.vmid, config_text(machine.config, option), "");
        machine.config.erase(option);
        return;
    }
    if (is_passed_through(option))
        require_device_right(cluster.world, change.user, option, config_text(machine.config, option));
    require_unprotected_drive(machine.config, option);
    machine.pending_delete.insert(option);
}

asio::awaitable<void> write_option(Cluster& cluster, Task& task, const Change& change, std::string option) {
    if (cluster.faults) {
        const auto fault = cluster.faults->on_option(change.vmid, option);
        if (fault && fault->status >= 590) throw RawError(fault->status, fault->reason);
        if (fault) throw ApiError(fault->status, fault->reason);
    }
    auto value = change.settings.at(option);
    const auto old = config_text(cluster.machine(change.node, change.vmid).config, option);
    if (is_drive(option)) {
        DiskRequest request{change.node, change.vmid, "", {{option, value}}};
        std::vector<std::string> created;
        const auto disks = co_await create_disks(cluster, task, std::move(request), created);
        value = disks.at(option);
    } else if (option == "tags") {
        require_tag_rights(cluster.world, change.user, change.vmid, old, value);
        value = normalise_tags(value);
    } else if (is_network_interface(option) && !old.empty()) {
        require_bridge(cluster.world, change.user, old);
    } else if (is_passed_through(option)) {
        if (!old.empty()) require_device_right(cluster.world, change.user, option, old);
        require_device_right(cluster.world, change.user, option, value);
    }
    cluster.require_writable(change.node, change.vmid);
    auto& machine = cluster.machine(change.node, change.vmid);
    machine.pending_delete.erase(option);
    machine.pending[option] = value;
}

// Writes the options one by one, in the order of a hash table. If one fails, those before it stay pending in
// the file, and the API shows them as if they were set.
asio::awaitable<void> apply(Cluster& cluster, Task& task, Change change) {
    auto lock = co_await lock_machine(cluster, task, change.vmid);
    require_unmodified(cluster.world, cluster.machine(change.node, change.vmid), change.digest);
    require_unlocked(cluster.machine(change.node, change.vmid).config);
    for (const auto& option : change.reverted) {
        auto& machine = cluster.machine(change.node, change.vmid);
        machine.pending.erase(option);
        machine.pending_delete.erase(option);
    }
    for (const auto& option : change.removed) write_deletion(cluster, change, option);
    const auto options = shuffled(change.settings, cluster.random);
    for (const auto& option : options) co_await write_option(cluster, task, change, option);
    settle(cluster, cluster.machine(change.node, change.vmid), change.force);
}

std::vector<std::string> known_options(const Call& call, const char* parameter) {
    auto options = split_list(call.text(parameter));
    for (auto& option : options) {
        if (option == "cdrom") option = "ide2";
        if (!vm_options().find(option)) throw parameter_error(parameter, "unknown option '" + option + "'");
        if (!call.has(option)) continue;
        throw parameter_error(parameter, "you can't use '-" + option + "' and -" + parameter + " " + option +
                                             "' at the same time");
    }
    return options;
}

Change requested_change(Call& call) {
    Change change{call.node,
                  call.user,
                  call.vmid(),
                  {},
                  known_options(call, "delete"),
                  known_options(call, "revert"),
                  call.text("digest"),
                  call.flag("force")};
    for (const auto& [name, value] : call.parameters) {
        if (vm_options().find(name) && value.is_string())
            change.settings[name] = std::string(value.as_string());
    }
    if (auto cdrom = change.settings.find("cdrom"); cdrom != change.settings.end()) {
        change.settings["ide2"] =
            cdrom->second + (cdrom->second.find("media=") == std::string::npos ? ",media=cdrom" : "");
        change.settings.erase("cdrom");
    }
    return change;
}

void require_change_rights(const Call& call, const Machine& machine, const Change& change) {
    require_config_rights(call, change.vmid, "", change.settings);
    for (const auto& options : {change.removed, change.reverted}) {
        for (const auto& option : options) {
            if (!is_drive(option)) {
                require_option_right(call, change.vmid, "", option);
                continue;
            }
            auto value = machine.config.find(option);
            const auto drive = value == machine.config.end() ? Drive{} : parse_drive(option, value->second);
            const auto* right = drive.is_cdrom ? "VM.Config.CDROM" : "VM.Config.Disk";
            require_machine_right(call, change.vmid, "", {right});
            if (is_cloudinit_volume(drive.volume))
                require_machine_right(call, change.vmid, "", {"VM.Config.Cloudinit"});
        }
    }
}

Change prepare(Call& call) {
    call.only_root({"skiplock"});
    auto change = requested_change(call);
    if (change.settings.empty() && change.removed.empty() && change.reverted.empty()) {
        throw failure("no options specified");
    }
    const auto& machine = call.machine();
    require_change_rights(call, machine, change);
    require_unmodified(call.cluster.world, machine, change.digest);
    require_unlocked(machine.config);
    call.cluster.require_writable(call.node, call.vmid());
    add_random_macs(call.cluster, change.settings);
    return change;
}

asio::awaitable<json::value> put_config(Call& call) {
    auto change = prepare(call);
    Task unrecorded(call.cluster.executor, call.cluster.clock);
    co_await apply(call.cluster, unrecorded, std::move(change));
    co_return nullptr;
}

asio::awaitable<json::value> post_config(Call& call) {
    auto change = prepare(call);
    auto& task = call.cluster.create_task(call.node, "qmconfig", call.text("vmid"), call.user);
    std::string line = "update VM " + call.text("vmid") + ":";
    for (const auto& [option, value] : change.settings) {
        line += " -" + option + " " + (option == "cipassword" ? "<hidden>" : value);
    }
    for (const auto& option : change.removed) line += " -delete " + option;
    task.log.push_back(line);
    auto upid = call.cluster.run_task(task, apply(call.cluster, task, std::move(change)));
    if (!call.has("background_delay")) co_return json::value(upid);
    const auto deadline = call.cluster.clock.now() + std::chrono::seconds{call.integer("background_delay")};
    while (task.is_running() && call.cluster.clock.now() < deadline) {
        co_await call.cluster.clock.sleep_for(kPollInterval);
    }
    if (task.is_running()) co_return json::value(upid);
    if (task.exit_status != "OK") throw failure(task.exit_status);
    co_return nullptr;
}

Endpoint reading(std::string path, Handler handler, std::string parameters) {
    Endpoint endpoint{.method = "GET", .path = "/nodes/{node}/qemu/{vmid}/" + path, .handler = handler};
    endpoint.parameters = std::move(parameters);
    endpoint.place = Place::node;
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/vms/{vmid}";
    endpoint.privileges = {"VM.Audit"};
    return endpoint;
}

}  // namespace

void add_qemu_config(Routes& routes) {
    routes.add(reading("config", get_config, "current boolean\nsnapshot format=pve-configid maxlen=40"));
    routes.add(reading("pending", get_pending, ""));
    for (auto [method, handler] :
         {std::pair<const char*, Handler>{"PUT", put_config}, {"POST", post_config}}) {
        Endpoint endpoint{.method = method, .path = "/nodes/{node}/qemu/{vmid}/config", .handler = handler};
        endpoint.schema = vm_options();
        endpoint.parameters = R"(
            delete format=pve-configid-list
            revert format=pve-configid-list
            digest maxlen=40
            force boolean requires=delete
            skiplock boolean)";
        if (endpoint.method == "POST") {
            endpoint.parameters +=
                "\nbackground_delay integer min=1 max=30\nimport-working-storage format=pve-storage-id";
        }
        endpoint.place = Place::node;
        endpoint.daemon = true;
        endpoint.access = Access::privilege;
        endpoint.permission_path = "/vms/{vmid}";
        endpoint.privileges = {"VM.Config.Disk",    "VM.Config.CDROM",    "VM.Config.CPU",
                               "VM.Config.Memory",  "VM.Config.Network",  "VM.Config.HWType",
                               "VM.Config.Options", "VM.Config.Cloudinit"};
        routes.add(std::move(endpoint));
    }
}

}  // namespace proxmox_simulator
