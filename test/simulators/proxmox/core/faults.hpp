// Trouble on demand. The simulator asks the plan at each request and at each task. A plan answers from a
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
    bool lose_connection = false;  // otherwise the answer has `status`
    int status = 500;
    std::string reason = "injected fault";
    base::Duration delay{};     // wait before the fault shows
    bool is_only_late = false;  // after its effect and the delay the request has its ordinary answer
};

enum class TaskTrouble {
    fail_at_once,  // the task has no effect
    fail_at_end,   // the task has its full effect, but its exit status says that it failed
    // These tasks hang in the middle of their work and never end by themselves:
    hang,            // if stopped, it cleans up, as after any failure
    hang_deaf,       // ignores every signal but SIGKILL; its partial work stays, including a lock in the
                     // config
    hang_in_kernel,  // waits for a storage that does not answer; only the end of its host ends it
    die,  // stops half-way as if its process had been killed: no clean-up, and locks in the config stay
};

struct TaskFault {
    TaskTrouble trouble = TaskTrouble::fail_at_once;
    std::string text = "injected fault";
    std::string log;  // line in the task's log before it fails, with the cause; empty: no line
};

class FaultPlan {
public:
    FaultPlan() = default;
    FaultPlan(const FaultPlan&) = delete;
    FaultPlan& operator=(const FaultPlan&) = delete;
    virtual ~FaultPlan() = default;

    // `path` is decoded and has no query, such as /nodes/pve1/qemu.
    virtual std::optional<RequestFault> on_request(const std::string& method, const std::string& path) = 0;
    virtual std::optional<TaskFault> on_task(const std::string& type, const std::string& id) = 0;
    // Called before one option of a machine's configuration is written, after the options before it. The
    // fault's status is the answer; its delay and moment do not count.
    virtual std::optional<RequestFault> on_option(int /*vmid*/, const std::string& /*option*/) {
        return std::nullopt;
    }
    // Returns the extra time of a command that one host runs on another by ssh.
    virtual base::Duration on_remote_shell() { return base::Duration::zero(); }
};

class ScriptedFaults final : public FaultPlan {
public:
    // Lets the fault strike matching requests `count` times after it has let `skip` pass. Patterns are Perl
    // regular expressions for the whole text.
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
