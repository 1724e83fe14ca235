#include "bootstrap/yaml_writer.hpp"

#include <yaml-cpp/yaml.h>

namespace bootstrap {

namespace {

namespace json = boost::json;

void write(YAML::Emitter& out, const json::value& value);

void write_string(YAML::Emitter& out, const json::string& text) {
    out << YAML::DoubleQuoted << std::string(text);
}

// Reports whether a key may stay unquoted. YAML 1.1 (PyYAML, which cloud-init uses) and 1.2 interpret plain
// words differently, so it must be a word in both.
bool is_plain_key(std::string_view key) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
    return key.size() > 3 && key.find_first_not_of(kLetters) == std::string_view::npos &&
           key.front() != '-' && key != "true" && key != "True" && key != "TRUE" && key != "false" &&
           key != "False" && key != "FALSE" && key != "null" && key != "Null" && key != "NULL";
}

// A key without "? " before it must end within 1,024 characters, including quotes and escapes (YAML 1.2,
// 7.4.2). An escape takes at most eight characters for each byte.
constexpr std::size_t kLongestPlainKey = 100;

void write_object(YAML::Emitter& out, const json::object& object) {
    if (object.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, value] : object) {
        if (key.size() > kLongestPlainKey) out << YAML::LongKey;
        out << YAML::Key;
        if (!is_plain_key(key)) out << YAML::DoubleQuoted;
        out << std::string(key) << YAML::Value;
        write(out, value);
    }
    out << YAML::EndMap;
}

void write_array(YAML::Emitter& out, const json::array& array) {
    if (array.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const auto& element : array) write(out, element);
    out << YAML::EndSeq;
}

void write(YAML::Emitter& out, const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            out << YAML::Null;
            break;
        case json::kind::bool_:
            out << value.get_bool();
            break;
        case json::kind::int64:
            out << value.get_int64();
            break;
        case json::kind::uint64:
            out << value.get_uint64();
            break;
        case json::kind::double_:
            out << value.get_double();
            break;
        case json::kind::string:
            write_string(out, value.get_string());
            break;
        case json::kind::array:
            write_array(out, value.get_array());
            break;
        case json::kind::object:
            write_object(out, value.get_object());
            break;
    }
}

}  // namespace

std::string to_yaml(const json::value& value) {
    YAML::Emitter out;
    write(out, value);
    return std::string(out.c_str()) + "\n";
}

}  // namespace bootstrap
