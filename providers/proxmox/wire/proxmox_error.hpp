// Types for Proxmox' refusals. Proxmox only has three statuses (400, 403, 500) and texts. The texts below are
// from PVE 7.4 to 9.2 (qemu-server, pve-cluster, pve-common).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "providers/errors.hpp"

namespace providers::proxmox {

enum class ErrorKind {
    exists,           // the VMID is taken
    not_found,        // no configuration on that host (another host may have the VM)
    locked,           // the VM's configuration has a lock: clone, backup, migrate, ...
    lock_timeout,     // somebody else holds a file lock; worth another try
    no_quorum,        // the cluster refuses writes
    permission,       // 403; the message names path and privilege
    unauthenticated,  // 401
    invalid_request,  // 400, with the parameters that are wrong
    running,          // refused because the VM is running
    not_running,      // refused because the VM is not running
    agent_silent,     // the guest agent does not answer
    no_such_process,  // the guest agent does not (or no longer) know this process
    is_protected,     // protection=1
    no_such_task,     // the task's log does not exist
    unsupported,      // 501
    transient,        // worth another try
    no_room,          // a storage or the host's memory is full: another host may have room
    unreachable,      // no part of the request arrived
    outcome_unknown,  // it may have been done or may still be done: read back first
    held,             // not sent: another operator owns the machine too
    unsettled,        // not sent: the leader is new, so another operator may still show itself
    other,
};

// Classifies an answer by its status and text.
ErrorKind classify(int status, std::string_view message);
// Reports whether the endpoint could not connect to the call's host, so nothing was done.
bool is_undelivered(int status, std::string_view message);
// Classifies a failed task by its exit status.
ErrorKind classify_exit(std::string_view exit_status);
// Removes text that differs at each repetition of the same failure: the process number in a temporary file's
// name, and the time of a failed download. Every change of a condition wakes up its watchers.
std::string steady(std::string text);
// Reports whether a later retry may succeed without any change.
bool is_passing(ErrorKind kind);
// Reports whether such an error may last while a task hangs or a host is away.
bool may_last(ErrorKind kind);
// Reports whether to retry with growing pauses: the error is temporary, or a person will restore the right.
bool is_tried_later(ErrorKind kind);

// Reports whether a storage had no room for the new volume. A host with full memory has the same kind.
bool lacks_disk_room(ErrorKind kind, std::string_view text);

// ProxmoxError has a what() like "creating VM 105 on pve1: VM 105 already exists on node 'pve2'". It never
// contains credentials.
class ProxmoxError : public ProviderError {
public:
    ProxmoxError(ErrorKind error_kind, const std::string& tried, std::string answer,
                 std::map<std::string, std::string> wrong_parameters = {});

    ErrorKind kind;
    std::string operation;                      // of the call: "create_vm"; empty: not sent
    bool is_of_change = false;                  // the call would change something
    bool is_undelivered = false;                // see is_undelivered()
    std::string message;                        // first line of the answer
    std::map<std::string, std::string> errors;  // by parameter, with status 400
};

// Reports whether to retry with growing pauses: the error may last, or a change did not succeed.
bool is_repeated_calmly(const ProxmoxError& error);

}  // namespace providers::proxmox
