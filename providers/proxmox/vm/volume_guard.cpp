#include "providers/proxmox/vm/volume_guard.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

std::string vm_text(const std::string& host, std::int64_t vmid) {
    return "VM " + std::to_string(vmid) + " on " + host;
}

// Returns, for example, "scsi0" and its volume from "create full clone of drive scsi0
// (local-lvm:vm-105-disk-0)". Proxmox writes such a line when it moves a disk. For any other line the option
// is empty.
VolumeUse moved_disk(const std::string& line) {
    constexpr std::string_view kStart = "full clone of drive ";
    const auto start = line.find(kStart);
    const auto open = start == std::string::npos ? start : line.find(" (", start);
    const auto close = open == std::string::npos ? open : line.find(')', open);
    if (close == std::string::npos) return {};
    const auto option = start + kStart.size();
    return {line.substr(option, open - option), line.substr(open + 2, close - open - 2)};
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
    const auto moved = co_await moved_drives(host, vmid, made);
    made.drives.insert(moved.begin(), moved.end());
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

// Adds drives whose disks were moved, perhaps several times. Proxmox lists the newest task first.
asio::awaitable<std::set<std::string>> VolumeGuard::moved_drives(std::string host, std::int64_t vmid,
                                                                 MadeVolumes made) {
    try {
        const auto tasks = co_await client_.read(get_disk_moves(host, vmid));
        for (const auto* entry : objects_of(tasks)) {
            const auto upid = text_of(*entry, "upid");
            const auto status = text_of(*entry, "status");
            if (status != "OK" && !status.starts_with("WARNINGS")) continue;
            const auto log = co_await client_.read(get_task_log(host, upid));
            for (const auto* line : objects_of(log)) {
                const auto disk = moved_disk(text_of(*line, "t"));
                if (made.volumes.contains(disk.volume)) made.drives.insert(disk.option);
            }
        }
    } catch (const ProxmoxError& error) {
        base::log::debug("Cannot tell whether disks of a VM were moved",
                         {{"vmid", std::to_string(vmid)}, {"host", host}, {"error", error.what()}});
    }
    co_return std::move(made.drives);
}

}  // namespace providers::proxmox
