#include "controllers/state/field_managers.hpp"

#include <algorithm>
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

// Returns the entries of metadata.managedFields; null: there are none.
const json::array* entries_of(const json::value& object) {
    const auto* fields = member(member(&object, "metadata"), "managedFields");
    return fields ? fields->if_array() : nullptr;
}

bool is_usual(std::string_view manager) {
    return manager == api::kFieldManager || manager == "kubelet" || manager == "kube-controller-manager" ||
           manager.starts_with("kubectl");
}

}  // namespace

std::string label_writer(const json::value& object, const std::string& label) {
    const auto* entries = entries_of(object);
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

std::vector<std::string> unusual_managers(const json::value& node) {
    std::vector<std::string> managers;
    const auto* entries = entries_of(node);
    if (!entries) return managers;
    for (const auto& entry : *entries) {
        auto manager = text_in(entry, "manager");
        if (manager.empty() || is_usual(manager) || std::ranges::find(managers, manager) != managers.end())
            continue;
        managers.push_back(std::move(manager));
    }
    return managers;
}

}  // namespace controllers
