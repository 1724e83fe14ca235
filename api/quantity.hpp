// Amounts of resources in Kubernetes' notation: "500m", "1.5Gi", "2e3", "100k". For grammar and canonical
// form see k8s.io/apimachinery/pkg/api/resource (quantity.go).
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/saturating.hpp"

namespace api {

// Quantity is an exact decimal number with a resolution of 1e-9 in the range of a signed 64-bit integer.
// Finer input is rounded away from zero and larger input saturates, as in Kubernetes.
class Quantity {
public:
    enum class Format : std::int8_t { DecimalSI, BinarySI, DecimalExponent };

    constexpr Quantity() = default;
    static Quantity of(std::int64_t value, Format format = Format::DecimalSI);
    static Quantity of_milli(std::int64_t thousandths);
    static Quantity of_mebibytes(std::int64_t mebibytes);

    // Throws std::invalid_argument.
    static Quantity parse(std::string_view text);
    // Accepts a bare number in JSON. It is written back as a string.
    static Quantity from_integer(std::int64_t value) { return of(value); }
    // Uses the shortest notation of the number: 0.1 is a tenth. Throws std::invalid_argument if it is not
    // finite.
    static Quantity from_decimal(double value);
    std::optional<std::int64_t> as_integer() const { return std::nullopt; }
    // Returns the canonical form: no fraction, the largest suffix that fits, the format of the input.
    std::string str() const;

    // Returns cores, bytes or pieces, rounded up (towards positive infinity), saturating.
    base::Saturating value() const;
    // Returns thousandths (millicores), rounded up, saturating.
    base::Saturating milli() const;
    // Converts bytes to MiB, rounded up.
    base::Saturating mebibytes() const;
    // Returns the nearest double.
    double as_double() const;
    bool is_zero() const { return whole_ == 0 && nano_ == 0; }

    // Compares amounts: 1Gi == 1073741824.
    std::strong_ordering operator<=>(const Quantity& other) const;
    bool operator==(const Quantity& other) const { return whole_ == other.whole_ && nano_ == other.nano_; }
    // Saturates; the result keeps the left side's format.
    Quantity& operator+=(const Quantity& other);
    Quantity& operator-=(const Quantity& other);
    friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
    friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }

private:
    __int128 nanos() const;
    void set_nanos(__int128 nanos);  // saturating

    // The amount is whole_ + nano_ / 1e9 with nano_ in [0, 1e9).
    std::int64_t whole_ = 0;
    std::int32_t nano_ = 0;
    Format format_ = Format::DecimalSI;
};

using ResourceList = std::map<std::string, Quantity>;

// IntOrString is an integer or a string, usually a percentage ("10%").
struct IntOrString {
    std::variant<std::int64_t, std::string> value = std::int64_t{0};

    IntOrString() = default;
    IntOrString(std::int64_t number) : value(number) {}
    IntOrString(std::string text) : value(std::move(text)) {}
    IntOrString(const char* text) : value(std::string(text)) {}

    // Returns a string, even if it looks like a number: JSON distinguishes them.
    static IntOrString parse(std::string_view text) { return std::string(text); }
    static IntOrString from_integer(std::int64_t number) { return number; }
    std::optional<std::int64_t> as_integer() const;
    std::string str() const;
    // Returns the count. A percentage is taken of `total` and rounded up. Throws std::invalid_argument for
    // other strings.
    std::int64_t resolve(std::int64_t total) const;
    bool operator==(const IntOrString&) const = default;
};

}  // namespace api
