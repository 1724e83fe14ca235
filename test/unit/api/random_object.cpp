#include "test/unit/api/random_object.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

namespace json = boost::json;
using api::Shape;
using api::Type;

namespace {

constexpr std::array<std::string_view, 8> kWords = {"a",
                                                    "kubernetes.io/hostname",
                                                    "two words",
                                                    "\"quoted\\\"",
                                                    "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80",
                                                    "line\nbreak\ttab",
                                                    "/~tilde/and/slash~",
                                                    "x"};
// Each type with a text form accepts one of these texts.
constexpr std::array<std::string_view, 9> kTexts = {
    "2026-01-31T12:00:00Z",       "1h30m0s", "1536Mi", "10%", "Never", "AAEC/w==", "250m", "0s",
    "2026-01-31T12:00:00.000123Z"};

std::string word(Generator& generator) {
    std::string text(kWords[below(generator, kWords.size())]);
    return below(generator, 8) == 0 ? text + std::string(300, 'z') : text;
}

void fill_text(Generator& generator, const Type& type, void* value) {
    while (true) {
        try {
            return type.parse(value, kTexts[below(generator, kTexts.size())]);
        } catch (const std::invalid_argument&) {
            continue;
        }
    }
}

void fill_integer(Generator& generator, const Type& type, void* value) {
    const std::array<std::int64_t, 6> choices = {0, 1, -1, 42, type.min, type.max};
    type.set(value, choices[below(generator, choices.size())]);
}

void fill_container(Generator& generator, const Type& type, void* value) {
    type.clear(value);
    const std::size_t size = below(generator, 3);
    for (std::size_t i = 0; i < size; ++i) {
        if (type.shape == Shape::Optional) return fill(generator, *type.element, type.emplace(value));
        void* element = type.shape == Shape::List ? type.append(value)
                                                  : type.insert(value, word(generator) + std::to_string(i));
        fill(generator, *type.element, element);
    }
}

// Collects all values below `value`, at most `depth` levels deep.
void collect(json::value& value, std::vector<json::value*>& found) {
    if (json::object* object = value.if_object()) {
        for (auto& entry : *object) {
            found.push_back(&entry.value());
            collect(entry.value(), found);
        }
    } else if (json::array* array = value.if_array()) {
        for (json::value& each : *array) {
            found.push_back(&each);
            collect(each, found);
        }
    }
}

json::value disguise_object(Generator& generator, const json::object& object, const Type& type) {
    std::vector<std::pair<std::string, json::value>> members;
    for (const auto& [key, value] : object) {
        const api::FieldDescriptor* field = api::find_field(type, key);
        members.emplace_back(key, field ? disguise(generator, value, *field->type) : value);
    }
    const std::size_t additions = below(generator, 3);
    for (std::size_t i = 0; i < additions; ++i)
        members.emplace_back("unknown" + std::to_string(i) + word(generator), junk(generator, 3));
    std::shuffle(members.begin(), members.end(), generator);
    json::object result;
    for (auto& [key, value] : members) result.emplace(key, std::move(value));
    return result;
}

}  // namespace

std::size_t below(Generator& generator, std::size_t bound) {
    return generator() % bound;
}

void fill(Generator& generator, const Type& type, void* value) {
    switch (type.shape) {
        case Shape::Object:
            for (const api::FieldDescriptor& field : type.fields)
                if (below(generator, 3) != 0) fill(generator, *field.type, api::member(value, field));
            return;
        case Shape::List:
        case Shape::Map:
        case Shape::Optional:
            return fill_container(generator, type, value);
        case Shape::Enum:
            return type.set_enum(value, type.enumerators[below(generator, type.enumerators.size())].value);
        case Shape::Text:
            return fill_text(generator, type, value);
        case Shape::String:
            api::as<std::string>(value) = word(generator);
            return;
        case Shape::Boolean:
            api::as<bool>(value) = below(generator, 2) == 0;
            return;
        case Shape::Integer:
            return fill_integer(generator, type, value);
        case Shape::Any:
            api::as<json::value>(value) = junk(generator, 3);
            return;
    }
}

json::value junk(Generator& generator, int depth) {
    switch (below(generator, depth > 0 ? 8 : 5)) {
        case 0:
            return true;
        case 1:
            return -17;
        case 2:
            return 1.5;
        case 3:
            return std::uint64_t{18446744073709551615u};
        case 4:
            return json::value(word(generator));
        case 5:
            return json::array{nullptr, junk(generator, depth - 1)};
        case 6:
            return json::object{{word(generator), junk(generator, depth - 1)}, {"", nullptr}};
        default:
            return json::array{};
    }
}

json::value disguise(Generator& generator, const json::value& document, const Type& type) {
    if (type.shape == Shape::Optional) return disguise(generator, document, *type.element);
    if (type.shape == Shape::Object && document.is_object())
        return disguise_object(generator, document.get_object(), type);
    if (type.shape == Shape::List && document.is_array()) {
        json::array result;
        for (const json::value& each : document.get_array())
            result.push_back(disguise(generator, each, *type.element));
        return result;
    }
    return document;
}

void break_one(Generator& generator, json::value& document) {
    std::vector<json::value*> places;
    collect(document, places);
    if (places.empty()) return;
    json::value& place = *places[below(generator, places.size())];
    const std::array<json::value, 9> others = {nullptr,
                                               true,
                                               -17,
                                               1.5,
                                               "text",
                                               json::array{},
                                               json::object{},
                                               std::uint64_t{18446744073709551615u},
                                               json::array{7}};
    place = others[below(generator, others.size())];
}

}  // namespace test
