#include "kube/resource_version.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace kube {
namespace {

std::optional<std::uint64_t> number_of(const std::string& version) {
    std::uint64_t number = 0;
    const auto* end = version.data() + version.size();
    auto result = std::from_chars(version.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
    return number;
}

}  // namespace

bool is_newer(const std::string& version, const std::string& than) {
    const auto left = number_of(version);
    const auto right = number_of(than);
    return left && right && *left > *right;
}

}  // namespace kube
