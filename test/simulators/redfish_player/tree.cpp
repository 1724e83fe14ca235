#include "test/simulators/redfish_player/tree.hpp"

#include <algorithm>
#include <stdexcept>

namespace redfish_player {

namespace {

constexpr std::string_view kReset = "#ComputerSystem.Reset";

std::string text_at(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

const json::object* object_at(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_object() ? &value->get_object() : nullptr;
}

}  // namespace

std::string key_of(std::string_view target) {
    std::string key(target.substr(0, target.find('?')));
    while (key.size() > 1 && key.back() == '/') key.pop_back();
    std::ranges::transform(
        key, key.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return key;
}

Tree::Tree(json::object documents) : documents_(std::move(documents)) {
    for (const auto& [path, document] : documents_) {
        if (!document.is_object()) throw std::invalid_argument(std::string(path) + " is no object");
    }
}

json::object* Tree::find(std::string_view target) {
    auto* found = documents_.if_contains(key_of(target));
    return found ? &found->get_object() : nullptr;
}

const json::object* Tree::find(std::string_view target) const {
    const auto* found = documents_.if_contains(key_of(target));
    return found ? &found->get_object() : nullptr;
}

void Tree::put(std::string_view target, json::object document) {
    documents_[key_of(target)] = std::move(document);
}

void Tree::erase(std::string_view target) {
    documents_.erase(key_of(target));
}

std::string Tree::link(const json::object& document, std::string_view name) {
    const auto* found = object_at(document, name);
    return found ? text_at(*found, "@odata.id") : std::string();
}

std::vector<std::string> Tree::systems() const {
    std::vector<std::string> result;
    for (const auto& [path, document] : documents_) {
        const auto* actions = object_at(document.get_object(), "Actions");
        if (actions && actions->contains(kReset)) result.emplace_back(path);
    }
    return result;
}

std::vector<std::string> Tree::images() const {
    std::vector<std::string> result;
    for (const auto& [path, document] : documents_) {
        const auto& object = document.get_object();
        const auto* inserted = object.if_contains("Inserted");
        const bool is_in = inserted && inserted->is_bool() && inserted->get_bool();
        if (is_in && text_at(object, "@odata.type").starts_with("#VirtualMedia."))
            result.push_back(text_at(object, "Image"));
    }
    return result;
}

std::string Tree::settings_of(std::string_view system) const {
    const auto* document = find(system);
    const auto* annotation = document ? object_at(*document, "@Redfish.Settings") : nullptr;
    const auto where = annotation ? link(*annotation, "SettingsObject") : std::string();
    return !where.empty() && find(where) ? key_of(where) : std::string();
}

std::string Tree::sessions() const {
    const auto* root = find("/redfish/v1");
    if (!root) return {};
    const auto* links = object_at(*root, "Links");
    if (links && links->contains("Sessions")) return key_of(link(*links, "Sessions"));
    const auto* service = find(link(*root, "SessionService"));
    return service ? key_of(link(*service, "Sessions")) : std::string();
}

std::optional<Tree::Action> Tree::action(std::string_view target) const {
    const auto key = key_of(target);
    for (const auto& [path, document] : documents_) {
        const auto* actions = object_at(document.get_object(), "Actions");
        if (!actions) continue;
        for (const auto& [name, description] : *actions) {
            const bool is_it =
                description.is_object() && key_of(text_at(description.get_object(), "target")) == key;
            if (is_it) return Action{path, std::string(name.substr(1)), description.get_object()};
        }
    }
    return std::nullopt;
}

}  // namespace redfish_player
