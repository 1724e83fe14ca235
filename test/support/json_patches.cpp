#include "test/support/json_patches.hpp"

#include <charconv>
#include <string>
#include <vector>

namespace fake {
namespace {

std::string unescaped(std::string token) {
    for (auto [from, to] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
        for (auto at = token.find(from); at != std::string::npos; at = token.find(from, at + 1)) {
            token.replace(at, 2, to);
        }
    }
    return token;
}

std::vector<std::string> tokens_of(const std::string& pointer) {
    std::vector<std::string> tokens;
    for (std::size_t begin = 1; begin <= pointer.size();) {
        auto end = std::min(pointer.find('/', begin), pointer.size());
        tokens.push_back(unescaped(pointer.substr(begin, end - begin)));
        begin = end + 1;
    }
    return tokens;
}

std::size_t index_in(const json::array& array, const std::string& token, const std::string& path) {
    std::size_t index = 0;
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
    if (error != std::errc{} || end != token.data() + token.size() || index >= array.size()) {
        throw PatchFailed("no such path: " + path);
    }
    return index;
}

json::value* child_of(json::value& parent, const std::string& token, const std::string& path) {
    if (auto* object = parent.if_object()) return object->if_contains(token);
    if (auto* array = parent.if_array()) return &(*array)[index_in(*array, token, path)];
    throw PatchFailed("no such path: " + path);
}

json::value& parent_of(json::value& document, const std::vector<std::string>& tokens,
                       const std::string& path) {
    json::value* at = &document;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        at = child_of(*at, tokens[i], path);
        if (!at) throw PatchFailed("no such path: " + path);
    }
    return *at;
}

void add(json::value& parent, const std::string& token, const json::value& value, const std::string& path) {
    if (auto* object = parent.if_object()) {
        (*object)[token] = value;
    } else if (auto* array = parent.if_array()) {
        auto position = token == "-" || token == std::to_string(array->size())
                            ? array->size()
                            : index_in(*array, token, path);
        array->insert(array->begin() + static_cast<std::ptrdiff_t>(position), value);
    } else {
        throw PatchFailed("no such path: " + path);
    }
}

void remove(json::value& parent, const std::string& token, const std::string& path) {
    if (auto* object = parent.if_object()) {
        if (object->erase(token) == 0) throw PatchFailed("no such path: " + path);
    } else if (auto* array = parent.if_array()) {
        array->erase(array->begin() + static_cast<std::ptrdiff_t>(index_in(*array, token, path)));
    }
}

void apply(json::value& document, const json::object& operation) {
    std::string kind(operation.at("op").as_string());
    std::string path(operation.at("path").as_string());
    auto tokens = tokens_of(path);
    if (tokens.empty()) throw PatchFailed("the whole document cannot be patched");
    auto& parent = parent_of(document, tokens, path);
    if (kind == "add") {
        add(parent, tokens.back(), operation.at("value"), path);
    } else if (kind == "remove") {
        remove(parent, tokens.back(), path);
    } else if (kind == "replace" || kind == "test") {
        auto* found = child_of(parent, tokens.back(), path);
        if (!found) throw PatchFailed("no such path: " + path);
        if (kind == "replace") {
            *found = operation.at("value");
        } else if (*found != operation.at("value")) {
            throw PatchFailed("testing value " + path + " failed");
        }
    } else {
        throw PatchFailed("unknown operation: " + kind);
    }
}

}  // namespace

void apply_merge_patch(json::value& target, const json::value& patch) {
    const auto* changes = patch.if_object();
    if (!changes) {
        target = patch;
        return;
    }
    if (!target.is_object()) target = json::object{};
    auto& object = target.get_object();
    for (const auto& [key, value] : *changes) {
        if (value.is_null()) {
            object.erase(key);
        } else {
            apply_merge_patch(object[key], value);
        }
    }
}

json::value apply_json_patch(json::value document, const json::array& operations) {
    for (const auto& operation : operations) apply(document, operation.as_object());
    return document;
}

}  // namespace fake
