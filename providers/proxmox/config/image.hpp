// Names of the objects made from a template's image, and the mark of their owner. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/v1alpha1/proxmox.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

// Returns a short hash of the settings that shape the template: checksum, storage and device. The same file
// at another URL is the same image.
std::string image_id(const api::v1alpha1::Template& wish);

// Returns "nodesmith-image-5e1f0a2b-", the prefix of all templates that this provider makes from images.
std::string image_template_prefix(const std::string& cluster_id, const std::string& provider_uid);
// Returns the prefix followed by the image's ID.
std::string image_template_name(const std::string& cluster_id, const std::string& provider_uid,
                                const api::v1alpha1::Template& wish);

// Returns "kubenodesmith-5e1f0a2b-", the prefix of all files that this provider downloads.
std::string image_file_prefix(const std::string& cluster_id, const std::string& provider_uid);
// Returns the prefix, part of the checksum, and an extension that Proxmox accepts for disk images.
std::string image_file_name(const std::string& cluster_id, const std::string& provider_uid,
                            const api::v1alpha1::TemplateImage& image);

// Returns, for example, "sha256" for "sha256:0f0f...".
std::string checksum_algorithm(const api::v1alpha1::TemplateImage& image);
std::string checksum_digits(const api::v1alpha1::TemplateImage& image);

struct ImageMark {
    std::string cluster_id;
    std::string provider_uid;
    std::string image_id;
    std::string drive;      // the drive of the only disk made with the VM; empty: mark of an earlier version
    std::int64_t vmid = 0;  // 0: mark of an earlier version
    bool operator==(const ImageMark&) const = default;
};
// Returns {"kubenodesmith":{"cluster":...,"provider":...,"image":...,"vmid":...,"volumes":[],
// "drives":["scsi0"]}} in one line.
std::string describe_image_mark(const ImageMark& mark);
// Parses the mark in a description, which may have other lines as well. Returns nullopt if there is no
// readable mark.
std::optional<ImageMark> parse_image_mark(std::string_view description);
// Reports whether this provider made the VM from an image. A clone that a person makes of a template has the
// template's description, but another VMID.
bool has_image_mark(const Settings& settings, const VmConfig& config, std::int64_t vmid);

// Returns the invalid field and its correction, e.g. "checksum: must be ...". It is empty if all are valid.
std::string image_fault(const api::v1alpha1::TemplateImage& image);

}  // namespace providers::proxmox
