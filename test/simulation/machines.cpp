#include "test/simulation/machines.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <iterator>

#include "test/simulation/volume_keepers.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace simulation {
namespace {

namespace json = boost::json;

// Names of the templates that the operator makes from images begin so.
constexpr const char* kNameOfTemplates = "nodesmith-image-";

proxmox::RequestFault draw(simulation::FaultPlan& faults, proxmox::Moment moment) {
    static constexpr std::pair<int, const char*> kAnswers[] = {{500, "got timeout"},
                                                               {595, "Connection refused"},
                                                               {596, "Connection timed out"},
                                                               {599, "Too many redirections"}};
    proxmox::RequestFault fault;
    fault.moment = moment;
    auto choice = faults.random().below(5);
    if (choice == 4) {
        fault.lose_connection = true;
    } else {
        fault.status = kAnswers[choice].first;
        fault.reason = kAnswers[choice].second;
    }
    fault.delay = faults.duration(std::chrono::milliseconds{1}, std::chrono::seconds{20});
    return fault;
}

// Returns a failure. Every second one says only in its log why it failed.
proxmox::TaskFault failure_of(simulation::FaultPlan& faults, proxmox::TaskTrouble trouble,
                              const char* complaint) {
    if (faults.random().below(2) == 0) return {trouble, complaint, ""};
    return {trouble, std::string(complaint) + ": exit code 1", kInjectedCause};
}

}  // namespace

std::optional<proxmox::RequestFault> ProxmoxFaults::on_request(const std::string&, const std::string&) {
    if (faults_.strikes(Fault::provider_refused)) return draw(faults_, proxmox::Moment::before_effect);
    if (faults_.strikes(Fault::provider_answer_lost)) return draw(faults_, proxmox::Moment::after_effect);
    return std::nullopt;
}

std::optional<proxmox::TaskFault> ProxmoxFaults::on_task(const std::string& type, const std::string& id) {
    using proxmox::TaskTrouble;
    const bool is_busy = faults_.active() && type == "qmdestroy" && busy_disks_.contains(id);
    if (is_busy) return proxmox::TaskFault{TaskTrouble::fail_at_once, "lvremove: filesystem in use", ""};
    const bool is_failure = faults_.strikes(Fault::task_failed);
    if (is_failure && type == "qmdestroy" && faults_.random().below(3) == 0) busy_disks_.insert(id);
    if (is_failure) return failure_of(faults_, TaskTrouble::fail_at_once, "injected: failed");
    if (faults_.strikes(Fault::task_failed_late))
        return failure_of(faults_, TaskTrouble::fail_at_end, "injected: failed late");
    if (faults_.strikes(Fault::task_hung)) {
        static constexpr TaskTrouble kHangs[] = {TaskTrouble::hang, TaskTrouble::hang, TaskTrouble::hang_deaf,
                                                 TaskTrouble::hang_in_kernel};
        return proxmox::TaskFault{kHangs[faults_.random().below(std::size(kHangs))], "", ""};
    }
    if (faults_.strikes(Fault::task_died)) return proxmox::TaskFault{TaskTrouble::die, "", ""};
    return std::nullopt;
}

std::optional<proxmox::RequestFault> ProxmoxFaults::on_option(int vmid, const std::string&) {
    if (!faults_.strikes(Fault::config_written_in_part)) return std::nullopt;
    proxmox::RequestFault fault;
    if (faults_.random().below(2) == 0) {
        fault.status = 596;  // Proxmox's own daemon was killed
        fault.reason = "Broken pipe";
    } else {
        fault.reason = "unable to open file '/etc/pve/nodes/x/qemu-server/" + std::to_string(vmid) +
                       ".conf.tmp.1' - Permission denied";
    }
    return fault;
}

base::Duration ProxmoxFaults::on_remote_shell() {
    if (!faults_.strikes(Fault::remote_copy_slow)) return base::Duration::zero();
    return faults_.duration(std::chrono::milliseconds{500}, std::chrono::seconds{20});
}

std::optional<Mark> read_mark(const proxmox::Machine& machine) {
    auto description = machine.config.find("description");
    if (description == machine.config.end()) return std::nullopt;
    for (const auto& line : proxmox::split(description->second, '\n')) {
        boost::system::error_code error;
        auto value = json::parse(line, error);
        const auto* object = error ? nullptr : value.if_object();
        const auto* mark = object ? object->if_contains("kubenodesmith") : nullptr;
        if (!mark || !mark->is_object()) continue;
        const auto& fields = mark->get_object();
        if (!fields.contains("uid")) continue;  // others are templates of an image
        return Mark{std::string(fields.at("cluster").as_string()), std::string(fields.at("uid").as_string()),
                    fields.at("attempt").to_number<std::int64_t>()};
    }
    return std::nullopt;
}

std::string uuid_of(const proxmox::Machine& machine) {
    auto smbios = machine.config.find("smbios1");
    if (smbios == machine.config.end()) return "";
    for (const auto& property : proxmox::split(smbios->second, ',')) {
        if (property.starts_with("uuid=")) return proxmox::lower(property.substr(5));
    }
    return "";
}

Administrators::Administrators(proxmox::Simulator& simulator, Guests& guests, simulation::FaultPlan& faults,
                               Trace& trace)
    : simulator_(simulator), guests_(guests), faults_(faults), trace_(trace) {}

std::vector<int> Administrators::marked() const {
    std::vector<int> ids;
    for (const auto& [vmid, machine] : world().machines) {
        if (!untouchable_.contains(vmid) && mark_of(machine)) ids.push_back(vmid);
    }
    return ids;
}

const std::optional<Mark>& Administrators::mark_of(const proxmox::Machine& machine) const {
    static const std::optional<Mark> kNone;
    auto description = machine.config.find("description");
    if (description == machine.config.end()) return kNone;
    auto& known = marks_[machine.vmid];
    if (known.description != description->second) known = {description->second, read_mark(machine)};
    return known.mark;
}

void Administrators::destroy(int vmid) {
    meddled_.insert(uuid_of(world().machines.at(vmid)));
    trace_.line("admin", "destroys machine ", vmid);
    auto& machine = world().machines.at(vmid);
    simulator_.cluster().stop_machine(machine);
    guests_.on_machine_destroyed(simulator_.cluster().view(machine));
    take_away(vmid);
}

// The machine never ran, so no guest knows it.
void Administrators::clear_away(int vmid) {
    trace_.line("admin", "unlocks and destroys machine ", vmid);
    take_away(vmid);
}

// Removes a machine and its volumes, except those with data of others. Disks of clones have the content of
// their image. A clone that died has disks that its configuration does not name yet. Both are removed with
// the machine.
void Administrators::take_away(int vmid) {
    for (auto& [id, storage] : world().storages) {
        for (auto& [host, volumes] : storage.volumes) {
            std::erase_if(volumes, [vmid](const auto& entry) {
                const auto& volume = entry.second;
                return volume.vmid == vmid && !volume.data.starts_with(kDataOfOthers);
            });
        }
    }
    world().machines.erase(vmid);
}

void Administrators::stop(int vmid) {
    auto& machine = world().machines.at(vmid);
    meddled_.insert(uuid_of(machine));
    trace_.line("admin", "stops machine ", vmid);
    auto& cluster = simulator_.cluster();
    auto& task = cluster.create_task(machine.node, "qmstop", std::to_string(vmid), "root@pam");
    cluster.run_task(task, []() -> boost::asio::awaitable<void> { co_return; }());
    cluster.stop_machine(machine);
}

void Administrators::spoil_mark(int vmid) {
    auto& config = world().machines.at(vmid).config;
    meddled_.insert(uuid_of(world().machines.at(vmid)));
    untouchable_[vmid] = simulator_.cluster().clock.now();
    trace_.line("admin", "takes the mark off machine ", vmid);
    // An unfinished machine is proven only by its description, and the operator writes its tags again.
    const bool is_unfinished = config["description"].find("\"unfinished\"") != std::string::npos;
    const bool takes_description = faults_.random().below(2) == 0;
    if (takes_description || is_unfinished || !config.contains("tags")) {
        config["description"] = "mine now";
    } else {
        config.erase("tags");
    }
}

void Administrators::forget_gone() {
    std::erase_if(untouchable_,
                  [this](const auto& entry) { return !world().machines.contains(entry.first); });
}

int Administrators::free_id_after(int vmid) const {
    while (world().machines.contains(vmid)) ++vmid;
    return vmid;
}

// Copies a machine as qm clone does: name, description and tags, but not the SMBIOS UUID. A backup that is
// restored under another VMID has that too.
void Administrators::plant_copy(int vmid) {
    auto config = world().machines.at(vmid).config;
    const bool is_restored = faults_.random().below(2) == 0;
    if (!is_restored)
        config["smbios1"] = "uuid=deadbeef-0000-4000-8000-" + faults_.random().text(12, "0123456789abcdef");
    for (const char* drive : {"ide2", "scsi0", "ide0"}) config.erase(drive);
    plant(free_id_after(vmid), world().hosts.front().name, std::move(config));
}

// Clones a template of the operator as a person would, who gives the clone a similar name.
bool Administrators::plant_copy_of_template() {
    for (const auto& [vmid, machine] : world().machines) {
        const auto name = proxmox::config_text(machine.config, "name");
        if (!machine.config.contains("template") || !name.starts_with(kNameOfTemplates)) continue;
        auto config = machine.config;
        for (const char* option : {"template", "lock", "scsi0", "virtio0", "sata0"}) config.erase(option);
        config["name"] = name + "-copy";
        config["smbios1"] = "uuid=deadbeef-0000-4000-8000-" + faults_.random().text(12, "0123456789abcdef");
        const auto host = machine.node;
        plant_stranger(vmid, host, std::move(config));
        return true;
    }
    return false;
}

void Administrators::rename_copies(const std::function<bool(int vmid)>& is_reported) {
    for (auto& [vmid, machine] : world().machines) {
        const bool is_copy = is_stranger(vmid) && !machine.config.contains("template") &&
                             proxmox::config_text(machine.config, "name").starts_with(kNameOfTemplates);
        if (is_copy && is_reported(vmid)) machine.config["name"] = "copy-" + std::to_string(vmid);
    }
}

void Administrators::plant_stranger(int vmid) {
    proxmox::Config config{{"name", "stranger"}, {"memory", "512"}, {"cores", "1"}};
    config["smbios1"] = "uuid=deadbeef-0000-4000-8000-" + faults_.random().text(12, "0123456789abcdef");
    plant_stranger(vmid, world().hosts.front().name, std::move(config));
}

int Administrators::plant_stranger(int vmid, const std::string& host, proxmox::Config config) {
    const int free_id = free_id_after(vmid);
    plant(free_id, host, std::move(config));
    return free_id;
}

void Administrators::remove_stranger(int vmid) {
    trace_.line("admin", "destroys machine ", vmid, " of others");
    take_away(vmid);
    untouchable_.erase(vmid);
    guests_.heed(vmid);
}

void Administrators::plant(int vmid, const std::string& host, proxmox::Config config) {
    trace_.line("admin", "makes machine ", vmid, " ", config["name"]);
    proxmox::Machine machine;
    machine.vmid = vmid;
    machine.node = host;
    machine.config = std::move(config);
    guests_.ignore(vmid);
    untouchable_[vmid] = {};
    world().machines[vmid] = std::move(machine);
}

void Administrators::fill_storage(bool full) {
    for (auto& [id, storage] : world().storages) {
        if (full && !sizes_.contains(id)) {
            sizes_[id] = storage.total;
            storage.total = 0;
        } else if (!full && sizes_.contains(id)) {
            storage.total = sizes_[id];
            sizes_.erase(id);
        }
    }
}

}  // namespace simulation
