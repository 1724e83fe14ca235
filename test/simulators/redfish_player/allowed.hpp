// Derives from a recording what its BMC accepts: the properties of a document, their allowable values, and
// the parameters of an action. All functions are pure.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

namespace redfish_player {

namespace json = boost::json;

struct Refusal {
    int status = 400;
    std::string id;  // message ID of the Base registry
    std::string message;
    bool is_forbidden = false;  // the value is not among the allowable ones
};

// Returns why a PATCH of the document with this body is refused; nullopt if it is accepted.
std::optional<Refusal> refuse_change(const json::object& document, const json::object& body);

// Returns why the body of an action is refused; nullopt if it is accepted. `inline_values` describes the
// action in the document that offers it. `action_info` is the target of its "@Redfish.ActionInfo", or null if
// there is none or the recording lacks it.
std::optional<Refusal> refuse_parameters(const json::object& inline_values, const json::object* action_info,
                                         const json::object& body);

}  // namespace redfish_player
