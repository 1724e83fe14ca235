#include "providers/proxmox/vm/restarter.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "providers/proxmox/vm/half_made.hpp"
#include "providers/proxmox/vm/power_history.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr int kTriesBeforeTrouble = 3;
constexpr base::Backoff kTryPauses{std::chrono::seconds{30}, std::chrono::minutes{10}};
constexpr base::Duration kTriesRemembered = std::chrono::hours{1};
constexpr base::Duration kStartPoll = std::chrono::seconds{3};
constexpr base::Duration kTurnPoll = std::chrono::seconds{5};
constexpr base::Duration kLeftOffPoll = std::chrono::minutes{1};
constexpr base::Duration kRoomAge = std::chrono::seconds{5};
// Proxmox lists a guest as running at most 10 s after its start, and our view of the list is up to 5 s old.
constexpr base::Duration kStartIsShown = std::chrono::seconds{20};
constexpr base::Duration kLogSightAge = std::chrono::minutes{5};
// A host that has just come back also starts other guests.
constexpr int kStartsAtOnce = 2;

std::vector<HostState> only(const std::string& host, const ClusterState& state) {
    const auto* found = state.find_host(host);
    return found ? std::vector{*found} : std::vector<HostState>();
}

std::vector<HostState> others_online(const std::string& host, const ClusterState& state) {
    auto hosts = state.hosts;
    std::erase_if(hosts, [&](const HostState& other) { return other.name == host || other.is_down(); });
    return hosts;
}

void append(json::array& all, const json::value& list) {
    for (const auto* entry : objects_of(list)) all.emplace_back(*entry);
}

}  // namespace

bool has_room_to_start(const Settings& settings, const ClusterState& state, const std::string& host,
                       std::int64_t memory_mib) {
    const auto* found = state.find_host(host);
    if (!found || !found->is_online || found->memory_mib <= 0) return false;
    const auto& placement = settings.spec.placement;
    auto free =
        found->memory_mib * placement.memoryAllocationPercent / 100 - placement.hostReserved.memoryMiB;
    for (const auto& guest : state.guests)
        if (guest.node == host && guest.is_running) free -= guest.memory_mib;
    return free >= memory_mib;
}

asio::awaitable<RestartResult> Restarter::start_again(MachineIdentity identity, MachineRecord record) {
    const auto look = co_await machines_.find(identity, record);
    const auto vm = "VM " + std::to_string(look.vmid) + " on " + look.host;
    if (look.presence == Presence::absent) throw ProviderError(vm + ": there is no such VM");
    if (look.presence == Presence::hidden) throw ProviderError(vm + ": the token lacks VM.Audit on it");
    if (look.presence == Presence::host_down)
        co_return HostIsDown{vm + ": " + host_down_reason(look) +
                             (look.has_host_left ? "" : "; the machine is started again once it is back")};
    if (look.ownership != Ownership::ours)
        throw ProviderError(vm + ": " +
                            explain_ownership(look.config, look.vmid, identity, settings_.managed_tag()));
    std::erase_if(tried_,
                  [this](const auto& entry) { return clock_.now() - entry.second->last > kTriesRemembered; });
    const bool is_running = co_await machines_.is_running(look.host, look.vmid);
    if (is_running) co_return Runs{};
    if (look.config.is_suspended()) {
        const auto state = co_await view_.state(kRoomAge);
        const auto why = co_await why_left_off(look, only(look.host, *state));
        // Only people suspend machines, and a start resumes them. Without its lock a machine loses its
        // memory.
        co_return LeftOff{vm + " is suspended to disk: " +
                          (why.empty() ? "it is left so; start it, or delete the claim" : why)};
    }
    if (!look.config.lock().empty())
        co_return WaitsForStart{
            vm + " is off and locked (" + look.config.lock() + "); " + stale_lock_hint(look.vmid),
            kLeftOffPoll};
    auto& known = tried_[identity.system_uuid];
    if (!known) known = std::make_shared<Tried>(Tried{.last = clock_.now()});
    // Other calls may erase the entry during this one.
    const auto tried = known;
    const auto being_started = vm + " was off although no one switched it off, and is being started";
    auto followed = co_await follow(tried, being_started);
    if (followed) co_return *std::move(followed);
    const auto state = co_await view_.state(kRoomAge);
    auto why = co_await why_left_off(look, only(look.host, *state));
    if (!why.empty()) co_return LeftOff{vm + " is off: " + why};
    const bool is_too_early = tried->times > 0 && clock_.now() < tried->last + kTryPauses.after(tried->times);
    if (is_too_early) co_return waiting(*tried, vm + " is off, and is started again after a pause");
    const auto* home = state->find_host(look.host);
    if (home && home->is_silent)
        co_return WaitsForStart{
            vm + " is off, and is started once it is visible how much memory its host has " +
                "left: " + look.host + " " + home->why_unused(),
            kLeftOffPoll};
    const auto no_room = vm +
                         " is off, and its host has no memory left for it: stop other guests, or delete "
                         "the claim to have the machine replaced";
    if (!has_room(*state, look)) co_return NoRoomToStart{no_room};
    const bool has_to_queue = co_await are_others_starting(look.host);
    if (has_to_queue)
        co_return WaitsForStart{vm + " is off, and is started after others on its host", kTurnPoll};
    // The user who switched it off may have moved it since. Therefore all hosts are asked, but only before a
    // start.
    why = co_await why_left_off(look, others_online(look.host, *state));
    if (!why.empty()) co_return LeftOff{vm + " is off: " + why};
    // The task of an earlier process may hang and keep the VM's lock file, so that no start succeeds.
    const auto at_work = co_await tasks_.at_work(look.host, look.vmid);
    if (!at_work.empty()) {
        co_await tasks_.end_all_overdue(at_work);
        co_return WaitsForStart{
            vm + " is off, and is started once an earlier task is done with it: " + at_work.front(),
            kTurnPoll};
    }
    // Other machines of the host may have been started during these questions.
    if (!has_room(*state, look)) co_return NoRoomToStart{no_room};
    ++tried->times;
    tried->last = clock_.now();
    tried->host = look.host;
    tried->vmid = look.vmid;
    tried->memory_mib = look.config.memory_mib();
    const auto upid = co_await client_.change(start_vm(look.host, look.vmid));
    tried->task = text_of(upid);
    base::log::info("Starting a machine again that no one switched off",
                    {{"vmid", look.vmid}, {"host", look.host}, {"task", tried->task}});
    co_return WaitsForStart{being_started, kStartPoll};
}

// Polls our start task. nullopt: none is running any longer.
asio::awaitable<std::optional<RestartResult>> Restarter::follow(std::shared_ptr<Tried> tried,
                                                                std::string message) {
    if (tried->task.empty()) co_return std::nullopt;
    const auto upid = tried->task;
    auto status = co_await tasks_.end_overdue(upid);
    if (status.outcome == TaskOutcome::running) co_return WaitsForStart{std::move(message), kStartPoll};
    if (status.outcome == TaskOutcome::failed) {
        status = co_await tasks_.explained(upid, std::move(status));
        tried->failure = status.complaint();
    }
    tried->task.clear();
    tried->ended = clock_.now();
    co_return std::nullopt;
}

RestartResult Restarter::waiting(const Tried& tried, std::string message) const {
    if (!tried.failure.empty()) message += "; the last start failed: " + tried.failure;
    const auto wait = tried.last + kTryPauses.after(tried.times) - clock_.now();
    if (tried.times >= kTriesBeforeTrouble) return StartFails{std::move(message), wait};
    return WaitsForStart{std::move(message), wait};
}

// Returns why the machine must stay off. Another host that does not answer or hides its log can only hide who
// switched off a machine that was moved.
asio::awaitable<std::string> Restarter::why_left_off(const Look& look, std::vector<HostState> hosts) {
    const auto permissions = co_await view_.permissions(kLogSightAge);
    if (!permissions.has("/nodes/" + look.host, "Sys.Audit"))
        co_return "who switched it off is not visible without Sys.Audit on /nodes/" + look.host +
            ", so it is left off; start it, or grant that right";
    json::array tasks, host_tasks;
    Boots boots;
    for (const auto& host : hosts) {
        try {
            const auto of_vm = co_await client_.read(get_last_tasks(host.name, look.vmid));
            const auto shutdowns = co_await client_.read(get_host_shutdowns(host.name));
            const auto backups = co_await client_.read(get_backups(host.name));
            append(tasks, of_vm);
            append(host_tasks, shutdowns);
            append(host_tasks, backups);
            const auto uptime = std::chrono::floor<std::chrono::seconds>(host.uptime).count();
            if (uptime > 0 && !objects_of(shutdowns).empty())
                boots[host.name] = co_await time_of(host.name) - uptime;
        } catch (const ProxmoxError& error) {
            if (host.name == look.host || !is_tried_later(error.kind)) throw;
        }
    }
    const auto who = switched_off_by(tasks, host_tasks, client_.user(), boots);
    if (who.empty()) co_return std::string();
    co_return who + " switched it off, so it is left off; start it, or delete the claim";
}

asio::awaitable<std::int64_t> Restarter::time_of(std::string host) {
    std::int64_t time = 0;
    try {
        const auto answer = co_await client_.read(get_host_time(host));
        time = integer_of(answer.get_object(), "time");
    } catch (const ProxmoxError& error) {
        if (is_passing(error.kind)) throw;
        base::log::debug("A host's time cannot be read, so its tasks are compared with our time",
                         {{"host", host}, {"error", std::string(error.what())}});
    }
    if (time > 0) co_return time;
    co_return std::chrono::floor<std::chrono::seconds>(clock_.wall_now()).time_since_epoch().count();
}

// Counts machines that are being started, or were a moment ago, as Proxmox does not list them as running yet.
bool Restarter::has_room(const ClusterState& state, const Look& look) const {
    auto memory_mib = look.config.memory_mib();
    for (const auto& [uuid, tried] : tried_) {
        if (tried->host != look.host || tried->vmid == look.vmid) continue;
        // A start may take minutes.
        const bool is_recent =
            !tried->task.empty() || clock_.now() < std::max(tried->last, tried->ended) + kStartIsShown;
        const auto is_off = [&tried](const Guest& guest) {
            return guest.vmid == tried->vmid && !guest.is_running;
        };
        if (is_recent && std::ranges::any_of(state.guests, is_off)) memory_mib += tried->memory_mib;
    }
    return has_room_to_start(settings_, state, look.host, memory_mib);
}

asio::awaitable<bool> Restarter::are_others_starting(std::string host) {
    const auto active = co_await client_.read(get_active_tasks(host, 0));
    const auto entries = objects_of(active);
    const auto starts = std::ranges::count_if(entries, [](const json::object* entry) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        return task && task->type == "qmstart";
    });
    co_return starts >= kStartsAtOnce;
}

}  // namespace providers::proxmox
