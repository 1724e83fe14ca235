// Builds replies in the envelope that Proxmox uses.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/error.hpp"

namespace proxmox_simulator {

// `result` holds data and, for pages, total.
base::HttpResponse success_response(const std::string& format, json::object result);
// Before 8.3 the message was only in the status line and not in the body.
base::HttpResponse error_response(const std::string& version, const std::string& format,
                                  const ApiError& error);
// Builds the reply to a failure outside the API proper, without JSON.
base::HttpResponse raw_response(int status, const std::string& reason, const std::string& body);

// Returns the parameters for a log, with values replaced that are or may hold secrets.
json::object masked(const json::object& parameters);

}  // namespace proxmox_simulator
