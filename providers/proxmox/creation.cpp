#include "providers/proxmox/creation.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <map>

#include "providers/proxmox/mark.hpp"
#include "providers/proxmox/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kImagePrefix = "kubenodesmith-";
constexpr std::string_view kImageSuffix = ".iso";
constexpr std::size_t kMacBytes = 6;

}  // namespace

base::FormFields blank_vm_parameters(const Settings& settings, const MachineSpec& spec) {
    std::map<std::string, std::string> options(settings.vm_options.begin(), settings.vm_options.end());
    auto tags = parse_tags(options["tags"]);
    tags.merge(parse_tags(settings.managed_tag()));
    auto smbios = PropertyString::parse(options["smbios1"]);
    smbios.set("uuid", lower_case(spec.identity.system_uuid));
    auto description = describe_mark(spec.identity);
    if (!options["description"].empty()) description += "\n" + options["description"];

    if (spec.join) options.try_emplace("agent", "1");
    options["vmid"] = spec.record.machine_id;
    options["name"] = spec.name;
    options["tags"] = join_tags(tags);
    options["smbios1"] = smbios.str();
    options["description"] = std::move(description);
    options["cores"] = std::to_string(spec.cpu_cores);
    options["memory"] = std::to_string(spec.memory_mib + settings.spec.vmMemOverheadMiB);
    for (const auto& interface : settings.spec.networkInterfaces) {
        options[interface.name] = network_interface(interface, lower_case(spec.identity.system_uuid));
    }
    if (!settings.spec.resourcePool.empty()) options["pool"] = settings.spec.resourcePool;
    return {options.begin(), options.end()};
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
    std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
    SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), bytes.data());
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

std::string boot_image_uuid(const std::string& file_name) {
    if (!file_name.starts_with(kImagePrefix) || !file_name.ends_with(kImageSuffix)) return {};
    return file_name.substr(kImagePrefix.size(),
                            file_name.size() - kImagePrefix.size() - kImageSuffix.size());
}

}  // namespace providers::proxmox
