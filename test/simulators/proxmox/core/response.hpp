// Replies in the envelope that Proxmox uses.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/error.hpp"

namespace proxmox_simulator {

// `result` holds data and, for pages, total.
base::HttpResponse success_response(const std::string& format, json::object result);
// Before 8.3 the body carried no message, only the status line did.
base::HttpResponse error_response(const std::string& version, const std::string& format,
                                  const ApiError& error);
// Failures outside the API proper: no JSON.
base::HttpResponse raw_response(int status, const std::string& reason, const std::string& body);

// Parameters for a log: values that are or may hold secrets replaced.
json::object masked(const json::object& parameters);

}  // namespace proxmox_simulator
