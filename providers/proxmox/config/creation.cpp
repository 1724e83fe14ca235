#include "providers/proxmox/config/creation.hpp"

#include <algorithm>
#include <map>

#include "api/bytes.hpp"
#include "base/sha256.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kImagePrefix = "kubenodesmith-";
constexpr std::string_view kImageSuffix = ".iso";
constexpr std::size_t kMacBytes = 6;
constexpr std::string_view kSeedFrom = "ds=nocloud;s=";

bool is_encoded(const PropertyString& smbios) {
    const auto flag = smbios.find("base64").value_or("0");
    return flag == "1" || flag == "on" || flag == "yes" || flag == "true";
}

// Proxmox takes either all values in base64 or none, and needs it for what is not plain text.
void encode_values(PropertyString& smbios) {
    if (is_encoded(smbios)) return;
    for (const auto* key : {"family", "manufacturer", "product", "serial", "sku", "version"}) {
        if (const auto value = smbios.find(key)) smbios.set(key, api::Bytes{*value}.str());
    }
    smbios.set("base64", "1");
}

}  // namespace

base::FormFields blank_vm_parameters(const Settings& settings, const MachineSpec& spec,
                                     const std::string& boot_url) {
    std::map<std::string, std::string> options(settings.vm_options.begin(), settings.vm_options.end());
    if (spec.join) options.try_emplace("agent", "1");
    options["vmid"] = spec.record.machine_id;
    options["name"] = spec.name;
    options["smbios1"] = smbios_values(options["smbios1"], spec.identity.system_uuid, boot_url);
    if (settings.are_finished_later()) {
        options.erase("tags");
        options["description"] = describe_unfinished_mark(spec.identity, vmid_of(spec.record.machine_id));
    } else {
        options["tags"] = machine_tags(settings, {});
        options["description"] = finished_description(settings, spec.identity);
    }
    options["cores"] = std::to_string(spec.cpu_cores);
    options["memory"] = std::to_string(spec.memory_mib + settings.spec.vmMemOverheadMiB);
    for (const auto& interface : settings.spec.networkInterfaces) {
        options[interface.name] = network_interface(interface, lower_case(spec.identity.system_uuid));
    }
    if (!settings.spec.resourcePool.empty()) options["pool"] = settings.spec.resourcePool;
    return {options.begin(), options.end()};
}

std::string finished_description(const Settings& settings, const MachineIdentity& identity) {
    auto description = describe_mark(identity);
    for (const auto& [name, value] : settings.vm_options)
        if (name == "description" && !value.empty()) description += "\n" + value;
    return description;
}

std::string machine_tags(const Settings& settings, Tags inherited) {
    for (const auto& [name, value] : settings.vm_options)
        if (name == "tags") inherited.merge(parse_tags(value));
    inherited.merge(parse_tags(settings.managed_tag()));
    return join_tags(inherited);
}

// cloud-init reads the serial number like a kernel command line.
std::string smbios_values(const std::string& given, const std::string& system_uuid,
                          const std::string& boot_url) {
    auto smbios = PropertyString::parse(given);
    smbios.set("uuid", lower_case(system_uuid));
    if (!boot_url.empty()) {
        encode_values(smbios);
        smbios.set("serial", api::Bytes{std::string(kSeedFrom) + boot_url}.str());
    }
    return smbios.str();
}

bool has_boot_url(const std::string& smbios1) {
    const auto smbios = PropertyString::parse(smbios1);
    // Three bytes make four characters, whatever follows them.
    const auto start = api::Bytes{std::string(kSeedFrom)}.str().substr(0, kSeedFrom.size() / 3 * 4);
    return is_encoded(smbios) && smbios.find("serial").value_or("").starts_with(start);
}

std::string network_interface(const api::v1alpha1::NetworkInterface& interface,
                              const std::string& system_uuid) {
    PropertyString value;
    if (interface.macPrefix.empty()) {
        value.set("", interface.model);  // Proxmox draws the address
    } else {
        value.set(interface.model, mac_address(interface.macPrefix, system_uuid, interface.name));
    }
    value.set("bridge", interface.bridge);
    if (interface.vlanTag) value.set("tag", std::to_string(*interface.vlanTag));
    return value.str();
}

std::string mac_address(const std::string& prefix, const std::string& system_uuid,
                        const std::string& interface) {
    const auto key = system_uuid + "/" + interface;
    auto bytes = base::sha256(key);
    const auto given = (prefix.size() + 1) / 3;
    for (std::size_t i = 0; i < given; ++i) {
        bytes[i] = static_cast<unsigned char>(std::stoi(prefix.substr(3 * i, 2), nullptr, 16));
    }
    if (given == 0) bytes[0] = static_cast<unsigned char>((bytes[0] & ~1u) | 2u);
    std::string address;
    for (std::size_t i = 0; i < kMacBytes; ++i) {
        if (i > 0) address += ':';
        address += "0123456789ABCDEF"[bytes[i] >> 4];
        address += "0123456789ABCDEF"[bytes[i] & 15];
    }
    return address;
}

std::string boot_image_name(const MachineIdentity& identity) {
    return std::string(kImagePrefix) + lower_case(identity.system_uuid) + std::string(kImageSuffix);
}

}  // namespace providers::proxmox
