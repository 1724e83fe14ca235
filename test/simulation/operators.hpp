// The operator's processes in a world: started, killed, paused, restarted. A killed process has no effect
// from that instant on; its objects are taken apart in the background, as its code would be by the kernel.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "operator/operator.hpp"
#include "test/simulation/world.hpp"

namespace simulation {

// What operators of one cluster stand on. References outlive them.
struct Premises {
    asio::io_context& context;
    fake::VirtualClock& clock;
    Trace& trace;
    FaultPlan& faults;
    Network& network;
    fake::ApiServer& server;
    std::uint64_t seed;
    std::string name;  // of a process, before its number
    kubenodesmith::OperatorSettings settings;
    std::function<std::unique_ptr<base::Random>(const std::string&)> random_for;
    // To a provider, as the world lets everybody.
    std::function<std::unique_ptr<base::HttpTransport>(const base::HttpClientOptions&)> connect;
};

class Operators {
public:
    explicit Operators(World& world);
    explicit Operators(Premises premises);
    ~Operators();

    Process& start();
    // Dies at once; another one starts a little later, as a Deployment sees to it.
    void kill(Process& process);
    // Is asked to end, as by SIGTERM; another one starts.
    void terminate(Process& process);
    // Those that live.
    std::vector<Process*> alive() const;
    // Ends all without successors.
    void stop_all();
    // What run() threw, if anything ever did: the operator must never end by itself.
    const std::vector<std::string>& crashes() const { return crashes_; }
    // Over all series of that name, of all that live.
    double metric_sum(const std::string& name) const;
    // As many processes as there should be are started again when they end.
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
