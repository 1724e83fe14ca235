#include "providers/redfish/bmc/gunzip.hpp"

#include <array>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/crc.hpp>
#include <cstdint>

namespace providers::redfish {

namespace zlib = boost::beast::zlib;

namespace {

constexpr std::size_t kFixedHeader = 10;
constexpr std::size_t kTrailer = 8;  // CRC-32 and length, four bytes each

enum Flags : unsigned { kHeaderCrc = 2, kExtra = 4, kName = 8, kComment = 16, kReserved = 224 };

unsigned byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

std::uint32_t word_at(std::string_view text, std::size_t at) {
    return byte_at(text, at) | byte_at(text, at + 1) << 8U | byte_at(text, at + 2) << 16U |
           byte_at(text, at + 3) << 24U;
}

bool skip(std::string_view& text, std::size_t count) {
    if (text.size() < count) return false;
    text.remove_prefix(count);
    return true;
}

bool skip_text(std::string_view& text) {
    const auto end = text.find('\0');
    return end != std::string_view::npos && skip(text, end + 1);
}

bool skip_header(std::string_view& text) {
    if (text.size() < kFixedHeader || !text.starts_with("\x1f\x8b\x08")) return false;
    const auto flags = byte_at(text, 3);
    text.remove_prefix(kFixedHeader);
    if (flags & kReserved) return false;
    if (flags & kExtra) {
        if (text.size() < 2 || !skip(text, 2 + byte_at(text, 0) + (byte_at(text, 1) << 8U))) return false;
    }
    if ((flags & kName) && !skip_text(text)) return false;
    if ((flags & kComment) && !skip_text(text)) return false;
    return !(flags & kHeaderCrc) || skip(text, 2);
}

}  // namespace

std::optional<std::string> gunzip(std::string_view compressed, std::size_t most) {
    if (!skip_header(compressed)) return std::nullopt;
    std::array<char, 16384> piece{};
    std::string text;
    zlib::inflate_stream inflater;
    zlib::z_params state;
    state.next_in = compressed.data();
    state.avail_in = compressed.size();
    boost::system::error_code error;
    while (!error) {
        state.next_out = piece.data();
        state.avail_out = piece.size();
        inflater.write(state, zlib::Flush::sync, error);
        text.append(piece.data(), piece.size() - state.avail_out);
        if (text.size() > most) return std::nullopt;
    }
    const bool is_whole = error == zlib::error::end_of_stream && state.avail_in >= kTrailer;
    if (!is_whole) return std::nullopt;
    const auto trailer = compressed.substr(compressed.size() - state.avail_in);
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    const bool is_undamaged = word_at(trailer, 0) == crc.checksum() &&
                              word_at(trailer, 4) == static_cast<std::uint32_t>(text.size());
    return is_undamaged ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace providers::redfish
