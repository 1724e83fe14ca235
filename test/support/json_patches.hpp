// Applies the patch formats of the Kubernetes API that the operator uses, as a server does.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>

namespace fake {

namespace json = boost::json;

// Applies a patch of RFC 7386 in place.
void apply_merge_patch(json::value& target, const json::value& patch);

// PatchFailed reports that a `test` of a JSON patch did not hold or that a path does not exist.
struct PatchFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Applies a patch of RFC 6902 with add, remove, replace and test. The patch applies completely or throws
// PatchFailed.
json::value apply_json_patch(json::value document, const json::array& operations);

}  // namespace fake
