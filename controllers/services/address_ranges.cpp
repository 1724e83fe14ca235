#include "controllers/services/address_ranges.hpp"

#include <boost/asio/ip/address.hpp>
#include <stdexcept>

namespace controllers {

namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kCountedAtMost = 1'000'000;

struct AddressRange {
    ip::address first;
    ip::address last;
};

ip::address parse(const std::string& text, const std::string& range) {
    boost::system::error_code error;
    const auto address = ip::make_address(text, error);
    if (error)
        throw std::invalid_argument("network.addresses: " + range +
                                    " is not an IP address or a range of them: " + text);
    return address;
}

AddressRange parse_range(const std::string& text) {
    const auto dash = text.find('-');
    AddressRange range;
    range.first = parse(text.substr(0, dash), text);
    range.last = dash == std::string::npos ? range.first : parse(text.substr(dash + 1), text);
    if (range.first.is_v4() != range.last.is_v4() || range.last < range.first) {
        throw std::invalid_argument("network.addresses: " + text +
                                    " must go from a lower to a higher address of the same kind");
    }
    return range;
}

ip::address following(const ip::address& address) {
    if (address.is_v4()) return ip::address_v4(address.to_v4().to_uint() + 1);
    auto bytes = address.to_v6().to_bytes();
    for (auto byte = bytes.rbegin(); byte != bytes.rend() && ++*byte == 0; ++byte) {
    }
    return ip::address_v6(bytes);
}

}  // namespace

bool is_address(const std::string& text) {
    boost::system::error_code error;
    ip::make_address(text, error);
    return !error;
}

std::string canonical_address(const std::string& text) {
    return parse(text, text).to_string();
}

std::optional<std::string> choose_address(const std::vector<std::string>& ranges,
                                          const std::set<std::string>& taken) {
    for (const auto& text : ranges) {
        const auto range = parse_range(text);
        for (auto address = range.first;; address = following(address)) {
            auto candidate = address.to_string();
            if (!taken.contains(candidate)) return candidate;
            if (address == range.last) break;
        }
    }
    return std::nullopt;
}

std::size_t count_addresses(const std::vector<std::string>& ranges) {
    std::size_t count = 0;
    for (const auto& text : ranges) {
        const auto range = parse_range(text);
        for (auto address = range.first; ++count < kCountedAtMost && address != range.last;)
            address = following(address);
    }
    return count;
}

}  // namespace controllers
