// A cloud in memory, and a providers::Provider in front of it. The cloud outlives providers, as real machines
// outlive the operator. Tests can therefore kill and rebuild providers at any time. Machines take virtual
// time, and tests can script calls to fail. The cloud records every forbidden event in violations().
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
    providers::MachineIdentity identity;  // the provider's mark on the machine
    std::string name;
    std::string host;
    std::string machine_id;
    std::int64_t cpu_cores = 0;
    std::int64_t memory_mib = 0;
    providers::MachineState state = providers::MachineState::creating;
    base::TimePoint busy_until{};  // end of the running task
    bool removing = false;
    bool has_boot_image = false;
    bool is_unfinished = false;   // lists show it with another UUID than its mark's
    bool has_only_name = false;   // nothing but its name shows that it is ours, so lists omit it
    bool is_unread = false;       // the mark cannot be read, so lists show the machine without it
    std::string switched_off_by;  // the person who switched it off; empty: no person did
    providers::GuestSight guest;  // what the guest agent shows; it is silent at first
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

    bool marks_late = false;       // no list shows a machine before its creation ends
    bool hides_half_made = false;  // nor may the account see it before, even by its ID

    std::map<std::string, CloudHost> hosts;           // by name; the first is "host-a"
    std::map<std::string, CloudMachine> machines;     // by machine ID
    std::deque<providers::EnsureResult> next_ensure;  // the next results, returned without any action
    std::vector<providers::CapacityReservation> reservations;  // reservations that placement of the last
                                                               // machine considered
    std::deque<providers::RemoveResult> next_remove;
    bool starts_again = false;  // the provider can start a machine that no person switched off
    std::deque<providers::RestartResult> next_restart;
    std::string restart_error;  // error of the next restarts; empty: they succeed
    std::vector<providers::Leftover> leftovers;
    std::vector<std::string> unseen;  // see providers::Leftovers
    std::vector<providers::Stray> strays;
    base::Duration latency = std::chrono::milliseconds{1};  // duration of each call; a long one models a
                                                            // provider that hangs
    std::function<void(const CloudMachine&)> on_boot;       // called when a machine begins to run
    std::function<void(const CloudMachine&)> on_gone;

    const std::vector<std::string>& violations() const { return violations_; }
    // Returns how many machines were ever made.
    int created() const { return created_; }
    // These functions add or destroy a machine without the provider's knowledge.
    CloudMachine& plant(CloudMachine machine);
    void destroy(std::string machine_id);

    // ---- actions of the provider
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

// ProviderCalls is called around each call of a provider. It may throw to make the call fail before or after
// the call took effect.
class ProviderCalls {
public:
    virtual ~ProviderCalls() = default;
    virtual void before(const std::string& /*method*/) {}
    virtual void after(const std::string& /*method*/) {}
};

// Makes a provider for the cloud. `calls` may be null; otherwise it must outlive the provider.
std::unique_ptr<providers::Provider> make_fake_provider(Cloud& cloud, ProviderCalls* calls = nullptr);

}  // namespace fake
