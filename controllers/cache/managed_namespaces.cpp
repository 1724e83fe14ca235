#include "controllers/cache/managed_namespaces.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"
#include "kube/config.hpp"

namespace controllers {

namespace {

// Checks for a DNS label (RFC 1123).
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
    if (names_.empty())
        throw std::invalid_argument("no namespace is given: name one or more, or use * for all");
    const bool everywhere = names_.contains("*");
    names_.erase("*");
    for (const auto& name : names_) {
        if (!is_namespace_name(name))
            throw std::invalid_argument("\"" + name +
                                        "\" is not a namespace name: give names such as kubenodesmith, "
                                        "separated by commas, or use * for all");
    }
    if (everywhere) names_.clear();
}

std::string ManagedNamespaces::str() const {
    return all() ? "*" : base::joined(names_);
}

std::vector<std::string> ManagedNamespaces::to_list() const {
    if (all()) return {""};
    return {names_.begin(), names_.end()};
}

std::string ManagedNamespaces::why_unmanaged(const std::string& namespace_) const {
    return "the operator ignores objects of namespace " + namespace_ +
           ", which is not among the managed ones (" + str() +
           "): create it in one of these, or have the cluster's administrator add the namespace to the "
           "operator's --namespaces";
}

ManagedNamespaces managed_namespaces_of(const std::vector<std::string>& flag,
                                        const kube::ClusterConfig& config) {
    if (flag.empty() && !config.is_in_cluster()) return {};
    if (flag.empty() && config.namespace_.empty())
        throw std::invalid_argument(
            "--namespaces: the namespace of this pod is not known because its service account does not name "
            "one: give names, or use * for all");
    try {
        return ManagedNamespaces(flag.empty() ? std::vector{config.namespace_} : flag);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string("--namespaces: ") + error.what());
    }
}

}  // namespace controllers
