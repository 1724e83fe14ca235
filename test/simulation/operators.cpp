#include "test/simulation/operators.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <sstream>

#include "test/simulation/tenants.hpp"

namespace simulation {

Premises premises_of(World& world) {
    Premises premises{world.context,
                      world.clock,
                      world.trace,
                      world.faults,
                      world.network,
                      world.server,
                      world.seed,
                      "operator",
                      {},
                      {},
                      {},
                      {}};
    auto& settings = premises.settings;
    if (has_tenants(world)) settings.namespaces = controllers::ManagedNamespaces({kNodesNamespace});
    settings.leader_elect = world.scenario.leader_election;
    settings.election.lease = {"kubenodesmith-system", "kubenodesmith"};
    settings.election.lease_duration = world.scenario.lease_duration;
    settings.election.renew_deadline = world.scenario.lease_duration * 2 / 3;
    settings.election.retry_period = world.scenario.lease_duration * 2 / 15;
    premises.random_for = [&world](const std::string& purpose) { return world.random_for(purpose); };
    premises.connect =
        [&world](const base::HttpClientOptions& options) -> std::unique_ptr<base::HttpTransport> {
        if (world.bmcs.serves(options.url)) return world.bmcs.connect(options.url, Cluster::ours);
        return world.host_apis.connect(options);
    };
    premises.observe = [&world](const Process& process, const base::HttpClientOptions& options,
                                std::unique_ptr<base::HttpTransport> wire) {
        if (!world.bmcs.serves(options.url)) return wire;
        return world.bmcs.note_sessions(process.name(), options.url, std::move(wire));
    };
    return premises;
}

struct Operators::Instance {
    std::unique_ptr<Process> process;
    std::unique_ptr<base::Random> random;
    std::unique_ptr<kubenodesmith::Operator> program;
    bool leaving = false;  // killed or terminated, and already replaced
    bool ended = false;
};

Operators::Operators(World& world) : Operators(premises_of(world)) {}

Operators::Operators(Premises premises)
    : premises_(std::move(premises)), group_(premises_.context.get_executor()) {
    premises_.network.on_killed = [this](Process& process) {
        // The kill is not done within the process's own code.
        boost::asio::post(premises_.context, [this, &process] { kill(process); });
    };
}

Operators::~Operators() = default;

Process& Operators::start() {
    reap();
    auto name = premises_.name + "-" + std::to_string(++started_);
    premises_.trace.line(name, "starts");
    auto instance = std::make_unique<Instance>();
    const auto executor = premises_.context.get_executor();
    instance->process = std::make_unique<Process>(name, executor, premises_.clock);
    instance->random = premises_.random_for(name);
    auto& process = *instance->process;
    if (premises_.faults.has(Fault::clock_jump)) shift_from_the_start(process);
    auto connect = [this, &process](const base::HttpClientOptions& options) {
        auto wire = premises_.network.connect(process, premises_.connect(options));
        if (!premises_.observe) return wire;
        return premises_.observe(process, options, std::move(wire));
    };
    auto settings = premises_.settings;
    settings.election.identity = name;
    kubenodesmith::OperatorEnvironment environment{executor, process.clock(), *instance->random,
                                                   premises_.network.connect(process, premises_.server),
                                                   connect};
    instance->program = std::make_unique<kubenodesmith::Operator>(std::move(environment), settings);
    instances_.push_back(std::move(instance));
    group_.spawn(live(*instances_.back()));
    return process;
}

// Shifts the process's calendar from the start, as on a host without a time server.
void Operators::shift_from_the_start(Process& process) const {
    constexpr std::int64_t kMost = 12 * 3600;
    const auto random = premises_.random_for(process.name() + " calendar");
    if (random->below(3) > 0) return;
    const auto seconds = static_cast<std::int64_t>(random->below(2 * kMost)) - kMost;
    premises_.trace.line(process.name(), "starts with a calendar that is off by ", seconds, " s");
    process.shift_calendar(std::chrono::seconds{seconds});
}

asio::awaitable<void> Operators::live(Instance& instance) {
    std::string failure;
    try {
        auto end = co_await instance.program->run();
        if (end == kubenodesmith::Operator::End::lost_lease) {
            premises_.trace.line(instance.process->name(), "lost its lease");
        }
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!failure.empty() && !instance.process->dead()) {
        crashes_.push_back(instance.process->name() + ": " + failure);
    }
    premises_.trace.line(instance.process->name(), "has ended");
    instance.ended = true;
    if (!instance.leaving && !stopping_) replace_later();
    instance.process->kill();
}

Operators::Instance* Operators::find(const Process& process) {
    for (auto& instance : instances_) {
        if (instance->process.get() == &process) return instance.get();
    }
    return nullptr;
}

double Operators::metric_sum(const std::string& name) const {
    double sum = 0;
    for (const auto& instance : instances_) {
        if (instance->ended) continue;
        std::istringstream lines(instance->program->metrics().exposition());
        for (std::string line; std::getline(lines, line);) {
            const bool is_it = line.starts_with(name + "{") || line.starts_with(name + " ");
            if (is_it) sum += std::stod(line.substr(line.rfind(' ') + 1));
        }
    }
    return sum;
}

void Operators::kill(Process& process) {
    auto* instance = find(process);
    process.kill();
    if (!instance || instance->ended || instance->leaving) return;
    premises_.trace.line(process.name(), "is killed");
    instance->leaving = true;
    instance->program->stop();
    if (!stopping_) replace_later();
}

void Operators::terminate(Process& process) {
    auto* instance = find(process);
    if (!instance || instance->ended || instance->leaving) return;
    premises_.trace.line(process.name(), "is terminated");
    instance->program->stop();
    // Without a Lease, a Deployment must be configured to end one process before it starts the next.
    if (!premises_.settings.leader_elect) return;
    instance->leaving = true;
    if (!stopping_) replace_later();
}

void Operators::replace_later() {
    auto wait = premises_.faults.duration(std::chrono::milliseconds{500}, std::chrono::seconds{60});
    restarts_.push_back(premises_.clock.call_at(premises_.clock.now() + wait, [this] {
        if (!stopping_ && alive().size() < wanted_) start();
    }));
}

void Operators::keep(std::size_t count) {
    if (stopping_) return;
    wanted_ = count;
    auto living = alive();
    for (auto i = living.size(); i < count; ++i) start();
    for (auto i = count; i < living.size(); ++i) terminate(*living[i]);
}

std::vector<Process*> Operators::alive() const {
    std::vector<Process*> result;
    for (const auto& instance : instances_) {
        if (!instance->ended && !instance->leaving) result.push_back(instance->process.get());
    }
    return result;
}

void Operators::reap() {
    for (auto it = instances_.begin(); it != instances_.end();) {
        if (!(*it)->ended) {
            ++it;
            continue;
        }
        (*it)->program.reset();
        graveyard_.push_back(std::move((*it)->process));
        it = instances_.erase(it);
    }
}

void Operators::stop_all() {
    stopping_ = true;
    restarts_.clear();
    for (auto& instance : instances_) {
        instance->process->kill();
        instance->program->stop();
    }
    // Each process ends within its grace period.
    premises_.clock.run_for(premises_.context, std::chrono::minutes{2});
    for (const auto& instance : instances_) {
        if (instance->ended) continue;
        // Its coroutines cannot be destroyed, so the program has to end here.
        std::string last;
        auto lines = premises_.trace.lines();
        for (auto i = lines.size() - std::min<std::size_t>(lines.size(), 100000); i < lines.size(); ++i) {
            last += "\n" + lines[i];
        }
        throw std::logic_error("seed " + std::to_string(premises_.seed) + ": " + instance->process->name() +
                               " does not end within two minutes of being stopped, " +
                               instance->program->readiness().message + last);
    }
    reap();
}

}  // namespace simulation
