// A Proxmox provider in front of a simulated cluster, in virtual time, with short functions for its users'
// calls.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <vector>

#include "providers/boot_sources.hpp"
#include "providers/environment.hpp"
#include "providers/provider.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"

namespace test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// BootImages makes boot images whose bytes are the machine's host and ID.
class BootImages final : public providers::BootImageSource {
public:
    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        co_return "image of " + placed.machine_id + " on " + placed.host;
    }
};

// ServedBootData returns the URL of a machine's boot data.
class ServedBootData final : public providers::ServedBootData {
public:
    asio::awaitable<std::string> iso_image(providers::MachineRecord) override { co_return "not asked for"; }
    asio::awaitable<std::string> url(providers::MachineRecord placed) override {
        co_return "http://10.0.0.9:8082/" + placed.machine_id + "-0123456789abcdef/";
    }
};

// Death ends the operator after the call of ensure with that number (from 0). The call's result was recorded
// or not.
struct Death {
    int after_call = 0;
    bool is_recorded = true;
    std::string str() const {
        return "dies after call " + std::to_string(after_call) +
               (is_recorded ? ", recorded" : ", not recorded");
    }
};
// Returns every death within the first `calls`.
std::vector<Death> deaths(int calls);

class Lab {
public:
    explicit Lab(proxmox_simulator::World world = proxmox_simulator::default_world());
    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;
    ~Lab();

    // Drives the loop until the coroutine is done. Fails the test after an hour of virtual time.
    template <class T>
    T run(asio::awaitable<T> work) {
        std::optional<T> result;
        std::exception_ptr failure;
        bool done = false;
        asio::co_spawn(context, std::move(work), [&](std::exception_ptr error, T value) {
            failure = error;
            result = std::move(value);
            done = true;
        });
        drive(done);
        if (failure) std::rethrow_exception(failure);
        return *std::move(result);
    }
    void wait(base::Duration duration) { clock.run_for(context, duration); }

    // Makes the provider forget everything, as after a restart of the operator.
    void restart();
    // Returns a machine with 2 cores and 4 GiB, named by its number.
    providers::MachineSpec machine(int number) const;

    providers::EnsureResult ensure(const providers::MachineSpec& spec) { return run(provider->ensure(spec)); }
    providers::RemoveResult remove(const providers::MachineSpec& spec, providers::InUseCheck in_use = {}) {
        return run(provider->remove(spec.identity, spec.record, std::move(in_use)));
    }
    // Calls ensure, keeps the record and waits for the given time until the machine runs. Fails the test for
    // any other result.
    providers::Machine launch(providers::MachineSpec& spec);
    // Launches the machine with a restart in between.
    providers::Machine launch_through(providers::MachineSpec& spec, const Death& death);
    // Chooses and records only host and ID.
    void place(providers::MachineSpec& spec);
    // Makes one call of ensure that must make progress, and keeps the record.
    providers::Machine step(providers::MachineSpec& spec);
    // Calls remove until the result is no longer "in progress".
    providers::RemoveResult destroy(providers::MachineSpec& spec);

    // Returns the simulated machine, or null if there is none.
    proxmox_simulator::Machine* vm(const std::string& machine_id);
    proxmox_simulator::Machine* vm(const providers::MachineSpec& spec) { return vm(spec.record.machine_id); }
    // Adds a VM that somebody else made.
    proxmox_simulator::Machine& plant(int vmid, const std::string& node, proxmox_simulator::Config config);
    // Returns the requests since the last call of this function, such as "POST /nodes/pve1/qemu". Requests
    // that follow tasks are left out.
    std::vector<std::string> requests();
    std::size_t count(const std::string& method, const std::string& path_pattern) const;

    asio::io_context context{1};
    fake::VirtualClock clock;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(7);
    proxmox_simulator::Simulator simulator;
    base::MetricsRegistry metrics;
    bool leads = true;
    providers::ProviderConfig config;
    providers::ProviderEnvironment environment;
    std::unique_ptr<providers::Provider> provider;
    BootImages images;
    ServedBootData served;
    std::vector<proxmox_simulator::RequestRecord> log;
    bool hosts_are_reachable = true;                   // each host is reachable at its own address
    bool is_impersonated = false;                      // the host shows another certificate
    std::vector<base::HttpClientOptions> connections;  // connections to hosts at their own addresses

private:
    // Returns the host at which a connection ends. A connection by address needs the expected certificate
    // there.
    std::string entry_of(const base::HttpClientOptions& options);
    void drive(const bool& done);
    std::size_t reported_ = 0;
};

}  // namespace test
