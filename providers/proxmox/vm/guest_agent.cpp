#include "providers/proxmox/vm/guest_agent.hpp"

#include <charconv>

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kPrefix = "agent:";
constexpr std::size_t kOutputShown = 600;
constexpr std::size_t kPhases = 3;
constexpr std::string_view kPhaseNames[kPhases] = {"wait", "ready", "join"};

// Cuts off the text before the next ':' and returns it.
std::string_view next_part(std::string_view& text) {
    const auto end = std::min(text.find(':'), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

bool read_number(std::string_view text, std::int64_t& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

AttemptFailed failed(std::string reason, std::string message) {
    AttemptFailed result;
    result.reason = std::move(reason);
    result.message = std::move(message);
    return result;
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
    return text;
}

std::string seconds_text(base::Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

}  // namespace

std::string to_string(const AgentTask& task) {
    auto text = std::string(kPrefix) + std::string(kPhaseNames[static_cast<std::size_t>(task.phase)]) + ":" +
                std::to_string(task.since);
    if (task.pid != 0) text += ":" + std::to_string(task.pid);
    return text;
}

std::optional<AgentTask> parse_agent_task(std::string_view text) {
    if (!text.starts_with(kPrefix)) return std::nullopt;
    text.remove_prefix(kPrefix.size());
    const auto phase = next_part(text);
    const auto since = next_part(text);
    AgentTask task;
    for (std::size_t i = 0; i < kPhases; ++i) {
        if (phase != kPhaseNames[i]) continue;
        task.phase = static_cast<AgentPhase>(i);
        if (!read_number(since, task.since) || (!text.empty() && !read_number(text, task.pid))) break;
        return task;
    }
    return std::nullopt;
}

std::string readable_output(std::string output, const std::vector<std::string>& secrets) {
    for (const auto& secret : secrets) {
        if (secret.empty()) continue;
        for (auto at = output.find(secret); at != std::string::npos; at = output.find(secret, at))
            output.replace(at, secret.size(), "***");
    }
    return foreign::shown_end(output, kOutputShown);
}

GuestAgent::Waiting GuestAgent::begin() const {
    AgentTask task;
    task.since = now();
    return {task, "waiting for the guest agent", settings_.spec.guestAgent.pollInterval.value};
}

asio::awaitable<GuestAgent::Progress> GuestAgent::step(MachineSpec spec, AgentTask task) {
    if (task.phase == AgentPhase::join) co_return co_await after_join(std::move(spec), task);
    if (task.phase == AgentPhase::ready && task.pid != 0) {
        co_return co_await after_ready_command(std::move(spec), task);
    }
    co_return co_await ask_whether_ready(std::move(spec), task);
}

asio::awaitable<GuestAgent::Progress> GuestAgent::ask_whether_ready(MachineSpec spec, AgentTask task) {
    const bool is_there = co_await answers(spec);
    if (!is_there) co_return not_ready(task, "the guest agent does not answer");
    if (spec.join->ready_command.empty()) co_return co_await start_join(std::move(spec));
    task.phase = AgentPhase::ready;
    task.pid = co_await execute(spec, spec.join->ready_command, "");
    co_return waiting(task, "waiting for the guest to be ready");
}

asio::awaitable<GuestAgent::Progress> GuestAgent::after_ready_command(MachineSpec spec, AgentTask task) {
    const auto seen = co_await process(spec, task.pid);
    switch (seen.state) {
        case GuestProcess::State::running:
            break;
        case GuestProcess::State::forgotten:
            task.pid = 0;
            co_return waiting(task, "asking the guest again whether it is ready");
        case GuestProcess::State::ended: {
            const bool is_degraded = spec.join->accept_degraded && trimmed(seen.output) == "degraded";
            if (seen.exit_code == 0 || is_degraded) co_return co_await start_join(std::move(spec));
            task.phase = AgentPhase::wait;
            task.pid = 0;
            co_return not_ready(task, "the ready command ended with " + std::to_string(seen.exit_code) +
                                          ": " + readable_output(seen.output, {}));
        }
    }
    co_return not_ready(task, "the ready command still runs");
}

asio::awaitable<GuestAgent::Progress> GuestAgent::start_join(MachineSpec spec) {
    auto join = co_await spec.join->script(spec.record);
    AgentTask task;
    task.phase = AgentPhase::join;
    task.since = now();
    std::vector<std::string> shell{"/bin/sh", "-s"};
    task.pid = co_await execute(spec, std::move(shell), std::move(join.script));
    co_return waiting(task, "the join script runs in the guest");
}

asio::awaitable<GuestAgent::Progress> GuestAgent::after_join(MachineSpec spec, AgentTask task) {
    const auto seen = co_await process(spec, task.pid);
    if (seen.state == GuestProcess::State::ended && seen.exit_code == 0) co_return Joined();
    // The agent reports a result only once. The operator died before it was recorded, or the guest restarted.
    if (seen.state == GuestProcess::State::forgotten) co_return co_await start_join(std::move(spec));
    if (seen.state == GuestProcess::State::ended) {
        const auto join = co_await spec.join->script(spec.record);
        co_return failed("JoinFailed", "the join script ended with " + std::to_string(seen.exit_code) + ": " +
                                           readable_output(seen.output, join.secrets));
    }
    if (age(task) > spec.join->exec_timeout) {
        co_return failed("JoinTimeout",
                         "the join script did not end within " + seconds_text(spec.join->exec_timeout));
    }
    co_return waiting(task, "the join script runs in the guest");
}

asio::awaitable<bool> GuestAgent::answers(const MachineSpec& spec) {
    try {
        co_await client_.change(agent_ping(spec.record.host, vmid_of(spec.record.machine_id)));
        co_return true;
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::agent_silent) throw;
    }
    co_return false;
}

asio::awaitable<std::int64_t> GuestAgent::execute(const MachineSpec& spec, std::vector<std::string> command,
                                                  std::string input) {
    auto call =
        agent_exec(spec.record.host, vmid_of(spec.record.machine_id), std::move(command), std::move(input));
    const auto data = co_await client_.change(std::move(call));
    co_return data.is_object() ? integer_of(data.get_object(), "pid") : 0;
}

asio::awaitable<GuestProcess> GuestAgent::process(const MachineSpec& spec, std::int64_t pid) {
    GuestProcess result;
    try {
        const auto data =
            co_await client_.read(agent_exec_status(spec.record.host, vmid_of(spec.record.machine_id), pid));
        if (!data.is_object() || !flag_of(data.get_object(), "exited")) co_return result;
        const auto& fields = data.get_object();
        result.state = GuestProcess::State::ended;
        result.exit_code = integer_of(fields, "exitcode");
        if (fields.contains("signal")) result.exit_code = 128 + integer_of(fields, "signal");
        result.output = text_of(fields, "out-data") + text_of(fields, "err-data");
    } catch (const ProxmoxError& error) {
        // An agent may be silent for a moment, for example because the guest reboots. The join has not
        // failed.
        if (error.kind != ErrorKind::no_such_process && error.kind != ErrorKind::agent_silent) throw;
        if (error.kind == ErrorKind::no_such_process) result.state = GuestProcess::State::forgotten;
    }
    co_return result;
}

GuestAgent::Progress GuestAgent::not_ready(const AgentTask& task, std::string why) const {
    const base::Duration timeout = settings_.spec.guestAgent.readyTimeout.value;
    if (age(task) <= timeout) return waiting(task, "waiting for the guest: " + why);
    return failed("GuestNotReady", "not ready within " + seconds_text(timeout) + ": " + why);
}

GuestAgent::Progress GuestAgent::waiting(AgentTask task, std::string message) const {
    return Waiting{task, std::move(message), settings_.spec.guestAgent.pollInterval.value};
}

base::Duration GuestAgent::age(const AgentTask& task) const {
    return std::chrono::seconds{now() - task.since};
}

std::int64_t GuestAgent::now() const {
    return std::chrono::duration_cast<std::chrono::seconds>(clock_.wall_now().time_since_epoch()).count();
}

}  // namespace providers::proxmox
