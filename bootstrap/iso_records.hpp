// The records that an ISO 9660 image is made of, as bytes. ECMA-119 (4th edition), the Joliet specification,
// IEEE P1281 (SUSP) and P1282 (Rock Ridge). Only what an image with one folder needs. Not a public interface
// of bootstrap/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bootstrap::iso {

inline constexpr std::uint32_t kSector = 2048;

std::string little16(std::uint16_t value);
std::string big16(std::uint16_t value);
std::string little32(std::uint32_t value);
std::string big32(std::uint32_t value);
// Big-endian UCS-2 of ASCII text.
std::string ucs2(std::string_view text);

// Directory records (ECMA-119 9.1): a folder is one sector. `system_use` holds Rock Ridge's fields.
std::string self_name();
std::string parent_name();
std::string folder_record(std::uint32_t sector, std::string_view name, std::string_view system_use);
std::string file_record(std::uint32_t sector, std::uint32_t size, std::string_view name,
                        std::string_view system_use);

// Rock Ridge: the root's own entry announces it; owner root, files readable by root only.
std::string rock_ridge_root();
std::string rock_ridge_folder();
std::string rock_ridge_file(std::string_view name);

// A path table that knows the root alone (ECMA-119 9.4), its numbers in the byte order of the table.
std::string path_table(const std::string& root_sector, const std::string& root_number);

enum class NameSpace { primary, joliet };
struct VolumeDescriptor {
    NameSpace name_space;
    std::string_view volume_id;
    std::uint32_t sectors;
    std::uint32_t path_table_little, path_table_big;
    std::uint32_t root;
};
std::string volume_descriptor(const VolumeDescriptor& volume);
std::string terminator();

}  // namespace bootstrap::iso
