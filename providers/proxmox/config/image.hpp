// Names of what is made of a template's image, and the mark that tells whose it is. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/v1alpha1/proxmox.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/config/vm_config.hpp"

namespace providers::proxmox {

// What of its settings makes one template of an image differ from another, as a short text: checksum, storage
// and device. The same file at another place is the same image.
std::string image_id(const api::v1alpha1::Template& wish);

// "nodesmith-image-5e1f0a2b-": what all templates begin with that this provider makes of images.
std::string image_template_prefix(const std::string& cluster_id, const std::string& provider_uid);
// The prefix and the image's ID.
std::string image_template_name(const std::string& cluster_id, const std::string& provider_uid,
                                const api::v1alpha1::Template& wish);

// "kubenodesmith-5e1f0a2b-": what all files begin with that this provider has downloaded.
std::string image_file_prefix(const std::string& cluster_id, const std::string& provider_uid);
// The prefix, a piece of the checksum, and the extension that Proxmox takes for a disk image.
std::string image_file_name(const std::string& cluster_id, const std::string& provider_uid,
                            const api::v1alpha1::TemplateImage& image);

// "sha256" of "sha256:0f0f...".
std::string checksum_algorithm(const api::v1alpha1::TemplateImage& image);
std::string checksum_digits(const api::v1alpha1::TemplateImage& image);

struct ImageMark {
    std::string cluster_id;
    std::string provider_uid;
    std::string image_id;
    std::string
        drive;  // of the disk that is made with the VM, the only one; empty: it is of an earlier version
    bool operator==(const ImageMark&) const = default;
};
// {"kubenodesmith":{"cluster":...,"provider":...,"image":...,"volumes":[],"drives":["scsi0"]}} in one line.
std::string describe_image_mark(const ImageMark& mark);
// The mark in a description, which may hold other lines as well; nullopt: there is none, or it cannot be
// read.
std::optional<ImageMark> parse_image_mark(std::string_view description);
// It was made of an image, by this provider.
bool has_image_mark(const Settings& settings, const VmConfig& config);

// The field that is wrong and what would be right, "checksum: must be ..."; empty: nothing is.
std::string image_fault(const api::v1alpha1::TemplateImage& image);

}  // namespace providers::proxmox
