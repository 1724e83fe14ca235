#include "providers/proxmox/config/image.hpp"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <span>

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::size_t kOwnerBytes = 4;
constexpr std::size_t kImageBytes = 6;
constexpr std::size_t kChecksumDigits = 12;

struct Algorithm {
    std::string_view name;
    std::size_t digits;
};
// The algorithms that Proxmox supports, without the broken ones.
constexpr std::array<Algorithm, 3> kAlgorithms = {{{"sha256", 64}, {"sha384", 96}, {"sha512", 128}}};

std::string short_hash(const std::string& text, std::size_t bytes) {
    const auto digest = base::sha256(text);
    return base::hex(std::span(digest).first(bytes));
}

std::string owner(const std::string& cluster_id, const std::string& provider_uid) {
    return short_hash(cluster_id + "\n" + provider_uid, kOwnerBytes);
}

std::string extension_of(const std::string& url) {
    const auto dot = url.rfind('.');
    return dot == std::string::npos ? std::string() : url.substr(dot + 1);
}

// Returns an extension that Proxmox supports. Publishers of cloud images call qcow2 files "img".
std::string taken_extension(const std::string& url) {
    const auto extension = extension_of(url);
    return extension == "img" ? "qcow2" : extension;
}

bool is_checksum(const api::v1alpha1::TemplateImage& image) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto algorithm = std::ranges::find(kAlgorithms, checksum_algorithm(image), &Algorithm::name);
    const auto digits = checksum_digits(image);
    return algorithm != kAlgorithms.end() && digits.size() == algorithm->digits &&
           digits.find_first_not_of(kDigits) == std::string::npos;
}

}  // namespace

std::string image_id(const api::v1alpha1::Template& wish) {
    return short_hash(wish.image->checksum + "\n" + wish.bootDisk.device + "\n" + wish.image->storage,
                      kImageBytes);
}

std::string image_template_prefix(const std::string& cluster_id, const std::string& provider_uid) {
    return "nodesmith-image-" + owner(cluster_id, provider_uid) + "-";
}

std::string image_template_name(const std::string& cluster_id, const std::string& provider_uid,
                                const api::v1alpha1::Template& wish) {
    return image_template_prefix(cluster_id, provider_uid) + image_id(wish);
}

std::string image_file_prefix(const std::string& cluster_id, const std::string& provider_uid) {
    return "kubenodesmith-" + owner(cluster_id, provider_uid) + "-";
}

std::string image_file_name(const std::string& cluster_id, const std::string& provider_uid,
                            const api::v1alpha1::TemplateImage& image) {
    return image_file_prefix(cluster_id, provider_uid) + checksum_digits(image).substr(0, kChecksumDigits) +
           "." + taken_extension(image.url);
}

std::string checksum_algorithm(const api::v1alpha1::TemplateImage& image) {
    return image.checksum.substr(0, image.checksum.find(':'));
}

std::string checksum_digits(const api::v1alpha1::TemplateImage& image) {
    const auto colon = image.checksum.find(':');
    return colon == std::string::npos ? std::string() : image.checksum.substr(colon + 1);
}

std::string describe_image_mark(const ImageMark& mark) {
    json::object fields{
        {"cluster", mark.cluster_id}, {"provider", mark.provider_uid}, {"image", mark.image_id}};
    if (mark.vmid > 0) add_vmid(fields, mark.vmid);
    if (!mark.drive.empty()) add_record(fields, {{}, {mark.drive}});
    return describe_mark_fields(std::move(fields));
}

std::optional<ImageMark> parse_image_mark(std::string_view description) {
    const auto fields = mark_fields(description);
    if (!fields) return std::nullopt;
    ImageMark mark;
    mark.cluster_id = foreign::shown(text_of(*fields, "cluster"));
    mark.provider_uid = foreign::shown(text_of(*fields, "provider"));
    mark.image_id = foreign::shown(text_of(*fields, "image"));
    if (mark.image_id.empty()) return std::nullopt;
    mark.vmid = marked_vmid(description).value_or(0);
    const auto made = recorded_volumes(description).value_or(MadeVolumes());
    if (!made.drives.empty()) mark.drive = foreign::shown(*made.drives.begin());
    return mark;
}

bool has_image_mark(const Settings& settings, const VmConfig& config, std::int64_t vmid) {
    const auto mark = parse_image_mark(config.option("description"));
    const bool is_ours =
        mark && mark->cluster_id == settings.cluster_id && mark->provider_uid == settings.provider_uid;
    // An earlier version's mark does not name the VMID. A clone of a template is no template.
    return is_ours && (mark->vmid > 0 ? mark->vmid == vmid : config.is_template());
}

std::string image_fault(const api::v1alpha1::TemplateImage& image) {
    constexpr std::array<std::string_view, 4> kExtensions = {"qcow2", "raw", "vmdk", "img"};
    const bool is_web = image.url.starts_with("https://") || image.url.starts_with("http://");
    if (!is_web || image.url.find_first_of("?#@ ") != std::string::npos)
        return "url: must be an http or https URL of a file, without user, query and fragment";
    if (std::ranges::find(kExtensions, extension_of(image.url)) == kExtensions.end())
        return "url: must end with .qcow2, .raw, .vmdk or .img";
    if (!is_checksum(image))
        return "checksum: must be sha256:, sha384: or sha512: and the digits of the checksum, in lower case";
    if (image.storage.empty()) return "storage: must name the storage of the templates' disks";
    return {};
}

}  // namespace providers::proxmox
