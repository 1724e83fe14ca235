// Bare metal as the world sees it: hosts behind BMCs with their habits, systems on them that join the cluster
// by themselves when the power comes on, and what people do to them behind the operator's back.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/cluster/kubelets.hpp"
#include "test/simulation/cluster/view.hpp"
#include "test/simulation/faults.hpp"
#include "test/simulators/redfish/bmc.hpp"
#include "test/simulators/redfish/odd_answers.hpp"

namespace simulation {

using redfish_simulator::Power;

// One host of a scenario.
struct BareMetal {
    NodeSmithHost object;
    redfish_simulator::Profile profile;
    bool is_foreign = false;  // it is on from the start, and nobody's
    std::string asset_tag;    // of system and chassis
};

// Whose operator asks.
enum class Cluster { ours, theirs };

class Bmcs {
public:
    Bmcs(fake::ApiServer& server, ClusterSnapshot& view, Kubelets& kubelets, FaultPlan& faults, Trace& trace);
    Bmcs(const Bmcs&) = delete;
    Bmcs& operator=(const Bmcs&) = delete;

    void add(const BareMetal& host);
    bool has(const std::string& name) const { return hosts_.contains(name); }
    bool serves(const std::string& url) const;
    std::unique_ptr<base::HttpTransport> connect(const std::string& url, Cluster cluster);

    std::vector<std::string> names() const;
    redfish_simulator::Bmc& bmc(const std::string& name) { return *hosts_.at(name)->bmc; }
    // The machine that stands there, whatever its BMC says.
    const std::string& uuid(const std::string& name) const { return hosts_.at(name)->uuid; }
    // Laid over what the BMC answers to our operator.
    redfish_simulator::OddAnswers& odd_answers(const std::string& name) { return hosts_.at(name)->odd; }
    // Since the host last came on our operator asked for a graceful shutdown, whatever the answer was.
    std::optional<base::TimePoint> shutdown_asked(const std::string& name) const {
        return hosts_.at(name)->shutdown_asked;
    }
    // Whoever lets a BMC say that it cannot shut the host down notes it here.
    void note_cannot_shut_down(const std::string& name) { hosts_.at(name)->cannot_shut_down = true; }
    bool cannot_shut_down(const std::string& name) const { return hosts_.at(name)->cannot_shut_down; }
    // When each session was opened whose token our operator knows, of those that are still good.
    std::vector<base::TimePoint> open_sessions(const std::string& name) const;
    // It was turned on by people, or released to them, and is none of the operator's.
    bool is_foreign(const std::string& name) const { return hosts_.at(name)->is_foreign; }
    // Another machine's BMC answers at the host's address since then.
    std::optional<base::TimePoint> swapped_since(const std::string& name) const {
        return hosts_.at(name)->swapped_since;
    }

    // People of another cluster, or with a screwdriver, have turned it on since, without a word to anybody.
    // Nothing that a BMC says could have told a request of ours that was under way by then.
    std::optional<base::TimePoint> lent_since(const std::string& name) const {
        return hosts_.at(name)->lent_since;
    }
    // False: it is on, or its BMC would tell us both what it remembers.
    bool lend(const std::string& name);
    void turn_off(const std::string& name);

    // Whose request has turned it on, of what is on; nullopt: nobody's, or it is off.
    std::optional<Cluster> woken_by(const std::string& name) const { return hosts_.at(name)->woken_by; }
    // The other cluster had it turned off a moment ago: what a request of ours told just now was right then.
    bool was_just_cut_by_others(const std::string& name) const;
    // Both clusters have asked for it to be turned on since it was off.
    bool is_contested(const std::string& name) const { return hosts_.at(name)->is_contested; }

    // What people do, each to a host drawn from `random`.
    void press_power_button(base::Random& random);  // on becomes off; a free host that is off comes on
    // Each returns what undoes it.
    std::function<void()> pull_cable(base::Random& random);
    std::function<void()> swap_cable(base::Random& random);
    // No habit any more that needs a person.
    void make_peace();
    // Hosts (by UUID) whose power people have changed.
    bool meddled_with(const std::string& uuid) const { return meddled_.contains(uuid); }

    // Called before each request for another power state has effect: name of the host, reset type.
    using ResetListener = std::function<void(const std::string&, const std::string&)>;
    // The same for any cluster's.
    using AnyResetListener = std::function<void(Cluster, const std::string&, const std::string&)>;
    // Called when the power of a host has changed, before its Node notices.
    using PowerListener = std::function<void(const std::string&, Power)>;
    // Called when our operator has learned of a session that it opened: name of the host.
    using SessionListener = std::function<void(const std::string&)>;
    void subscribe(ResetListener listener) { reset_listeners_.push_back(std::move(listener)); }
    void subscribe_to_sessions(SessionListener listener) {
        session_listeners_.push_back(std::move(listener));
    }
    void subscribe(AnyResetListener listener) { any_reset_listeners_.push_back(std::move(listener)); }
    // What joins the other cluster, or leaves it, when a host that it turned on has booted, or any goes off.
    std::function<void(const Registration&)> on_their_boot;
    std::function<void(const std::string& uuid)> on_stop;
    void subscribe(PowerListener listener) { power_listeners_.push_back(std::move(listener)); }

private:
    class Cable;
    class Board;
    struct Host {
        std::string name;
        std::string uuid;
        std::string node;
        std::int64_t cpu_cores = 0;
        std::int64_t memory_mib = 0;
        bool is_foreign = false;
        bool is_plugged = true;
        std::optional<base::TimePoint> swapped_since;
        std::optional<base::TimePoint> lent_since;
        std::optional<Cluster> woken_by;
        bool is_contested = false;
        std::optional<Cluster> last_reset_by;
        std::optional<base::TimePoint> off_since;
        std::optional<base::TimePoint> shutdown_asked;
        bool cannot_shut_down = false;
        std::map<std::string, base::TimePoint> sessions;  // by target
        redfish_simulator::OddAnswers odd;
        std::unique_ptr<redfish_simulator::Bmc> bmc;
        std::unique_ptr<base::Alarm> boot;
        std::unique_ptr<base::Alarm> watch;
    };

    Host& any(base::Random& random);
    base::HttpResponse serve(Host& host, const base::HttpRequest& request, Cluster cluster);
    void note_wake(Host& host, Cluster cluster, bool was_off);
    void note_session(Host& host, const base::HttpRequest& request, const base::HttpResponse& response);
    Registration registration_of(const Host& host) const;
    void watch(Host& host);
    void power_changed(Host& host, Power power);
    void boot(Host& host);
    void follow(const NodeSmithHost* before, const NodeSmithHost* after);

    fake::ApiServer& server_;
    base::Clock& clock_;
    ClusterSnapshot& view_;
    Kubelets& kubelets_;
    FaultPlan& faults_;
    Trace& trace_;
    std::map<std::string, std::unique_ptr<Host>> hosts_;
    std::set<std::string> meddled_;
    std::vector<ResetListener> reset_listeners_;
    std::vector<AnyResetListener> any_reset_listeners_;
    std::vector<PowerListener> power_listeners_;
    std::vector<SessionListener> session_listeners_;
};

}  // namespace simulation
