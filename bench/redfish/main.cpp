// bench-redfish: Simulates a thousand BMCs that take two seconds for each answer. It measures the time until
// all hosts are known, the concurrent calls, and the calls of an idle fleet. It also measures the operator's
// peak memory, including the growth of API server and BMCs in memory. It runs in virtual time. Exit code 1: a
// limit of docs/redfish.md is exceeded.
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/log.hpp"
#include "base/task_group.hpp"
#include "controllers/host_reconciler.hpp"
#include "controllers/services/host_inventory.hpp"
#include "test/simulators/redfish/transport.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/redfish_objects.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

namespace asio = boost::asio;
using api::v1alpha1::HostPhase;
using api::v1alpha1::NodeSmithHost;

constexpr int kHosts = 1000;
constexpr int kInUse = 300;
constexpr int kWorkers = 64;
constexpr auto kAnswerTime = std::chrono::seconds{2};

class NoEvents final : public kube::EventRecorder {
public:
    void event(const kube::EventTarget&, kube::EventType, std::string, std::string) override {}
};

double resident_mib() {
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

std::string name_of(int index) {
    return "host-" + std::to_string(index);
}

class BmcConnections {
public:
    BmcConnections()
        : server_(context_.get_executor(), clock_),
          client_(server_.connect(), clock_, metrics_),
          informers_(client_, clock_, *random_, context_.get_executor()),
          inventory_(informers_, client_, clock_, events_),
          environment_{context_.get_executor(),
                       clock_,
                       *random_,
                       metrics_,
                       [this](base::HttpClientOptions options) { return network_.connect(options); },
                       [] { return true; },
                       &inventory_},
          instances_(informers_, client_, environment_),
          hosts_(informers_, client_, clock_, *random_, events_, metrics_, instances_),
          tasks_(context_.get_executor()) {
        put_objects();
        servers_mib_ = resident_mib();
        kube::ControllerOptions options;
        options.name = "host";
        options.max_concurrent = kWorkers;
        controller_ =
            std::make_unique<kube::Controller>(options, hosts_, context_.get_executor(), clock_, metrics_);
        hosts_.subscribe(controller_->queue());
        informers_.spawn_all(tasks_);
        clock_.run_for(context_, std::chrono::milliseconds{100});
        tasks_.spawn(controller_->run());
    }
    ~BmcConnections() {
        tasks_.stop();
        bool ended = false;
        asio::co_spawn(context_, tasks_.join(), [&](std::exception_ptr) { ended = true; });
        while (!ended) clock_.run_for(context_, std::chrono::milliseconds{10});
    }

    int known() const {
        int count = 0;
        for (const auto& [key, host] : informers_.hosts.store().all()) {
            if (host->status.phase == HostPhase::Available) ++count;
        }
        return count;
    }
    // Returns the seconds until every host can be given to a claim.
    double discover() {
        const auto started = clock_.now();
        while (known() < kHosts && clock_.now() - started < std::chrono::minutes{30})
            clock_.run_for(context_, std::chrono::seconds{1});
        return std::chrono::duration<double>(clock_.now() - started).count();
    }
    void use_some() {
        for (int i = 0; i < kInUse; ++i) {
            network_.at("https://" + name_of(i)).set_power(redfish_simulator::Power::on);
            server_.edit<NodeSmithHost>({"default", name_of(i)}, [](NodeSmithHost& host) {
                host.status.claimRef = api::v1alpha1::ClaimReference{"c", "uid-of-c"};
                host.status.phase = HostPhase::InUse;
            });
        }
        clock_.run_for(context_, std::chrono::minutes{20});
    }
    // Returns the calls per second during an hour.
    double quiet_hour() {
        const auto before = network_.calls;
        clock_.run_for(context_, std::chrono::hours{1});
        return static_cast<double>(network_.calls - before) / 3600;
    }
    const redfish_simulator::Network& network() const { return network_; }
    // Returns the operator's memory, without the API server and the BMCs in the same process.
    double memory_mib() const { return resident_mib() - servers_mib_; }

private:
    void put_objects() {
        api::Namespace system;
        system.metadata.name = "kube-system";
        server_.put(system);
        server_.put(test::bmc_credentials(redfish_simulator::Profile{}.password));
        server_.put(test::rack_provider());
        for (int i = 0; i < kHosts; ++i) {
            const auto host = test::rack_host(name_of(i));
            server_.put(host);
            redfish_simulator::Profile profile;
            profile.latency = kAnswerTime;
            char uuid[37];
            std::snprintf(uuid, sizeof uuid, "4c4c4544-0042-3510-8054-%012d", i + 1);
            profile.uuid = uuid;
            network_.add(host.spec.bmc.address, std::move(profile)).keep_exchanges(false);
        }
    }

    asio::io_context context_;
    fake::VirtualClock clock_;
    fake::ApiServer server_;
    std::unique_ptr<base::Random> random_ = fake::make_seeded_random(1);
    base::MetricsRegistry metrics_;
    kube::Client client_;
    controllers::Informers informers_;
    redfish_simulator::Network network_{clock_};
    NoEvents events_;
    controllers::KubernetesHostInventory inventory_;
    providers::ProviderEnvironment environment_;
    controllers::ProviderInstances instances_;
    controllers::HostReconciler hosts_;
    std::unique_ptr<kube::Controller> controller_;
    base::TaskGroup tasks_;
    double servers_mib_ = 0;
};

bool holds(const char* what, double value, double bound, const char* unit) {
    std::printf("%-44s %8.1f %-10s (bound %.0f)%s\n", what, value, unit, bound,
                value <= bound ? "" : "  BROKEN");
    return value <= bound;
}

}  // namespace

int main() {
    BmcConnections fleet;
    bool good = holds("1000 BMCs, 2 s per answer: all known after", fleet.discover(), 660, "s");
    good &= holds("most calls under way", static_cast<double>(fleet.network().most_in_flight), 64, "calls");
    good &= holds("most calls under way to one BMC", static_cast<double>(fleet.network().most_per_bmc), 1,
                  "calls");
    good &= holds("connections left open", static_cast<double>(fleet.network().connections), 64, "BMCs");
    fleet.use_some();
    good &= holds("300 in use: calls in a quiet hour", fleet.quiet_hour(), 5, "per s");
    good &= holds("memory beside the simulated servers", fleet.memory_mib(), 60, "MiB");
    return good ? 0 : 1;
}
