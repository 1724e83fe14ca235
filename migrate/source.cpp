#include "migrate/source.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "api/bytes.hpp"
#include "api/yaml.hpp"

namespace kubenodesmith::migrate {
namespace {

namespace json = boost::json;

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::istringstream stream{std::string(text)};
    for (std::string line; std::getline(stream, line);) {
        if (line.ends_with('\r')) line.pop_back();
        lines.push_back(std::move(line));
    }
    return lines;
}

bool is_blank_or_comment(const std::string& line) {
    const auto first = line.find_first_not_of(" \t");
    return first == std::string::npos || line[first] == '#';
}

std::string unquoted(std::string value) {
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
        return value.substr(1, value.size() - 2);
    }
    return value;
}

// Parses KEY=value lines; nullopt if any line is something else.
std::optional<json::object> read_environment_file(std::string_view text) {
    static const std::regex assignment(R"(^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*?)\s*$)");
    json::object result;
    for (const auto& line : lines_of(text)) {
        if (is_blank_or_comment(line)) continue;
        std::smatch parts;
        if (line.size() > kLongestLine || !std::regex_match(line, parts, assignment)) return std::nullopt;
        result[parts[1].str()] = unquoted(parts[2].str());
    }
    if (result.empty()) return std::nullopt;
    return result;
}

bool is_python(std::string_view text) {
    static const std::regex assignment(R"(^\s*[a-z_][a-z0-9_]*\s+=\s+\S.*$)");
    for (const auto& line : lines_of(text)) {
        if (line.size() <= kLongestLine && std::regex_match(line, assignment)) return true;
    }
    return false;
}

json::object read_yaml(std::string_view text) {
    try {
        auto document = api::parse_yaml(text);
        if (auto* object = document.if_object()) return std::move(*object);
    } catch (const api::YamlError& error) {
        throw std::invalid_argument(error.what());
    }
    throw std::invalid_argument("expected a mapping of keys, KEY=value lines, or Kubernetes manifests");
}

const json::object* object_at(const json::object& parent, std::string_view key) {
    const auto* value = parent.if_contains(key);
    return value ? value->if_object() : nullptr;
}

void merge(json::object& target, const json::object& source) {
    for (const auto& [key, value] : source) target[key] = value;
}

// Manifests collects what manifests give a program: its environment, and files from ConfigMaps.
class Manifests {
public:
    void add(const json::object& manifest) {
        const auto* kind = manifest.if_contains("kind");
        if (!kind || !kind->is_string()) return;
        if (const auto* items = manifest.if_contains("items"); items && items->is_array()) {
            for (const auto& item : items->get_array()) {
                if (item.is_object()) add(item.get_object());
            }
        } else if (kind->get_string() == "ConfigMap" || kind->get_string() == "Secret") {
            add_data(manifest);
        } else {
            add_container_environment(json::value(manifest));
        }
    }

    json::object settings() const {
        auto result = environment_;
        for (const auto& file : files_) merge(result, read_file(file));
        return result;
    }

private:
    void add_data(const json::object& manifest) {
        const bool is_secret = manifest.at("kind").get_string() == "Secret";
        for (std::string_view field : {"data", "stringData"}) {
            const auto* data = object_at(manifest, field);
            if (!data) continue;
            for (const auto& [key, value] : *data) {
                if (!value.is_string()) continue;
                std::string text(value.get_string());
                if (is_secret && field == "data") text = api::Bytes::parse(text).value;
                if (text.find('\n') != std::string::npos &&
                    (is_python(text) || text.find(": ") != text.npos)) {
                    files_.push_back(std::move(text));
                } else {
                    environment_[key] = text;
                }
            }
        }
    }

    void add_container_environment(const json::value& value) {
        if (const auto* array = value.if_array()) {
            for (const auto& element : *array) add_container_environment(element);
        } else if (const auto* object = value.if_object()) {
            for (const auto& [key, member] : *object) {
                if (key == "env" && member.is_array()) {
                    add_variables(member.get_array());
                } else {
                    add_container_environment(member);
                }
            }
        }
    }

    void add_variables(const json::array& variables) {
        for (const auto& variable : variables) {
            const auto* object = variable.if_object();
            if (!object || !object->contains("name") || !object->contains("value")) continue;
            environment_[object->at("name").as_string()] = object->at("value");
        }
    }

    json::object read_file(const std::string& text) const {
        return is_python(text) ? read_python_settings(text, environment_) : read_yaml(text);
    }

    json::object environment_;
    std::vector<std::string> files_;
};

bool is_manifest(const json::value& document) {
    const auto* object = document.if_object();
    return object && object->contains("apiVersion") && object->contains("kind");
}

}  // namespace

json::object read_settings(std::string_view text) {
    if (auto environment = read_environment_file(text)) return *environment;
    std::vector<json::value> documents;
    try {
        documents = api::parse_yaml_documents(text);
    } catch (const api::YamlError& error) {
        if (is_python(text)) return read_python_settings(text, {});
        throw std::invalid_argument(error.what());
    }
    // Manifests may contain Python, but a Python module is no mapping.
    if (is_python(text) && (documents.empty() || !documents.front().is_object())) {
        return read_python_settings(text, {});
    }
    if (documents.empty() || !is_manifest(documents.front())) return read_yaml(text);
    Manifests manifests;
    for (const auto& document : documents) {
        if (document.is_object()) manifests.add(document.get_object());
    }
    return manifests.settings();
}

namespace {

// Returns the text of a line before its comment. A # inside quotes starts no comment.
std::string without_comment(const std::string& line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#') {
            return line.substr(0, i);
        }
    }
    return line;
}

class Module {
public:
    explicit Module(const json::object& environment) : environment_(environment) {}

    void read_line(const std::string& line, int number) {
        static const std::regex assignment(R"(^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$)");
        static const std::regex structure(R"(^\s*(import\s.*|from\s.*|try\s*:|except\b.*:|)\s*$)");
        if (line.size() > kLongestLine) {
            throw std::invalid_argument("line " + std::to_string(number) + ": more than " +
                                        std::to_string(kLongestLine) + " characters");
        }
        const auto code = without_comment(line);
        std::smatch parts;
        if (std::regex_match(code, structure)) return;
        if (!std::regex_match(code, parts, assignment)) {
            throw std::invalid_argument("line " + std::to_string(number) +
                                        ": expected NAME = value; write the value down as text or a number");
        }
        assign(parts[1].str(), parts[2].str(), number);
    }

    json::object take() { return std::move(values_); }

private:
    void assign(const std::string& name, const std::string& expression, int number) {
        static const std::regex variable(
            R"re(^os\.(?:environ\[|environ\.get\(|getenv\()\s*["'](\w+)["']\s*(?:,\s*(.+?))?\s*[\])]$)re");
        std::smatch parts;
        if (!std::regex_match(expression, parts, variable)) {
            if (!from_environment_.contains(name)) values_[name] = literal(name, expression, number);
            return;
        }
        if (const auto* value = environment_.if_contains(parts[1].str())) {
            values_[name] = *value;
            from_environment_.insert(name);
        } else if (parts[2].matched) {
            values_[name] = literal(name, parts[2].str(), number);
        } else if (!values_.contains(name)) {
            values_[name] = nullptr;
        }
    }

    static json::value literal(const std::string& name, const std::string& expression, int number) {
        if (expression == "True") return true;
        if (expression == "False") return false;
        if (expression == "None") return nullptr;
        if (expression.size() >= 2 && (expression.front() == '"' || expression.front() == '\'') &&
            expression.find(expression.front(), 1) == expression.size() - 1) {
            return json::value(expression.substr(1, expression.size() - 2));
        }
        std::int64_t integer = 0;
        const char* last = expression.data() + expression.size();
        if (auto [end, error] = std::from_chars(expression.data(), last, integer);
            error == std::errc{} && end == last) {
            return integer;
        }
        double real = 0;
        if (auto [end, error] = std::from_chars(expression.data(), last, real);
            error == std::errc{} && end == last) {
            return real;
        }
        throw std::invalid_argument("line " + std::to_string(number) + ": " + name +
                                    " is an expression; write its value down as text or a number");
    }

    const json::object& environment_;
    json::object values_;
    std::set<std::string> from_environment_;
};

}  // namespace

json::object read_python_settings(std::string_view text, const json::object& environment) {
    Module module(environment);
    std::istringstream stream{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(stream, line);) module.read_line(line, ++number);
    return module.take();
}

}  // namespace kubenodesmith::migrate
