#include "test/simulators/redfish_player/allowed.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <vector>

namespace redfish_player {

namespace {

constexpr std::string_view kAllowable = "@Redfish.AllowableValues";

// Values of the schema, for properties whose document lists none.
const std::map<std::string, std::vector<std::string>, std::less<>> kOfTheSchema = {
    {"BootSourceOverrideEnabled", {"Disabled", "Once", "Continuous"}},
    {"BootSourceOverrideMode", {"Legacy", "UEFI"}},
    {"BootSourceOverrideTarget",
     {"None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup", "Utilities", "Diags", "UefiShell",
      "UefiTarget", "SDCard", "UefiHttp", "RemoteDrive", "UefiBootNext", "Recovery"}},
    {"ResetType",
     {"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn",
      "PushPowerButton", "PowerCycle", "Suspend", "Pause", "Resume", "FullPowerCycle"}},
};

std::string shown(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

std::vector<std::string> texts(const json::value* list) {
    std::vector<std::string> result;
    if (!list || !list->is_array()) return result;
    for (const auto& entry : list->get_array()) result.push_back(shown(entry));
    return result;
}

// Reports whether the values are a description, which some BMCs put there.
bool is_prose(const std::vector<std::string>& values) {
    return std::ranges::any_of(values, [](const auto& text) { return text.find(' ') != std::string::npos; });
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
}

std::vector<std::string> allowable(const json::object& document, std::string_view name) {
    auto values = texts(document.if_contains(std::string(name) + std::string(kAllowable)));
    if (is_prose(values)) values.clear();
    const auto known = kOfTheSchema.find(name);
    if (values.empty() && known != kOfTheSchema.end()) values = known->second;
    return values;
}

Refusal refusal(std::string id, std::string message, bool is_forbidden = false) {
    return {400, std::move(id), std::move(message), is_forbidden};
}

std::optional<Refusal> refuse_value(const std::vector<std::string>& values, const std::string& id,
                                    std::string_view name, const json::value& value) {
    if (values.empty() || contains(values, shown(value))) return std::nullopt;
    return refusal(id, "The value " + shown(value) + " of " + std::string(name) + " is not in the list.",
                   true);
}

const json::object* parameter(const json::object& action_info, std::string_view name) {
    const auto* all = action_info.if_contains("Parameters");
    if (!all || !all->is_array()) return nullptr;
    for (const auto& entry : all->get_array()) {
        if (!entry.is_object()) continue;
        const auto* own = entry.get_object().if_contains("Name");
        if (own && shown(*own) == name) return &entry.get_object();
    }
    return nullptr;
}

std::optional<Refusal> refuse_missing(const json::object& action_info, const json::object& body) {
    const auto* all = action_info.if_contains("Parameters");
    if (!all || !all->is_array()) return std::nullopt;
    for (const auto& entry : all->get_array()) {
        if (!entry.is_object()) continue;
        const auto* required = entry.get_object().if_contains("Required");
        const auto* name = entry.get_object().if_contains("Name");
        const bool is_needed = required && required->is_bool() && required->get_bool() && name;
        if (is_needed && !body.contains(shown(*name)))
            return refusal("ActionParameterMissing", "The parameter " + shown(*name) + " is missing.");
    }
    return std::nullopt;
}

}  // namespace

std::optional<Refusal> refuse_change(const json::object& document, const json::object& body) {
    for (const auto& [key, value] : body) {
        const std::string name(key);
        const auto* present = document.if_contains(name);
        if (!present) return refusal("PropertyUnknown", "The property " + name + " is not known.");
        if (value.is_object() && present->is_object()) {
            if (auto inner = refuse_change(present->get_object(), value.get_object())) return inner;
            continue;
        }
        const bool fits = present->is_null() || value.is_null() ||
                          (present->kind() == value.kind() || (present->is_number() && value.is_number()));
        if (!fits) return refusal("PropertyValueTypeError", "The value of " + name + " has the wrong type.");
        if (auto wrong = refuse_value(allowable(document, name), "PropertyValueNotInList", name, value))
            return wrong;
    }
    return std::nullopt;
}

std::optional<Refusal> refuse_parameters(const json::object& inline_values, const json::object* action_info,
                                         const json::object& body) {
    if (action_info) {
        if (auto missing = refuse_missing(*action_info, body)) return missing;
    }
    for (const auto& [key, value] : body) {
        const std::string name(key);
        auto values = allowable(inline_values, name);
        if (action_info) {
            const auto* described = parameter(*action_info, name);
            if (!described)
                return refusal("ActionParameterUnknown", "The parameter " + name + " is not known.");
            const auto listed = texts(described->if_contains("AllowableValues"));
            if (!listed.empty()) values = listed;
        }
        if (auto wrong = refuse_value(values, "ActionParameterValueNotInList", name, value)) return wrong;
    }
    return std::nullopt;
}

}  // namespace redfish_player
