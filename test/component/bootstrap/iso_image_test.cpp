// Reads the images with another implementation.
#include "bootstrap/iso_image.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <map>
#include <memory>

#include "test/support/catch.hpp"

namespace {

// Returns the files of an image as libarchive sees them with the named extension alone ("rockridge" or
// "joliet").
std::map<std::string, std::string> files_of(const std::string& image, const std::string& extension) {
    std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), archive_read_free);
    archive_read_support_format_iso9660(reader.get());
    const auto other = extension == "joliet" ? "!rockridge" : "!joliet";
    REQUIRE(archive_read_set_options(reader.get(), other) == ARCHIVE_OK);
    REQUIRE(archive_read_open_memory(reader.get(), image.data(), image.size()) == ARCHIVE_OK);
    std::map<std::string, std::string> files;
    archive_entry* entry = nullptr;
    while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
        if (archive_entry_filetype(entry) != AE_IFREG) continue;
        std::string content(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
        REQUIRE(archive_read_data(reader.get(), content.data(), content.size()) ==
                static_cast<la_ssize_t>(content.size()));
        files[archive_entry_pathname(entry)] = content;
    }
    return files;
}

}  // namespace

TEST_CASE("A boot image is labelled cidata and holds the seed under its long names") {
    const std::string long_text(5000, 'x');
    const auto image =
        bootstrap::nocloud_image({"#cloud-config\n" + long_text, "instance-id: a\n", "version: 2\n"});
    CHECK(image.substr(0x8000 + 40, 32) == "cidata" + std::string(26, ' '));
    for (const auto* extension : {"rockridge", "joliet"}) {
        INFO(extension);
        const auto files = files_of(image, extension);
        CHECK(files.size() == 3);
        CHECK(files.at("user-data") == "#cloud-config\n" + long_text);
        CHECK(files.at("meta-data") == "instance-id: a\n");
        CHECK(files.at("network-config") == "version: 2\n");
    }
}

TEST_CASE("A seed without network configuration has no such file") {
    CHECK(files_of(bootstrap::nocloud_image({"u", "m", ""}), "joliet").count("network-config") == 0);
}

TEST_CASE("The same seed gives the same image at any time, of whole sectors and as large as it says") {
    const auto image = bootstrap::nocloud_image({"u", "m", "n"});
    CHECK(image == bootstrap::nocloud_image({"u", "m", "n"}));
    CHECK(image.size() == 28 * 2048);
    for (const std::size_t sector : {16u, 17u}) {
        CHECK(image[sector * 2048 + 80] == 28);
        // These are the creation and modification dates (ECMA-119 8.4.26).
        CHECK(image.substr(sector * 2048 + 813, 34) ==
              std::string("1980010100000000\0001980010100000000\000", 34));
    }
    CHECK(bootstrap::nocloud_image({"v", "m", "n"}) != image);
}

TEST_CASE("Files of any length are kept byte by byte") {
    for (const std::size_t length : {0u, 1u, 2047u, 2048u, 2049u, 100'000u}) {
        INFO(length);
        const std::string content(length, '\xE4');
        const auto image = bootstrap::nocloud_image({content, "m", content});
        CHECK(files_of(image, "rockridge").at("user-data") == content);
        CHECK(files_of(image, "joliet").at("user-data") == content);
    }
}
