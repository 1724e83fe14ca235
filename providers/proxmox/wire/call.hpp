// Requests to Proxmox as values. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/http.hpp"
#include "base/url.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

// DataKind is the required type of an answer's data. Otherwise an answer that is no list would read as an
// empty list, and all objects would look removed.
// A task answers with its UPID or nothing, and is then polled.
enum class DataKind { any, list, object, task };

// Limits the age of the last look at a VM when a request without a digest is sent. What somebody attaches
// after the look would be destroyed with the VM.
inline constexpr std::chrono::seconds kLongestLastLook{5};

struct Call {
    std::string method;
    std::string operation;  // used in metrics, few values: "create_vm"
    std::string tried;      // used in messages: "creating VM 105 on pve1"
    std::string host;       // the Proxmox host that does the work; empty: any host can answer
    std::string path;       // below /api2/json, percent-encoded
    base::FormFields parameters;
    // Multipart upload: name and content of the file. The parameters become the other parts.
    std::string file_name;
    std::string file_content;
    DataKind data = DataKind::any;
    bool destroys = false;  // ends or removes a VM
    // The look at the VM on which the call relies is too old from then on, so the call is not sent any more.
    std::optional<base::TimePoint> not_after;
};

// Calls that only read.
Call get_version();
Call get_cluster_resources();
Call get_cluster_status();
// Reads hosts with the fingerprints of their certificates. Needs no privilege.
Call get_hosts();
// Reads certificates of the host that answers. Needs no privilege.
Call get_own_certificates();
Call get_cluster_options();
Call get_permissions();
Call get_vm_config(const std::string& host, std::int64_t vmid);
// Reads the configuration as a list of options, with pending changes.
Call get_vm_pending(const std::string& host, std::int64_t vmid);
Call get_vm_status(const std::string& host, std::int64_t vmid);
// Reads running tasks. `vmid` is the ID in their UPIDs, where a clone has its template's; 0: all.
Call get_active_tasks(const std::string& host, std::int64_t vmid);
// Reads the last tasks, running or ended, newest first. Without Sys.Audit on the host it returns only our
// own.
Call get_last_tasks(const std::string& host, std::int64_t vmid);
// Reads the last tasks that ended all guests of the host, before it went down or on request of a person.
Call get_host_shutdowns(const std::string& host);
// Reads the host's own time. Needs Sys.Audit on the host.
Call get_host_time(const std::string& host);
// Reads the last backups of guests on the host. A job for several guests has no VMID.
Call get_backups(const std::string& host);
// Reads the last successful and failed moves of the VM's disks to other storages.
Call get_disk_moves(const std::string& host, std::int64_t vmid);
// Reads the last destructions that ended with warnings. Such a VM is gone, but one of its disks may be left.
Call get_warned_destructions(const std::string& host);
// Reads the last creations of VMs, newest first. Without Sys.Audit on the host it returns only our own.
Call get_last_creations(const std::string& host);
// Reads the last creations of VMs that did not succeed. Without Sys.Audit on the host it returns only our
// own.
Call get_failed_creations(const std::string& host);
Call get_task_status(const std::string& host, const std::string& upid);
// Reads its first lines (up to a high limit). Our own tasks need no privilege.
Call get_task_log(const std::string& host, const std::string& upid);
// Succeeds only if no guest in the whole cluster has the ID, whatever the token may see.
Call probe_free_id(std::int64_t vmid);
Call get_bridges(const std::string& host);
// Reads files that disks can be made from.
Call get_import_files(const std::string& host, const std::string& storage);
// Reads disks of all VMs. A disk linked to a template's disk has it as its `parent`.
Call get_disks(const std::string& host, const std::string& storage);
// Calls that change something.
Call create_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters);
// Sent to the template's host. The parameters have the ID and host of the new VM.
Call clone_vm(const std::string& host, std::int64_t source, base::FormFields parameters);
Call resize_disk(const std::string& host, std::int64_t vmid, const std::string& disk, std::int64_t size_gib);
Call configure_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters);
// Does the same as a part of the VM's removal or release.
Call configure_leaving_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters);
Call start_vm(const std::string& host, std::int64_t vmid);
// Asks the guest to shut down, through its agent or ACPI. After a minute Proxmox stops it like stop_vm(). No
// other change of the VM is possible meanwhile.
Call shut_down_vm(const std::string& host, std::int64_t vmid);
// Stops the VM immediately. It overrules a running shutdown (PVE 8.2).
Call stop_vm(const std::string& host, std::int64_t vmid);
// Destroys the VM with those disks of its configuration that have its VMID in their names. We do not set the
// option that would free every volume of that VMID, including volumes of others.
Call destroy_vm(const std::string& host, std::int64_t vmid);
Call upload_iso(const std::string& host, const std::string& storage, std::string file_name,
                std::string content);
// Download lets the host fetch a file that disks can be made from. The host verifies the checksum before the
// file gets its name. An existing file with that checksum is kept. The task (download) has the file's name.
struct Download {
    std::string url;
    std::string file_name;
    std::string algorithm;  // for example sha256
    std::string checksum;   // hexadecimal digits
};
Call download_file(const std::string& host, const std::string& storage, const Download& download);
// Cannot be undone. The VM must be off.
Call convert_to_template(const std::string& host, std::int64_t vmid);
// Asks a task to end and clean up; after 5 s it is killed. Also succeeds for ended tasks and for tasks that
// cannot be ended. Tasks of others need Sys.Modify on the host.
Call stop_task(const std::string& host, const std::string& upid);
Call get_iso_images(const std::string& host, const std::string& storage);
// Fails if the volume does not exist, or (kind permission) if the token may not see it.
Call get_volume(const std::string& host, const std::string& storage, const std::string& volume);
Call delete_volume(const std::string& host, const std::string& storage, const std::string& volume);
// Fails (kind agent_silent) if the agent does not answer within 3 s.
Call agent_ping(const std::string& host, std::int64_t vmid);
// The command reads `input`, so it does not appear in any process list.
Call agent_exec(const std::string& host, std::int64_t vmid, std::vector<std::string> command,
                std::string input);
// Reports an ended process only once.
Call agent_exec_status(const std::string& host, std::int64_t vmid, std::int64_t pid);
// Reads the guest's network interfaces as its agent reports them.
Call get_agent_interfaces(const std::string& host, std::int64_t vmid);
Call log_in(const std::string& username, const std::string& password);

// Encodes the call. Form values are percent-encoded completely, as Proxmox splits at '&' and ';' and drops
// text after a second '='.
base::HttpRequest to_request(const Call& call);

}  // namespace providers::proxmox
