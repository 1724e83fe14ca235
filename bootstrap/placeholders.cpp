#include "bootstrap/placeholders.hpp"

#include <stdexcept>

namespace bootstrap {

namespace {

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

const std::string& value_of(std::string_view name, const std::map<std::string, std::string>& values) {
    const auto found = name.starts_with('.') ? values.find(std::string(name.substr(1))) : values.end();
    if (found != values.end()) return found->second;
    std::string known;
    for (const auto& [key, value] : values) known += (known.empty() ? "{{ ." : ", {{ .") + key + " }}";
    throw std::invalid_argument("unknown placeholder {{ " + std::string(name) + " }}, known are " + known);
}

}  // namespace

std::string fill_placeholders(std::string_view text, const std::map<std::string, std::string>& values) {
    std::string result;
    while (true) {
        const auto begin = text.find("{{");
        result += text.substr(0, begin);
        if (begin == std::string_view::npos) return result;
        const auto end = text.find("}}", begin);
        if (end == std::string_view::npos)
            throw std::invalid_argument("a placeholder {{ is never closed by }}");
        result += value_of(trim(text.substr(begin + 2, end - begin - 2)), values);
        text.remove_prefix(end + 2);
    }
}

}  // namespace bootstrap
