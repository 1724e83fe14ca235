#include "test/simulation/guests/guests.hpp"

#include <algorithm>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "api/yaml.hpp"
#include "bootstrap/approval.hpp"
#include "test/simulation/guests/iso_files.hpp"
#include "test/simulation/guests/own_addresses.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace simulation {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kBootTime{20};
constexpr const char* kNameByDhcp = "dhcp-";

std::string text_of(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value && value->is_string() ? std::string(value->as_string()) : "";
}

std::string file_of(const json::object& cloud_config, std::string_view path) {
    for (const auto& file : cloud_config.at("write_files").as_array()) {
        if (file.at("path").as_string() == path) return text_of(file.as_object(), "content");
    }
    throw std::runtime_error("write_files has no " + std::string(path));
}

// Returns the path behind `kubeadm join --config`.
std::string join_configuration_path(const json::object& cloud_config) {
    for (const auto& command : cloud_config.at("runcmd").as_array()) {
        const auto& words = command.as_array();
        if (words.size() == 4 && words[0] == "kubeadm" && words[1] == "join" && words[2] == "--config") {
            return std::string(words[3].as_string());
        }
    }
    throw std::runtime_error("no command of the user-data runs kubeadm join");
}

api::StringMap parse_labels(const std::string& text) {
    api::StringMap labels;
    for (std::size_t begin = 0; begin < text.size();) {
        auto end = std::min(text.find(',', begin), text.size());
        auto pair = text.substr(begin, end - begin);
        auto equals = pair.find('=');
        labels[pair.substr(0, equals)] = pair.substr(equals + 1);
        begin = end + 1;
    }
    return labels;
}

// Returns the identity of another machine, as firmware does that reports its own UUID.
std::string other_uuid(std::string uuid) {
    uuid.back() = uuid.back() == '0' ? '1' : '0';
    uuid.front() = uuid.front() == 'f' ? 'e' : 'f';
    return uuid;
}

}  // namespace

bool joins_by_itself(const api::Node& node) {
    return node.metadata.name.starts_with(kNameByDhcp);
}

std::int64_t largest_disk_mib(const proxmox::Config& config) {
    std::uint64_t largest = 0;
    for (auto& [option, drive] : proxmox::drives(config))
        if (!drive.is_cdrom)
            largest = std::max(largest, proxmox::parse_size(drive.properties["size"]).value_or(0));
    return static_cast<std::int64_t>(largest / proxmox::kMiB);
}

Guests::Guests(base::Clock& clock, ClusterSnapshot& view, Kubelets& kubelets, Certificates& certificates,
               FaultPlan& faults, Trace& trace)
    : clock_(clock),
      view_(view),
      kubelets_(kubelets),
      certificates_(certificates),
      faults_(faults),
      trace_(trace) {}

void Guests::tell(PowerEvent event, const proxmox::MachineView& machine) const {
    for (const auto& listener : listeners_) listener(event, machine);
}

void Guests::on_machine_started(const proxmox::MachineView& machine) {
    tell(PowerEvent::started, machine);
    trace_.line("machine", machine.vmid, " ", machine.name, " starts on ", machine.node);
    if (strangers_.contains(machine.vmid)) return;
    if (kubelets_.resume(machine.uuid)) return;
    if (faults_.strikes(Fault::never_joins)) return;
    auto boot_time = base::Duration{kBootTime};
    if (faults_.strikes(Fault::joins_late)) {
        boot_time += faults_.duration(std::chrono::minutes{1}, std::chrono::minutes{25});
    }
    auto seen = machine;
    if (faults_.strikes(Fault::wrong_identity)) seen.uuid = other_uuid(seen.uuid);
    booting_[machine.uuid] = clock_.call_at(clock_.now() + boot_time, [this, seen] { join(seen); });
}

void Guests::on_machine_stopped(const proxmox::MachineView& machine) {
    tell(PowerEvent::stopped, machine);
    trace_.line("machine", machine.vmid, " ", machine.name, " stops");
    booting_.erase(machine.uuid);
    addresses_.erase(machine.uuid);
    addresses_.erase(other_uuid(machine.uuid));
    certificates_.forget(machine.uuid);
    kubelets_.machine_stopped(machine.uuid);
    kubelets_.machine_stopped(other_uuid(machine.uuid));
}

void Guests::on_machine_destroyed(const proxmox::MachineView& machine) {
    tell(PowerEvent::destroyed, machine);
    trace_.line("machine", machine.vmid, " ", machine.name, " is destroyed");
    kubelets_.wipe(machine.uuid);
    kubelets_.wipe(other_uuid(machine.uuid));
}

void Guests::join(const proxmox::MachineView& machine) {
    try {
        configure_network(machine);
        auto seed = machine.cdrom.empty() ? Seed{own_registration(machine), ""} : read_seed(machine);
        auto& registration = seed.registration;
        registration.system_uuid = machine.uuid;
        registration.cpu_cores = machine.cpus;
        registration.memory_mib = static_cast<std::int64_t>(machine.memory_mib);
        registration.disk_mib = largest_disk_mib(machine.config);
        if (addresses_.contains(machine.uuid)) registration.addresses = addresses_.at(machine.uuid);
        if (seed.token_id.empty()) return register_node(machine, registration);
        certificates_.ask(machine.uuid, registration.node, seed.token_id,
                          [this, machine, registration] { register_node(machine, registration); });
    } catch (const std::exception& error) {
        trace_.line("machine", machine.vmid, " ", machine.name, " does not join: ", error.what());
    }
}

void Guests::register_node(const proxmox::MachineView& machine, const Registration& registration) {
    if (!kubelets_.join(registration))
        trace_.line("machine", machine.vmid, " ", machine.name, " does not join: a Node with name ",
                    registration.node, " and status Ready already exists");
}

void Guests::configure_network(const proxmox::MachineView& machine) {
    if (machine.cdrom.empty()) return;
    const auto files = read_iso(machine.cdrom).files;
    const auto found = files.find("network-config");
    if (found != files.end()) addresses_[machine.uuid] = own_addresses(found->second, machine.config);
}

Guests::Seed Guests::read_seed(const proxmox::MachineView& machine) const {
    auto iso = read_iso(machine.cdrom);
    if (iso.volume_id != "cidata") throw std::runtime_error("the CD-ROM is no NoCloud seed");
    const auto& user_data = iso.files.at("user-data");
    if (!user_data.starts_with("#cloud-config\n")) throw std::runtime_error("user-data is no #cloud-config");
    if (text_of(api::parse_yaml(iso.files.at("meta-data")).as_object(), "instance-id").empty()) {
        throw std::runtime_error("meta-data has no instance-id");
    }
    auto cloud_config = api::parse_yaml(user_data).as_object();
    auto join = api::parse_yaml(file_of(cloud_config, join_configuration_path(cloud_config))).as_object();
    const auto& discovery = join.at("discovery").at("bootstrapToken").as_object();
    if (text_of(discovery, "apiServerEndpoint").empty() || discovery.at("caCertHashes").as_array().empty()) {
        throw std::runtime_error("the join configuration does not say which cluster");
    }
    const auto token = text_of(discovery, "token");
    const bool is_ours = prove(token);
    const auto& registration = join.at("nodeRegistration").as_object();
    Registration result;
    result.node = text_of(registration, "name");
    for (const auto& taint : registration.at("taints").as_array()) {
        const auto& fields = taint.as_object();
        result.taints.push_back(
            {text_of(fields, "key"), text_of(fields, "value"), text_of(fields, "effect"), {}});
    }
    if (const auto* arguments = registration.if_contains("kubeletExtraArgs")) {
        for (const auto& argument : arguments->as_array()) {
            auto value = text_of(argument.as_object(), "value");
            if (argument.at("name") == "node-labels") result.labels = parse_labels(value);
            if (argument.at("name") == "provider-id") result.provider_id = value;
            if (argument.at("name") == "max-pods") result.max_pods = std::stoll(value);
            if (argument.at("name") == "cloud-provider") result.awaits_cloud_provider = value == "external";
        }
    }
    return {std::move(result), is_ours ? token.substr(0, token.find('.')) : std::string()};
}

// Returns the registration of a netboot image, which has its own credentials and gets its host name from
// DHCP.
Registration Guests::own_registration(const proxmox::MachineView& machine) const {
    // The devices before the network are empty.
    if (std::ranges::none_of(machine.boot_order,
                             [](const auto& device) { return device.starts_with("net"); }))
        throw std::runtime_error("nothing to boot from");
    Registration result;
    result.node = kNameByDhcp + machine.uuid.substr(0, 8);
    return result;
}

bool Guests::prove(const std::string& token) const {
    auto dot = token.find('.');
    if (dot == std::string::npos) throw std::runtime_error("no bootstrap token");
    const auto* secret = view_.find<api::Secret>({"kube-system", "bootstrap-token-" + token.substr(0, dot)});
    auto field = [secret](const char* name) {
        auto found = secret->data.find(name);
        return found == secret->data.end() ? std::string() : found->second.value;
    };
    if (!secret || field("token-secret") != token.substr(dot + 1)) throw std::runtime_error("unknown token");
    if (secret->metadata.deletionTimestamp || field("usage-bootstrap-authentication") != "true" ||
        field("auth-extra-groups").find("system:bootstrappers:") == std::string::npos) {
        throw std::runtime_error("the token does not authenticate a joining node");
    }
    if (api::Time::parse(field("expiration")) <= api::Time(clock_.wall_now()))
        throw std::runtime_error("expired token");
    return field("auth-extra-groups") == bootstrap::kTokenGroup;
}

}  // namespace simulation
