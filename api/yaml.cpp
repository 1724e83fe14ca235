#include "api/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/locale/utf.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

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

// Accepts decimal, 0x, 0o, 0b and a leading 0 for octal. '_' between digits is allowed.
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

bool is_utf8(std::string_view text) {
    namespace utf = boost::locale::utf;
    for (auto at = text.begin(); at != text.end();)
        if (!utf::is_valid_codepoint(utf::utf_traits<char>::decode(at, text.end()))) return false;
    return true;
}

json::value resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    if (tag == "?" || tag.empty()) return resolve_plain(text);
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary")
        return json::value(text);
    if (tag.starts_with("tag:yaml.org,2002:")) return resolve_plain(text);
    fail(mark, "tag " + tag + " is not supported");
}

// ExpandedSize is the cost of a value with its aliases expanded.
struct ExpandedSize {
    std::size_t nodes = 1;
    std::size_t bytes = 0;
    std::size_t depth = 0;
};

// Item is a value while it is read. `text` is its meaning as a key; only scalars can be keys.
struct Item {
    YAML::Mark mark;
    json::value value;
    std::optional<std::string> text;
    bool is_merge = false;
    ExpandedSize size;
};

// Open is a list or mapping whose end was not yet read.
struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool is_map = false;
    json::array array;
    json::object object;
    std::optional<Item> key;
    std::vector<std::pair<YAML::Mark, json::value>> merges;
    ExpandedSize size;

    Open(const YAML::Mark& at, YAML::anchor_t name, bool map) : mark(at), anchor(name), is_map(map) {}
};

void merge_into(json::object& target, const YAML::Mark& mark, json::value& source) {
    if (auto* several = source.if_array()) {
        for (json::value& each : *several) merge_into(target, mark, each);
        return;
    }
    auto* object = source.if_object();
    if (!object) fail(mark, "'<<' needs a mapping");
    for (auto& [key, value] : *object)
        if (!target.contains(key)) target.emplace(key, std::move(value));
}

void add_entry(Open& map, const Item& key, Item&& item) {
    if (key.is_merge) {
        map.merges.emplace_back(item.mark, std::move(item.value));
        return;
    }
    if (!map.object.emplace(*key.text, std::move(item.value)).second)
        fail(key.mark, "key \"" + *key.text + "\" appears twice");
}

// ValueBuilder makes values from yaml-cpp's events, without its graph of nodes. It refuses anything above a
// limit before it uses memory.
class ValueBuilder final : public YAML::EventHandler {
public:
    explicit ValueBuilder(const YamlBounds& bounds) : bounds_(bounds) {}

    // Returns the beginning of the last document.
    const YAML::Mark& began() const { return began_; }
    json::value take() { return std::exchange(document_, nullptr); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        began_ = mark;
        anchors_.clear();
        names_.clear();
        count(mark, {});
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Item item;
        item.mark = mark;
        add_leaf(anchor, std::move(item));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        // yaml-cpp passes any bytes.
        if (!is_utf8(text)) fail(mark, "the text is not UTF-8");
        Item item;
        item.mark = mark;
        item.is_merge = tag != "!" && text == "<<" && expects_key();
        if (!expects_key() || anchor != YAML::NullAnchor) item.value = resolve(mark, tag, text);
        item.text = text;
        item.size.bytes = text.size();
        add_leaf(anchor, std::move(item));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) fail(mark, "the alias is part of the value that it refers to");
        count(mark, found->second.size);
        Item item = found->second;
        item.mark = mark;
        add(std::move(item));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        open(mark, anchor, false);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        open(mark, anchor, true);
    }
    void OnSequenceEnd() override {
        Open ended = close();
        finish(ended, std::move(ended.array));
    }
    void OnMapEnd() override {
        Open ended = close();
        for (auto& [mark, source] : ended.merges) merge_into(ended.object, mark, source);
        finish(ended, std::move(ended.object));
    }
    void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
        if (!names_.insert(name).second) fail(mark, "anchor &" + name + " appears twice");
    }

private:
    bool expects_key() const { return !open_.empty() && open_.back().is_map && !open_.back().key; }

    void count(const YAML::Mark& mark, const ExpandedSize& more) {
        nodes_ += more.nodes;
        bytes_ += more.bytes;
        if (nodes_ > bounds_.nodes)
            fail(mark, "more than " + std::to_string(bounds_.nodes) +
                           " values, those of aliases counted each time");
        if (bytes_ > bounds_.bytes)
            fail(mark,
                 "more than " + std::to_string(bounds_.bytes) + " bytes, those of aliases counted each time");
        if (open_.size() + more.depth > bounds_.depth)
            fail(mark, "lists and mappings are nested more than " + std::to_string(bounds_.depth) + " deep");
    }

    void open(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_map) {
        if (expects_key()) fail(mark, "a key must be a scalar");
        ExpandedSize size;
        size.depth = 1;
        count(mark, size);
        open_.emplace_back(mark, anchor, is_map).size = size;
    }

    Open close() {
        Open ended = std::move(open_.back());
        open_.pop_back();
        return ended;
    }

    void finish(const Open& ended, json::value value) {
        Item item;
        item.mark = ended.mark;
        item.value = std::move(value);
        item.size = ended.size;
        remember(ended.anchor, item);
        add(std::move(item));
    }

    void add_leaf(YAML::anchor_t anchor, Item item) {
        count(item.mark, item.size);
        remember(anchor, item);
        add(std::move(item));
    }

    // Stores an anchor's value. The copy counts like one more alias, as anchors may be nested.
    void remember(YAML::anchor_t anchor, const Item& item) {
        if (anchor == YAML::NullAnchor) return;
        count(item.mark, item.size);
        anchors_.emplace(anchor, item);
    }

    void add(Item item) {
        if (open_.empty()) {
            document_ = std::move(item.value);
            return;
        }
        Open& parent = open_.back();
        if (expects_key() && !item.text) fail(item.mark, "a key must be a scalar");
        parent.size.nodes += item.size.nodes;
        parent.size.bytes += item.size.bytes;
        parent.size.depth = std::max(parent.size.depth, item.size.depth + 1);
        if (!parent.is_map)
            parent.array.push_back(std::move(item.value));
        else if (!parent.key)
            parent.key = std::move(item);
        else
            add_entry(parent, *std::exchange(parent.key, std::nullopt), std::move(item));
    }

    const YamlBounds bounds_;
    YAML::Mark began_ = YAML::Mark::null_mark();
    json::value document_;
    std::vector<Open> open_;
    std::unordered_map<YAML::anchor_t, Item> anchors_;
    std::set<std::string> names_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

YAML::Mark place_of(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    YAML::Mark mark;
    mark.pos = static_cast<int>(offset);
    mark.line = static_cast<int>(std::ranges::count(before, '\n'));
    mark.column = static_cast<int>(before.size() - (before.rfind('\n') + 1));
    return mark;
}

// Checks the text before yaml-cpp reads it. Inside brackets yaml-cpp stores hundreds of bytes for each token
// until the outermost bracket is closed.
void check_text(std::string_view text, const YamlBounds& bounds) {
    if (text.size() > bounds.bytes)
        fail(place_of(text, bounds.bytes), "more than " + std::to_string(bounds.bytes) + " bytes");
    std::size_t brackets = 0;
    for (std::size_t at = text.find_first_of("[{,"); at != std::string_view::npos;
         at = text.find_first_of("[{,", at + 1))
        if (++brackets > bounds.brackets)
            fail(place_of(text, at), "more than " + std::to_string(bounds.brackets) + " of '[', '{' and ','");
}

}  // namespace

std::vector<json::value> parse_yaml_documents(std::string_view text, const YamlBounds& bounds) {
    check_text(text, bounds);
    std::vector<json::value> documents;
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        ValueBuilder builder(bounds);
        for (auto before = builder.began(); parser.HandleNextDocument(builder); before = builder.began()) {
            // yaml-cpp would read empty documents forever if it cannot skip a character that begins no
            // document, such as a comma.
            if (builder.began().pos == before.pos) fail(before, "this is not the beginning of a value");
            if (json::value document = builder.take(); !document.is_null())
                documents.push_back(std::move(document));
        }
    } catch (const YAML::Exception& error) {
        fail(error.mark, error.msg);
    }
    return documents;
}

json::value parse_yaml(std::string_view text, const YamlBounds& bounds) {
    std::vector<json::value> documents = parse_yaml_documents(text, bounds);
    if (documents.size() > 1) throw YamlError("expected one document, found several");
    return documents.empty() ? json::value() : std::move(documents.front());
}

}  // namespace api
