#include "test/simulation/schema.hpp"

#include <boost/json/serialize.hpp>
#include <optional>
#include <regex>
#include <vector>

#include "api/yaml.hpp"
#include "base/file.hpp"
#include "test/simulation/text_at.hpp"

namespace simulation {

namespace json = boost::json;

namespace {

std::optional<double> number_at(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    if (!value) return std::nullopt;
    return value->to_number<double>();
}

bool has_type(const json::value& value, const std::string& type) {
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_int64() || value.is_uint64();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_bool();
    if (type == "array") return value.is_array();
    return type != "object" || value.is_object();
}

}  // namespace

struct Schema::Part {
    std::string type;
    std::vector<json::value> values;
    std::vector<std::string> required;
    std::optional<std::regex> pattern;
    std::optional<double> minimum, maximum, min_length, max_length, max_items, max_properties;
    bool is_any = false;  // an int or a string, or unknown fields are preserved
    std::map<std::string, std::unique_ptr<Part>, std::less<>> properties;
    std::unique_ptr<Part> each;  // schema of a list's items or a map's values

    explicit Part(const json::object& text)
        : type(text_at(text, "type")),
          minimum(number_at(text, "minimum")),
          maximum(number_at(text, "maximum")),
          min_length(number_at(text, "minLength")),
          max_length(number_at(text, "maxLength")),
          max_items(number_at(text, "maxItems")),
          max_properties(number_at(text, "maxProperties")),
          is_any(text.contains("x-kubernetes-int-or-string") ||
                 text.contains("x-kubernetes-preserve-unknown-fields")) {
        if (const auto* found = text.if_contains("enum"))
            values.assign(found->as_array().begin(), found->as_array().end());
        if (const auto* found = text.if_contains("required"))
            for (const auto& name : found->as_array()) required.emplace_back(name.as_string());
        if (const auto wanted = text_at(text, "pattern"); !wanted.empty()) pattern.emplace(wanted);
        if (const auto* found = text.if_contains("properties"))
            for (const auto& [name, part] : found->as_object())
                properties.emplace(name, std::make_unique<Part>(part.as_object()));
        for (const char* name : {"items", "additionalProperties"}) {
            const auto* found = text.if_contains(name);
            if (found && found->is_object()) each = std::make_unique<Part>(found->get_object());
        }
    }

    std::string fault_of(const json::value& value) const {
        if (is_any) return {};
        if (!has_type(value, type)) return ": must be " + type + ", is " + json::serialize(value);
        if (!values.empty() && std::find(values.begin(), values.end(), value) == values.end())
            return ": no such value: " + json::serialize(value);
        if (value.is_string()) return fault_of_text(std::string(value.get_string()));
        if (value.is_number()) return fault_of_number(value.to_number<double>());
        if (value.is_array()) return fault_of_items(value.get_array());
        return value.is_object() ? fault_of_fields(value.get_object()) : "";
    }

private:
    static bool exceeds(double actual, std::optional<double> least, std::optional<double> most) {
        return (least && actual < *least) || (most && actual > *most);
    }

    std::string fault_of_text(const std::string& text) const {
        if (exceeds(static_cast<double>(text.size()), min_length, max_length))
            return ": has " + std::to_string(text.size()) + " characters: " + text;
        if (pattern && !std::regex_search(text, *pattern)) return ": does not match its pattern: " + text;
        return {};
    }

    std::string fault_of_number(double number) const {
        return exceeds(number, minimum, maximum) ? ": out of range: " + std::to_string(number) : "";
    }

    std::string fault_of_items(const json::array& items) const {
        if (exceeds(static_cast<double>(items.size()), {}, max_items))
            return ": has " + std::to_string(items.size()) + " items";
        for (std::size_t i = 0; each && i < items.size(); ++i)
            if (auto fault = each->fault_of(items[i]); !fault.empty())
                return "[" + std::to_string(i) + "]" + fault;
        return {};
    }

    std::string fault_of_fields(const json::object& object) const {
        if (exceeds(static_cast<double>(object.size()), {}, max_properties))
            return ": has " + std::to_string(object.size()) + " entries";
        for (const auto& name : required)
            if (!object.contains(name)) return "." + name + ": is required";
        for (const auto& [name, value] : object) {
            const auto known = properties.find(std::string_view(name));
            const auto* part = known == properties.end() ? each.get() : known->second.get();
            if (!part) continue;
            if (auto fault = part->fault_of(value); !fault.empty()) return "." + std::string(name) + fault;
        }
        return {};
    }
};

Schema::Schema(std::unique_ptr<Part> root) : root_(std::move(root)) {}
Schema::~Schema() = default;

const Schema& Schema::of(const std::string& plural) {
    static std::map<std::string, std::unique_ptr<Schema>> known;
    auto& schema = known[plural];
    if (schema) return *schema;
    const auto file = std::string(KUBENODESMITH_SOURCE) + "/crds/" + plural + ".yaml";
    const auto crd = api::parse_yaml(base::read_file(file)).as_object();
    const auto& version = crd.at("spec").at("versions").as_array().at(0);
    const auto& text = version.at("schema").at("openAPIV3Schema").as_object();
    schema.reset(new Schema(std::make_unique<Part>(text)));
    return *schema;
}

std::string Schema::fault_of(const json::object& object) const {
    auto fault = root_->fault_of(object);
    return fault.starts_with('.') ? fault.substr(1) : fault;
}

}  // namespace simulation
