#include "providers/redfish/bmc/asset_tag.hpp"

#include <algorithm>
#include <span>

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr std::string_view kPrefix = "kns-";
constexpr std::size_t kDigits = 12;
constexpr std::size_t kClaimAt = kPrefix.size() + kDigits + 1;

std::string digits_of(const std::string& uid) {
    const auto fingerprint = base::sha256(uid);
    return base::hex(std::span(fingerprint).first(kDigits / 2));
}

// Removes blanks around the tag, with which BMCs pad it.
std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const auto begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

bool is_mark(std::string_view tag) {
    if (tag.size() != kClaimAt + kDigits || tag[kClaimAt - 1] != '-') return false;
    if (!equal_ignoring_case(tag.substr(0, kPrefix.size()), kPrefix)) return false;
    constexpr std::string_view kHex = "0123456789abcdefABCDEF";
    const auto are_digits = [&](std::string_view part) {
        return part.find_first_not_of(kHex) == std::string_view::npos;
    };
    return are_digits(tag.substr(kPrefix.size(), kDigits)) && are_digits(tag.substr(kClaimAt));
}

}  // namespace

std::string lock_mark(const MachineIdentity& identity) {
    return std::string(kPrefix) + digits_of(identity.cluster_id) + "-" + digits_of(identity.claim_uid);
}

TagMeaning meaning_of(const std::string& text, const std::string& mark,
                      const std::vector<std::string>& free_values) {
    const auto tag = trimmed(text);
    if (tag.empty()) return TagMeaning::free;
    if (is_mark(tag)) {
        if (equal_ignoring_case(tag, mark)) return TagMeaning::mine;
        const auto cluster = std::string_view(mark).substr(0, kClaimAt);
        return equal_ignoring_case(tag.substr(0, kClaimAt), cluster) ? TagMeaning::own_claim
                                                                     : TagMeaning::others;
    }
    const bool means_nothing =
        std::ranges::any_of(free_values, [&](const std::string& value) { return trimmed(value) == tag; });
    return means_nothing ? TagMeaning::free : TagMeaning::inventory;
}

bool is_cut(const std::string& text, const std::string& mark) {
    const auto tag = trimmed(text);
    return tag.size() < mark.size() && !tag.empty() &&
           equal_ignoring_case(std::string_view(mark).substr(0, tag.size()), tag);
}

}  // namespace providers::redfish
