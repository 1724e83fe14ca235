// A cluster's initial state from a JSON file, and the one that is used without a file.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "test/simulators/proxmox/core/json_fields.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

// Three hosts (alfaromeo, porsche, zagato; 16 cores, 64 GiB each), storage "local" on each and "shared",
// bridge vmbr0, the pool "kubernetes", and the token automation@pve!kubenodesmith (secret
// kDefaultTokenSecret) with what a node autoscaler needs. It is also the world that a file's fields are laid
// over.
World default_world();
inline constexpr const char* kDefaultTokenSecret = "00000000-1111-4222-8333-444444444444";

// Fields (all optional; a list that is given replaces the default one):
//   cluster: name, standalone: bool, version
//   hosts: [{name, ip, cpus, memoryMiB, bridges: [{name, address, port}], maintenance}]
//   storages: [{id, type, path, content: [..], shared, hosts: [..], totalGiB, usedGiB, enabled, active,
//               volumes: [{name, content, format, sizeMiB, vmid, host, data}]}]
//   roles: {name: [privileges]}, users: [{id, password, enabled, expire}]
//   tokens: [{user, id, secret, separated, expire}], acl: [{path, user | token, role, propagate}]
//   pools: [{id, comment, vms: [..]}], options: {next-id: "lower=..,upper=.."}
//   machines: [{vmid, node, config: {..}, agentSilent}]: templates and others that exist from the start; a
//   drive's
//               value may be "local:8" (GiB) or "local:cloudinit", then the volume is made
//   web: [{url, data, diskGiB}]: files that hosts can download, with the size of the disk in them
//   durations: {boot, guestShutdown, request, other, tasks: {qmclone: ..}}, in seconds
// Throws std::invalid_argument naming the field that is wrong.
World world_from_json(const json::value& description);
// The "durations" object alone: what is not given stays as it is.
void read_durations(Durations& durations, const Fields& fields);

}  // namespace proxmox_simulator
