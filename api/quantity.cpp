#include "api/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace api {

namespace {

using Wide = __int128;
using Format = Quantity::Format;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNano = 1'000'000'000;
constexpr int kNanoDigits = 9;
constexpr Wide kMaxNanos = Wide{kMax} * kNano;

[[noreturn]] void not_a_quantity() {
    throw std::invalid_argument("expected a quantity such as 500m, 2, 1.5Gi or 100M");
}

struct Suffix {
    Format format = Format::DecimalSI;
    int power_of_ten = 0;
    int power_of_two = 0;
};

std::string_view take_digits(std::string_view& text) {
    std::size_t length = 0;
    while (length < text.size() && text[length] >= '0' && text[length] <= '9') ++length;
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
}

// Parses an exponent. Kubernetes' pattern for custom resources accepts exponents of any length, and fractions
// in them ("1e1.5"). The API server stores them unchanged. An exponent beyond all amounts saturates; its
// fraction is dropped.
Suffix parse_exponent(std::string_view text) {
    constexpr int kBeyondAllAmounts = 1'000'000;
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view digits = take_digits(text);
    bool any = !digits.empty();
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        any = !take_digits(text).empty() || any;
    }
    if (!any || !text.empty()) not_a_quantity();
    int exponent = 0;
    for (const char c : digits) exponent = std::min(exponent * 10 + (c - '0'), kBeyondAllAmounts);
    return {Format::DecimalExponent, negative ? -exponent : exponent};
}

Suffix parse_suffix(std::string_view text) {
    static constexpr std::string_view kBinary[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    static constexpr std::string_view kDecimal[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    for (int i = 0; i < 6; ++i)
        if (text == kBinary[i]) return {Format::BinarySI, 0, 10 * (i + 1)};
    for (int i = 0; i < 10; ++i)
        if (text == kDecimal[i]) return {Format::DecimalSI, 3 * (i - 3)};
    if (text.front() == 'e' || text.front() == 'E') return parse_exponent(text.substr(1));
    not_a_quantity();
}

// Returns the integer `digits`, at most `limit`.
Wide saturating(std::string_view digits, Wide limit) {
    Wide value = 0;
    for (const char c : digits) value = std::min<Wide>(value * 10 + (c - '0'), limit);
    return value;
}

// Returns digits * 10^exponent in whole nanos, rounded up, saturating.
Wide decimal_nanos(std::string digits, int exponent) {
    bool more = false;
    for (; exponent < 0 && !digits.empty(); ++exponent) {
        more = more || digits.back() != '0';
        digits.pop_back();
    }
    Wide nanos = saturating(digits, kMaxNanos);
    for (; exponent > 0 && nanos != 0 && nanos != kMaxNanos; --exponent)
        nanos = std::min(nanos * 10, kMaxNanos);
    return nanos + (more ? 1 : 0);
}

// Returns whole.fraction * 2^power in nanos, rounded up, saturating. power <= 60.
Wide binary_nanos(std::string_view whole, std::string_view fraction, int power) {
    // With at most 18 digits, fraction * 2^60 stays below 2^127.
    constexpr std::size_t kDigits = 18;
    const bool more =
        fraction.size() > kDigits && fraction.find_first_not_of('0', kDigits) != std::string_view::npos;
    fraction = fraction.substr(0, kDigits);
    Wide divisor = 1;
    for (std::size_t i = 0; i < fraction.size(); ++i) divisor *= 10;
    const Wide scaled = saturating(fraction, divisor) << power;
    const Wide nanos = (scaled % divisor * kNano + divisor - 1) / divisor;
    const Wide units = (saturating(whole, kMax) << power) + scaled / divisor;
    return std::min<Wide>(units, kMax) * kNano + nanos + (more ? 1 : 0);
}

std::string to_text(Wide value) {
    if (value == 0) return "0";
    const bool negative = value < 0;
    std::string text;
    for (Wide rest = negative ? -value : value; rest != 0; rest /= 10)
        text += static_cast<char>('0' + static_cast<int>(rest % 10));
    if (negative) text += '-';
    std::ranges::reverse(text);
    return text;
}

std::string format_binary(std::int64_t whole) {
    static constexpr const char* kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int suffix = 0;
    for (; whole % 1024 == 0 && suffix < 6; ++suffix) whole /= 1024;
    return std::to_string(whole) + kSuffixes[suffix];
}

std::string format_decimal(Wide nanos, bool as_exponent) {
    static constexpr const char* kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    int suffix = 0;
    for (; nanos % 1000 == 0 && suffix < 9; ++suffix) nanos /= 1000;
    const int exponent = 3 * (suffix - 3);
    if (!as_exponent) return to_text(nanos) + kSuffixes[suffix];
    return to_text(nanos) + (exponent == 0 ? "" : "e" + std::to_string(exponent));
}

}  // namespace

Quantity Quantity::of(std::int64_t value, Format format) {
    Quantity quantity;
    quantity.whole_ = value;
    quantity.format_ = format;
    return quantity;
}

Quantity Quantity::of_milli(std::int64_t thousandths) {
    Quantity quantity;
    quantity.whole_ = thousandths / 1000 - (thousandths % 1000 < 0 ? 1 : 0);
    quantity.nano_ = static_cast<std::int32_t>((thousandths - quantity.whole_ * 1000) * 1'000'000);
    return quantity;
}

Quantity Quantity::of_mebibytes(std::int64_t mebibytes) {
    constexpr std::int64_t kLimit = kMax >> 20;
    return of(std::clamp(mebibytes, -kLimit, kLimit) * (1 << 20), Format::BinarySI);
}

Quantity Quantity::from_decimal(double value) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return parse({text.data(), error == std::errc() ? end : text.data()});
}

Quantity Quantity::parse(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        fraction = take_digits(text);
    }
    if (whole.empty() && fraction.empty()) not_a_quantity();
    const Suffix suffix = text.empty() ? Suffix{} : parse_suffix(text);
    const int exponent = suffix.power_of_ten + kNanoDigits - static_cast<int>(fraction.size());
    const Wide nanos = suffix.power_of_two != 0
                           ? binary_nanos(whole, fraction, suffix.power_of_two)
                           : decimal_nanos(std::string(whole) + std::string(fraction), exponent);
    Quantity quantity;
    quantity.format_ = suffix.format;
    quantity.set_nanos(negative ? -nanos : nanos);
    return quantity;
}

std::string Quantity::str() const {
    if (is_zero()) return "0";
    const bool fits_binary = nano_ == 0 && (whole_ <= -1024 || whole_ >= 1024);
    if (format_ == Format::BinarySI && fits_binary) return format_binary(whole_);
    return format_decimal(nanos(), format_ == Format::DecimalExponent);
}

base::Saturating Quantity::value() const {
    return nano_ == 0 || whole_ == kMax ? whole_ : whole_ + 1;
}

base::Saturating Quantity::milli() const {
    constexpr Wide kNanosPerMilli = 1'000'000;
    const Wide exact = nanos();
    Wide milli = exact / kNanosPerMilli;
    if (exact > 0 && exact % kNanosPerMilli != 0) ++milli;
    return static_cast<std::int64_t>(std::clamp<Wide>(milli, std::numeric_limits<std::int64_t>::min(), kMax));
}

double Quantity::as_double() const {
    return static_cast<double>(whole_) + static_cast<double>(nano_) / 1e9;
}

base::Saturating Quantity::mebibytes() const {
    const std::int64_t bytes = value();
    const std::int64_t mebibytes = bytes / (1 << 20);
    return bytes > 0 && bytes % (1 << 20) != 0 ? mebibytes + 1 : mebibytes;
}

std::strong_ordering Quantity::operator<=>(const Quantity& other) const {
    if (const auto order = whole_ <=> other.whole_; order != 0) return order;
    return nano_ <=> other.nano_;
}

Quantity& Quantity::operator+=(const Quantity& other) {
    set_nanos(nanos() + other.nanos());
    return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
    set_nanos(nanos() - other.nanos());
    return *this;
}

__int128 Quantity::nanos() const {
    return Wide{whole_} * kNano + nano_;
}

void Quantity::set_nanos(__int128 nanos) {
    nanos = std::clamp(nanos, -kMaxNanos, kMaxNanos);
    Wide whole = nanos / kNano;
    Wide nano = nanos % kNano;
    if (nano < 0) {
        nano += kNano;
        --whole;
    }
    whole_ = static_cast<std::int64_t>(whole);
    nano_ = static_cast<std::int32_t>(nano);
}

std::optional<std::int64_t> IntOrString::as_integer() const {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    return std::nullopt;
}

std::string IntOrString::str() const {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    return std::get<std::string>(value);
}

std::int64_t IntOrString::resolve(std::int64_t total) const {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    std::string_view text = std::get<std::string>(value);
    if (text.ends_with('%')) text.remove_suffix(1);
    std::int64_t percent = 0;
    if (text.empty() || text.size() > 9 || text.size() == std::get<std::string>(value).size())
        throw std::invalid_argument("expected an integer or a percentage such as 10%");
    for (const char c : text) {
        if (c < '0' || c > '9')
            throw std::invalid_argument("expected an integer or a percentage such as 10%");
        percent = percent * 10 + (c - '0');
    }
    return static_cast<std::int64_t>((Wide{total} * percent + 99) / 100);
}

}  // namespace api
