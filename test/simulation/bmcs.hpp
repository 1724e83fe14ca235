// Bare metal as the world sees it: hosts behind BMCs with their habits. Their systems join the cluster by
// themselves when the power comes on. People change hosts without the operator's knowledge.
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

// BareMetal is one host of a scenario.
struct BareMetal {
    NodeSmithHost object;
    redfish_simulator::Profile profile;
    bool is_foreign = false;  // it is on from the start, and no cluster uses it
    std::string asset_tag;    // of both the system and the chassis
};

// Cluster says whose operator sends a request.
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
    // Wraps the end of a connection that is at a process of our operator, to note the sessions that it opens.
    std::unique_ptr<base::HttpTransport> note_sessions(const std::string& process, const std::string& url,
                                                       std::unique_ptr<base::HttpTransport> wire);

    std::vector<std::string> names() const;
    redfish_simulator::Bmc& bmc(const std::string& name) { return *hosts_.at(name)->bmc; }
    // Returns the UUID of the real machine, whatever its BMC says.
    const std::string& uuid(const std::string& name) const { return hosts_.at(name)->uuid; }
    // Returns the odd answers that replace the BMC's answers to our operator.
    redfish_simulator::OddAnswers& odd_answers(const std::string& name) { return hosts_.at(name)->odd; }
    // Returns when our operator first asked for a graceful shutdown since the host last came on, whatever the
    // BMC answered.
    std::optional<base::TimePoint> shutdown_asked(const std::string& name) const {
        return hosts_.at(name)->shutdown_asked;
    }
    // Records that a BMC says that it cannot shut the host down. The code that makes a BMC say so calls this.
    void note_cannot_shut_down(const std::string& name) { hosts_.at(name)->cannot_shut_down = true; }
    bool cannot_shut_down(const std::string& name) const { return hosts_.at(name)->cannot_shut_down; }
    // Returns for each process of our operator the number of valid sessions whose tokens it received.
    std::map<std::string, int> open_sessions(const std::string& name) const;
    // Reports whether people turned the host on, or the operator released it to its user.
    bool is_foreign(const std::string& name) const { return hosts_.at(name)->is_foreign; }
    // Returns since when another machine's BMC answers at the host's address.
    std::optional<base::TimePoint> swapped_since(const std::string& name) const {
        return hosts_.at(name)->swapped_since;
    }

    // Returns since when another cluster or a person on site uses the host without notice. A BMC cannot
    // reveal this to our request that was already under way.
    std::optional<base::TimePoint> lent_since(const std::string& name) const {
        return hosts_.at(name)->lent_since;
    }
    // Turns the host on for others. Returns false if it is on, or if its BMC would report a remembered power
    // state to both clusters.
    bool lend(const std::string& name);
    void turn_off(const std::string& name);

    // Returns the cluster whose request turned the host on; nullopt if no cluster did or the host is off.
    std::optional<Cluster> woken_by(const std::string& name) const { return hosts_.at(name)->woken_by; }
    // Reports whether the other cluster had the host turned off a moment ago. Our request that was sent
    // just now was right when it was sent.
    bool was_just_cut_by_others(const std::string& name) const;
    // Reports whether both clusters have asked to turn the host on since it was off.
    bool is_contested(const std::string& name) const { return hosts_.at(name)->is_contested; }

    // These functions are actions of people. Each affects a host drawn from `random`.
    void press_power_button(base::Random& random);  // turns a host off, or a free host on
    // Each of these functions returns the action that undoes it.
    std::function<void()> pull_cable(base::Random& random);
    std::function<void()> swap_cable(base::Random& random);
    // Ends every habit that needs a person.
    void make_peace();
    // Reports whether people have changed the power of the host with this UUID.
    bool meddled_with(const std::string& uuid) const { return meddled_.contains(uuid); }

    // Called before each power request of our operator takes effect, with the host's name and the reset type.
    using ResetListener = std::function<void(const std::string&, const std::string&)>;
    // Called before each power request of any cluster takes effect.
    using AnyResetListener = std::function<void(Cluster, const std::string&, const std::string&)>;
    // Called before a drive of the host is erased for any cluster.
    using EraseListener = std::function<void(Cluster, const std::string&)>;
    // Called when the power of a host has changed, before its Node notices.
    using PowerListener = std::function<void(const std::string&, Power)>;
    // Called with the host's name when a process of our operator has received the token of a session.
    using SessionListener = std::function<void(const std::string&)>;
    void subscribe(ResetListener listener) { reset_listeners_.push_back(std::move(listener)); }
    void subscribe_to_sessions(SessionListener listener) {
        session_listeners_.push_back(std::move(listener));
    }
    void subscribe(AnyResetListener listener) { any_reset_listeners_.push_back(std::move(listener)); }
    // The first callback runs when a host has booted that the other cluster turned on: it joins that cluster.
    // The second runs when any host goes off.
    std::function<void(const Registration&)> on_their_boot;
    std::function<void(const std::string& uuid)> on_stop;
    void subscribe(EraseListener listener) { erase_listeners_.push_back(std::move(listener)); }
    void subscribe(PowerListener listener) { power_listeners_.push_back(std::move(listener)); }

private:
    class Cable;
    class Board;
    class ClientEnd;
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
        std::map<std::string, std::string> sessions;  // the process that opened it, by target
        redfish_simulator::OddAnswers odd;
        std::unique_ptr<redfish_simulator::Bmc> bmc;
        std::unique_ptr<base::Alarm> boot;
        std::unique_ptr<base::Alarm> watch;
    };

    Host& any(base::Random& random);
    base::HttpResponse serve(Host& host, const base::HttpRequest& request, Cluster cluster);
    void note_wake(Host& host, Cluster cluster, bool was_off);
    void note_session(Host& host, const std::string& process, const base::HttpRequest& request,
                      const base::HttpResponse& response);
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
    std::vector<EraseListener> erase_listeners_;
    std::vector<PowerListener> power_listeners_;
    std::vector<SessionListener> session_listeners_;
};

}  // namespace simulation
