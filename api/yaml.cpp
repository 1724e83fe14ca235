#include "api/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/locale/utf.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>

namespace api {

namespace json = boost::json;

namespace {

[[noreturn]] void fail(const YAML::Mark& mark, const std::string& why) {
    throw YamlError("line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1) +
                    ": " + why);
}

std::optional<bool> as_boolean(std::string_view text) {
    static const std::set<std::string_view> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                     "True", "TRUE", "on",  "On",  "ON"};
    static const std::set<std::string_view> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                      "False", "FALSE", "off", "Off", "OFF"};
    if (kTrue.contains(text)) return true;
    if (kFalse.contains(text)) return false;
    return std::nullopt;
}

// Decimal, 0x, 0o, 0b and a leading 0 for octal; '_' between digits is allowed.
std::optional<json::value> as_integer(std::string text) {
    std::erase(text, '_');
    std::string_view digits = text;
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X"))
        base = 16;
    else if (digits.starts_with("0o") || digits.starts_with("0O"))
        base = 8;
    else if (digits.starts_with("0b") || digits.starts_with("0B"))
        base = 2;
    if (base != 10)
        digits.remove_prefix(2);
    else if (digits.size() > 1 && digits.front() == '0')
        base = 8;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
    if (negative && value <= kLimit) return static_cast<std::int64_t>(~value + 1);
    if (negative) return std::nullopt;
    if (value < kLimit) return static_cast<std::int64_t>(value);
    return value;
}

std::optional<double> as_float(std::string text) {
    const std::size_t start = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    if (start >= text.size() || text.find_first_not_of("0123456789.eE+-_", start) != std::string::npos ||
        text.find_first_of("0123456789") == std::string::npos || text[start] == '_')
        return std::nullopt;
    std::erase(text, '_');
    if (text.starts_with('+')) text.erase(0, 1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

json::value resolve_plain(const std::string& text) {
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
    if (const auto boolean = as_boolean(text)) return *boolean;
    if (auto integer = as_integer(text)) return std::move(*integer);
    if (const auto number = as_float(text)) return *number;
    return json::value(text);
}

json::value convert(const YAML::Node& node);

bool is_utf8(std::string_view text) {
    namespace utf = boost::locale::utf;
    for (auto at = text.begin(); at != text.end();)
        if (!utf::is_valid_codepoint(utf::utf_traits<char>::decode(at, text.end()))) return false;
    return true;
}

// yaml-cpp passes on any bytes.
const std::string& text_of(const YAML::Node& scalar) {
    if (!is_utf8(scalar.Scalar())) fail(scalar.Mark(), "the text is not UTF-8");
    return scalar.Scalar();
}

json::value convert_scalar(const YAML::Node& node) {
    const std::string& tag = node.Tag();
    const std::string& text = text_of(node);
    if (tag == "?" || tag.empty()) return resolve_plain(text);
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary")
        return json::value(text);
    if (tag.starts_with("tag:yaml.org,2002:")) return resolve_plain(text);
    fail(node.Mark(), "tag " + tag + " is not supported");
}

std::string key_text(const YAML::Node& key) {
    if (!key.IsScalar()) fail(key.Mark(), "a key must be a scalar");
    return text_of(key);
}

bool is_merge(const YAML::Node& key) {
    return key.IsScalar() && key.Tag() != "!" && key.Scalar() == "<<";
}

void merge_into(json::object& target, const YAML::Node& source) {
    if (source.IsSequence()) {
        for (const YAML::Node& each : source) merge_into(target, each);
        return;
    }
    const json::value merged = convert(source);
    if (!merged.is_object()) fail(source.Mark(), "'<<' needs a mapping");
    for (const auto& [key, value] : merged.get_object())
        if (!target.contains(key)) target.emplace(key, value);
}

json::value convert_map(const YAML::Node& node) {
    json::object object;
    for (const auto& entry : node) {
        if (is_merge(entry.first)) continue;
        const std::string name = key_text(entry.first);
        if (!object.emplace(name, convert(entry.second)).second)
            fail(entry.first.Mark(), "key \"" + name + "\" is there twice");
    }
    for (const auto& entry : node)
        if (is_merge(entry.first)) merge_into(object, entry.second);
    return object;
}

json::value convert(const YAML::Node& node) {
    switch (node.Type()) {
        case YAML::NodeType::Scalar:
            return convert_scalar(node);
        case YAML::NodeType::Sequence: {
            json::array array;
            for (const YAML::Node& element : node) array.push_back(convert(element));
            return array;
        }
        case YAML::NodeType::Map:
            return convert_map(node);
        case YAML::NodeType::Null:
        case YAML::NodeType::Undefined:
            return nullptr;
    }
    return nullptr;
}

// Where the last document began.
class DocumentStart final : public YAML::EventHandler {
public:
    YAML::Mark at = YAML::Mark::null_mark();

    void OnDocumentStart(const YAML::Mark& mark) override { at = mark; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

// yaml-cpp would read empty documents for ever where it does not get past what can begin none, such as a
// comma.
void check_that_it_ends(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentStart document;
    for (auto before = document.at; parser.HandleNextDocument(document); before = document.at)
        if (document.at.pos == before.pos) fail(document.at, "this is not the beginning of a value");
}

}  // namespace

std::vector<json::value> parse_yaml_documents(std::string_view text) {
    std::vector<json::value> documents;
    try {
        const std::string all(text);
        check_that_it_ends(all);
        for (const YAML::Node& node : YAML::LoadAll(all)) {
            json::value document = convert(node);
            if (!document.is_null()) documents.push_back(std::move(document));
        }
    } catch (const YAML::Exception& error) {
        fail(error.mark, error.msg);
    }
    return documents;
}

json::value parse_yaml(std::string_view text) {
    std::vector<json::value> documents = parse_yaml_documents(text);
    if (documents.size() > 1) throw YamlError("expected one document, found several");
    return documents.empty() ? json::value() : std::move(documents.front());
}

}  // namespace api
