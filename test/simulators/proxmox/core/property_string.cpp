#include "test/simulators/proxmox/core/property_string.hpp"

#include <algorithm>
#include <stdexcept>

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

std::string default_key(const Schema& group) {
    for (const auto& [name, property] : group.properties()) {
        if (property.default_key) return name;
    }
    return {};
}

[[noreturn]] void duplicate(const std::string& key) {
    throw std::invalid_argument("duplicate key in comma-separated list property: " + key);
}

// Stores a key and its value. `virtio=MAC` declares both model and address: the key is an alias, which is
// stored under another name.
void store(const Schema& group, Properties& result, std::string key, std::string value) {
    const auto* property = group.find(key);
    if (!property) throw std::invalid_argument("invalid key in comma-separated list property: " + key);
    if (!property->alias.empty()) {
        if (!property->key_alias.empty()) {
            if (result.contains(property->key_alias)) duplicate(property->key_alias);
            result[property->key_alias] = key;
        }
        key = property->alias;
        property = group.find(key);
    }
    if (property && property->type == Type::boolean) {
        auto word = lower(value);
        if (word == "on" || word == "yes" || word == "true") value = "1";
        if (word == "off" || word == "no" || word == "false") value = "0";
    }
    if (!result.emplace(key, std::move(value)).second) duplicate(key);
}

}  // namespace

Properties parse_properties(const Schema& group, std::string_view text) {
    Properties result;
    for (const auto& part : split(text, ',')) {
        if (trim(part).empty()) continue;
        auto equals = part.find('=');
        if (equals == std::string::npos) {
            auto key = default_key(group);
            if (key.empty())
                throw std::invalid_argument("value without key, but schema does not define a default key");
            if (result.contains(key)) duplicate(key);
            result[key] = part;
        } else if (equals == 0 || equals + 1 == part.size()) {
            throw std::invalid_argument("missing key in comma-separated list property");
        } else {
            store(group, result, part.substr(0, equals), part.substr(equals + 1));
        }
    }
    return result;
}

std::string print_properties(const Schema& group, const Properties& properties) {
    std::vector<std::string> parts;
    auto rest = properties;
    auto first = default_key(group);
    auto model = rest.find(first);
    if (model != rest.end()) {
        const auto* aliased = group.find(model->second);
        if (aliased && aliased->key_alias == first && rest.contains(aliased->alias)) {
            parts.push_back(model->second + "=" + rest[aliased->alias]);
            rest.erase(aliased->alias);
        } else {
            parts.push_back(model->second);
        }
        rest.erase(model);
    }
    for (const auto& [key, value] : rest) parts.push_back(key + "=" + value);
    return join(parts, ",");
}

std::string property_of(std::string_view group, std::string_view text, std::string_view key) {
    auto properties = parse_properties(property_group(group), text);
    auto found = properties.find(key);
    return found == properties.end() ? std::string() : found->second;
}

}  // namespace proxmox_simulator
