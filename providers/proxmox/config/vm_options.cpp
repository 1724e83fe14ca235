#include "providers/proxmox/config/vm_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>

#include "base/hex.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

using Names = std::set<std::string_view>;

struct Indexed {
    std::string_view prefix;
    int highest;
};

const Names kPlain = {"acpi",
                      "affinity",
                      "agent",
                      "allow-ksm",
                      "amd-sev",
                      "arch",
                      "args",
                      "audio0",
                      "autostart",
                      "balloon",
                      "bios",
                      "boot",
                      "bootdisk",
                      "bwlimit",
                      "cdrom",
                      "cicustom",
                      "cipassword",
                      "citype",
                      "ciupgrade",
                      "ciuser",
                      "cores",
                      "cpu",
                      "cpulimit",
                      "cpuunits",
                      "description",
                      "efidisk0",
                      "freeze",
                      "ha-managed",
                      "hookscript",
                      "hotplug",
                      "hugepages",
                      "intel-tdx",
                      "ivshmem",
                      "keephugepages",
                      "keyboard",
                      "kvm",
                      "localtime",
                      "machine",
                      "memory",
                      "migrate_downtime",
                      "migrate_speed",
                      "name",
                      "nameserver",
                      "numa",
                      "onboot",
                      "ostype",
                      "pool",
                      "protection",
                      "reboot",
                      "rng0",
                      "scsihw",
                      "searchdomain",
                      "shares",
                      "smbios1",
                      "sockets",
                      "spice_enhancements",
                      "sshkeys",
                      "start",
                      "startdate",
                      "startup",
                      "storage",
                      "tablet",
                      "tags",
                      "tdf",
                      "tpmstate0",
                      "unique",
                      "vcpus",
                      "vga",
                      "vmgenid",
                      "vmid",
                      "vmstatestorage",
                      "watchdog",
                      "import-working-storage"};

constexpr std::array<Indexed, 13> kIndexed = {{{"hostpci", 15},
                                               {"ide", 3},
                                               {"ipconfig", 31},
                                               {"net", 31},
                                               {"numa", 7},
                                               {"parallel", 2},
                                               {"sata", 5},
                                               {"scsi", 30},
                                               {"serial", 3},
                                               {"unused", 255},
                                               {"usb", 13},
                                               {"virtio", 15},
                                               {"virtiofs", 9}}};

// The operator sets these options.
const Names kOurs = {"vmid", "name", "memory", "cores", "sockets", "start", "unique", "pool"};
// These options are meaningless or dangerous for a machine that a program makes and removes.
const Names kRefused = {"lock",   "template", "archive",  "force",  "live-restore", "node",    "delete",
                        "digest", "revert",   "skiplock", "parent", "vmstate",      "snapshot"};

[[noreturn]] void refuse_option(std::string_view option, const std::string& why) {
    throw std::invalid_argument("spec.proxmox.vmOptions: option " + std::string(option) + " " + why);
}

bool is_indexed(std::string_view name) {
    return std::ranges::any_of(kIndexed, [&](const Indexed& known) {
        if (!name.starts_with(known.prefix)) return false;
        const auto digits = name.substr(known.prefix.size());
        int index = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), index);
        return read.ec == std::errc() && read.ptr == digits.data() + digits.size() &&
               index <= known.highest && (digits.size() == 1 || digits[0] != '0');
    });
}

std::string form_value(const api::v1alpha1::VMOption& option) {
    const auto& value = option.value;
    if (value.is_null()) refuse_option(option.name, "has no value");
    if (value.is_object() || value.is_array())
        refuse_option(option.name, "must be a string, a number or a boolean");
    auto text = text_of(value);
    if (text.empty()) refuse_option(option.name, "has no value");
    if (text.find_first_of("\r\n") != std::string::npos && option.name != "description") {
        refuse_option(option.name, "must be one line");
    }
    return text;
}

// Accepts "BC:24:11" or a prefix like it with one to five pairs.
bool is_mac_prefix(std::string_view text) {
    if (text.ends_with(':')) text.remove_suffix(1);
    if (text.size() > 14 || !base::are_hex_pairs(text)) return false;
    constexpr std::string_view kOdd = "13579bdfBDF";  // the lowest bit of the first byte means multicast
    return kOdd.find(text[1]) == std::string_view::npos;
}

void check_interface(const api::v1alpha1::NetworkInterface& interface) {
    const auto refuse_field = [&](const std::string& why) {
        throw std::invalid_argument("spec.proxmox.networkInterfaces: " + interface.name + ": " + why);
    };
    if (!interface.name.starts_with("net") || !is_indexed(interface.name))
        refuse_field("the name must be net0 to net31");
    for (const auto* part : {&interface.model, &interface.bridge}) {
        if (part->empty()) refuse_field("model and bridge must be set");
        if (part->find_first_of(",= \t\r\n") != std::string::npos)
            refuse_field(*part + " contains a comma, '=' or blank");
    }
    if (interface.vlanTag && (*interface.vlanTag < 1 || *interface.vlanTag > 4094)) {
        refuse_field("vlanTag must be 1 to 4094");
    }
    if (!interface.macPrefix.empty() && !is_mac_prefix(interface.macPrefix)) {
        refuse_field(
            "macPrefix must be one to five pairs of hexadecimal digits, the first one even, as in BC:24:11");
    }
}

}  // namespace

bool is_vm_option(std::string_view name) {
    return kPlain.contains(name) || is_indexed(name);
}

base::FormFields checked_vm_options(const std::vector<api::v1alpha1::VMOption>& options) {
    base::FormFields fields;
    std::set<std::string> seen;
    for (const auto& option : options) {
        if (kRefused.contains(option.name))
            refuse_option(option.name, "cannot be used for machines that the operator creates");
        if (!is_vm_option(option.name)) refuse_option(option.name, "is not known to Proxmox");
        if (!seen.insert(option.name).second) refuse_option(option.name, "is given twice");
        auto value = form_value(option);
        if (!kOurs.contains(option.name)) fields.emplace_back(option.name, std::move(value));
    }
    std::ranges::sort(fields);
    return fields;
}

void check_network_interfaces(const std::vector<api::v1alpha1::NetworkInterface>& interfaces) {
    std::set<std::string> seen;
    for (const auto& interface : interfaces) {
        check_interface(interface);
        if (!seen.insert(interface.name).second) {
            throw std::invalid_argument("spec.proxmox.networkInterfaces: " + interface.name +
                                        " is given twice");
        }
    }
}

}  // namespace providers::proxmox
