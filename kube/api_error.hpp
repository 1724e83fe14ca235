// Converts Status objects (metav1.Status) into exceptions.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/meta.hpp"
#include "base/clock.hpp"
#include "base/http.hpp"

namespace kube {

// ApiError is a refusal by the API server (metav1.Status). Its what() also has the verb and the object.
class ApiError : public std::runtime_error {
public:
    ApiError(const std::string& what, int code, std::string reason, std::string message);
    int code;
    std::string reason;   // metav1.StatusReason: Conflict, AlreadyExists, Forbidden, Invalid, Expired, ...
    std::string message;  // the server's text
    std::optional<base::Duration> retry_after;
    std::vector<api::StatusCause> causes;

    bool is_conflict() const { return code == 409 && reason != "AlreadyExists"; }
    bool is_already_exists() const { return code == 409 && reason == "AlreadyExists"; }
    bool is_not_found() const { return code == 404; }
    bool is_forbidden() const { return code == 403; }
    bool is_expired() const { return code == 410; }
    // Returns the pause that the server requests, at most five minutes; zero: none.
    base::Duration pause_wanted() const;
    // Reports whether an admission webhook refused the request. Its author may choose any status.
    bool is_denial() const { return message.starts_with("admission webhook "); }
};

// These convert a response with a status of 400 or more, or a Status. `subject` is, for example, "GET
// /api/v1/pods".
ApiError error_of(const std::string& subject, const base::HttpResponse& response);
ApiError error_of(const std::string& subject, const api::Status& status);

}  // namespace kube
