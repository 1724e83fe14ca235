// Reads a cluster's initial state from a JSON file, and defines the state without a file.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "test/simulators/proxmox/core/json_fields.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace proxmox_simulator {

// Returns the default world, which is also the base of a file's fields. It has three hosts (alfaromeo,
// porsche, zagato; 16 cores, 64 GiB each), storage "local" on each, storage "shared", and bridge vmbr0. It
// also has the pool "kubernetes" and the token automation@pve!kubenodesmith (secret kDefaultTokenSecret) with
// the rights of a node autoscaler.
World default_world();
inline constexpr const char* kDefaultTokenSecret = "00000000-1111-4222-8333-444444444444";

// Fields (all optional; a given list replaces the default one):
//   cluster: name, standalone: bool, version
//   hosts: [{name, ip, cpus, memoryMiB, bridges: [{name, address, port}], maintenance}]
//   storages: [{id, type, path, content: [..], shared, hosts: [..], totalGiB, usedGiB, enabled, active,
//               volumes: [{name, content, format, sizeMiB, vmid, host, data}]}]
//   roles: {name: [privileges]}
//   users: [{id, password, enabled, expire, totp: the valid code, recoveryKeys: [..], webauthn}]; root@pam is
//          always there, with a password if it is listed
//   tokens: [{user, id, secret, separated, expire}], acl: [{path, user | token, role, propagate}]
//   pools: [{id, comment, vms: [..]}], options: {next-id: "lower=..,upper=.."}
//   machines: [{vmid, node, config: {..}, agentSilent}]: templates and others that exist from the start.
//               A drive's value may be "local:8" (GiB) or "local:cloudinit"; the volume is then made.
//   web: [{url, data, diskGiB}]: files that hosts can download, with the size of the disk in them
//   durations: {boot, guestShutdown, request, other, tasks: {qmclone: ..}}, in seconds
// Throws std::invalid_argument that names the wrong field.
World world_from_json(const json::value& description);
// Reads only the "durations" object; values that are not given stay unchanged.
void read_durations(Durations& durations, const Fields& fields);

}  // namespace proxmox_simulator
