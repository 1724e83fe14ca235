#include "test/simulators/proxmox/core/schema.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <stdexcept>

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

bool set_type(Property& property, std::string_view word) {
    static const std::map<std::string_view, Type> kTypes{{"boolean", Type::boolean},
                                                         {"integer", Type::integer},
                                                         {"number", Type::number},
                                                         {"string", Type::string},
                                                         {"array", Type::array}};
    if (word == "vmid") {
        property.type = Type::integer;
        property.format = "pve-vmid";
        property.minimum = 100;
        property.maximum = 999999999;
        return true;
    }
    auto type = kTypes.find(word);
    if (type != kTypes.end()) property.type = type->second;
    return type != kTypes.end();
}

void set_constraint(Property& property, std::string_view key, const std::string& value) {
    if (key == "min")
        property.minimum = std::stod(value);
    else if (key == "max")
        property.maximum = std::stod(value);
    else if (key == "minlen")
        property.min_length = std::stoul(value);
    else if (key == "maxlen")
        property.max_length = std::stoul(value);
    else if (key == "format")
        property.format = value;
    else if (key == "pattern")
        property.pattern = value;
    else if (key == "enum")
        property.values = split(value, '|');
    else if (key == "props")
        property.group = &property_group(value);
    else if (key == "alias")
        property.alias = value;
    else if (key == "keyalias")
        property.key_alias = value;
    else if (key == "requires")
        property.requires_ = value;
    else
        throw std::invalid_argument("unknown constraint " + std::string(key));
}

std::string read_name(std::string_view word, Property& property) {
    if (word.ends_with('!')) {
        property.required = true;
        word.remove_suffix(1);
    }
    auto bracket = word.find('[');
    if (bracket == std::string_view::npos) return std::string(word);
    auto range = word.substr(bracket + 1, word.size() - bracket - 2);
    auto dots = range.find("..");
    property.index = {std::stoi(std::string(range.substr(0, dots))),
                      std::stoi(std::string(range.substr(dots + 2)))};
    return std::string(word.substr(0, bracket)) + "[n]";
}

json::object describe(const Property& property) {
    static constexpr std::string_view kNames[] = {"boolean", "integer", "number", "string", "array"};
    json::object result;
    result["type"] = kNames[static_cast<int>(property.type)];
    if (!property.alias.empty()) result = {{"alias", property.alias}};
    if (!property.key_alias.empty()) result["keyAlias"] = property.key_alias;
    if (property.required) result["required"] = true;
    if (property.default_key) result["default_key"] = true;
    if (!property.format.empty()) result["format"] = property.format;
    if (!property.pattern.empty()) result["pattern"] = property.pattern;
    if (!property.values.empty())
        result["enum"] = json::array(property.values.begin(), property.values.end());
    if (!property.requires_.empty()) result["requires"] = property.requires_;
    if (property.minimum) result["minimum"] = *property.minimum;
    if (property.maximum) result["maximum"] = *property.maximum;
    if (property.min_length) result["minLength"] = *property.min_length;
    if (property.max_length) result["maxLength"] = *property.max_length;
    if (property.index) result["index"] = {{"min", property.index->first}, {"max", property.index->second}};
    if (property.group) result["properties"] = property.group->to_json();
    return result;
}

}  // namespace

Schema::Schema(std::string_view declarations) {
    for (const auto& line : split(declarations, '\n')) {
        std::vector<std::string> words;
        for (auto& word : split(trim(line), ' ')) {
            if (!word.empty()) words.push_back(std::move(word));
        }
        if (words.empty()) continue;
        Property property;
        auto name = read_name(words[0], property);
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto& word = words[i];
            auto equals = word.find('=');
            if (word == "default")
                property.default_key = true;
            else if (equals != std::string::npos)
                set_constraint(property, std::string_view(word).substr(0, equals), word.substr(equals + 1));
            else if (!set_type(property, word))
                throw std::invalid_argument("unknown word in declaration: " + line);
        }
        properties_[name] = std::move(property);
    }
}

const Property* Schema::find(std::string_view name) const {
    auto exact = properties_.find(name);
    if (exact != properties_.end()) return exact->second.index ? nullptr : &exact->second;
    auto digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits == name.size()) return nullptr;
    auto indexed = properties_.find(std::string(name.substr(0, digits)) + "[n]");
    if (indexed == properties_.end()) return nullptr;
    auto number = to_integer(name.substr(digits));
    bool canonical = number && std::to_string(*number) == name.substr(digits);
    const auto& [lowest, highest] = *indexed->second.index;
    return canonical && *number >= lowest && *number <= highest ? &indexed->second : nullptr;
}

void Schema::add(const Schema& other) {
    for (const auto& [name, property] : other.properties_) properties_[name] = property;
}

json::value Schema::to_json() const {
    json::object result;
    for (const auto& [name, property] : properties_) result[name] = describe(property);
    return result;
}

}  // namespace proxmox_simulator
