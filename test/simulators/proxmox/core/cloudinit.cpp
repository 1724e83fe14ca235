#include "test/simulators/proxmox/core/cloudinit.hpp"

#include <boost/asio/ip/address_v4.hpp>

#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/vm_options.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

// Reports whether the setting is part of the drive's content.
bool is_drive_content(const std::string& option) {
    return is_cloudinit_option(option) || option == "name" || is_network_interface(option);
}

std::string user_data(const Config& config, int vmid) {
    auto name = config_text(config, "name");
    if (name.empty()) name = "VM" + std::to_string(vmid);
    auto domain = config_text(config, "searchdomain");
    std::string text = "#cloud-config\nhostname: " + name + "\nmanage_etc_hosts: true\n";
    if (!domain.empty()) text += "fqdn: " + name + "." + domain + "\n";
    auto user = config_text(config, "ciuser");
    text += user.empty() || user == "root" ? "disable_root: False\n" : "user: " + user + "\n";
    if (auto password = config_text(config, "cipassword"); !password.empty()) {
        text += "password: $5$" + sha1_hex("salt" + password).substr(0, 8) + "$" + sha1_hex(password) + "\n";
    }
    if (auto keys = config_text(config, "sshkeys"); !keys.empty()) {
        text += "ssh_authorized_keys:\n";
        for (const auto& key : split(percent_decode(keys), '\n')) {
            if (!trim(key).empty()) text += "  - " + trim(key) + "\n";
        }
    }
    text += "chpasswd:\n  expire: False\nusers:\n  - default\n";
    auto upgrade = config.find("ciupgrade");
    if (upgrade == config.end() || upgrade->second == "1") text += "package_upgrade: true\n";
    return text;
}

std::string subnet(const Properties& address) {
    auto get = [&](std::string_view key) {
        auto found = address.find(key);
        return found == address.end() ? std::string() : found->second;
    };
    std::string text;
    auto ip = get("ip");
    if (ip == "dhcp")
        text += "      - type: dhcp4\n";
    else if (auto slash = ip.find('/'); slash != std::string::npos) {
        auto bits = to_integer(ip.substr(slash + 1)).value_or(32);
        auto mask = bits == 0 ? 0U : ~0U << (32 - bits);
        text += "      - type: static\n        address: '" + ip.substr(0, slash) + "'\n        netmask: '" +
                boost::asio::ip::address_v4(mask).to_string() + "'\n";
        if (auto gateway = get("gw"); !gateway.empty()) text += "        gateway: '" + gateway + "'\n";
    }
    auto ip6 = get("ip6");
    if (ip6 == "dhcp")
        text += "      - type: dhcp6\n";
    else if (ip6 == "auto")
        text += "      - type: ipv6_slaac\n";
    else if (!ip6.empty()) {
        text += "      - type: static6\n        address: '" + ip6 + "'\n";
        if (auto gateway = get("gw6"); !gateway.empty()) text += "        gateway: '" + gateway + "'\n";
    }
    return text;
}

std::string network_config(const Config& config) {
    std::string text = "version: 1\nconfig:\n";
    for (const auto& [option, value] : config) {
        if (!is_network_interface(option)) continue;
        auto number = option.substr(3);
        text += "    - type: physical\n      name: eth" + number + "\n      mac_address: '" +
                lower(property_of("net", value, "macaddr")) + "'\n      subnets:\n";
        auto address = config.find("ipconfig" + number);
        if (address != config.end())
            text += subnet(parse_properties(property_group("ipconfig"), address->second));
    }
    auto servers = split_list(config_text(config, "nameserver"));
    auto domains = split_list(config_text(config, "searchdomain"));
    text += "    - type: nameserver\n";
    if (!servers.empty()) text += "      address:\n";
    for (const auto& server : servers) text += "      - '" + server + "'\n";
    if (!domains.empty()) text += "      search:\n";
    for (const auto& domain : domains) text += "      - '" + domain + "'\n";
    return text;
}

}  // namespace

std::string render_cloudinit(const Config& config, int vmid, const std::string& type) {
    if (type == "user") return user_data(config, vmid);
    if (type == "network") return network_config(config);
    return "instance-id: " + sha1_hex(user_data(config, vmid) + network_config(config)) + "\n";
}

bool has_cloudinit_drive(const Config& config) {
    for (const auto& [option, drive] : drives(config)) {
        if (is_cloudinit_volume(drive.volume)) return true;
    }
    return false;
}

void require_snippets(const Cluster& cluster, const Machine& machine) {
    auto custom = machine.config.find("cicustom");
    if (custom == machine.config.end() || !has_cloudinit_drive(machine.config)) return;
    for (const auto& [part, volume] : parse_properties(property_group("cicustom"), custom->second)) {
        if (!find_volume(cluster.world, machine.node, volume)) {
            throw failure("volume '" + volume + "' does not exist");
        }
    }
}

std::optional<SeedFiles> cloudinit_files(const Cluster& cluster, const Machine& machine) {
    if (!machine.generated_cloudinit) return std::nullopt;
    const auto& settings = *machine.generated_cloudinit;
    SeedFiles files{render_cloudinit(settings, machine.vmid, "user"),
                    render_cloudinit(settings, machine.vmid, "meta"),
                    render_cloudinit(settings, machine.vmid, "network")};
    auto custom = settings.find("cicustom");
    if (custom == settings.end()) return files;
    for (const auto& [part, volume_id] : parse_properties(property_group("cicustom"), custom->second)) {
        const auto* volume = find_volume(cluster.world, machine.node, volume_id);
        if (!volume) continue;
        if (part == "user") files.user_data = volume->data;
        if (part == "meta") files.meta_data = volume->data;
        if (part == "network") files.network_config = volume->data;
    }
    return files;
}

void regenerate_cloudinit(Machine& machine) {
    if (!has_cloudinit_drive(machine.config)) {
        machine.generated_cloudinit.reset();
        return;
    }
    Config settings;
    for (const auto& [option, value] : machine.config) {
        if (is_drive_content(option)) settings[option] = value;
    }
    machine.generated_cloudinit = std::move(settings);
}

std::vector<CloudinitChange> cloudinit_changes(const Machine& machine) {
    const auto& generated = machine.generated_cloudinit ? *machine.generated_cloudinit : Config{};
    std::map<std::string, CloudinitChange> changes;
    for (const auto& [option, value] : generated) {
        if (is_drive_content(option)) changes[option] = {option, value, ""};
    }
    for (const auto& [option, value] : machine.config) {
        if (!is_drive_content(option)) continue;
        changes[option].option = option;
        changes[option].new_value = value;
    }
    std::vector<CloudinitChange> result;
    result.reserve(changes.size());
    for (auto& [option, change] : changes) result.push_back(std::move(change));
    return result;
}

}  // namespace proxmox_simulator
