// From the bytes of a request to its parameters, with the quirks of Proxmox' own HTTP server.
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

// Throws RawError 501 for paths outside the API and for formats there is no formatter for.
Target parse_target(const std::string& target);

// What the server refuses before it knows who is asking, from the head alone: transfer coding, declared
// length, content type, method. Throws RawError.
void check_framing(const base::HttpRequest& request);
bool is_upload(const base::HttpRequest& request);

// Form or JSON body. Throws RawError 500 with Perl's complaint for JSON that is none or no object.
json::object parse_body(const base::HttpRequest& request);
// multipart/form-data: fields, and the file.
json::object parse_upload(const base::HttpRequest& request, std::optional<UploadedFile>& file);

}  // namespace proxmox_simulator
