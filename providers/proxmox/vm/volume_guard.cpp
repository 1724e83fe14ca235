#include "providers/proxmox/vm/volume_guard.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

std::string vm_text(const std::string& host, std::int64_t vmid) {
    return "VM " + std::to_string(vmid) + " on " + host;
}

// Returns the text between the two marks; empty: the line has not both.
std::string between(const std::string& line, std::string_view before, std::string_view behind) {
    const auto start = line.find(before);
    if (start == std::string::npos) return {};
    const auto end = line.find(behind, start + before.size());
    if (end == std::string::npos) return {};
    return line.substr(start + before.size(), end - start - before.size());
}

// Returns the drive in a line like "2027-01-15 08:00:00 scsi0: start migration to nbd:unix:...", which a
// migration writes for each disk that it mirrors.
std::string mirrored_drive(const std::string& line) {
    auto before = line.substr(0, line.find(": start migration to nbd:"));
    if (before.size() == line.size()) return {};
    return before.substr(before.rfind(' ') + 1);
}

// Adds what the log of a move or a migration says of the volumes that were made with the VM.
void follow_move(const json::value& log, MadeVolumes& made) {
    std::set<std::string> mirrored;
    bool are_all_ours = true;
    for (const auto* entry : objects_of(log)) {
        const auto line = text_of(*entry, "t");
        const auto drive = between(line, "full clone of drive ", " (");
        if (!drive.empty() && made.volumes.contains(between(line, drive + " (", ")")))
            made.drives.insert(drive);
        const auto old = between(line, "volume '", "' is '");
        if (made.volumes.contains(old)) made.volumes.insert(between(line, "' is '", "' on the target"));
        const auto found = between(line, "found local disk '", "'");
        are_all_ours = are_all_ours && (found.empty() || made.volumes.contains(found));
        if (const auto one = mirrored_drive(line); !one.empty()) mirrored.insert(one);
    }
    // The log of a mirrored disk shows neither its old nor its new name.
    if (are_all_ours) made.drives.merge(mirrored);
}

}  // namespace

asio::awaitable<std::string> VolumeGuard::obstacle(std::string host, std::int64_t vmid, MadeVolumes made,
                                                   std::string proven_digest) {
    auto seen = co_await look(host, vmid);
    const auto others = volumes_of_others(seen, vmid);
    if (!others.empty()) {
        co_await detach(host, vmid, others, std::move(proven_digest));
        seen = co_await look(host, vmid);
        const auto left = volumes_of_others(seen, vmid);
        if (!left.empty())
            co_return vm_text(host, vmid) +
                " still has volumes of others, which could not be detached: " + described(left);
    }
    auto unexplained = unexplained_volumes(seen, vmid, made);
    if (unexplained.empty()) co_return std::string();
    made = co_await follow_moves(vmid, std::move(made));
    unexplained = unexplained_volumes(seen, vmid, made);
    if (unexplained.empty()) co_return std::string();
    co_return unexplained_text(vm_text(host, vmid), vmid, unexplained);
}

asio::awaitable<std::vector<VolumeUse>> VolumeGuard::look(std::string host, std::int64_t vmid) {
    const auto pending = co_await client_.read(get_vm_pending(host, vmid));
    co_return volume_uses(pending);
}

asio::awaitable<void> VolumeGuard::detach(std::string host, std::int64_t vmid, std::vector<VolumeUse> others,
                                          std::string digest) {
    std::set<std::string> options;
    for (const auto& use : others) options.insert(use.option);
    base::log::info("Detaching volumes of others from a VM that is about to be destroyed",
                    {{"vmid", std::to_string(vmid)}, {"host", host}, {"volumes", described(others)}});
    base::FormFields change{{"delete", base::joined(options, ",")}};
    if (!digest.empty()) change.emplace_back("digest", std::move(digest));
    co_await client_.change(configure_leaving_vm(host, vmid, change));
}

// Returns the logs of successful moves and migrations of the VM, the oldest first. Each is on the host where
// the VM was. Hosts that do not answer are left out.
asio::awaitable<std::vector<json::value>> VolumeGuard::logs_of_moves(std::int64_t vmid) {
    const auto resources = co_await client_.read(get_cluster_resources());
    const auto state = parse_cluster_state(resources);
    std::vector<Upid> tasks;
    for (const auto& host : state.hosts) {
        if (host.is_down()) continue;
        try {
            for (const auto& call : {get_disk_moves(host.name, vmid), get_migrations(host.name, vmid)}) {
                const auto found = co_await client_.read(call);
                for (const auto* entry : objects_of(found)) {
                    auto upid = parse_upid(text_of(*entry, "upid"));
                    const auto status = text_of(*entry, "status");
                    const bool has_succeeded = status == "OK" || status.starts_with("WARNINGS");
                    if (upid && has_succeeded) tasks.push_back(*std::move(upid));
                }
            }
        } catch (const ProxmoxError& error) {
            base::log::debug("Cannot tell whether disks of a VM were moved",
                             {{"vmid", std::to_string(vmid)}, {"host", host.name}, {"error", error.what()}});
        }
    }
    std::ranges::sort(tasks, {}, &Upid::start_time);
    std::vector<json::value> logs;
    for (const auto& task : tasks) logs.push_back(co_await client_.read(get_task_log(task.node, task.text)));
    co_return logs;
}

// Adds disks that got another name when they were moved, perhaps several times.
asio::awaitable<MadeVolumes> VolumeGuard::follow_moves(std::int64_t vmid, MadeVolumes made) {
    try {
        const auto logs = co_await logs_of_moves(vmid);
        for (const auto& log : logs) follow_move(log, made);
    } catch (const ProxmoxError& error) {
        base::log::debug("Cannot tell whether disks of a VM were moved",
                         {{"vmid", std::to_string(vmid)}, {"error", error.what()}});
    }
    co_return made;
}

}  // namespace providers::proxmox
