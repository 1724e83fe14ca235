// The patch formats of the Kubernetes API that the operator uses, as a server applies them.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>

namespace fake {

namespace json = boost::json;

// RFC 7386, in place.
void apply_merge_patch(json::value& target, const json::value& patch);

// A `test` of a JSON patch did not hold, or a path is not there.
struct PatchFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// RFC 6902: add, remove, replace and test. All or nothing; throws PatchFailed.
json::value apply_json_patch(json::value document, const json::array& operations);

}  // namespace fake
