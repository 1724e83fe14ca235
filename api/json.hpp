// Converts between JSON and the API types, which are plain structs. The .cpp files of this folder describe
// the mapping once, as data (api/type.hpp), so this header costs no templates.
//
// Rules of the mapping (Kubernetes' own conventions):
//   * A member's JSON name is its C++ name without one trailing '_' (namespace_, operator_, template_,
//     continue_).
//   * Decoding: absent or null means the C++ default; unknown members are ignored.
//   * Decoding: an unknown name of an enum becomes its Unrecognized.
//   * Encoding: empty optionals, strings, lists, maps and structs are omitted if that decodes to the same
//     value. Objects of a kind get their apiVersion and kind.
#pragma once
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/resource.hpp"
#include "api/unknown_value.hpp"

namespace api {

namespace json = boost::json;

// DecodeError means that a document does not match its type. `pointer` is the JSON Pointer (RFC 6901) of the
// place. The message never contains the invalid value, as it may be a secret.
struct DecodeError : std::runtime_error {
    DecodeError(std::string at, std::string_view reason);
    std::string pointer;
    std::string why;
};

// DecodeIssues lists the places where a document does not match its type. Such a value is skipped: its place
// keeps the default, and everything else is decoded.
struct DecodeIssues {
    std::optional<DecodeError> error;          // the first one; empty: the document matches
    std::vector<UnknownValue> unknown_values;  // the first few
};

struct Type;  // the description of one type, see api/type.hpp

// Returns the description of T. It is defined for every struct of api/core.hpp, api/meta.hpp and
// api/v1alpha1/.
template <class T>
const Type& type_of();

// Returns the value's name in JSON; empty if it has none.
std::string_view enum_name(const Type& type, const void* value);

template <class T>
    requires std::is_enum_v<T>
std::string_view name_of(T value) {
    return enum_name(type_of<T>(), &value);
}

// The untyped core of the functions below. `object` points to an instance of the described type.
[[nodiscard]] DecodeIssues decode_into(const json::value& document, void* object, const Type& type);
json::value encode_from(const void* object, const Type& type);

// Throws the error, or stores the unknown values in the object.
template <class T>
void settle(DecodeIssues issues, T& result) {
    if (issues.error) throw *issues.error;
    if constexpr (Kind<T>)
        if (!issues.unknown_values.empty()) result.metadata.unknownValues = std::move(issues.unknown_values);
}

// Throws DecodeError.
template <class T>
T decode(const json::value& document) {
    T result{};
    settle(decode_into(document, &result, type_of<T>()), result);
    return result;
}

template <class T>
json::value encode(const T& value) {
    json::value encoded = encode_from(&value, type_of<T>());
    if constexpr (Kind<T>) {
        json::object object = std::move(encoded.get_object());
        object["apiVersion"] = T::kResource.api_version();
        object["kind"] = T::kResource.kind;
        return object;
    }
    return encoded;
}

// Returns the smallest merge patch (RFC 7386) that turns `before` into `after`; empty if they are equal.
// Fields unknown to our types are in neither and are never changed. Lists are replaced as a whole, so a patch
// with a list must have metadata.resourceVersion.
json::object merge_patch(const json::object& before, const json::object& after);
// Does the same for two structs of the described type, and encodes only differences.
json::object merge_patch_from(const void* before, const void* after, const Type& type);

template <class T>
json::object merge_patch(const T& before, const T& after) {
    return merge_patch_from(&before, &after, type_of<T>());
}

}  // namespace api
