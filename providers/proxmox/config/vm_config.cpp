#include "providers/proxmox/config/vm_config.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/saturating.hpp"
#include "base/text.hpp"
#include "providers/errors.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/grammar.hpp"

namespace providers::proxmox {

namespace {

// They are tried in this order.
constexpr std::array<std::string_view, 10> kCdromDrives = {"ide2",  "ide0",  "ide3",  "ide1",  "sata5",
                                                           "sata4", "sata3", "sata2", "sata1", "sata0"};
constexpr std::int64_t kDefaultMemoryMiB = 512;
constexpr std::int64_t kMostMemoryMiB = std::int64_t{1} << 30;

std::int64_t integer_or(const std::string& text, std::int64_t otherwise) {
    return text.empty() ? otherwise : std::strtoll(text.c_str(), nullptr, 10);
}

bool is_cdrom(const std::string& drive) {
    return PropertyString::parse(drive).find("media") == "cdrom";
}

// Returns, for example, "cluster, claim": the fields in which two marks differ.
std::string differences(const MachineIdentity& found, const MachineIdentity& wanted) {
    std::string text;
    const auto compare = [&](const char* what, const std::string& a, const std::string& b) {
        if (a != b) text += (text.empty() ? "" : ", ") + std::string(what) + " " + a + " instead of " + b;
    };
    compare("cluster", found.cluster_id, wanted.cluster_id);
    compare("provider", found.provider_uid, wanted.provider_uid);
    compare("claim", found.claim_namespace + "/" + found.claim_name,
            wanted.claim_namespace + "/" + wanted.claim_name);
    compare("claim UID", found.claim_uid, wanted.claim_uid);
    compare("attempt", std::to_string(found.attempt), std::to_string(wanted.attempt));
    return text;
}

}  // namespace

std::string VmConfig::option(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? std::string() : found->second;
}

std::string VmConfig::lock() const {
    return foreign::shown(option("lock"));
}

std::string VmConfig::system_uuid() const {
    return base::lower_case(
        foreign::shown(PropertyString::parse(option("smbios1")).find("uuid").value_or("")));
}

std::int64_t VmConfig::cores() const {
    const auto bounded = [&](const char* name) {
        return std::clamp<std::int64_t>(integer_or(option(name), 1), 0, kMostCpus);
    };
    return bounded("cores") * bounded("sockets");
}

std::int64_t VmConfig::memory_mib() const {
    const auto memory = PropertyString::parse(option("memory")).find_or_default("current").value_or("");
    return std::clamp<std::int64_t>(integer_or(memory, kDefaultMemoryMiB), 0, kMostMemoryMiB);
}

bool is_set_aside(const VmConfig& config) {
    return config.tags().contains(kSetAsideTag) && !config.starts_on_boot();
}

base::FormFields set_aside_change(const VmConfig& config) {
    if (config.starts_on_boot()) return {{"onboot", "0"}};
    auto tags = config.tags();
    tags.insert(kSetAsideTag);
    return {{"tags", join_tags(tags)}};
}

base::FormFields unless_changed(const VmConfig& read, base::FormFields change) {
    const auto digest = read.option("digest");
    if (!digest.empty()) change.emplace_back("digest", digest);
    return change;
}

VmConfig parse_vm_config(const json::value& data) {
    VmConfig config;
    if (!data.is_object()) return config;
    for (const auto& [key, value] : data.get_object()) config.options[std::string(key)] = text_of(value);
    return config;
}

bool is_drive(std::string_view option) {
    if (option.find_first_of("0123456789") == std::string_view::npos) return false;
    for (const auto* prefix : {"scsi", "sata", "ide", "virtio", "efidisk", "tpmstate"}) {
        if (option.starts_with(prefix) && !option.starts_with("virtiofs")) return true;
    }
    return false;
}

std::string storage_of_drive(const std::string& drive) {
    const auto volume = PropertyString::parse(drive).find_or_default("file").value_or("");
    const auto colon = volume.find(':');
    return colon == std::string::npos ? std::string() : volume.substr(0, colon);
}

Ownership ownership_of(const VmConfig& config, std::int64_t vmid, const MachineIdentity& identity,
                       const std::string& managed_tag) {
    const auto mark = parse_mark(config.option("description"));
    const auto uuid = config.system_uuid();
    const bool is_being_made = config.lock() == "create" || config.lock() == "clone";
    if (is_being_made && !mark && uuid.empty()) return Ownership::half_made;
    const bool same_uuid = !uuid.empty() && uuid == base::lower_case(identity.system_uuid);
    const bool names_claim = mark && mark->claim_uid == identity.claim_uid &&
                             mark->attempt == identity.attempt && mark->cluster_id == identity.cluster_id;
    if (!same_uuid && !names_claim) return Ownership::foreign;
    const bool is_unfinished =
        unfinished_vmid(config.option("description")) == vmid && differences(*mark, identity).empty();
    if (is_unfinished) return Ownership::unfinished;
    return explain_ownership(config, vmid, identity, managed_tag).empty() ? Ownership::ours
                                                                          : Ownership::contradictory;
}

std::string explain_ownership(const VmConfig& config, std::int64_t vmid, const MachineIdentity& identity,
                              const std::string& managed_tag) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    const auto mark = parse_mark(config.option("description"));
    if (!mark) {
        add("its description has no mark");
    } else if (const auto differing = differences(*mark, identity); !differing.empty()) {
        add("its description names " + differing);
    }
    const auto marked = marked_vmid(config.option("description"));
    if (marked.value_or(vmid) != vmid)
        add("its description names VMID " + std::to_string(*marked) + ", so it is a copy of that VM");
    if (config.system_uuid() != base::lower_case(identity.system_uuid)) {
        add("its SMBIOS UUID is " + config.system_uuid() + " instead of " +
            base::lower_case(identity.system_uuid));
    }
    if (!parse_tags(managed_tag).empty() && !config.tags().contains(*parse_tags(managed_tag).begin())) {
        add("it has no tag " + managed_tag);
    }
    return text;
}

std::optional<CdromDrive> drive_with_file(const VmConfig& config, std::string_view file) {
    for (const auto name : kCdromDrives) {
        const auto value = config.option(std::string(name));
        const auto volume = PropertyString::parse(value).find_or_default("file").value_or("");
        const auto storage = volume.substr(0, volume.find(':'));
        if (is_storage_id(storage) && volume == storage + ":iso/" + std::string(file))
            return CdromDrive{std::string(name), volume};
    }
    return std::nullopt;
}

bool has_empty_cdrom(const VmConfig& config) {
    for (const auto name : kCdromDrives) {
        const auto value = config.option(std::string(name));
        if (is_cdrom(value) && PropertyString::parse(value).find_or_default("file") == "none") return true;
    }
    return false;
}

std::optional<CdromDrive> cloud_init_drive(const VmConfig& config) {
    for (const auto& [name, value] : config.options) {
        const bool may_be_it = is_cdrom(value) && (name.starts_with("ide") || name.starts_with("sata") ||
                                                   name.starts_with("scsi"));
        if (!may_be_it) continue;
        const auto volume = PropertyString::parse(value).find_or_default("file").value_or("");
        // A file storage adds the ID's folder and the format's suffix: local:105/vm-105-cloudinit.qcow2.
        if (volume.find("-cloudinit") != std::string::npos || volume.ends_with(":cloudinit")) {
            return CdromDrive{name, volume};
        }
    }
    return std::nullopt;
}

std::int64_t disk_size_gib(const VmConfig& config, const std::string& device) {
    const auto size = PropertyString::parse(config.option(device)).find("size").value_or("");
    constexpr std::int64_t kMiBPerGiB = 1024;
    const base::Saturating number = std::strtoll(size.c_str(), nullptr, 10);
    if (size.ends_with('T')) return number * kMiBPerGiB;
    if (size.ends_with('G')) return number;
    if (size.ends_with('M')) return number / kMiBPerGiB;
    if (size.ends_with('K')) return number / kMiBPerGiB / kMiBPerGiB;
    return 0;
}

std::int64_t new_boot_disk_gib(const std::map<std::string, std::string>& options) {
    const auto allocated = [&](const std::string& device) -> std::int64_t {
        const auto drive = options.find(device);
        if (!is_drive(device) || drive == options.end() || is_cdrom(drive->second)) return 0;
        const auto volume = PropertyString::parse(drive->second).find_or_default("file").value_or("");
        const auto colon = volume.find(':');
        return colon == std::string::npos ? 0 : std::strtoll(volume.c_str() + colon + 1, nullptr, 10);
    };
    const auto boot = options.find("boot");
    const auto order = boot == options.end() ? std::string()
                                             : PropertyString::parse(boot->second).find("order").value_or("");
    for (std::size_t start = 0; start < order.size();) {
        const auto end = std::min(order.find(';', start), order.size());
        if (const auto size = allocated(order.substr(start, end - start)); size > 0) return size;
        start = end + 1;
    }
    for (const auto& [name, value] : options) {
        const bool holds_firmware = name.starts_with("efidisk") || name.starts_with("tpmstate");
        if (const auto size = allocated(name); size > 0 && !holds_firmware) return size;
    }
    return 0;
}

std::string free_cdrom_drive(const VmConfig& config) {
    for (const auto name : kCdromDrives) {
        if (config.option(std::string(name)).empty()) return std::string(name);
    }
    throw ProviderError(
        "no IDE or SATA drive is free for the boot image; vmOptions must leave one, e.g. ide2");
}

}  // namespace providers::proxmox
