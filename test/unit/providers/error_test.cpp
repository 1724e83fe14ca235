#include "providers/proxmox/wire/proxmox_error.hpp"

#include "test/support/catch.hpp"

using namespace providers::proxmox;

TEST_CASE("Proxmox' texts are recognised as recorded from real servers") {
    struct Row {
        int status;
        const char* text;
        ErrorKind kind;
    };
    const Row rows[] = {
        {500, "unable to create VM 100 - VM 100 already exists on node 'pve1'", ErrorKind::exists},
        {500, "unable to create VM 100: config file already exists", ErrorKind::exists},
        {500, "close (rename) atomic file '/etc/pve/nodes/pve1/qemu-server/100.conf' failed: File exists",
         ErrorKind::exists},
        {500, "Configuration file 'nodes/pve1/qemu-server/12345.conf' does not exist", ErrorKind::not_found},
        {500, "unable to find configuration file for VM 100 on node 'pve1'", ErrorKind::not_found},
        {500, "VM is locked (clone)", ErrorKind::locked},
        {500, "can't lock file '/var/lock/qemu-server/lock-9000.conf' - got timeout",
         ErrorKind::lock_timeout},
        {500, "can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout",
         ErrorKind::lock_timeout},
        {500, "got timeout", ErrorKind::outcome_unknown},
        {500, "cfs-lock 'file-user_cfg' error: got lock request timeout", ErrorKind::lock_timeout},
        {500, "cluster not ready - no quorum?", ErrorKind::no_quorum},
        {500, "cfs-lock 'file-user_cfg' error: no quorum!", ErrorKind::no_quorum},
        {500, "unable to open file '/etc/pve/nodes/pve1/qemu-server/100.conf.tmp.123' - Permission denied",
         ErrorKind::no_quorum},
        {500, "got no worker upid - start worker failed", ErrorKind::transient},
        {500, "VM 100 is running - destroy failed", ErrorKind::running},
        {500, "VM 100 already running", ErrorKind::running},
        {500, "VM 100 not running", ErrorKind::not_running},
        {500, "can't remove VM 100 - protection mode enabled", ErrorKind::is_protected},
        {500, "storage 'nfs' does not exist", ErrorKind::other},
        {400, "Parameter verification failed.", ErrorKind::invalid_request},
        {401, "No ticket", ErrorKind::unauthenticated},
        {401, "Permission denied - invalid csrf token", ErrorKind::unauthenticated},
        {403, "Permission check failed (/vms/101, VM.PowerMgmt)", ErrorKind::permission},
        {501, "Method 'GET /nope' not implemented", ErrorKind::unsupported},
        {503, "Service Unavailable", ErrorKind::outcome_unknown},
        {595, "No route to host", ErrorKind::outcome_unknown},
        {596, "Connection timed out", ErrorKind::outcome_unknown},
        {599, "Too many redirections", ErrorKind::outcome_unknown},
        {500,
         "hostname lookup 'pve3' failed - failed to get address info for: pve3: Name or service not known",
         ErrorKind::outcome_unknown},
        // qemu-server 9 writes one s, and 7.4 to 8.1 two.
        {500, "checksum mismatch (file change by other user?)", ErrorKind::transient},
        {500, "checksum missmatch (file change by other user?)", ErrorKind::transient},
    };
    for (const auto& row : rows) {
        INFO(row.status << " " << row.text);
        CHECK(classify(row.status, row.text) == row.kind);
    }
}

TEST_CASE("Exit statuses of failed tasks are recognised") {
    CHECK(classify_exit("unable to create VM 105 - unable to create VM 105: config file already exists") ==
          ErrorKind::exists);
    CHECK(classify_exit("unexpected status") == ErrorKind::outcome_unknown);
    CHECK(classify_exit("received interrupt") == ErrorKind::transient);
    CHECK(classify_exit("bridge 'vmbr7' does not exist") == ErrorKind::other);
    CHECK(classify_exit("VM 105 already running") == ErrorKind::running);
}

TEST_CASE("What passes by itself is worth another try, and nothing else") {
    for (const auto kind : {ErrorKind::locked, ErrorKind::lock_timeout, ErrorKind::no_quorum,
                            ErrorKind::transient, ErrorKind::unreachable, ErrorKind::outcome_unknown}) {
        CHECK(is_passing(kind));
    }
    for (const auto kind :
         {ErrorKind::exists, ErrorKind::not_found, ErrorKind::permission, ErrorKind::unauthenticated,
          ErrorKind::invalid_request, ErrorKind::other, ErrorKind::is_protected}) {
        CHECK_FALSE(is_passing(kind));
    }
}
