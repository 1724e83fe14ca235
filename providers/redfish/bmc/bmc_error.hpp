// Types for a BMC's refusals. Redfish reports them by HTTP status and by the MessageIds of extended
// information (DSP0266, clause "Error responses"). The code compares the last component of a MessageId
// ("IDRAC.2.8.SYS518", "Base.1.18.GeneralError"), as the versions of registries vary.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/http.hpp"
#include "providers/errors.hpp"

namespace providers::redfish {

namespace json = boost::json;

enum class RedfishErrorKind {
    unreachable,          // no part of the request arrived
    outcome_unknown,      // it may have been done: read back first
    busy,                 // not now: starting up, in POST, too many requests; retry_after may say when
    state_conflict,       // refused because of the host's state, which often is already as wanted
    unauthorized,         // 401
    session_limit,        // no session or login is possible now: the request was not sent
    doubted,              // previously accepted credentials are refused; they are tried again later
    license,              // a licence is missing; only a person can help
    password_change,      // the account must change its password first
    forbidden,            // the account lacks a privilege
    precondition_failed,  // 412: the ETag does not match
    precondition_needed,  // 428: an ETag is required
    not_found,            // 404, 410
    not_acceptable,       // 406
    unreadable,           // the answer is no JSON object, or compressed: it means nothing
    parameter_missing,    // a parameter is missing that is optional in the standard
    unsupported,          // 405, 415, 501: try another way
    invalid_request,      // 400
    system_not_chosen,    // several systems, and spec.bmc.systemID selects none of them
    other,
};

struct ExtendedInfo {
    std::string id;  // last component of MessageId
    std::string message;
    std::vector<std::string> arguments;
    std::string severity;  // OK, Warning, Critical; empty: unknown
};

// Returns the extended information of a body, wherever the vendor puts it. It may be an object where the
// standard wants an array.
std::vector<ExtendedInfo> extended_info(const json::object& body);

struct Complaint {
    RedfishErrorKind kind = RedfishErrorKind::other;
    std::string message;           // the first useful message, or the HTTP status
    std::vector<std::string> ids;  // from all messages
    std::optional<base::Duration> retry_after;

    bool says(std::string_view id) const;
    // Returns the first ID that decides about an action. A BMC may report any other ID.
    std::optional<std::string> known_id() const;
};

// Interprets an answer with a status of 400 or more.
Complaint complaint_of(const base::HttpResponse& response);
// Returns the error object's message if the status is no error; empty: it reports success.
std::string refusal_in(const json::object& body);
// Returns why a task failed.
std::string words_of_task(const json::object& task);
// Returns "Running, 40 percent" for a task that has not ended.
std::string state_of_task(const json::object& task);
// Reports whether the BMC can never do what was requested.
bool is_impossibility(const Complaint& complaint);
// Returns Retry-After in seconds, at most 10 min; nullopt: absent or not a number.
std::optional<base::Duration> retry_after_of(const base::HttpResponse& response);

// RedfishError has a what() like "turning r12u07 on: not now: system is in POST". It never contains
// credentials.
class RedfishError : public ProviderError {
public:
    RedfishError(const std::string& tried, Complaint why)
        : ProviderError(tried + ": " + why.message), complaint(std::move(why)) {}

    RedfishErrorKind kind() const { return complaint.kind; }
    Complaint complaint;
};

// Returns CamelCase for a condition: Unreachable, Unauthorized, LicenseRequired, ...
std::string reason_of(RedfishErrorKind kind);
// Reports whether only a person can help.
bool is_permanent(RedfishErrorKind kind);
// Reports whether the account may not see the resource: a privilege or a licence is missing.
bool is_closed_to_us(RedfishErrorKind kind);
// Reports whether the resource does not exist or this BMC does not serve it: 404, 405, 501, and 500 of
// emulators.
bool is_absence(RedfishErrorKind kind);

}  // namespace providers::redfish
