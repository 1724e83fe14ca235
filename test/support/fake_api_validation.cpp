#include "test/support/fake_api_validation.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "test/support/fake_api_target.hpp"

namespace fake {
namespace {

constexpr std::size_t kMostName = 253, kMostLabel = 63;

bool is_lower(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alphanumeric(char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

// Reports whether the text is a list of labels [a-z0-9]([-a-z0-9]*[a-z0-9])? with dots between them.
bool is_subdomain(const std::string& text) {
    if (text.empty() || text.size() > kMostName) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool at_edge = i == 0 || i + 1 == text.size() || text[i - 1] == '.' || text[i + 1] == '.';
        if (!is_lower(text[i]) && (at_edge || (text[i] != '-' && text[i] != '.'))) return false;
    }
    return true;
}

// Reports whether the text matches [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?
bool is_name_part(const std::string& text) {
    if (text.empty() || text.size() > kMostLabel) return false;
    if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
    return std::ranges::all_of(text,
                               [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool is_qualified_name(const std::string& text) {
    auto slash = text.find('/');
    if (slash == std::string::npos) return is_name_part(text);
    return is_subdomain(text.substr(0, slash)) && is_name_part(text.substr(slash + 1));
}

bool is_label_value(const std::string& text) {
    return text.empty() || is_name_part(text);
}

std::string metadata_fault(const boost::json::object& object) {
    auto name = text_at(object, {"metadata", "name"}).value_or("");
    // ValidateCertificateRequestName of Kubernetes accepts every name.
    const bool has_any_name = text_at(object, {"kind"}).value_or("") == "CertificateSigningRequest";
    if (!has_any_name && !is_subdomain(name))
        return "metadata.name: Invalid value: \"" + name + "\": no RFC 1123 subdomain";
    const auto* labels = object.at("metadata").as_object().if_contains("labels");
    if (!labels || labels->is_null()) return {};
    for (const auto& [key, value] : labels->as_object()) {
        std::string label(key);
        if (!is_qualified_name(label)) return "metadata.labels: Invalid value: \"" + label + "\"";
        if (!value.is_string() || !is_label_value(std::string(value.get_string()))) {
            return "metadata.labels: Invalid value: " + boost::json::serialize(value);
        }
    }
    return {};
}

}  // namespace fake
