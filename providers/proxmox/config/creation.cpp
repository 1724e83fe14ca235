#include "providers/proxmox/config/creation.hpp"

#include <algorithm>
#include <map>

#include "api/bytes.hpp"
#include "base/mac_address.hpp"
#include "base/text.hpp"
#include "providers/errors.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/config/volumes.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kImagePrefix = "kubenodesmith-";
constexpr std::string_view kImageSuffix = ".iso";
// All cloud-init releases since 22.4 accept this form. Releases before 23.4 contact no server unless dsmode
// is set. The name nocloud-net, which also made them do so, ends with 29.1.
constexpr std::string_view kSeedFrom = "ds=nocloud;dsmode=net;s=";
constexpr std::string_view kAnySeedFrom = "ds=nocloud;";

bool is_encoded(const PropertyString& smbios) {
    const auto flag = smbios.find("base64").value_or("0");
    return flag == "1" || flag == "on" || flag == "yes" || flag == "true";
}

// Encodes all values in base64. Proxmox accepts either all or none encoded, and requires it for values that
// are not plain text.
void encode_values(PropertyString& smbios) {
    if (is_encoded(smbios)) return;
    for (const auto* key : {"family", "manufacturer", "product", "serial", "sku", "version"}) {
        if (const auto value = smbios.find(key)) smbios.set(key, api::Bytes{*value}.str());
    }
    smbios.set("base64", "1");
}

std::string plain(const api::v1alpha1::NetworkInterface& interface) {
    PropertyString value;
    value.set("", interface.model);
    value.set("bridge", interface.bridge);
    if (interface.vlanTag) value.set("tag", std::to_string(*interface.vlanTag));
    return value.str();
}

// Sets the MAC address. A net option begins with "model" or "model=address", unless both have their own keys.
std::string with_mac_address(const std::string& net, const std::string& mac) {
    auto value = PropertyString::parse(net);
    if (value.find("model")) {
        value.set("macaddr", mac);
        return value.str();
    }
    const auto comma = std::min(net.find(','), net.size());
    const auto model = net.substr(0, std::min(net.find('='), comma));
    return model + "=" + mac + net.substr(comma);
}

}  // namespace

base::FormFields blank_vm_parameters(const Settings& settings, const MachineSpec& spec,
                                     const std::string& boot_url) {
    std::map<std::string, std::string> options(settings.vm_options.begin(), settings.vm_options.end());
    if (spec.join) options.try_emplace("agent", "1");
    options["vmid"] = spec.record.machine_id;
    options["name"] = spec.name;
    options["smbios1"] = smbios_values(options["smbios1"], spec.identity.system_uuid, boot_url);
    options["tags"] = machine_tags(settings, {});
    // A right on the pool does not allow us to tag a VM that is not yet in it.
    if (!settings.spec.resourcePool.empty()) options.erase("tags");
    const MadeVolumes made{{}, new_drives(settings.vm_options)};
    const auto vmid = vmid_of(spec.record.machine_id);
    options["description"] = settings.are_finished_later()
                                 ? describe_unfinished_mark(spec.identity, vmid, made)
                                 : finished_description(settings, spec.identity, vmid, made);
    options["cores"] = std::to_string(spec.cpu_cores);
    options["memory"] = std::to_string(spec.memory_mib + settings.spec.vmMemOverheadMiB);
    set_network_interfaces(options, settings, spec, {});
    if (!settings.spec.resourcePool.empty()) options["pool"] = settings.spec.resourcePool;
    return {options.begin(), options.end()};
}

std::string finished_description(const Settings& settings, const MachineIdentity& identity, std::int64_t vmid,
                                 const MadeVolumes& made) {
    auto description = describe_mark(identity, vmid, made);
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

// Returns smbios1 with the UUID and URL. cloud-init parses the serial number like a kernel command line.
std::string smbios_values(const std::string& given, const std::string& system_uuid,
                          const std::string& boot_url) {
    auto smbios = PropertyString::parse(given);
    smbios.set("uuid", base::lower_case(system_uuid));
    if (!boot_url.empty()) {
        encode_values(smbios);
        smbios.set("serial", api::Bytes{std::string(kSeedFrom) + boot_url}.str());
    }
    return smbios.str();
}

bool has_boot_url(const std::string& smbios1) {
    const auto smbios = PropertyString::parse(smbios1);
    // Three bytes become four characters, whatever follows them.
    const auto start = api::Bytes{std::string(kAnySeedFrom)}.str().substr(0, kAnySeedFrom.size() / 3 * 4);
    return is_encoded(smbios) && smbios.find("serial").value_or("").starts_with(start);
}

void set_network_interfaces(std::map<std::string, std::string>& options, const Settings& settings,
                            const MachineSpec& spec, const std::map<std::string, std::string>& inherited) {
    for (const auto& interface : settings.spec.networkInterfaces) options[interface.name] = plain(interface);
    for (const auto& [name, mac] : spec.mac_addresses) {
        auto& value = options[name];
        const auto found = inherited.find(name);
        if (value.empty() && found != inherited.end()) value = found->second;
        if (value.empty()) {
            throw ProviderError("the machine has no interface " + name +
                                ", which its network names: add it to the template or to networkInterfaces");
        }
        value = with_mac_address(value, mac);
    }
    for (const auto& interface : settings.spec.networkInterfaces) {
        if (interface.macPrefix.empty() || spec.mac_addresses.contains(interface.name)) continue;
        const auto key = base::lower_case(spec.identity.system_uuid) + "/" + interface.name;
        auto& value = options[interface.name];
        value = with_mac_address(value, base::mac_address(interface.macPrefix, key));
    }
}

bool changes_inherited_interfaces(const Settings& settings, const MachineSpec& spec) {
    if (!settings.spec.template_) return false;
    const auto is_set = [&](const std::string& name) {
        return std::ranges::find(settings.spec.networkInterfaces, name,
                                 &api::v1alpha1::NetworkInterface::name) !=
                   settings.spec.networkInterfaces.end() ||
               std::ranges::find(settings.vm_options, name, &base::FormFields::value_type::first) !=
                   settings.vm_options.end();
    };
    return std::ranges::any_of(spec.mac_addresses, [&](const auto& entry) { return !is_set(entry.first); });
}

std::string boot_image_name(const MachineIdentity& identity) {
    return std::string(kImagePrefix) + base::lower_case(identity.system_uuid) + std::string(kImageSuffix);
}

}  // namespace providers::proxmox
