// A Proxmox provider before a simulated cluster, in virtual time: what its users do with it, as short calls.
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

// The bytes of every boot image are its machine's host and ID.
class BootImages final : public providers::BootImageSource {
public:
    asio::awaitable<std::string> iso_image(providers::MachineRecord placed) override {
        co_return "image of " + placed.machine_id + " on " + placed.host;
    }
};

// Where machines fetch their boot data.
class ServedBootData final : public providers::ServedBootData {
public:
    asio::awaitable<std::string> iso_image(providers::MachineRecord) override { co_return "not asked for"; }
    asio::awaitable<std::string> url(providers::MachineRecord placed) override {
        co_return "http://10.0.0.9:8082/" + placed.machine_id + "-0123456789abcdef/";
    }
};

// The operator dies after the call of ensure with that number (from 0), which was recorded or was not.
struct Death {
    int after_call = 0;
    bool is_recorded = true;
    std::string str() const {
        return "dies after call " + std::to_string(after_call) +
               (is_recorded ? ", recorded" : ", not recorded");
    }
};
// All within the first `calls`.
std::vector<Death> deaths(int calls);

class Lab {
public:
    explicit Lab(proxmox_simulator::World world = proxmox_simulator::default_world());
    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;
    ~Lab();

    // Drives the loop until the coroutine is done; fails the test after an hour of virtual time.
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

    // The provider forgets all it knows, as after a restart of the operator.
    void restart();
    // A machine with 2 cores and 4 GiB, named by its number.
    providers::MachineSpec machine(int number) const;

    providers::EnsureResult ensure(const providers::MachineSpec& spec) { return run(provider->ensure(spec)); }
    providers::RemoveResult remove(const providers::MachineSpec& spec, providers::InUseCheck in_use = {}) {
        return run(provider->remove(spec.identity, spec.record, std::move(in_use)));
    }
    // Calls ensure, keeps the record and waits as told until the machine runs. Fails the test for anything
    // else.
    providers::Machine launch(providers::MachineSpec& spec);
    // The same, with a restart in between.
    providers::Machine launch_through(providers::MachineSpec& spec, const Death& death);
    // Only chooses host and ID and records them.
    void place(providers::MachineSpec& spec);
    // One call of ensure that makes progress; the record is kept.
    providers::Machine step(providers::MachineSpec& spec);
    // Calls remove until it says something else than "in progress".
    providers::RemoveResult destroy(providers::MachineSpec& spec);

    // The simulated machine; null if there is none.
    proxmox_simulator::Machine* vm(const std::string& machine_id);
    proxmox_simulator::Machine* vm(const providers::MachineSpec& spec) { return vm(spec.record.machine_id); }
    // A VM that somebody else made.
    proxmox_simulator::Machine& plant(int vmid, const std::string& node, proxmox_simulator::Config config);
    // Requests since the last call of this, without those that follow tasks: "POST /nodes/pve1/qemu".
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
    bool hosts_are_reachable = true;                   // by their own addresses
    bool is_impersonated = false;                      // another certificate is shown there
    std::vector<base::HttpClientOptions> connections;  // opened to such

private:
    // Where a connection leads; by an address only if the certificate there is the one expected.
    std::string entry_of(const base::HttpClientOptions& options);
    void drive(const bool& done);
    std::size_t reported_ = 0;
};

}  // namespace test
