#include "providers/proxmox/wire/call.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kReadTimeout = std::chrono::seconds{20};
// Proxmox' own proxy gives up after 30 s, and waiting for a lock after 10 s.
constexpr base::Duration kChangeTimeout = std::chrono::seconds{45};
// A copy writes one line for each percent of each disk.
constexpr int kTaskLogLines = 2000;
constexpr std::string_view kBoundary = "kubenodesmith-8e1f5d0c7a";

Call read(std::string operation, std::string tried, std::string host, std::string path,
          base::FormFields parameters = {}) {
    Call call;
    call.method = "GET";
    call.operation = std::move(operation);
    call.tried = std::move(tried);
    call.host = std::move(host);
    call.path = std::move(path);
    call.parameters = std::move(parameters);
    return call;
}

Call read_list(std::string operation, std::string tried, std::string host, std::string path,
               base::FormFields parameters = {}) {
    auto call =
        read(std::move(operation), std::move(tried), std::move(host), std::move(path), std::move(parameters));
    call.data = DataKind::list;
    return call;
}

Call read_object(std::string operation, std::string tried, std::string host, std::string path) {
    auto call = read(std::move(operation), std::move(tried), std::move(host), std::move(path));
    call.data = DataKind::object;
    return call;
}

Call change(std::string method, std::string operation, std::string tried, std::string host, std::string path,
            base::FormFields parameters = {}) {
    auto call =
        read(std::move(operation), std::move(tried), std::move(host), std::move(path), std::move(parameters));
    call.method = std::move(method);
    return call;
}

Call begin_task(std::string method, std::string operation, std::string tried, std::string host,
                std::string path, base::FormFields parameters = {}) {
    auto call = change(std::move(method), std::move(operation), std::move(tried), std::move(host),
                       std::move(path), std::move(parameters));
    call.data = DataKind::task;
    return call;
}

Call destroying(Call call) {
    call.destroys = true;
    return call;
}

std::string node_path(const std::string& host) {
    return "/nodes/" + base::percent_encode(host);
}

std::string vm_path(const std::string& host, std::int64_t vmid) {
    return node_path(host) + "/qemu/" + std::to_string(vmid);
}

std::string vm_on(std::int64_t vmid, const std::string& host) {
    return "VM " + std::to_string(vmid) + " on " + host;
}

std::string multipart_body(const Call& call) {
    const auto dashes = "--" + std::string(kBoundary);
    std::string body;
    for (const auto& [name, value] : call.parameters) {
        body += dashes + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }
    body += dashes + "\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"" + call.file_name +
            "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
    return body + call.file_content + "\r\n" + dashes + "--\r\n";
}

}  // namespace

Call get_version() {
    return read_object("get_version", "reading the version", "", "/version");
}

Call get_cluster_resources() {
    return read_list("get_cluster_resources", "reading hosts and guests", "", "/cluster/resources");
}

Call get_cluster_status() {
    return read_list("get_cluster_status", "reading the cluster's status", "", "/cluster/status");
}

Call get_hosts() {
    return read_list("get_hosts", "reading the hosts' certificates", "", "/nodes");
}

Call get_own_certificates() {
    return read_list("get_own_certificates", "reading which cluster answers", "",
                     "/nodes/localhost/certificates/info");
}

Call get_cluster_options() {
    return read("get_cluster_options", "reading the datacenter's options", "", "/cluster/options");
}

Call get_permissions() {
    return read_object("get_permissions", "reading the operator's privileges", "", "/access/permissions");
}

Call get_vm_config(const std::string& host, std::int64_t vmid) {
    return read_object("get_vm_config", "reading the configuration of " + vm_on(vmid, host), host,
                       vm_path(host, vmid) + "/config");
}

Call get_vm_pending(const std::string& host, std::int64_t vmid) {
    return read_list("get_vm_pending", "reading the volumes of " + vm_on(vmid, host), host,
                     vm_path(host, vmid) + "/pending");
}

Call get_vm_status(const std::string& host, std::int64_t vmid) {
    return read_object("get_vm_status", "reading the status of " + vm_on(vmid, host), host,
                       vm_path(host, vmid) + "/status/current");
}

Call get_active_tasks(const std::string& host, std::int64_t vmid) {
    base::FormFields filter{{"source", "active"}};
    if (vmid > 0) filter.emplace_back("vmid", std::to_string(vmid));
    return read_list("get_active_tasks", "reading the tasks of " + (vmid > 0 ? vm_on(vmid, host) : host),
                     host, node_path(host) + "/tasks", std::move(filter));
}

Call get_last_tasks(const std::string& host, std::int64_t vmid) {
    return read_list("get_last_tasks", "reading the last tasks of " + vm_on(vmid, host), host,
                     node_path(host) + "/tasks", {{"source", "all"}, {"vmid", std::to_string(vmid)}});
}

Call get_host_shutdowns(const std::string& host) {
    return read_list("get_host_shutdowns", "reading when " + host + " was shut down", host,
                     node_path(host) + "/tasks", {{"source", "all"}, {"typefilter", "stopall"}});
}

Call get_host_time(const std::string& host) {
    return read_object("get_host_time", "reading the time of " + host, host, node_path(host) + "/time");
}

Call get_backups(const std::string& host) {
    return read_list("get_backups", "reading when guests of " + host + " were backed up", host,
                     node_path(host) + "/tasks", {{"source", "all"}, {"typefilter", "vzdump"}});
}

Call get_disk_moves(const std::string& host, std::int64_t vmid) {
    return read_list("get_disk_moves", "reading which disks of " + vm_on(vmid, host) + " were moved", host,
                     node_path(host) + "/tasks",
                     {{"source", "all"}, {"typefilter", "qmmove"}, {"vmid", std::to_string(vmid)}});
}

Call get_warned_destructions(const std::string& host) {
    return read_list(
        "get_warned_destructions", "reading which destructions ended with warnings on " + host, host,
        node_path(host) + "/tasks",
        {{"source", "all"}, {"typefilter", "qmdestroy"}, {"statusfilter", "warning"}, {"limit", "500"}});
}

Call get_last_creations(const std::string& host) {
    return read_list("get_last_creations", "reading which VMs were created on " + host, host,
                     node_path(host) + "/tasks",
                     {{"source", "all"}, {"typefilter", "qmcreate"}, {"limit", "20"}});
}

Call get_failed_creations(const std::string& host) {
    return read_list("get_failed_creations", "reading which creations failed on " + host, host,
                     node_path(host) + "/tasks",
                     {{"source", "all"}, {"typefilter", "qmcreate"}, {"errors", "1"}, {"limit", "500"}});
}

Call get_task_status(const std::string& host, const std::string& upid) {
    return read_object("get_task_status", "reading the status of task " + upid, host,
                       node_path(host) + "/tasks/" + base::percent_encode(upid) + "/status");
}

Call get_task_log(const std::string& host, const std::string& upid) {
    return read_list("get_task_log", "reading the log of task " + upid, host,
                     node_path(host) + "/tasks/" + base::percent_encode(upid) + "/log",
                     {{"limit", std::to_string(kTaskLogLines)}});
}

Call probe_free_id(std::int64_t vmid) {
    const auto id = std::to_string(vmid);
    return read("probe_free_id", "asking whether VMID " + id + " is free", "", "/cluster/nextid",
                {{"vmid", id}});
}

Call get_bridges(const std::string& host) {
    return read_list("get_bridges", "reading the bridges of " + host, host, node_path(host) + "/network",
                     {{"type", "any_bridge"}});
}

Call create_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters) {
    return begin_task("POST", "create_vm", "creating " + vm_on(vmid, host), host, node_path(host) + "/qemu",
                      std::move(parameters));
}

Call clone_vm(const std::string& host, std::int64_t source, base::FormFields parameters) {
    return begin_task("POST", "clone_vm", "cloning template " + vm_on(source, host).substr(3), host,
                      vm_path(host, source) + "/clone", std::move(parameters));
}

Call resize_disk(const std::string& host, std::int64_t vmid, const std::string& disk, std::int64_t size_gib) {
    return begin_task("PUT", "resize_disk", "resizing " + disk + " of " + vm_on(vmid, host), host,
                      vm_path(host, vmid) + "/resize",
                      {{"disk", disk}, {"size", std::to_string(size_gib) + "G"}});
}

Call configure_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters) {
    return change("PUT", "configure_vm", "configuring " + vm_on(vmid, host), host,
                  vm_path(host, vmid) + "/config", std::move(parameters));
}

Call configure_leaving_vm(const std::string& host, std::int64_t vmid, base::FormFields parameters) {
    return destroying(configure_vm(host, vmid, std::move(parameters)));
}

Call start_vm(const std::string& host, std::int64_t vmid) {
    return begin_task("POST", "start_vm", "starting " + vm_on(vmid, host), host,
                      vm_path(host, vmid) + "/status/start");
}

Call shut_down_vm(const std::string& host, std::int64_t vmid) {
    return destroying(begin_task("POST", "shut_down_vm", "shutting down " + vm_on(vmid, host), host,
                                 vm_path(host, vmid) + "/status/shutdown",
                                 {{"forceStop", "1"}, {"timeout", "60"}}));
}

Call stop_vm(const std::string& host, std::int64_t vmid) {
    return destroying(begin_task("POST", "stop_vm", "stopping " + vm_on(vmid, host), host,
                                 vm_path(host, vmid) + "/status/stop", {{"overrule-shutdown", "1"}}));
}

Call destroy_vm(const std::string& host, std::int64_t vmid) {
    return destroying(begin_task("DELETE", "destroy_vm", "destroying " + vm_on(vmid, host), host,
                                 vm_path(host, vmid), {{"purge", "1"}}));
}

Call upload_iso(const std::string& host, const std::string& storage, std::string file_name,
                std::string content) {
    auto call = begin_task(
        "POST", "upload_iso", "uploading " + file_name + " to storage " + storage + " on " + host, host,
        node_path(host) + "/storage/" + base::percent_encode(storage) + "/upload", {{"content", "iso"}});
    call.file_name = std::move(file_name);
    call.file_content = std::move(content);
    return call;
}

Call download_file(const std::string& host, const std::string& storage, const Download& download) {
    return begin_task("POST", "download_file",
                      "downloading " + download.url + " to storage " + storage + " on " + host, host,
                      node_path(host) + "/storage/" + base::percent_encode(storage) + "/download-url",
                      {{"content", "import"},
                       {"filename", download.file_name},
                       {"url", download.url},
                       {"checksum", download.checksum},
                       {"checksum-algorithm", download.algorithm}});
}

Call convert_to_template(const std::string& host, std::int64_t vmid) {
    return begin_task("POST", "convert_to_template", "making " + vm_on(vmid, host) + " a template", host,
                      vm_path(host, vmid) + "/template");
}

Call stop_task(const std::string& host, const std::string& upid) {
    return change("DELETE", "stop_task", "stopping task " + upid, host,
                  node_path(host) + "/tasks/" + base::percent_encode(upid));
}

Call get_iso_images(const std::string& host, const std::string& storage) {
    return read_list("get_iso_images", "reading the ISO images of storage " + storage + " on " + host, host,
                     node_path(host) + "/storage/" + base::percent_encode(storage) + "/content",
                     {{"content", "iso"}});
}

Call get_import_files(const std::string& host, const std::string& storage) {
    return read_list("get_import_files", "reading the files of storage " + storage + " on " + host, host,
                     node_path(host) + "/storage/" + base::percent_encode(storage) + "/content",
                     {{"content", "import"}});
}

Call get_disks(const std::string& host, const std::string& storage) {
    return read_list("get_disks", "reading the disks of storage " + storage + " on " + host, host,
                     node_path(host) + "/storage/" + base::percent_encode(storage) + "/content",
                     {{"content", "images"}});
}

Call get_volume(const std::string& host, const std::string& storage, const std::string& volume) {
    return read("get_volume", "reading volume " + volume + " on " + host, host,
                node_path(host) + "/storage/" + base::percent_encode(storage) + "/content/" +
                    base::percent_encode(volume));
}

Call delete_volume(const std::string& host, const std::string& storage, const std::string& volume) {
    return begin_task("DELETE", "delete_volume", "deleting volume " + volume + " on " + host, host,
                      node_path(host) + "/storage/" + base::percent_encode(storage) + "/content/" +
                          base::percent_encode(volume));
}

Call agent_ping(const std::string& host, std::int64_t vmid) {
    return change("POST", "agent_ping", "asking the guest agent of " + vm_on(vmid, host), host,
                  vm_path(host, vmid) + "/agent/ping");
}

Call agent_exec(const std::string& host, std::int64_t vmid, std::vector<std::string> command,
                std::string input) {
    base::FormFields parameters;
    for (auto& argument : command) parameters.emplace_back("command", std::move(argument));
    if (!input.empty()) parameters.emplace_back("input-data", std::move(input));
    return change("POST", "agent_exec", "running a command in the guest of " + vm_on(vmid, host), host,
                  vm_path(host, vmid) + "/agent/exec", std::move(parameters));
}

Call agent_exec_status(const std::string& host, std::int64_t vmid, std::int64_t pid) {
    return read("agent_exec_status", "following a command in the guest of " + vm_on(vmid, host), host,
                vm_path(host, vmid) + "/agent/exec-status", {{"pid", std::to_string(pid)}});
}

Call get_agent_interfaces(const std::string& host, std::int64_t vmid) {
    return read("get_agent_interfaces", "asking the guest agent of " + vm_on(vmid, host), host,
                vm_path(host, vmid) + "/agent/network-get-interfaces");
}

Call log_in(const std::string& username, const std::string& password) {
    return change("POST", "log_in", "logging in as " + username, "", "/access/ticket",
                  {{"username", username}, {"password", password}});
}

base::HttpRequest to_request(const Call& call) {
    base::HttpRequest request;
    request.method = call.method;
    request.target = "/api2/json" + call.path;
    request.timeout = call.method == "GET" ? kReadTimeout : kChangeTimeout;
    if (!call.file_name.empty()) {
        request.headers.set("Content-Type", "multipart/form-data; boundary=" + std::string(kBoundary));
        request.body = multipart_body(call);
    } else if (call.method == "GET" || call.method == "DELETE") {
        if (!call.parameters.empty()) request.target += "?" + base::encode_form(call.parameters);
    } else {
        request.headers.set("Content-Type", "application/x-www-form-urlencoded");
        request.body = base::encode_form(call.parameters);
    }
    return request;
}

}  // namespace providers::proxmox
