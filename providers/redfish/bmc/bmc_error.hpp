// What a BMC answers when it does not do what was asked, as types. Redfish says it by HTTP status and by the
// MessageIds of extended information (DSP0266, clause "Error responses"); of a MessageId only the last
// component counts ("IDRAC.2.8.SYS518", "Base.1.18.GeneralError"): registries' versions vary.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "providers/errors.hpp"

namespace providers::redfish {

namespace json = boost::json;

enum class ErrorKind {
    unreachable,          // nothing of the request arrived
    outcome_unknown,      // it may have been done: read back before anything else
    busy,                 // not now: starting up, in POST, too many requests; retry_after may say when
    state_conflict,       // refused because of the host's state; often it is already as wanted
    unauthorized,         // 401
    session_limit,        // there is no session to be had now, or no login to be tried: nothing was asked for
    doubted,              // credentials that it accepted before are refused; they are tried again later
    license,              // a licence is missing; nothing helps but a person
    password_change,      // the account must change its password first
    forbidden,            // the account lacks a privilege
    precondition_failed,  // 412: the ETag does not match
    precondition_needed,  // 428: an ETag is demanded
    not_found,            // 404, 410
    not_acceptable,       // 406
    unreadable,           // the answer is no JSON object, or is compressed: it says nothing
    parameter_missing,    // a parameter that the standard calls optional
    unsupported,          // 405, 415, 501: not this way
    invalid_request,      // 400
    system_not_chosen,    // several systems, of which spec.bmc.systemID names none
    other,
};

struct ExtendedInfo {
    std::string id;  // the last component of MessageId
    std::string message;
    std::vector<std::string> arguments;
    std::string severity;  // OK, Warning, Critical; empty: not told
};

// Of an answer's body, wherever the vendor puts it; also an object where an array belongs.
std::vector<ExtendedInfo> extended_info(const json::object& body);

struct Complaint {
    ErrorKind kind = ErrorKind::other;
    std::string message;           // the first that says anything, or the HTTP status
    std::vector<std::string> ids;  // of all messages
    std::optional<base::Duration> retry_after;

    bool says(std::string_view id) const;
    // The first ID that is one of those that decide what is done; a BMC may say any.
    std::optional<std::string> known_id() const;
};

// The meaning of an answer with a status of 400 or more.
Complaint complaint_of(const base::HttpResponse& response);
// What the error object of an answer says that was not refused by its status; empty: it says that all is
// well.
std::string refusal_in(const json::object& body);
// Why a task failed.
std::string words_of_task(const json::object& task);
// The BMC says that it can never do what was asked.
bool is_impossibility(const Complaint& complaint);
// Retry-After as seconds, at most 10 min; nullopt: absent or not a number.
std::optional<base::Duration> retry_after_of(const base::HttpResponse& response);

// `what()` reads "turning r12u07 on: not now: system is in POST". Never holds credentials.
class RedfishError : public ProviderError {
public:
    RedfishError(const std::string& tried, Complaint why)
        : ProviderError(tried + ": " + why.message), complaint(std::move(why)) {}

    ErrorKind kind() const { return complaint.kind; }
    Complaint complaint;
};

// CamelCase, for a condition: Unreachable, Unauthorized, LicenseRequired, ...
std::string reason_of(ErrorKind kind);
// Nothing helps but a person.
bool is_permanent(ErrorKind kind);
// There is no such resource, or this BMC does not serve it: 404, 405, 501, and 500 of emulators.
bool is_absence(ErrorKind kind);

}  // namespace providers::redfish
