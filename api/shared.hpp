// A part of an object that many objects may share. The value is copied only when one of its holders changes
// it. It behaves like an optional, or like its container if it is one.
#pragma once

#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace api {

namespace detail {

struct NoElement {};

template <class T>
struct ElementOf {
    using type = NoElement;
};
template <class T>
    requires requires { typename T::value_type; }
struct ElementOf<T> {
    using type = typename T::value_type;
};

}  // namespace detail

// Shared has cheap copies and even cheaper equality of shared values. Non-const access announces a change, so
// hold unchanged objects as const; otherwise they cease to share. Copies may be used in several threads.
template <class T>
class Shared {
    using Element = typename detail::ElementOf<T>::type;
    static constexpr bool kIsContainer = !std::is_same_v<Element, detail::NoElement>;

public:
    using value_type = T;

    Shared() = default;
    Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}
    Shared(std::initializer_list<Element> elements)
        requires kIsContainer
        : Shared(T(elements.begin(), elements.end())) {}

    // An empty container counts as no value.
    bool has_value() const {
        if constexpr (kIsContainer)
            return value_ && !value_->empty();
        else
            return value_ != nullptr;
    }
    explicit operator bool() const
        requires(!kIsContainer)
    {
        return has_value();
    }
    void reset() { value_.reset(); }
    template <class... Arguments>
    T& emplace(Arguments&&... arguments) {
        auto value = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        T& result = *value;
        value_ = std::move(value);
        return result;
    }

    // Returns a default value if there is no value.
    const T& operator*() const { return value_ ? *value_ : none(); }
    const T* operator->() const { return &**this; }
    operator const T&() const { return **this; }
    T& operator*() {
        if (!value_) return emplace();
        if (value_.use_count() > 1) return emplace(*value_);
        return const_cast<T&>(*value_);  // emplace() made it, and no other holder exists
    }
    T* operator->() { return &**this; }

    const std::shared_ptr<const T>& pointer() const { return value_; }
    // Shares this value with all other holders of the pointer.
    void share(std::shared_ptr<const T> value) { value_ = std::move(value); }

    // The usual functions of containers; use -> for the others.
    auto begin() const { return (**this).begin(); }
    auto end() const { return (**this).end(); }
    auto begin() { return (**this).begin(); }
    auto end() { return (**this).end(); }
    bool empty() const { return (**this).empty(); }
    auto size() const { return (**this).size(); }
    template <class Key>
    decltype(auto) operator[](Key&& key) const {
        return (**this)[std::forward<Key>(key)];
    }
    template <class Key>
    decltype(auto) operator[](Key&& key) {
        return (**this)[std::forward<Key>(key)];
    }

    bool operator==(const Shared& other) const {
        if (value_ == other.value_) return true;
        return has_value() == other.has_value() && **this == *other;
    }

private:
    static const T& none() {
        static const T value{};
        return value;
    }

    std::shared_ptr<const T> value_;
};

}  // namespace api
