// A Redfish provider with its hosts in memory: simulated BMCs, an inventory with compare-and-swap, virtual
// time. The world outlives the process: restart() makes a new provider that knows nothing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/names.hpp"
#include "base/random.hpp"
#include "providers/boot_sources.hpp"
#include "providers/environment.hpp"
#include "providers/host_inventory.hpp"
#include "providers/host_report.hpp"
#include "providers/provider.hpp"
#include "providers/redfish/redfish_provider.hpp"
#include "test/simulators/redfish/odd_answers.hpp"
#include "test/simulators/redfish/transport.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace redfish_tests {

namespace asio = boost::asio;
using providers::Host;
using providers::HostStage;
using redfish_simulator::Bmc;
using redfish_simulator::OddAnswer;
using redfish_simulator::Profile;

class Inventory final : public providers::HostInventory {
public:
    std::vector<providers::HostPointer> hosts(const std::string&, const std::string&) override;
    providers::HostPointer find(const std::string&, const std::string&, const std::string& name) override;
    asio::awaitable<std::optional<Host>> read(std::string namespace_, std::string name) override;
    asio::awaitable<std::optional<Host>> write(Host before, providers::HostUse use,
                                               std::string message) override;
    void announce(const Host& host, std::string reason, std::string message) override;
    asio::awaitable<bool> has_ready_node(Host host) override { co_return ready_nodes.contains(host.name); }
    asio::awaitable<providers::SecretData> secret(std::string namespace_, std::string name) override;

    // Makes every earlier read of the host outdated.
    void touch(const std::string& name);

    std::map<std::string, Host> objects;
    std::set<std::string> ready_nodes;   // hosts whose claim's Node is Ready
    std::vector<std::string> announced;  // lines "REASON HOST MESSAGE"
    std::function<void()> on_announcement;
    std::function<void()> on_read;  // may throw, as the API server may refuse to answer
    std::map<std::string, std::map<std::string, std::string>> secrets;
    std::string secret_version = "1";  // version of all Secrets
};

struct World {
    explicit World(api::v1alpha1::RedfishSpec spec = {});

    // Adds a host that is known and free, with its BMC.
    Bmc& add(const std::string& name, Profile profile = {});
    Host& host(const std::string& name) { return inventory.objects.at(name); }
    Bmc& bmc(const std::string& name) { return network.at("https://" + name); }
    // Returns the wrong answers of the host's BMC.
    redfish_simulator::OddAnswers& odd(const std::string& name) { return odd_answers["https://" + name]; }
    void restart();

    // Claim acts as the claim reconciler: each step's outcome is recorded and the next one follows.
    struct Claim {
        providers::MachineIdentity identity;
        providers::MachineRecord record;
        std::string outcome;  // "running", or the reason and message of the end
    };
    Claim claim(const std::string& name, std::int64_t cpus = 1, std::int64_t memory_mib = 1024);
    providers::EnsureResult ensure(Claim& claim);
    providers::RemoveResult remove(Claim& claim, providers::InUseCheck in_use = {});
    // Steps until the machine runs or the attempt failed. Returns whether it runs.
    bool wake(Claim& claim, base::Duration limit = std::chrono::minutes{20});
    // Steps until the machine is gone or blocked for longer than the limit. Returns whether it is gone.
    bool put_to_sleep(Claim& claim, base::Duration limit = std::chrono::minutes{30});
    // Returns a claim whose Node has registered on the host, which was turned on five minutes ago.
    Claim serving(const std::string& name, const std::string& host);
    // Writes what the host reconciler writes when the claim's Node has registered.
    void joined(const std::string& host);
    providers::HostReport examine(const std::string& host);
    void pass(base::Duration duration) { clock.run_for(context, duration); }
    template <class T>
    T run(asio::awaitable<T> work) {
        return test::run(context, clock, std::move(work));
    }

    asio::io_context context;
    fake::VirtualClock clock;
    redfish_simulator::Network network{clock};
    std::map<std::string, redfish_simulator::OddAnswers> odd_answers;  // by URL
    Inventory inventory;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    base::MetricsRegistry metrics;
    bool may_mutate = true;
    providers::ProviderEnvironment environment;
    providers::ProviderConfig config;
    std::unique_ptr<providers::Provider> provider;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> sizes;  // sizes of claims, by UID
    // The boot image of all claims; null: there is none.
    providers::BootImageSource* boot_image = nullptr;
};

}  // namespace redfish_tests
