#include "test/simulators/proxmox/guest/seed.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <stdexcept>

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

struct CloseArchive {
    void operator()(archive* reader) const { archive_read_free(reader); }
};

// Source: ECMA-119 8.4. The primary volume descriptor is in sector 16, its volume identifier at byte 40.
std::string volume_label(const std::string& image) {
    constexpr std::size_t kDescriptor = 16 * 2048;
    if (image.size() < kDescriptor + 2048 || image.compare(kDescriptor + 1, 5, "CD001") != 0) return {};
    return lower(trim(image.substr(kDescriptor + 40, 32)));
}

std::string read_entry(archive* reader) {
    std::string content;
    char buffer[16384];
    for (;;) {
        auto size = archive_read_data(reader, buffer, sizeof buffer);
        if (size < 0)
            throw std::runtime_error(std::string("reading the seed image: ") + archive_error_string(reader));
        if (size == 0) return content;
        content.append(buffer, static_cast<std::size_t>(size));
    }
}

}  // namespace

std::optional<SeedFiles> read_seed_image(const std::string& image) {
    if (volume_label(image) != "cidata") return std::nullopt;
    std::unique_ptr<archive, CloseArchive> reader(archive_read_new());
    archive_read_support_format_iso9660(reader.get());
    if (archive_read_open_memory(reader.get(), image.data(), image.size()) != ARCHIVE_OK) {
        throw std::runtime_error(std::string("reading the seed image: ") +
                                 archive_error_string(reader.get()));
    }
    SeedFiles files;
    archive_entry* entry = nullptr;
    while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
        std::string name = archive_entry_pathname(entry);
        if (name == "user-data") files.user_data = read_entry(reader.get());
        if (name == "meta-data") files.meta_data = read_entry(reader.get());
        if (name == "network-config") files.network_config = read_entry(reader.get());
    }
    return files;
}

std::string seed_url(const std::string& smbios_serial) {
    const auto parts = split(smbios_serial, ';');
    if (parts.empty() || (parts.front() != "ds=nocloud" && parts.front() != "ds=nocloud-net")) return {};
    bool waits_for_network = parts.front() == "ds=nocloud-net";
    std::string url;
    for (const auto& part : parts) {
        if (part == "dsmode=net") waits_for_network = true;
        if (part.starts_with("s=")) url = part.substr(2);
    }
    const bool is_web = url.starts_with("http://") || url.starts_with("https://");
    return waits_for_network && is_web && url.ends_with('/') ? url : std::string();
}

}  // namespace proxmox_simulator
