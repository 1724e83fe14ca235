#include "providers/proxmox/config/volumes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kUnused = "unused";
constexpr std::string_view kSavedMemory = "vmstate";
constexpr std::size_t kLongestId = 9;

bool is_digits(std::string_view text) {
    return !text.empty() && text.size() <= kLongestId &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::int64_t number_in(std::string_view digits) {
    return std::strtoll(std::string(digits).c_str(), nullptr, 10);
}

// Returns the part after the last slash, or else after the storage.
std::string_view file_of(std::string_view volume) {
    const auto colon = volume.find(':');
    volume.remove_prefix(colon == std::string_view::npos ? 0 : colon + 1);
    const auto slash = volume.rfind('/');
    return slash == std::string_view::npos ? volume : volume.substr(slash + 1);
}

// Returns the rest of a file name after "vm-105-" or "base-105-"; empty for any other form.
std::string_view purpose_of(std::string_view file, std::int64_t vmid) {
    for (const auto* kind : {"vm-", "base-"}) {
        const auto start = kind + std::to_string(vmid) + "-";
        if (file.starts_with(start)) return file.substr(start.size());
    }
    return {};
}

bool is_cloud_init_volume(std::string_view volume, std::int64_t vmid) {
    const auto purpose = purpose_of(file_of(volume), vmid);
    return purpose == "cloudinit" || purpose.starts_with("cloudinit.");
}

// Reports whether the name has the form that Proxmox gives new disks.
bool has_usual_name(std::string_view volume, std::int64_t vmid) {
    constexpr std::string_view kDisk = "disk-";
    auto purpose = purpose_of(file_of(volume), vmid);
    if (!purpose.starts_with(kDisk)) return false;
    purpose.remove_prefix(kDisk.size());
    return is_digits(purpose.substr(0, purpose.find('.')));
}

bool is_explained(const VolumeUse& use, std::int64_t vmid, const MadeVolumes& made) {
    if (made.volumes.contains(use.volume) || is_cloud_init_volume(use.volume, vmid)) return true;
    const bool is_memory = use.option == kSavedMemory;
    if (is_memory && purpose_of(file_of(use.volume), vmid).starts_with("state-")) return true;
    return made.drives.contains(use.option) && has_usual_name(use.volume, vmid);
}

void add_use(std::vector<VolumeUse>& uses, const std::string& option, const std::string& value) {
    const bool names_volume = is_drive(option) || option.starts_with(kUnused) || option == kSavedMemory;
    if (!names_volume) return;
    const auto properties = PropertyString::parse(value);
    auto volume = properties.find_or_default("file").value_or("");
    if (volume.empty()) volume = properties.find("volume").value_or("");
    const auto owner = owner_of_volume(volume);
    if (!owner) return;
    const bool is_cdrom = properties.find("media") == "cdrom";
    if (is_cdrom && !is_cloud_init_volume(volume, *owner)) return;
    VolumeUse use{option, std::move(volume)};
    if (std::ranges::find(uses, use) == uses.end()) uses.push_back(std::move(use));
}

}  // namespace

std::optional<std::int64_t> owner_of_volume(std::string_view volume) {
    const auto colon = volume.find(':');
    if (volume.starts_with('/') || colon == std::string_view::npos) return std::nullopt;
    const auto path = volume.substr(colon + 1);
    const auto slash = path.rfind('/');
    if (slash != std::string_view::npos) {
        // File storages keep a VM's disks in a folder named after its ID.
        const auto parents = path.substr(0, slash);
        const auto folder = parents.substr(parents.rfind('/') + 1);
        if (is_digits(folder)) return number_in(folder);
    }
    const auto file = file_of(volume);
    for (const std::string_view kind : {"vm-", "base-", "subvol-", "basevol-"}) {
        if (!file.starts_with(kind)) continue;
        const auto rest = file.substr(kind.size());
        const auto digits = rest.substr(0, rest.find('-'));
        if (is_digits(digits) && digits.size() < rest.size()) return number_in(digits);
    }
    return std::nullopt;
}

std::vector<VolumeUse> volume_uses(const json::value& pending) {
    std::vector<VolumeUse> uses;
    for (const auto* entry : objects_of(pending)) {
        const auto option = text_of(*entry, "key");
        add_use(uses, option, text_of(*entry, "value"));
        add_use(uses, option, text_of(*entry, "pending"));
    }
    return uses;
}

std::vector<VolumeUse> volume_uses(const VmConfig& config) {
    std::vector<VolumeUse> uses;
    for (const auto& [option, value] : config.options) add_use(uses, option, value);
    return uses;
}

bool asks_for_new_volume(const std::string& drive) {
    const auto volume = PropertyString::parse(drive).find_or_default("file").value_or("");
    const auto colon = volume.find(':');
    if (colon == std::string::npos) return false;
    const auto wanted = volume.substr(colon + 1);
    return wanted == "cloudinit" ||
           (!wanted.empty() && wanted.find_first_not_of("0123456789.") == std::string::npos);
}

std::set<std::string> new_drives(const base::FormFields& options) {
    std::set<std::string> drives;
    for (const auto& [option, value] : options)
        if (is_drive(option) && asks_for_new_volume(value)) drives.insert(option);
    return drives;
}

std::set<std::string> copied_drives(const VmConfig& config) {
    std::set<std::string> drives;
    for (const auto& use : volume_uses(config))
        if (is_drive(use.option)) drives.insert(use.option);
    return drives;
}

std::vector<VolumeUse> volumes_of_others(const std::vector<VolumeUse>& uses, std::int64_t vmid) {
    std::vector<VolumeUse> others;
    std::ranges::copy_if(uses, std::back_inserter(others),
                         [vmid](const VolumeUse& use) { return owner_of_volume(use.volume) != vmid; });
    return others;
}

std::vector<VolumeUse> unexplained_volumes(const std::vector<VolumeUse>& uses, std::int64_t vmid,
                                           const MadeVolumes& made) {
    std::vector<VolumeUse> unexplained;
    std::ranges::copy_if(uses, std::back_inserter(unexplained), [&](const VolumeUse& use) {
        return owner_of_volume(use.volume) == vmid && !is_explained(use, vmid, made);
    });
    return unexplained;
}

std::set<std::string> explained_volumes(const std::vector<VolumeUse>& uses, std::int64_t vmid,
                                        const MadeVolumes& made) {
    std::set<std::string> explained;
    for (const auto& use : uses)
        if (owner_of_volume(use.volume) == vmid && is_explained(use, vmid, made))
            explained.insert(use.volume);
    return explained;
}

std::set<std::string> essential_drives(const VmConfig& config) {
    std::set<std::string> drives{"efidisk0", "tpmstate0"};
    const auto order = PropertyString::parse(config.option("boot")).find("order").value_or("");
    for (std::size_t start = 0; start < order.size();) {
        const auto end = std::min(order.find(';', start), order.size());
        drives.insert(order.substr(start, end - start));
        start = end + 1;
    }
    return drives;
}

std::string described(const std::vector<VolumeUse>& uses) {
    return base::joined(uses, ", ", [](const VolumeUse& use) {
        return foreign::shown(use.option) + " " + foreign::shown(use.volume);
    });
}

std::string unexplained_text(const std::string& vm, std::int64_t vmid, const std::vector<VolumeUse>& uses) {
    const auto id = std::to_string(vmid);
    const auto option = foreign::shown(uses.front().option);
    return vm + " has volumes that were not created with it, and Proxmox would delete them with it: " +
           described(uses) + ". As root on that host, to keep one: qm disk move " + id + " " + option +
           " --target-vmid ANOTHER; to give it up: qm disk unlink " + id + " --idlist " + option +
           " --force 1. The removal continues once no such volume is left";
}

}  // namespace providers::proxmox
