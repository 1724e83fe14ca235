// Joins a machine through its guest agent. It waits until the agent answers and the guest is ready, then runs
// the join script and polls it. The record's task holds the progress, so a restarted operator continues
// there. The script itself ensures that it does its work only once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "providers/launch.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

enum class AgentPhase {
    wait,   // waits for the agent's first answer
    ready,  // the ready command is running
    join,   // the join script is running
};

// AgentTask is the text "agent:join:1732220000:2001" in MachineRecord::task.
struct AgentTask {
    AgentPhase phase = AgentPhase::wait;
    std::int64_t since = 0;  // seconds since 1970; start of wait and ready together
    std::int64_t pid = 0;    // process ID in the guest; 0: none
    bool operator==(const AgentTask&) const = default;
};
std::string to_string(const AgentTask& task);
std::optional<AgentTask> parse_agent_task(std::string_view text);

// GuestProcess is the state of a command in the guest.
struct GuestProcess {
    enum class State { running, ended, forgotten } state = State::running;
    std::int64_t exit_code = 0;
    std::string output;  // standard output, then standard error
};

class GuestAgent {
public:
    // All arguments must outlive this.
    GuestAgent(const Settings& settings, ProxmoxClient& client, base::Clock& clock)
        : settings_(settings), client_(client), clock_(clock) {}

    struct Waiting {
        AgentTask task;
        std::string message;
        base::Duration retry_after{};
    };
    struct Joined {};
    using Progress = std::variant<Waiting, Joined, AttemptFailed>;

    // Returns the first task, for a machine that was just started.
    Waiting begin() const;
    // Takes one step. `spec.join` must be set. Throws ProxmoxError.
    asio::awaitable<Progress> step(MachineSpec spec, AgentTask task);

private:
    asio::awaitable<Progress> after_ready_command(MachineSpec spec, AgentTask task);
    asio::awaitable<Progress> after_join(MachineSpec spec, AgentTask task);
    asio::awaitable<Progress> ask_whether_ready(MachineSpec spec, AgentTask task);
    asio::awaitable<Progress> start_join(MachineSpec spec);
    // Returns false if the agent does not answer (yet).
    asio::awaitable<bool> answers(const MachineSpec& spec);
    asio::awaitable<std::int64_t> execute(const MachineSpec& spec, std::vector<std::string> command,
                                          std::string input);
    asio::awaitable<GuestProcess> process(const MachineSpec& spec, std::int64_t pid);
    Progress not_ready(const AgentTask& task, std::string why) const;
    Progress waiting(AgentTask task, std::string message) const;
    base::Duration age(const AgentTask& task) const;
    std::int64_t now() const;

    const Settings& settings_;
    ProxmoxClient& client_;
    base::Clock& clock_;
};

// Returns the end of a command's output for people: at most a few hundred characters, without the secrets.
std::string readable_output(std::string output, const std::vector<std::string>& secrets);

}  // namespace providers::proxmox
