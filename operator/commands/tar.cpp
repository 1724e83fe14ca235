#include "operator/commands/tar.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace kubenodesmith {
namespace {

// https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
constexpr std::size_t kBlock = 512;
constexpr std::size_t kLongestPath = 100;

struct HeaderField {
    std::size_t at;
    std::size_t size;
};
constexpr HeaderField kMode{100, 8};
constexpr HeaderField kOwner{108, 8};
constexpr HeaderField kGroup{116, 8};
constexpr HeaderField kSize{124, 12};
constexpr HeaderField kTime{136, 12};
constexpr HeaderField kSum{148, 8};
constexpr std::size_t kType = 156;
constexpr std::size_t kMagicAt = 257;
constexpr std::string_view kMagic{"ustar\00000", 8};  // a zero byte, then version "00"

void put_octal(std::string& header, HeaderField field, std::uint64_t value) {
    std::array<char, 16> digits{};
    const auto width = static_cast<int>(field.size) - 1;
    std::snprintf(digits.data(), digits.size(), "%0*llo", width, static_cast<unsigned long long>(value));
    header.replace(field.at, field.size - 1, digits.data(), field.size - 1);
}

void pad(std::string& archive) {
    archive.append((kBlock - archive.size() % kBlock) % kBlock, '\0');
}

}  // namespace

void Tar::add(const std::string& path, std::string_view text) {
    if (path.size() > kLongestPath)
        throw std::invalid_argument("the path " + path + " is too long for an archive");
    constexpr std::uint64_t kOnlyOwnerReads = 0600;
    std::string header(kBlock, '\0');
    header.replace(0, path.size(), path);
    put_octal(header, kMode, kOnlyOwnerReads);
    put_octal(header, kOwner, 0);
    put_octal(header, kGroup, 0);
    put_octal(header, kSize, text.size());
    put_octal(header, kTime, static_cast<std::uint64_t>(time_.at.time_since_epoch().count()));
    header[kType] = '0';
    header.replace(kMagicAt, kMagic.size(), kMagic);
    // The checksum counts its own field as blanks.
    header.replace(kSum.at, kSum.size, kSum.size, ' ');
    std::uint64_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put_octal(header, {kSum.at, kSum.size - 1}, sum);
    header[kSum.at + kSum.size - 2] = '\0';
    archive_ += header;
    archive_ += text;
    pad(archive_);
}

std::string Tar::str() const {
    return archive_ + std::string(2 * kBlock, '\0');
}

}  // namespace kubenodesmith
