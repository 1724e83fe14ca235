#include "providers/redfish/bmc/asset_tag.hpp"

#include <algorithm>
#include <span>

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr std::string_view kPrefix = "kns-";
constexpr std::size_t kDigits = 12;
// Digits of cluster and claim in a mark with a record.
constexpr std::size_t kFewDigits = 8;
constexpr std::size_t kFewestDigits = 4;

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

bool is_hexadecimal(std::string_view text) {
    return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_start(std::string_view text, std::string_view start) {
    return equal_ignoring_case(text.substr(0, start.size()), start);
}

struct Mark {
    std::string_view cluster;
    std::string_view claim;
    std::string_view epochs;  // of the leader that wrote it, and of its rival; empty: there is no record
};

std::optional<Mark> parse_mark(std::string_view tag) {
    if (!is_start(tag, kPrefix)) return std::nullopt;
    tag.remove_prefix(kPrefix.size());
    const auto end = std::min(tag.find('-'), tag.size());
    Mark mark{tag.substr(0, end), tag.substr(std::min(end + 1, tag.size())), {}};
    if (!is_hexadecimal(mark.cluster) || !is_hexadecimal(mark.claim)) return std::nullopt;
    if (mark.cluster.size() == kDigits && mark.claim.size() == kDigits) return mark;
    if (mark.cluster.size() != kFewDigits || mark.claim.size() < kFewestDigits) return std::nullopt;
    mark.epochs = mark.claim.substr(kFewestDigits);
    mark.claim = mark.claim.substr(0, kFewestDigits);
    const bool has_rival = mark.epochs.size() == 2 * kEpochDigits;
    return has_rival || mark.epochs.size() == kEpochDigits ? std::optional(mark) : std::nullopt;
}

}  // namespace

std::string lock_mark(const MachineIdentity& identity) {
    return std::string(kPrefix) + digits_of(identity.cluster_id) + "-" + digits_of(identity.claim_uid);
}

TagMeaning meaning_of(const std::string& text, const std::string& mark,
                      const std::vector<std::string>& free_values) {
    const auto tag = trimmed(text);
    if (tag.empty()) return TagMeaning::free;
    if (const auto found = parse_mark(tag)) {
        const auto own = parse_mark(mark).value();
        if (!is_start(own.cluster, found->cluster)) return TagMeaning::others;
        return is_start(own.claim, found->claim) ? TagMeaning::mine : TagMeaning::own_claim;
    }
    const bool means_nothing =
        std::ranges::any_of(free_values, [&](const std::string& value) { return trimmed(value) == tag; });
    return means_nothing ? TagMeaning::free : TagMeaning::inventory;
}

std::string with_epoch(const std::string& mark, const EpochRecord& record) {
    const auto parts = parse_mark(trimmed(mark));
    if (!parts) return mark;
    std::string text(kPrefix);
    text.append(parts->cluster.substr(0, kFewDigits)).append("-");
    text.append(parts->claim.substr(0, kFewestDigits)).append(record.epoch, 0, kEpochDigits);
    return text.append(record.rival, 0, kEpochDigits);
}

std::optional<EpochRecord> epoch_in(const std::string& tag) {
    const auto mark = parse_mark(trimmed(tag));
    if (!mark || mark->epochs.empty()) return std::nullopt;
    const auto epochs = base::lower_case(mark->epochs);  // BMCs may show capital letters
    return EpochRecord{epochs.substr(0, kEpochDigits), epochs.substr(kEpochDigits)};
}

bool is_cut(const std::string& text, const std::string& mark) {
    const auto tag = trimmed(text);
    return tag.size() < mark.size() && !tag.empty() && is_start(mark, tag);
}

}  // namespace providers::redfish
