// The control interface, with which a test looks into the simulator and makes trouble.
// It speaks JSON over plain HTTP on loopback only.
//
//   GET  /world                              everything except secrets
//   GET  /machines                           [{vmid, node, name, running, config, bootLog}]
//   POST /hosts/{name}/power-off | power-on  the host dies with all its machines; comes back
//   POST /hosts/{name}/maintenance           {enabled}
//   POST /storages/{id}/fill                 {host?, availGiB}: others use the rest
//   POST /storages/{id}                      {active?, enabled?}
//   POST /tokens/{user!id}/revoke | restore  as if it had been deleted; makes it work again
//   POST /acl                                {path, user | token, role, propagate?, delete?}
//   POST /durations                          {boot?, guestShutdown?, request?, other?,
//                                             tasks?: {type: seconds}}
//   POST /machines/{vmid}/guest              {agentSilent?, halted?}
//   POST /faults                             {method?, path?, moment?: before|after, status?, reason?,
//                                             loseConnection?, delay?, count?, skip?};
//                                             method and path are regular expressions
//   POST /task-faults                        {type?, id?, text?, count?, skip?, trouble:
//                                             fail|fail-at-end|hang|hang-deaf|hang-in-kernel|die}
//   DELETE /faults                           forgets both kinds
//   POST /statistics/refresh                 the ten seconds have passed
//   POST /request-log/reset
#pragma once

#include "base/http_server.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"
#include "test/simulators/proxmox/server/request_log.hpp"

namespace proxmox_simulator {

// Returns what the control interface adds to a machine's description. The boot hook implements it.
using MachineNotes = std::function<json::object(int vmid)>;

// All arguments must outlive the handler.
base::HttpHandler make_control(Simulator& simulator, RequestLog& log, MachineNotes notes);

}  // namespace proxmox_simulator
