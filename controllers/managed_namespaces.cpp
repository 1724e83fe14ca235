#include "controllers/managed_namespaces.hpp"

#include <algorithm>
#include <stdexcept>

namespace controllers {

namespace {

// A DNS label (RFC 1123).
bool is_namespace_name(const std::string& name) {
    constexpr std::size_t kLongest = 63;
    const auto is_letter_or_digit = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty() || name.size() > kLongest) return false;
    if (!is_letter_or_digit(name.front()) || !is_letter_or_digit(name.back())) return false;
    return std::ranges::all_of(name, [&](char c) { return is_letter_or_digit(c) || c == '-'; });
}

}  // namespace

ManagedNamespaces::ManagedNamespaces(const std::vector<std::string>& names)
    : names_(names.begin(), names.end()) {
    if (names_.empty()) throw std::invalid_argument("no namespace is named: give one, or * for all");
    const bool everywhere = names_.contains("*");
    names_.erase("*");
    for (const auto& name : names_) {
        if (!is_namespace_name(name))
            throw std::invalid_argument("\"" + name +
                                        "\" is no name of a namespace: give names such as kubenodesmith, "
                                        "with commas between them, or * for all");
    }
    if (everywhere) names_.clear();
}

std::string ManagedNamespaces::str() const {
    if (all()) return "*";
    std::string text;
    for (const auto& name : names_) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace controllers
