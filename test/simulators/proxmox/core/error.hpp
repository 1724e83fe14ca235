// The failure of a request: an HTTP status whose text is in the status line and the body, as Proxmox sends
// it.
#pragma once

#include <boost/json/object.hpp>
#include <stdexcept>
#include <string>

namespace proxmox_simulator {

namespace json = boost::json;

class ApiError : public std::runtime_error {
public:
    ApiError(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
    ApiError(int status, const std::string& message, json::object errors)
        : std::runtime_error(message), status_(status), errors_(std::move(errors)) {}

    int status() const { return status_; }
    // Returns the reason for each wrong parameter; only a status 400 has any.
    const json::object& errors() const { return errors_; }

private:
    int status_;
    json::object errors_;
};

// RawError is a failure before the API proper saw the request. The reply has no JSON, only `body` as plain
// text.
class RawError : public std::runtime_error {
public:
    RawError(int status, const std::string& reason, std::string body = {})
        : std::runtime_error(reason), status_(status), body_(std::move(body)) {}

    int status() const { return status_; }
    const std::string& body() const { return body_; }

private:
    int status_;
    std::string body_;
};

// Makes a 500 from a text with which Proxmox dies: "not found", "conflict", "locked" and all other failures.
inline ApiError failure(const std::string& message) {
    return {500, message};
}

inline ApiError parameter_errors(json::object errors) {
    return {400, "Parameter verification failed.", std::move(errors)};
}

inline ApiError parameter_error(const std::string& name, const std::string& reason) {
    json::object errors;
    errors[name] = reason;
    return parameter_errors(std::move(errors));
}

// `detail` looks like "(/vms/101, VM.PowerMgmt)". It is empty for checks that Proxmox does not explain.
inline ApiError permission_denied(const std::string& detail = {}) {
    return {403, detail.empty() ? "Permission check failed" : "Permission check failed (" + detail + ")"};
}

}  // namespace proxmox_simulator
