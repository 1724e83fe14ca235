#include "providers/proxmox/vm/left_volumes.hpp"

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kHostsAge = std::chrono::seconds{10};
// A hidden disk is reported for this long. Disks of a destroyed VM are often hidden from the token.
constexpr std::chrono::hours kRecent{24};
constexpr std::size_t kMostLogs = 1000;

Leftover left_volume(const std::string& host, const Upid& task, const std::string& volume) {
    Leftover leftover;
    leftover.record.host = host;
    leftover.record.machine_id = task.id;
    leftover.message = "volume " + volume + " of VM " + task.id + " on " + host +
                       ", which was destroyed, could not be deleted; as root on that host: pvesm free " +
                       volume;
    leftover.is_certain = true;
    return leftover;
}

}  // namespace

std::vector<std::string> left_volumes(const json::value& log) {
    constexpr std::string_view kStart = "Could not remove disk '";
    std::vector<std::string> volumes;
    for (const auto* entry : objects_of(log)) {
        const auto line = text_of(*entry, "t");
        const auto start = line.find(kStart);
        if (start == std::string::npos) continue;
        const auto begin = start + kStart.size();
        const auto end = line.find('\'', begin);
        if (end != std::string::npos) volumes.push_back(foreign::shown(line.substr(begin, end - begin)));
    }
    return volumes;
}

asio::awaitable<Leftovers> LeftVolumeFinder::find() {
    const auto state = co_await view_.state(kHostsAge);
    if (logs_.size() > kMostLogs) logs_.clear();
    Leftovers all;
    for (const auto& host : state->hosts) {
        if (host.is_down()) continue;
        try {
            const auto found = co_await find_on(host.name);
            all.found.insert(all.found.end(), found.begin(), found.end());
        } catch (const ProxmoxError& error) {
            // A host that does not answer or hides its tasks must not hide all others.
            if (!is_passing(error.kind) && error.kind != ErrorKind::permission) throw;
            if (is_passing(error.kind))
                all.unseen.push_back("destroyed VMs' volumes on " + host.name + " (" + error.what() + ")");
        }
    }
    co_return all;
}

asio::awaitable<std::vector<Leftover>> LeftVolumeFinder::find_on(std::string host) {
    std::vector<Leftover> found;
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock_.wall_now().time_since_epoch());
    const auto tasks = co_await client_.read(get_warned_destructions(host));
    for (const auto* entry : objects_of(tasks)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        const bool has_warnings = text_of(*entry, "status").starts_with("WARNINGS");
        if (!task || task->user != client_.user() || !has_warnings) continue;
        const bool is_recent = now - std::chrono::seconds{task->start_time} < kRecent;
        const auto volumes = co_await volumes_of(host, task->text);
        for (const auto& volume : volumes) {
            const bool is_there = co_await is_left(host, volume, is_recent);
            if (is_there) found.push_back(left_volume(host, *task, volume));
        }
    }
    co_return found;
}

asio::awaitable<std::vector<std::string>> LeftVolumeFinder::volumes_of(std::string host, std::string upid) {
    const auto known = logs_.find(upid);
    if (known != logs_.end()) co_return known->second;
    const auto log = co_await client_.read(get_task_log(host, upid));
    co_return logs_[upid] = left_volumes(log);
}

asio::awaitable<bool> LeftVolumeFinder::is_left(std::string host, std::string volume, bool is_recent) {
    const auto storage = volume.substr(0, volume.find(':'));
    try {
        co_await client_.read(get_volume(host, storage, volume));
        co_return true;
    } catch (const ProxmoxError& error) {
        if (is_passing(error.kind)) co_return true;
        co_return error.kind == ErrorKind::permission&& is_recent;
    }
}

}  // namespace providers::proxmox
