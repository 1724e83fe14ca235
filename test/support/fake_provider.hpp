// A cloud in memory and a providers::Provider in front of it. The cloud outlives providers, as real
// machines outlive the operator: tests kill and rebuild providers at will. Machines take time (virtual),
// calls can be scripted to fail, and what must never happen is noted in violations().
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "providers/capabilities.hpp"
#include "providers/provider.hpp"

namespace fake {

namespace asio = boost::asio;

struct CloudHost {
    std::string zone;
    std::int64_t cpu_cores = 64;
    std::int64_t memory_mib = 256 * 1024;
    bool reachable = true;
    bool usable = true;
};

struct CloudMachine {
    providers::MachineIdentity identity;  // its mark
    std::string name;
    std::string host;
    std::string machine_id;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    providers::MachineState state = providers::MachineState::creating;
    base::TimePoint busy_until{};  // of the task under way
    bool removing = false;
    bool has_boot_image = false;
    bool is_unread = false;       // its mark cannot be read: the list has it without
    std::string switched_off_by;  // a person who did; empty: nobody, if it is stopped
    providers::GuestSight guest;  // what its agent shows; to begin with it is silent
    std::string boot_image;
};

class Cloud {
public:
    struct Options {
        base::Duration create_time = std::chrono::seconds{5};
        base::Duration start_time = std::chrono::seconds{2};
        base::Duration remove_time = std::chrono::seconds{3};
    };
    explicit Cloud(base::Clock& clock);
    Cloud(base::Clock& clock, Options options);

    std::map<std::string, CloudHost> hosts;            // by name; one host "host-a" to begin with
    std::map<std::string, CloudMachine> machines;      // by machine ID
    std::deque<providers::EnsureResult> next_ensure;   // answered instead of doing anything
    std::vector<providers::Reservation> reservations;  // that the last machine was placed beside
    std::deque<providers::RemoveResult> next_remove;
    bool starts_again = false;  // the provider can start machines that nobody switched off
    std::deque<providers::RestartResult> next_restart;
    std::string restart_error;  // with which starting again fails; empty: it does not
    std::vector<providers::Leftover> leftovers;
    std::vector<std::string> unseen;  // see providers::Leftovers
    std::vector<providers::Stray> strays;
    base::Duration latency =
        std::chrono::milliseconds{1};                  // of each call; a long one is a provider that hangs
    std::function<void(const CloudMachine&)> on_boot;  // a machine is running from now on
    std::function<void(const CloudMachine&)> on_gone;

    const std::vector<std::string>& violations() const { return violations_; }
    // How many machines were ever made.
    int created() const { return created_; }
    // A machine appears or disappears behind everybody's back.
    CloudMachine& plant(CloudMachine machine);
    void destroy(std::string machine_id);

    // ---- what the provider does
    CloudMachine* find(const providers::MachineIdentity& identity);
    std::string next_id(const std::set<std::string>& taken) const;
    CloudMachine& create(const providers::MachineSpec& spec, std::string boot_image);
    void start(CloudMachine& machine);
    void remove(CloudMachine& machine);
    base::Clock& clock() { return clock_; }

private:
    void after(const std::string& machine_id, base::Duration wait, std::function<void(CloudMachine&)> then);

    base::Clock& clock_;
    Options options_;
    std::vector<std::string> violations_;
    int created_ = 0;
    std::map<std::string, std::unique_ptr<base::Alarm>> tasks_;  // by machine ID
};

// Called around each call of a provider; may throw to make it fail, before or after it took effect.
class ProviderCalls {
public:
    virtual ~ProviderCalls() = default;
    virtual void before(const std::string& /*method*/) {}
    virtual void after(const std::string& /*method*/) {}
};

// `calls` may be null and outlives the provider.
std::unique_ptr<providers::Provider> make_fake_provider(Cloud& cloud, ProviderCalls* calls = nullptr);

}  // namespace fake
