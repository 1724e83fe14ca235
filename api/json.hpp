// JSON in and out of the API types. The types are plain structs; how they map is described once, in the
// .cpp files of this folder, as data (api/type.hpp), so including this header costs no templates.
//
// Rules of the mapping (Kubernetes' own conventions):
//   * a member's JSON name is its C++ name without one trailing '_' (namespace_, operator_, template_,
//   continue_)
//   * decode: absent or null = the C++ default; unknown members are ignored
//   * decode: a name that an enum does not know becomes its Unrecognized
//   * encode: empty optionals, strings, lists, maps and structs are left out where that decodes to the same
//     value again; objects of a kind get their apiVersion and kind
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

// A document that does not fit the type. `pointer` is the JSON Pointer (RFC 6901) of the place.
// The message never holds the offending value: it may be a secret.
struct DecodeError : std::runtime_error {
    DecodeError(std::string at, std::string_view reason);
    std::string pointer;
    std::string why;
};

// Says where a document does not fit its type. A value that does not fit is passed over: its place keeps the
// default, and everything else is decoded.
struct DecodeIssues {
    std::optional<DecodeError> error;          // the first one; none: the document fits
    std::vector<UnknownValue> unknown_values;  // the first few
};

struct Type;  // the description of one type, see api/type.hpp

// The description of T; defined for every struct of api/core.hpp, api/meta.hpp and api/v1alpha1/.
template <class T>
const Type& type_of();

// The value's name in JSON; empty for one that has none.
std::string_view enum_name(const Type& type, const void* value);

template <class T>
    requires std::is_enum_v<T>
std::string_view name_of(T value) {
    return enum_name(type_of<T>(), &value);
}

// The untyped core of the functions below. `object` points to an instance of the described type.
[[nodiscard]] DecodeIssues decode_into(const json::value& document, void* object, const Type& type);
json::value encode_from(const void* object, const Type& type);

// Throws the error, or notes the unknown values in the object.
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

// RFC 7386: the smallest merge patch that turns `before` into `after`; empty when nothing differs.
// Fields that our types do not know are in neither and are never touched. Lists are replaced whole:
// a patch that holds one has to carry metadata.resourceVersion.
json::object merge_patch(const json::object& before, const json::object& after);
// The same between two structs of the described type; only what differs is encoded.
json::object merge_patch_from(const void* before, const void* after, const Type& type);

template <class T>
json::object merge_patch(const T& before, const T& after) {
    return merge_patch_from(&before, &after, type_of<T>());
}

}  // namespace api
