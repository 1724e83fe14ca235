// Saturating is a 64-bit integer whose arithmetic stops at the largest or smallest number, where a built-in
// integer would overflow. Numbers that others write (grace periods, amounts, times) use it, so that a plain
// sum is safe. It is also the representation of std::chrono durations.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace base {

namespace detail {

constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();

// Returns the nearest 64-bit integer; 0 for NaN.
template <class T>
constexpr std::int64_t nearest(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        // 2^63 is the first number above kMax64. Every floating-point type represents it exactly.
        constexpr T kEnd = static_cast<T>(std::uint64_t{1} << 63);
        if (value >= kEnd) return kMax64;
        if (value < -kEnd) return kMin64;
        return value == value ? static_cast<std::int64_t>(value) : 0;
    } else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) {
        return value > static_cast<T>(kMax64) ? kMax64 : static_cast<std::int64_t>(value);
    } else {
        return static_cast<std::int64_t>(value);
    }
}

}  // namespace detail

class Saturating {
public:
    static constexpr std::int64_t kMax = detail::kMax64;
    static constexpr std::int64_t kMin = detail::kMin64;

    constexpr Saturating() = default;
    template <std::integral T>
    constexpr Saturating(T value) : value_(detail::nearest(value)) {}
    template <std::floating_point T>
    constexpr explicit Saturating(T value) : value_(detail::nearest(value)) {}

    // Comparisons, and arithmetic with floating-point numbers, are those of the built-in integer.
    constexpr operator std::int64_t() const { return value_; }

    constexpr Saturating& operator+=(Saturating other) {
        if (__builtin_add_overflow(value_, other.value_, &value_)) [[unlikely]]
            value_ = other.value_ < 0 ? kMin : kMax;
        return *this;
    }
    constexpr Saturating& operator-=(Saturating other) {
        if (__builtin_sub_overflow(value_, other.value_, &value_)) [[unlikely]]
            value_ = other.value_ < 0 ? kMax : kMin;
        return *this;
    }
    constexpr Saturating& operator*=(Saturating other) {
        const bool is_negative = (value_ < 0) != (other.value_ < 0);
        if (__builtin_mul_overflow(value_, other.value_, &value_)) [[unlikely]]
            value_ = is_negative ? kMin : kMax;
        return *this;
    }
    // `other` must not be 0. A division by -1 is a negation, and -kMin does not exist.
    constexpr Saturating& operator/=(Saturating other) {
        if (other.value_ == -1) return *this = -*this;
        value_ /= other.value_;
        return *this;
    }
    constexpr Saturating& operator%=(Saturating other) {
        value_ = other.value_ == -1 ? 0 : value_ % other.value_;
        return *this;
    }

    constexpr Saturating operator+() const { return *this; }
    constexpr Saturating operator-() const {
        Saturating zero;
        return zero -= *this;
    }
    constexpr Saturating& operator++() { return *this += 1; }
    constexpr Saturating& operator--() { return *this -= 1; }
    constexpr Saturating operator++(int) {
        const auto before = *this;
        ++*this;
        return before;
    }
    constexpr Saturating operator--(int) {
        const auto before = *this;
        --*this;
        return before;
    }

private:
    std::int64_t value_ = 0;
};

// Holds if one operand is Saturating and the other is Saturating or a built-in integer, which is converted.
template <class A, class B>
concept SaturatingOperands =
    (std::same_as<A, Saturating> && (std::same_as<B, Saturating> || std::integral<B>)) ||
    (std::integral<A> && std::same_as<B, Saturating>);

template <class A, class B>
    requires SaturatingOperands<A, B>
constexpr Saturating operator+(A a, B b) {
    return Saturating(a) += b;
}
template <class A, class B>
    requires SaturatingOperands<A, B>
constexpr Saturating operator-(A a, B b) {
    return Saturating(a) -= b;
}
template <class A, class B>
    requires SaturatingOperands<A, B>
constexpr Saturating operator*(A a, B b) {
    return Saturating(a) *= b;
}
template <class A, class B>
    requires SaturatingOperands<A, B>
constexpr Saturating operator/(A a, B b) {
    return Saturating(a) /= b;
}
template <class A, class B>
    requires SaturatingOperands<A, B>
constexpr Saturating operator%(A a, B b) {
    return Saturating(a) %= b;
}

// Adds one to a counter of any width, unless it is at its limit.
template <std::signed_integral T>
constexpr void count_up(T& counter) {
    if (counter < std::numeric_limits<T>::max()) ++counter;
}

}  // namespace base

template <>
class std::numeric_limits<base::Saturating> : public std::numeric_limits<std::int64_t> {
public:
    static constexpr base::Saturating min() { return base::Saturating::kMin; }
    static constexpr base::Saturating lowest() { return base::Saturating::kMin; }
    static constexpr base::Saturating max() { return base::Saturating::kMax; }
};

// Arithmetic with a built-in integer stays saturating; with a floating-point number it is floating-point.
template <std::integral T>
struct std::common_type<base::Saturating, T> {
    using type = base::Saturating;
};
template <std::integral T>
struct std::common_type<T, base::Saturating> {
    using type = base::Saturating;
};
template <std::floating_point T>
struct std::common_type<base::Saturating, T> {
    using type = T;
};
template <std::floating_point T>
struct std::common_type<T, base::Saturating> {
    using type = T;
};
