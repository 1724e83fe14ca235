#include "providers/proxmox/images/image_vm.hpp"

#include <algorithm>

#include "providers/proxmox/config/image.hpp"
#include "providers/proxmox/config/volumes.hpp"

namespace providers::proxmox {

namespace {

// Administrators usually number their templates from here.
constexpr std::int64_t kFirstOfTemplates = 9000;
// The default interface of machines: the bridge that Proxmox' installer makes.
constexpr const char* kInterface = "virtio,bridge=vmbr0";
constexpr const char* kExplanation =
    "Made by KubeNodeSmith, which removes it once no machine depends on it. Please leave this text as it is.";

}  // namespace

base::FormFields image_vm_parameters(const Settings& settings, std::int64_t vmid, const std::string& file,
                                     bool has_qcow2) {
    const auto& wish = *settings.spec.template_;
    const ImageMark mark{settings.cluster_id, settings.provider_uid, image_id(wish), wish.bootDisk.device,
                         vmid};
    const auto disk = wish.image->storage + ":0,import-from=" + file + (has_qcow2 ? ",format=qcow2" : "");
    base::FormFields fields{{"vmid", std::to_string(vmid)},
                            {"name", wish.name},
                            {"description", describe_image_mark(mark) + "\n" + kExplanation},
                            {"ostype", "l26"},
                            {"cores", "1"},
                            {"memory", "1024"},
                            {"scsihw", "virtio-scsi-single"},
                            {wish.bootDisk.device, disk},
                            {"boot", "order=" + wish.bootDisk.device},
                            {"serial0", "socket"}};
    if (settings.spec.networkInterfaces.empty()) fields.emplace_back("net0", kInterface);
    if (!settings.spec.resourcePool.empty()) fields.emplace_back("pool", settings.spec.resourcePool);
    return fields;
}

std::optional<std::int64_t> image_vmid(const Settings& settings, const IDRange& range,
                                       const std::set<std::int64_t>& taken) {
    const auto is_free = [&](std::int64_t id) { return id != kCsiOwner && !taken.contains(id); };
    if (settings.ids) {
        for (auto id = settings.ids->upper; id >= settings.ids->lower; --id)
            if (is_free(id)) return id;
        return std::nullopt;
    }
    const auto first = std::clamp(kFirstOfTemplates, range.lower, range.upper);
    for (auto id = first; id <= range.upper; ++id)
        if (is_free(id)) return id;
    for (auto id = range.lower; id < first; ++id)
        if (is_free(id)) return id;
    return std::nullopt;
}

}  // namespace providers::proxmox
