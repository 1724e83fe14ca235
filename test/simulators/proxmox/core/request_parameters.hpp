// Parses the bytes of a request into its parameters, with the quirks of Proxmox' own HTTP server.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>

#include "base/http.hpp"
#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {

struct Target {
    std::string format;  // json or extjs
    std::string path;    // below /api2/<format>, percent-encoded
    json::object query;
};

// Throws RawError 501 for a path outside the API, and for a format without a formatter.
Target parse_target(const std::string& target);

// Checks what the server refuses from the head alone, before it knows the caller: transfer coding, declared
// length, content type, method. Throws RawError.
void check_framing(const base::HttpRequest& request);
bool is_upload(const base::HttpRequest& request);

// Parses a form or a JSON body. Throws RawError 500 with Perl's complaint if the JSON is invalid or no
// object.
json::object parse_body(const base::HttpRequest& request);
// Parses multipart/form-data into fields and the file.
json::object parse_upload(const base::HttpRequest& request, std::optional<UploadedFile>& file);

}  // namespace proxmox_simulator
