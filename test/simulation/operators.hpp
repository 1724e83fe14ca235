// The operator's processes in a world: they are started, killed, paused and restarted. A killed process has
// no effect from that moment on. Its objects are destroyed in the background, as the kernel would do.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "operator/operator.hpp"
#include "test/simulation/world.hpp"

namespace simulation {

// Premises holds what the operators of one cluster need. Its references outlive them.
struct Premises {
    asio::io_context& context;
    fake::VirtualClock& clock;
    Trace& trace;
    FaultPlan& faults;
    Network& network;
    fake::ApiServer& server;
    std::uint64_t seed;
    std::string name;  // name of a process without its number
    kubenodesmith::OperatorSettings settings;
    std::function<std::unique_ptr<base::Random>(const std::string&)> random_for;
    // Connects to a provider.
    std::function<std::unique_ptr<base::HttpTransport>(const base::HttpClientOptions&)> connect;
    // Wraps a process's end of a connection to a provider. Empty: nobody observes it.
    std::function<std::unique_ptr<base::HttpTransport>(const Process&, const base::HttpClientOptions&,
                                                       std::unique_ptr<base::HttpTransport>)>
        observe;
};

// Returns what the world's own operators need.
Premises premises_of(World& world);

class Operators {
public:
    explicit Operators(World& world);
    explicit Operators(Premises premises);
    ~Operators();

    Process& start();
    // Kills the process immediately. Another one starts a little later, as a Deployment makes sure.
    void kill(Process& process);
    // Asks the process to end, as by SIGTERM. Another one starts.
    void terminate(Process& process);
    // Returns the living processes.
    std::vector<Process*> alive() const;
    // Ends all processes without successors.
    void stop_all();
    // Returns the exceptions of run(). There should be none, because the operator must never end by itself.
    const std::vector<std::string>& crashes() const { return crashes_; }
    // Returns the sum over all series of that name, of all living processes.
    double metric_sum(const std::string& name) const;
    // Sets the number of processes. Ended processes are replaced up to that number.
    void keep(std::size_t count);

private:
    struct Instance;

    asio::awaitable<void> live(Instance& instance);
    void shift_from_the_start(Process& process) const;
    void replace_later();
    void reap();
    Instance* find(const Process& process);

    Premises premises_;
    base::TaskGroup group_;
    std::list<std::unique_ptr<Instance>> instances_;
    std::vector<std::unique_ptr<Process>> graveyard_;  // late requests still name them
    std::vector<std::string> crashes_;
    std::size_t wanted_ = 1;
    std::uint64_t started_ = 0;
    std::vector<std::unique_ptr<base::Alarm>> restarts_;
    bool stopping_ = false;
};

}  // namespace simulation
