#include "test/simulation/guests/iso_files.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace simulation {
namespace {

constexpr std::size_t kSector = 2048;
constexpr std::size_t kFirstDescriptor = 16;
constexpr unsigned char kSupplementary = 2;
constexpr unsigned char kTerminator = 255;

std::string_view piece(std::string_view image, std::size_t offset, std::size_t length) {
    if (offset + length > image.size()) throw std::runtime_error("the image ends too early");
    return image.substr(offset, length);
}

std::uint32_t little_endian(std::string_view image, std::size_t offset) {
    auto bytes = piece(image, offset, 4);
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i)
        value = value << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    return value;
}

// Converts a name to ASCII, which every expected name is, and cuts off a version ";1".
std::string text(std::string_view ucs2) {
    std::string result;
    for (std::size_t i = 1; i < ucs2.size(); i += 2) result += ucs2[i];
    return result.substr(0, result.find(';'));
}

std::size_t find_joliet(std::string_view image) {
    for (auto sector = kFirstDescriptor;; ++sector) {
        auto descriptor = piece(image, sector * kSector, kSector);
        if (descriptor.substr(1, 5) != "CD001") throw std::runtime_error("no ISO 9660 image");
        auto type = static_cast<unsigned char>(descriptor[0]);
        if (type == kTerminator) throw std::runtime_error("the image has no Joliet names");
        if (type == kSupplementary && descriptor.substr(88, 2) == "%/") return sector * kSector;
    }
}

}  // namespace

IsoImage read_iso(std::string_view image) {
    IsoImage result;
    auto primary = piece(image, kFirstDescriptor * kSector, kSector);
    result.volume_id = primary.substr(40, 32);
    result.volume_id.erase(result.volume_id.find_last_not_of(' ') + 1);
    std::ranges::transform(result.volume_id, result.volume_id.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    auto root = find_joliet(image) + 156;
    auto at = static_cast<std::size_t>(little_endian(image, root + 2)) * kSector;
    auto end = at + little_endian(image, root + 10);
    while (at < end) {
        auto length = static_cast<unsigned char>(piece(image, at, 1)[0]);
        if (length == 0) {  // records do not cross sectors
            at = (at / kSector + 1) * kSector;
            continue;
        }
        auto name_length = static_cast<unsigned char>(piece(image, at + 32, 1)[0]);
        auto name = text(piece(image, at + 33, name_length));
        if (name_length > 1) {  // others are this directory or its parent
            result.files[name] =
                piece(image, static_cast<std::size_t>(little_endian(image, at + 2)) * kSector,
                      little_endian(image, at + 10));
        }
        at += length;
    }
    return result;
}

}  // namespace simulation
