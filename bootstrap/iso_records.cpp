#include "bootstrap/iso_records.hpp"

namespace bootstrap::iso {

namespace {

using std::string_literals::operator""s;

// Images are the same whenever they are made: 1 January 1980, UTC.
const std::string kRecordDate = "\x50\x01\x01\x00\x00\x00\x00"s;
const std::string kVolumeDate = "1980010100000000\x00"s;
const std::string kNoDate = "0000000000000000\x00"s;

constexpr std::uint32_t kPathTableBytes = 10;
constexpr char kIsFolder = 2;
constexpr std::uint32_t kFolderMode = 0040500;
constexpr std::uint32_t kFileMode = 0100400;

std::string both16(std::uint16_t value) {
    return little16(value) + big16(value);
}

std::string both32(std::uint32_t value) {
    return little32(value) + big32(value);
}

std::string record(std::uint32_t sector, std::uint32_t size, char flags, std::string_view name,
                   std::string_view system_use) {
    auto rest = "\0"s + both32(sector) + both32(size) + kRecordDate + flags + "\0\0"s + both16(1) +
                static_cast<char>(name.size());
    rest += name;
    if (name.size() % 2 == 0) rest += '\0';
    rest += system_use;
    if (rest.size() % 2 == 0) rest += '\0';  // with the length byte the record has an even length
    return static_cast<char>(rest.size() + 1) + rest;
}

// PX: mode, links, owner, group.
std::string posix_attributes(std::uint32_t mode, std::uint32_t links) {
    return "PX\x24\x01"s + both32(mode) + both32(links) + both32(0) + both32(0);
}

std::string padded(std::string text, std::size_t length, const std::string& filler) {
    while (text.size() < length) text += filler;
    return text.substr(0, length);
}

}  // namespace

std::string little16(std::uint16_t value) {
    return {static_cast<char>(value & 255), static_cast<char>(value >> 8)};
}

std::string big16(std::uint16_t value) {
    return {static_cast<char>(value >> 8), static_cast<char>(value & 255)};
}

std::string little32(std::uint32_t value) {
    return little16(static_cast<std::uint16_t>(value & 0xffff)) +
           little16(static_cast<std::uint16_t>(value >> 16));
}

std::string big32(std::uint32_t value) {
    return big16(static_cast<std::uint16_t>(value >> 16)) + big16(static_cast<std::uint16_t>(value & 0xffff));
}

std::string ucs2(std::string_view text) {
    std::string result;
    for (const auto c : text) {
        result += '\0';
        result += c;
    }
    return result;
}

std::string self_name() {
    return "\0"s;
}

std::string parent_name() {
    return "\1"s;
}

std::string folder_record(std::uint32_t sector, std::string_view name, std::string_view system_use) {
    return record(sector, kSector, kIsFolder, name, system_use);
}

std::string file_record(std::uint32_t sector, std::uint32_t size, std::string_view name,
                        std::string_view system_use) {
    return record(sector, size, 0, name, system_use);
}

std::string rock_ridge_root() {
    // SP: SUSP is used from the first byte on. ER: which extension, with no further description.
    return "SP\x07\x01\xBE\xEF\x00"s + posix_attributes(kFolderMode, 2) +
           "ER\x12\x01\x0A\x00\x00\x01RRIP_1991A"s;
}

std::string rock_ridge_folder() {
    return posix_attributes(kFolderMode, 2);
}

std::string rock_ridge_file(std::string_view name) {
    auto field = posix_attributes(kFileMode, 1) + "NM"s + static_cast<char>(5 + name.size()) + "\x01\x00"s;
    return field += name;
}

std::string path_table(const std::string& root_sector, const std::string& root_number) {
    return "\1\0"s + root_sector + root_number + "\0\0"s;
}

std::string volume_descriptor(const VolumeDescriptor& volume) {
    const bool is_joliet = volume.name_space == NameSpace::joliet;
    const auto text = [&](std::string_view value) { return is_joliet ? ucs2(value) : std::string(value); };
    const auto blank = text(" ");
    std::string bytes = (is_joliet ? "\2"s : "\1"s) + "CD001\1\0"s;
    bytes += padded("", 32, blank);                      // system
    bytes += padded(text(volume.volume_id), 32, blank);  // volume
    bytes += std::string(8, '\0') + both32(volume.sectors);
    bytes += padded(is_joliet ? "%/E"s : ""s, 32, "\0"s);  // UCS-2 level 3
    bytes += both16(1) + both16(1) + both16(kSector) + both32(kPathTableBytes);
    bytes += little32(volume.path_table_little) + little32(0) + big32(volume.path_table_big) + big32(0);
    bytes += folder_record(volume.root, self_name(), "");
    bytes += padded("", 4 * 128, blank);  // volume set, publisher, preparer, application
    for (int i = 0; i < 3; ++i) bytes += padded("", 37, blank);  // copyright, abstract, bibliography
    bytes += kVolumeDate + kVolumeDate + kNoDate + kNoDate + "\1"s;
    return padded(bytes, kSector, "\0"s);
}

std::string terminator() {
    return padded("\xFF"s + "CD001\1"s, kSector, "\0"s);
}

}  // namespace bootstrap::iso
