// Amounts of resources as Kubernetes writes them: "500m", "1.5Gi", "2e3", "100k".
// Grammar and canonical form: k8s.io/apimachinery/pkg/api/resource (quantity.go).
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

// An exact decimal number with a resolution of 1e-9 in the range of a signed 64-bit integer.
// Finer input is rounded away from zero and larger input saturates, as Kubernetes does it.
class Quantity {
public:
    enum class Format : std::int8_t { DecimalSI, BinarySI, DecimalExponent };

    constexpr Quantity() = default;
    static Quantity of(std::int64_t value, Format format = Format::DecimalSI);
    static Quantity of_milli(std::int64_t thousandths);
    static Quantity of_mebibytes(std::int64_t mebibytes);

    // Throws std::invalid_argument.
    static Quantity parse(std::string_view text);
    // JSON may hold a bare number; it is written back as a string.
    static Quantity from_integer(std::int64_t value) { return of(value); }
    // The number as it is written shortest: 0.1 is a tenth. Throws std::invalid_argument if it is not finite.
    static Quantity from_decimal(double value);
    std::optional<std::int64_t> as_integer() const { return std::nullopt; }
    // The canonical form: no fraction, the largest suffix that fits, the format it was parsed with.
    std::string str() const;

    // Rounded up (towards positive infinity), saturating: cores, bytes, pieces.
    base::Saturating value() const;
    // Thousandths, rounded up, saturating: millicores.
    base::Saturating milli() const;
    // Bytes as MiB, rounded up.
    base::Saturating mebibytes() const;
    // The nearest there is.
    double as_double() const;
    bool is_zero() const { return whole_ == 0 && nano_ == 0; }

    // Equality and order are by amount: 1Gi == 1073741824.
    std::strong_ordering operator<=>(const Quantity& other) const;
    bool operator==(const Quantity& other) const { return whole_ == other.whole_ && nano_ == other.nano_; }
    // Saturating; the result keeps the left side's format.
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

// An integer or a string, usually a percentage ("10%").
struct IntOrString {
    std::variant<std::int64_t, std::string> value = std::int64_t{0};

    IntOrString() = default;
    IntOrString(std::int64_t number) : value(number) {}
    IntOrString(std::string text) : value(std::move(text)) {}
    IntOrString(const char* text) : value(std::string(text)) {}

    // A string, also if it reads as a number: JSON tells integers and strings apart.
    static IntOrString parse(std::string_view text) { return std::string(text); }
    static IntOrString from_integer(std::int64_t number) { return number; }
    std::optional<std::int64_t> as_integer() const;
    std::string str() const;
    // The count, a percentage taken of `total` and rounded up. Throws std::invalid_argument for other
    // strings.
    std::int64_t resolve(std::int64_t total) const;
    bool operator==(const IntOrString&) const = default;
};

}  // namespace api
