#include "controllers/state/field_managers.hpp"

#include <string_view>

#include "api/names.hpp"

namespace controllers {

namespace json = boost::json;

namespace {

// Returns the member of an object; null: the value is no object or lacks the member.
const json::value* member(const json::value* value, std::string_view name) {
    const auto* object = value ? value->if_object() : nullptr;
    return object ? object->if_contains(name) : nullptr;
}

std::string text_in(const json::value& entry, std::string_view name) {
    const auto* value = member(&entry, name);
    const auto* text = value ? value->if_string() : nullptr;
    return text ? std::string(*text) : std::string();
}

bool has_label(const json::value& entry, const std::string& label) {
    const auto* labels = member(member(member(&entry, "fieldsV1"), "f:metadata"), "f:labels");
    return member(labels, "f:" + label) != nullptr;
}

}  // namespace

std::string label_writer(const json::value& object, const std::string& label) {
    const auto* fields = member(member(&object, "metadata"), "managedFields");
    const auto* entries = fields ? fields->if_array() : nullptr;
    std::string writer;
    std::string last;
    if (!entries) return writer;
    for (const auto& entry : *entries) {
        auto manager = text_in(entry, "manager");
        auto time = text_in(entry, "time");
        if (manager.empty() || manager == api::kFieldManager || !has_label(entry, label)) continue;
        // Times of the API server have one format, so their texts sort correctly.
        if (!writer.empty() && time < last) continue;
        writer = std::move(manager);
        last = std::move(time);
    }
    return writer;
}

}  // namespace controllers
