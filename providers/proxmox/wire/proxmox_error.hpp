// What Proxmox answers when it does not do what was asked, as types. Proxmox knows three statuses (400, 403,
// 500) and texts; the texts below are those of PVE 7.4 to 9.2 (qemu-server, pve-cluster, pve-common).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "providers/errors.hpp"

namespace providers::proxmox {

enum class ErrorKind {
    exists,           // the VMID is taken
    not_found,        // no configuration on that host (the VM may be on another one)
    locked,           // the VM's configuration carries a lock: clone, backup, migrate, ...
    lock_timeout,     // somebody else holds a file lock; worth another try
    no_quorum,        // the cluster refuses writes
    permission,       // 403; the message names path and privilege
    unauthenticated,  // 401
    invalid_request,  // 400, with the parameters that are wrong
    running,          // refused because the VM runs
    not_running,      // refused because the VM does not run
    agent_silent,     // the guest agent does not answer
    no_such_process,  // the guest agent knows no such process (any more)
    is_protected,     // protection=1
    no_such_task,     // the task's log is gone
    unsupported,      // 501
    transient,        // worth another try
    no_room,          // a storage is full, or the host's memory is: another host may have some
    unreachable,      // nothing of the request arrived
    outcome_unknown,  // it may have been done or may still be done: read back before anything else
    other,
};

// The class of an answer by its status and text.
ErrorKind classify(int status, std::string_view message);
// The class of a failed task by its exit status.
ErrorKind classify_exit(std::string_view exit_status);
// Without what differs each time that the same thing fails: the number of the process in the name of its
// temporary file, and the time at which a download failed. A condition that says something new wakes who
// waits.
std::string steady(std::string text);
// Worth repeating after a while, with nothing changed.
bool is_passing(ErrorKind kind);
// Of these: what may last as long as a task hangs or a host is away.
bool may_last(ErrorKind kind);
// Worth repeating with growing pauses: it passes, or a person gives the right back.
bool is_tried_later(ErrorKind kind);

// Whether a storage had no room for what was to be made: a host whose memory is full has the same kind.
bool lacks_disk_room(ErrorKind kind, std::string_view text);

// `what()` reads "creating VM 105 on pve1: VM 105 already exists on node 'pve2'". Never holds credentials.
class ProxmoxError : public ProviderError {
public:
    ProxmoxError(ErrorKind error_kind, const std::string& tried, std::string answer,
                 std::map<std::string, std::string> wrong_parameters = {});

    ErrorKind kind;
    std::string operation;      // of the call: "create_vm"; empty if it was not sent
    bool is_of_change = false;  // the call was to change something
    // The endpoint could not connect to the host that the call is for, so nothing of it was done.
    bool is_undelivered = false;
    std::string message;                        // the answer alone, its first line
    std::map<std::string, std::string> errors;  // by parameter, with status 400
};

// Asked for again with growing pauses: what may last, and a change that did not come through.
bool is_repeated_calmly(const ProxmoxError& error);

}  // namespace providers::proxmox
