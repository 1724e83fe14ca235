// Describes the simulator's own table, for the comparison with Proxmox' definition.
#pragma once

#include <iosfwd>

namespace proxmox_simulator {

// Writes [{method, path, parameters: {name: declaration}, node, daemon, tokens, access, permissionPath,
// privileges}].
int describe_endpoints(std::ostream& out);

// Reads {method, path, params} per line. Writes {errors: {name: reason}}, or {errors: null} for an unknown
// endpoint.
int check_requests(std::istream& in, std::ostream& out);

}  // namespace proxmox_simulator
