// Trouble on demand. The simulator asks the plan at each request and at each task; a plan answers from a
// script (ScriptedFaults, also set over the control API) or from a seed (the deterministic simulation).
#pragma once

#include <list>
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace proxmox_simulator {

enum class Moment { before_effect, after_effect };

struct RequestFault {
    Moment moment = Moment::before_effect;
    bool lose_connection = false;  // else answer with `status`
    int status = 500;
    std::string reason = "injected fault";
    base::Duration delay{};  // waited before the fault shows
};

enum class TaskTrouble {
    fail_at_once,  // nothing happened
    fail_at_end,   // all happened, the exit status says it failed
    // In the middle of its work, never to end by itself:
    hang,            // told to end it cleans up, as after any failure
    hang_deaf,       // heeds no signal but SIGKILL: what it had begun stays, a lock in the config as well
    hang_in_kernel,  // waits for a storage that does not answer, and nothing ends it but the end of its host
    die,  // stops half-way as if its process had been killed: no clean-up, locks in the config stay
};

struct TaskFault {
    TaskTrouble trouble = TaskTrouble::fail_at_once;
    std::string text = "injected fault";
    std::string log;  // a line of the task's log before it fails: where the cause stands; empty: none
};

class FaultPlan {
public:
    FaultPlan() = default;
    FaultPlan(const FaultPlan&) = delete;
    FaultPlan& operator=(const FaultPlan&) = delete;
    virtual ~FaultPlan() = default;

    // `path` is decoded and has no query: /nodes/pve1/qemu.
    virtual std::optional<RequestFault> on_request(const std::string& method, const std::string& path) = 0;
    virtual std::optional<TaskFault> on_task(const std::string& type, const std::string& id) = 0;
    // Before one option of a machine's configuration is written, those before it being written already.
    // Answers with its status; delay and moment do not count.
    virtual std::optional<RequestFault> on_option(int /*vmid*/, const std::string& /*option*/) {
        return std::nullopt;
    }
    // How much longer than usual a command takes that one host runs on another by ssh.
    virtual base::Duration on_remote_shell() { return base::Duration::zero(); }
};

class ScriptedFaults final : public FaultPlan {
public:
    // The fault strikes matching requests `count` times after letting `skip` pass. Patterns are Perl regular
    // expressions for the whole text.
    void add(std::string method_pattern, std::string path_pattern, RequestFault fault, int count = 1,
             int skip = 0);
    void add_task(std::string type_pattern, std::string id_pattern, TaskFault fault, int count = 1,
                  int skip = 0);
    void add_option(std::string vmid_pattern, std::string option_pattern, RequestFault fault, int count = 1,
                    int skip = 0);
    void slow_remote_shells(base::Duration delay) { remote_shell_delay_ = delay; }
    void clear();

    std::optional<RequestFault> on_request(const std::string& method, const std::string& path) override;
    std::optional<TaskFault> on_task(const std::string& type, const std::string& id) override;
    std::optional<RequestFault> on_option(int vmid, const std::string& option) override;
    base::Duration on_remote_shell() override { return remote_shell_delay_; }

private:
    template <class Fault>
    struct Entry {
        std::string first_pattern, second_pattern;
        Fault fault;
        int count, skip;
    };
    template <class Fault>
    static std::optional<Fault> strike(std::list<Entry<Fault>>& entries, const std::string& first,
                                       const std::string& second);

    std::list<Entry<RequestFault>> requests_, options_;
    std::list<Entry<TaskFault>> tasks_;
    base::Duration remote_shell_delay_{};
};

}  // namespace proxmox_simulator
