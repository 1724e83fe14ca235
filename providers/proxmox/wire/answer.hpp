// What Proxmox' responses mean. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "providers/proxmox/wire/call.hpp"

namespace providers::proxmox {

// The reason phrase of a response with status 401, in words that are fit for a message.
std::string refusal_of(const base::HttpResponse& response);

// The "data" of a successful response, which may be no larger than a cluster of 10,000 machines makes it.
// Throws ProxmoxError for everything else, with the text of the body or, from servers before PVE 8.3 that
// send none, of the reason phrase; of what does not prove to be a Proxmox only the status is told.
boost::json::value data_of(const Call& call, const base::HttpResponse& response);

}  // namespace providers::proxmox
