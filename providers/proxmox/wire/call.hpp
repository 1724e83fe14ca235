// Requests to Proxmox as values. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/http.hpp"
#include "base/url.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"

namespace providers::proxmox {

// What the data of an answer has to be. What is no list must not be read as an empty one: everything that it
// does not name would count as gone.
// Of a task, which is followed by it, a UPID or nothing.
enum class DataKind { any, list, object, task };

struct Call {
    std::string method;
    std::string operation;  // for metrics: few values, "create_vm"
    std::string tried;      // for messages: "creating VM 105 on pve1"
    std::string host;       // the Proxmox host that does the work; empty: any can answer
    std::string path;       // below /api2/json, percent-encoded
    base::FormFields parameters;
    // Multipart upload: the file's name and content; parameters become the other parts.
    std::string file_name;
    std::string file_content;
    DataKind data = DataKind::any;
};

// Reads.
Call get_version();
Call get_cluster_resources();
Call get_cluster_status();
// Hosts with the fingerprints of their certificates; needs no privilege.
Call get_hosts();
// Certificates of the host that answers; needs no privilege.
Call get_own_certificates();
Call get_cluster_options();
Call get_permissions();
Call get_vm_config(const std::string& host, std::int64_t vmid);
// The same with what waits to be set or taken out: a list of options.
Call get_vm_pending(const std::string& host, std::int64_t vmid);
Call get_vm_status(const std::string& host, std::int64_t vmid);
// `vmid` as in their UPIDs: a clone's task bears its template's; 0: all.
Call get_active_tasks(const std::string& host, std::int64_t vmid);
// The last ones, under way or ended, the newest first; without Sys.Audit on the host only our own.
Call get_last_tasks(const std::string& host, std::int64_t vmid);
// Reads the last tasks that ended all guests of the host: before it went down, or because a person asked for
// it.
Call get_host_shutdowns(const std::string& host);
// The last successful and failed moves of the VM's disks to other storages.
Call get_disk_moves(const std::string& host, std::int64_t vmid);
// Reads the last destructions that ended with warnings: the VM is gone, and a disk of it may be left.
Call get_warned_destructions(const std::string& host);
// Reads the last creations of VMs, the newest first; without Sys.Audit on the host only our own.
Call get_last_creations(const std::string& host);
// The last creations of VMs that ended otherwise than well; without Sys.Audit on the host only our own.
Call get_failed_creations(const std::string& host);
Call get_task_status(const std::string& host, const std::string& upid);
// Its first lines, many of them. Needs no privilege for tasks of our own.
Call get_task_log(const std::string& host, const std::string& upid);
// Succeeds only if no guest in the whole cluster has the ID, whatever the token may see.
Call probe_free_id(std::int64_t vmid);
Call get_bridges(const std::string& host);
// Files that disks can be made of.
Call get_import_files(const std::string& host, const std::string& storage);
// Of all VMs; a disk that is linked to a template's has that as its `parent`.
Call get_disks(const std::string& host, const std::string& storage);
// Changes.
Call create_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters);
// Asked of the template's host; the new VM's ID and host are among the parameters.
Call clone_vm(const std::string& host, std::int64_t source, base::FormFields parameters);
Call resize_disk(const std::string& host, std::int64_t vmid, const std::string& disk, std::int64_t size_gib);
Call configure_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters);
Call start_vm(const std::string& host, std::int64_t vmid);
// Asks the guest to end, by its agent or by ACPI; stops it as stop_vm() if it has not within a minute. No
// other change of the VM is possible meanwhile.
Call shut_down_vm(const std::string& host, std::int64_t vmid);
// At once; a shutdown that is under way is overruled (PVE 8.2).
Call stop_vm(const std::string& host, std::int64_t vmid);
// With the disks that its configuration names and that hold its VMID in their names, and no others: an option
// of this call would free every volume of that VMID, whoever made it.
Call destroy_vm(const std::string& host, std::int64_t vmid);
Call upload_iso(const std::string& host, const std::string& storage, std::string file_name,
                std::string content);
// The host fetches a file that disks can be made of, and compares it with its checksum before it gives it its
// name. One that is there already and has that checksum is left as it is. The task (download) bears the
// file's name.
struct Download {
    std::string url;
    std::string file_name;
    std::string algorithm;  // sha256
    std::string checksum;   // in digits
};
Call download_file(const std::string& host, const std::string& storage, const Download& download);
// There is no way back. The VM must be off.
Call convert_to_template(const std::string& host, std::int64_t vmid);
// Told to end it cleans up; what has not ended after 5 s is killed. Succeeds also for a task that has ended,
// and for one that nothing ends. Others' tasks need Sys.Modify on the host.
Call stop_task(const std::string& host, const std::string& upid);
Call get_iso_images(const std::string& host, const std::string& storage);
// Fails for one that is not there, and (kind permission) for one that the token may not see.
Call get_volume(const std::string& host, const std::string& storage, const std::string& volume);
Call delete_volume(const std::string& host, const std::string& storage, const std::string& volume);
// Fails (kind agent_silent) if the agent does not answer within 3 s.
Call agent_ping(const std::string& host, std::int64_t vmid);
// `input` is what the command reads; it shows in no process list.
Call agent_exec(const std::string& host, std::int64_t vmid, std::vector<std::string> command,
                std::string input);
// A process that has ended is told of once.
Call agent_exec_status(const std::string& host, std::int64_t vmid, std::int64_t pid);
// What network interfaces the guest has, as its agent says.
Call get_agent_interfaces(const std::string& host, std::int64_t vmid);
Call log_in(const std::string& username, const std::string& password);

// Form values are percent-encoded completely: Proxmox splits at '&' and ';' and drops what follows a second
// '='.
base::HttpRequest to_request(const Call& call);

}  // namespace providers::proxmox
