// What a recording says that its BMC takes: which properties a document has, which values are allowable,
// which parameters an action has and needs. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

namespace redfish_player {

namespace json = boost::json;

struct Refusal {
    int status = 400;
    std::string id;  // of a message of the Base registry
    std::string message;
    bool is_forbidden = false;  // a value that is not among the allowable ones
};

// Why a PATCH of the document with this body is refused; nullopt: it is not.
std::optional<Refusal> refuse_change(const json::object& document, const json::object& body);

// The same for the body of an action: `inline_values` is its description in the document that offers it,
// `action_info` what its "@Redfish.ActionInfo" leads to; null: nothing, or the recording lacks it.
std::optional<Refusal> refuse_parameters(const json::object& inline_values, const json::object* action_info,
                                         const json::object& body);

}  // namespace redfish_player
