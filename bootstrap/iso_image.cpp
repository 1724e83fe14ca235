#include "bootstrap/iso_image.hpp"

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "bootstrap/iso_records.hpp"

namespace bootstrap {

namespace {

using namespace iso;

constexpr std::size_t kLargestFile = 64 * 1024 * 1024;
constexpr std::string_view kVolumeID = "cidata";

// Where things are, in sectors. The folder of each name space fits into one.
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

// In the order of their names, which both name spaces share.
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
    auto records = folder_record(kPrimaryFolder, self_name(), rock_ridge_root());
    records += folder_record(kPrimaryFolder, parent_name(), rock_ridge_folder());
    for (const auto& file : files) {
        records += file_record(file.sector, file.size(), file.plain_name, rock_ridge_file(file.name));
    }
    return records;
}

std::string joliet_folder(const std::vector<File>& files) {
    auto records =
        folder_record(kJolietFolder, self_name(), "") + folder_record(kJolietFolder, parent_name(), "");
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
