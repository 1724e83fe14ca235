#include "providers/redfish/bmc/document.hpp"

#include "base/text.hpp"
#include "providers/foreign/bounded_json.hpp"

namespace providers::redfish {

namespace {

constexpr std::string_view kId = "@odata.id";

}  // namespace

std::optional<json::object> read_object(std::string_view body, std::string& why) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    constexpr std::string_view kPadding{"\0 \t\r\n", 5};
    if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
    body = body.substr(0, body.find_last_not_of(kPadding) + 1);
    if (body.empty()) {
        why = "the answer is empty";
        return std::nullopt;
    }
    try {
        std::size_t stopped_at = 0;
        auto value = foreign::parse(body, true, &stopped_at);
        if (value && value->is_object()) return std::move(value->get_object());
        why = value ? "the answer is not a JSON object"
                    : "the answer is not JSON: it cannot be read from byte " + std::to_string(stopped_at) +
                          " on";
    } catch (const foreign::TooLarge& error) {
        why = std::string("the answer ") + error.what();
    }
    return std::nullopt;
}

json::object parse_object(std::string_view body) {
    std::string why;
    return read_object(body, why).value_or(json::object());
}

const json::object& object_at(const json::object& parent, std::string_view name) {
    static const json::object kNone;
    const auto* member = parent.if_contains(name);
    return member && member->is_object() ? member->get_object() : kNone;
}

const json::array& array_at(const json::object& parent, std::string_view name) {
    static const json::array kNone;
    const auto* member = parent.if_contains(name);
    return member && member->is_array() ? member->get_array() : kNone;
}

std::string text_at(const json::object& parent, std::string_view name) {
    const auto* member = parent.if_contains(name);
    return member && member->is_string() ? std::string(member->get_string()) : std::string();
}

std::optional<double> number_at(const json::object& parent, std::string_view name) {
    const auto* member = parent.if_contains(name);
    if (!member || !member->is_number()) return std::nullopt;
    const auto number = member->to_number<double>();
    if (!(number >= 0)) return std::nullopt;
    return number;
}

bool is_true_at(const json::object& parent, std::string_view name) {
    const auto* member = parent.if_contains(name);
    return member && member->is_bool() && member->get_bool();
}

std::string link_at(const json::object& parent, std::string_view name) {
    return text_at(object_at(parent, name), kId);
}

std::vector<std::string> links_at(const json::object& parent, std::string_view name) {
    std::vector<std::string> links;
    for (const auto& entry : array_at(parent, name)) {
        if (!entry.is_object()) continue;
        auto link = text_at(entry.get_object(), kId);
        if (!link.empty()) links.push_back(std::move(link));
    }
    return links;
}

std::vector<std::string> texts_at(const json::object& parent, std::string_view name) {
    std::vector<std::string> texts;
    for (const auto& entry : array_at(parent, name)) {
        if (entry.is_string()) texts.emplace_back(entry.get_string());
    }
    return texts;
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
    return base::lower_case(text).find(base::lower_case(part)) != std::string::npos;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return base::lower_case(a) == base::lower_case(b);
}

}  // namespace providers::redfish
