// Interprets Proxmox' responses. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "providers/proxmox/wire/call.hpp"

namespace providers::proxmox {

// Returns the reason phrase of a response with status 401, fit for a message.
std::string refusal_of(const base::HttpResponse& response);

// Replaces the secret in a text, as a server may repeat it.
std::string without_secret(std::string text, const std::string& secret);
// Does so in the texts of a refusal.
void hide_secret(base::HttpResponse& response, const std::string& secret);

// Returns the "data" of a successful response, up to the size for a cluster of 10,000 machines. Throws
// ProxmoxError for any other response, with the text of its body. Servers before PVE 8.3 send no body; for
// them it is the reason phrase. If the response is not from Proxmox, the error only has the status.
boost::json::value data_of(const Call& call, const base::HttpResponse& response);

}  // namespace providers::proxmox
