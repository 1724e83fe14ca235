#include "bootstrap/iso_image.hpp"

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bootstrap {

namespace {

// Defines the records of an image as bytes: ECMA-119 (4th edition), the Joliet specification, IEEE P1281
// (SUSP) and P1282 (Rock Ridge). It covers only what an image with one folder needs.
using std::string_literals::operator""s;

// Images are identical whenever they are created: 1 January 1980, UTC.
const std::string kRecordDate = "\x50\x01\x01\x00\x00\x00\x00"s;
const std::string kVolumeDate = "1980010100000000\x00"s;
const std::string kNoDate = "0000000000000000\x00"s;

const std::string kSelf = "\0"s;
const std::string kParent = "\1"s;

constexpr std::uint32_t kSector = 2048;
constexpr std::uint32_t kPathTableBytes = 10;
constexpr char kIsFolder = 2;
constexpr std::uint32_t kFolderMode = 0040500;
constexpr std::uint32_t kFileMode = 0100400;

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

// Converts ASCII text to big-endian UCS-2.
std::string ucs2(std::string_view text) {
    std::string result;
    for (const auto c : text) {
        result += '\0';
        result += c;
    }
    return result;
}

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

// Returns the field PX: mode, links, owner, group.
std::string posix_attributes(std::uint32_t mode, std::uint32_t links) {
    return "PX\x24\x01"s + both32(mode) + both32(links) + both32(0) + both32(0);
}

std::string padded(std::string text, std::size_t length, const std::string& filler) {
    while (text.size() < length) text += filler;
    return text.substr(0, length);
}

// Builds directory records (ECMA-119 9.1): a folder is one sector. `system_use` contains Rock Ridge's fields.
std::string folder_record(std::uint32_t sector, std::string_view name, std::string_view system_use) {
    return record(sector, kSector, kIsFolder, name, system_use);
}

std::string file_record(std::uint32_t sector, std::uint32_t size, std::string_view name,
                        std::string_view system_use) {
    return record(sector, size, 0, name, system_use);
}

// Builds the root's own entry, which announces Rock Ridge. The owner is root, and root alone can read files.
std::string rock_ridge_root() {
    // SP: SUSP is used from the first byte on. ER: names the extension, without further description.
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

// Builds a path table that contains only the root (ECMA-119 9.4), with numbers in the table's byte order.
std::string path_table(const std::string& root_sector, const std::string& root_number) {
    return "\1\0"s + root_sector + root_number + "\0\0"s;
}

enum class NameSpace { primary, joliet };
struct VolumeDescriptor {
    NameSpace name_space;
    std::string_view volume_id;
    std::uint32_t sectors;
    std::uint32_t path_table_little, path_table_big;
    std::uint32_t root;
};

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
    bytes += folder_record(volume.root, kSelf, "");
    bytes += padded("", 4 * 128, blank);  // volume set, publisher, preparer, application
    for (int i = 0; i < 3; ++i) bytes += padded("", 37, blank);  // copyright, abstract, bibliography
    bytes += kVolumeDate + kVolumeDate + kNoDate + kNoDate + "\1"s;
    return padded(bytes, kSector, "\0"s);
}

std::string terminator() {
    return padded("\xFF"s + "CD001\1"s, kSector, "\0"s);
}

// ---- the image

constexpr std::size_t kLargestFile = 64 * 1024 * 1024;
constexpr std::string_view kVolumeID = "cidata";

// Defines the positions in sectors. The folder of each name space fits into one.
enum : std::uint32_t {
    kPrimaryDescriptor = 16,
    kJolietDescriptor,
    kTerminator,
    kPrimaryTableLittle,
    kPrimaryTableBig,
    kJolietTableLittle,
    kJolietTableBig,
    kPrimaryFolder,
    kJolietFolder,
    kFirstFile,
};

struct File {
    std::string name;        // Rock Ridge and Joliet
    std::string plain_name;  // ISO 9660 alone
    const std::string* content;
    std::uint32_t sector = 0;

    std::uint32_t size() const { return static_cast<std::uint32_t>(content->size()); }
};

// Returns the files sorted by name, which is the same order in both name spaces.
std::vector<File> files_of(const Seed& seed) {
    std::vector<File> files{{"meta-data", "META_DATA.;1", &seed.meta_data}};
    if (!seed.network_config.empty())
        files.push_back({"network-config", "NETWORK_CONFIG.;1", &seed.network_config});
    files.push_back({"user-data", "USER_DATA.;1", &seed.user_data});
    std::uint32_t next = kFirstFile;
    for (auto& file : files) {
        if (file.content->size() > kLargestFile)
            throw std::invalid_argument(file.name + " is too large for a boot image");
        file.sector = next;
        next += (file.size() + kSector - 1) / kSector;
    }
    return files;
}

std::string primary_folder(const std::vector<File>& files) {
    auto records = folder_record(kPrimaryFolder, kSelf, rock_ridge_root());
    records += folder_record(kPrimaryFolder, kParent, rock_ridge_folder());
    for (const auto& file : files) {
        records += file_record(file.sector, file.size(), file.plain_name, rock_ridge_file(file.name));
    }
    return records;
}

std::string joliet_folder(const std::vector<File>& files) {
    auto records = folder_record(kJolietFolder, kSelf, "") + folder_record(kJolietFolder, kParent, "");
    for (const auto& file : files) records += file_record(file.sector, file.size(), ucs2(file.name), "");
    return records;
}

void place(std::string& image, std::uint32_t sector, const std::string& bytes) {
    image.replace(sector * kSector, bytes.size(), bytes);
}

}  // namespace

std::string nocloud_image(const Seed& seed) {
    const auto files = files_of(seed);
    const auto& last = files.back();
    const auto sectors = last.sector + (last.size() + kSector - 1) / kSector;
    std::string image(sectors * kSector, '\0');
    place(image, kPrimaryDescriptor,
          volume_descriptor({NameSpace::primary, kVolumeID, sectors, kPrimaryTableLittle, kPrimaryTableBig,
                             kPrimaryFolder}));
    place(image, kJolietDescriptor,
          volume_descriptor(
              {NameSpace::joliet, kVolumeID, sectors, kJolietTableLittle, kJolietTableBig, kJolietFolder}));
    place(image, kTerminator, terminator());
    place(image, kPrimaryTableLittle, path_table(little32(kPrimaryFolder), little16(1)));
    place(image, kPrimaryTableBig, path_table(big32(kPrimaryFolder), big16(1)));
    place(image, kJolietTableLittle, path_table(little32(kJolietFolder), little16(1)));
    place(image, kJolietTableBig, path_table(big32(kJolietFolder), big16(1)));
    place(image, kPrimaryFolder, primary_folder(files));
    place(image, kJolietFolder, joliet_folder(files));
    for (const auto& file : files) place(image, file.sector, *file.content);
    return image;
}

}  // namespace bootstrap
