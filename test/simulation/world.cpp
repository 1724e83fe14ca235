#include "test/simulation/world.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <ranges>

#include "api/v1alpha1/host.hpp"
#include "test/simulation/cluster/certificate.hpp"
#include "test/simulation/dice.hpp"
#include "test/simulation/other_cluster.hpp"
#include "test/support/cluster_info.hpp"
#include "test/support/seeded_random.hpp"

namespace simulation {
namespace {

std::uint64_t hash(const std::string& text) {
    std::uint64_t value = 14695981039346656037ULL;  // FNV-1a
    for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return value;
}

// Makes BMCs report fields wrong, twice or not at all. None of that keeps a host from being used.
void break_fields(redfish_simulator::Profile& profile, base::Random& random) {
    const auto chance = [&random](std::uint64_t percent) { return random.below(100) < percent; };
    if (chance(20)) profile.macs.push_back(profile.macs.front());
    if (chance(20)) profile.macs.emplace_back("not available");
    if (chance(10)) profile.macs.emplace_back("80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:50:49:81");
    if (chance(10)) profile.serial_number = std::string(1000, 'x');
    profile.lacks_interfaces = chance(10);
    profile.tells_cores_only = chance(20);
    profile.links_manager = !chance(10);
    if (chance(15)) profile.uuid.clear();  // spec.systemUUID has it
    if (chance(30)) profile.port_gbps = {1, 1, 25};
}

api::Namespace namespace_of_name(const std::string& name) {
    api::Namespace result;
    result.metadata.name = name;
    return result;
}

}  // namespace

fake::ApiServer::Options server_options() {
    fake::ApiServer::Options options;
    options.pods_end_after.reset();  // the kubelets end pods
    options.custom_resources = {NodeSmithProvider::kResource, NodeSmithPool::kResource,
                                NodeSmithClaim::kResource, NodeSmithControlPlane::kResource,
                                api::v1alpha1::NodeSmithHost::kResource};
    return options;
}

World::World(std::uint64_t seed_, Scenario scenario_, Recording recording)
    : seed(seed_),
      scenario(std::move(scenario_)),
      trace(clock, recording),
      faults(seed_ ^ hash("faults"), clock, trace),
      server(context.get_executor(), clock, server_options()),
      view(server),
      scheduler(server, view, trace),
      kubelets(server, view, trace, random_for("kubelets"), scenario.kubelets),
      workloads(server, view, trace),
      certificates(server, trace, random_for("certificates")),
      guests(clock, view, kubelets, certificates, faults, trace),
      proxmox_random(random_for("proxmox")),
      proxmox(context.get_executor(), clock, *proxmox_random, scenario.proxmox),
      host_apis(proxmox, scenario.hosts_are_reachable),
      proxmox_faults(faults),
      administrators(proxmox, guests, faults, trace),
      bmcs(server, view, kubelets, faults, trace),
      network(context.get_executor(), clock, faults, trace),
      authorization(server.store()) {
    proxmox.cluster().hooks = &guests;
    proxmox.cluster().faults = &proxmox_faults;
    proxmox.observe([this](const proxmox::RequestRecord& record) {
        if (record.method != "GET") {
            ++changes_;
            trace.line("proxmox", record.method, " ", record.path, " -> ", record.status, " ", record.reason);
        }
        for (const auto& observer : proxmox_observers_) observer(record);
    });
    view.subscribe<NodeSmithClaim>([this](const auto*, const auto*) { ++changes_; });
    view.subscribe<NodeSmithProvider>([this](const auto* before, const auto* after) {
        if (!before || (after && !is_demolished)) return;
        for (const auto& condition : before->status.conditions) {
            if (last_reports_.find(condition.message) == std::string::npos)
                last_reports_ += condition.message + "\n";
        }
    });
    bmcs.subscribe([this](const std::string&, Power) { ++changes_; });
    guests.subscribe([this](PowerEvent, const proxmox::MachineView&) { ++changes_; });
    network.authorize = [this](const base::HttpRequest& request) { return authorization.refuse(request); };
    network.on_api_request = [this](const Process& process, const auto& request, const auto& response) {
        if (request.method != "GET" && request.target.find("/leases/") == std::string::npos) {
            trace.line(process.name(), request.method, " ", request.target, " -> ", response.status, " ",
                       request.body.substr(0, 600));
        }
        for (const auto& observer : api_observers_) observer(process, request, response);
    };
    populate();
}

World::~World() = default;

std::unique_ptr<base::Random> World::random_for(const std::string& purpose) const {
    return fake::make_seeded_random(seed ^ hash(purpose));
}

// Lets the operator know a further endpoint for each further host, in every second seed.
void World::draw_endpoints(base::Random& random) {
    if (random.below(2) == 0) return;
    const auto& hosts = scenario.proxmox.hosts;
    for (auto& provider : scenario.providers) {
        if (!provider.spec.proxmox) continue;
        for (const auto& host : hosts | std::views::drop(1))
            provider.spec.proxmox->endpoints.push_back("https://" + host.name + ":8006/api2/json");
    }
}

// Switches nominations off in about every fourth seed.
void World::draw_nominations(base::Random& random) {
    Dice dice(random);
    if (dice.chance(0.15)) server.options().minor = static_cast<int>(dice.between(31, 34));
    if (dice.chance(0.1)) scenario.control_plane.spec.nominate = false;
}

// Lets pods of some deployments tolerate every taint that only keeps new pods away, as the operators of
// network plugins do.
void World::draw_tolerations(base::Random& random) {
    Dice dice(random);
    for (auto& deployment : scenario.deployments) {
        if (faults.is_calm() || !dice.chance(0.1)) continue;
        api::Toleration all;
        all.operator_ = api::TolerationOperator::Exists;
        all.effect = api::taints::kNoSchedule;
        deployment.pod.spec.tolerations->push_back(std::move(all));
    }
}

// Slows the scheduler down in a third of the seeds, as the real one is with a thousand pods.
void World::draw_pace(base::Random& random) {
    Dice dice(random);
    if (!faults.is_calm() && dice.chance(0.33))
        scheduler.slow_down(std::chrono::milliseconds{dice.between(500, 4000)});
}

// Gives all pools of some seeds the same static addresses. Half of the pools are on a network that their user
// named, and half of the further providers are in a VLAN. So some pools share a network, and others do not.
void World::draw_address_networks(base::Random& random) {
    Dice dice(random);
    if (!dice.chance(0.15)) return;
    for (auto& provider : scenario.providers | std::views::drop(1)) {
        if (!provider.spec.proxmox || !dice.chance(0.5)) continue;
        for (auto& interface : provider.spec.proxmox->networkInterfaces) interface.vlanTag = 20;
    }
    for (auto& pool : scenario.pools) {
        const auto provider =
            std::ranges::find(scenario.providers, pool.spec.providerRef,
                              [](const NodeSmithProvider& each) { return each.metadata.name; });
        const bool is_told = provider != scenario.providers.end() && provider->spec.proxmox &&
                             pool.spec.bootstrap &&
                             pool.spec.bootstrap->method == api::v1alpha1::BootstrapMethod::CloudInit;
        if (!is_told) continue;
        auto& addresses = pool.spec.machineTemplate.network;
        addresses = a_dual_stack_network(0);
        if (dice.chance(0.5)) addresses->name = "site-b";
    }
}

void World::populate() {
    for (const char* name : {"default", "kube-system", "kube-public", kNodesNamespace, kTenants})
        server.put(namespace_of_name(name));
    server.put(test::cluster_info(kCertificate));
    // This binding is in config/rbac/managed_namespaces.yaml.
    api::RoleBinding rights;
    rights.metadata.name = "kubenodesmith-credentials";
    rights.metadata.namespace_ = kNodesNamespace;
    server.put(rights);
    server.options().rights_by_binding = {kNodesNamespace};
    server.put(scenario.credentials);
    if (!scenario.bare_metal.empty()) server.put(scenario.bmc_credentials);
    draw_host_lock(scenario, *random_for("host lock"));
    draw_endpoints(*random_for("endpoints"));
    draw_nominations(*random_for("nominations"));
    draw_pace(*random_for("pace of the scheduler"));
    draw_tolerations(*random_for("tolerations"));
    draw_address_networks(*random_for("networks of addresses"));
    const auto broken = random_for("broken fields");
    for (auto& host : scenario.bare_metal) {
        break_fields(host.profile, *broken);
        bmcs.add(host);
    }
    for (const auto& provider : scenario.providers) server.put(provider);
    for (const auto& pool : scenario.pools) server.put(pool);
    server.put(scenario.control_plane);
    for (const auto& set : scenario.daemon_sets) server.put(set);
    for (const auto& budget : scenario.budgets) server.put(budget);
    for (const auto& deployment : scenario.deployments) workloads.apply(deployment);
}

void World::note_taking(const NodeSmithClaim& claim) {
    const auto created = claim.metadata.creationTimestamp.value_or(api::Time{});
    interference.takings.push_back({claim.metadata.namespace_ + "/" + claim.spec.poolRef, claim.metadata.uid,
                                    created.at.time_since_epoch().count(),
                                    api::Time(server.clock().wall_now()).at.time_since_epoch().count()});
}

bool World::is_told_of(int vmid) const {
    const auto name = "VM " + std::to_string(vmid) + " on ";
    const auto names_it = [&name](const auto& object) {
        for (const auto& condition : object.status.conditions)
            if (condition.message.find(name) != std::string::npos) return true;
        return false;
    };
    for (const auto& [key, claim] : view.all<NodeSmithClaim>())
        if (names_it(*claim)) return true;
    for (const auto& [key, provider] : view.all<NodeSmithProvider>())
        if (names_it(*provider)) return true;
    return was_reported(name);
}

bool World::was_reported(const std::string& what) const {
    return last_reports_.find(what) != std::string::npos;
}

void World::run_for(base::Duration duration) {
    clock.run_for(context, duration);
}

void World::shut_down() {
    bool done = false;
    auto end = [this]() -> asio::awaitable<void> {
        co_await network.shut_down();
        co_await proxmox.shut_down();
        if (other_proxmox) co_await other_proxmox->shut_down();
    };
    asio::co_spawn(context, end(), [&done](const std::exception_ptr& failure) {
        if (failure) std::rethrow_exception(failure);
        done = true;
    });
    clock.run_for(context, std::chrono::seconds{1});
    if (!done) throw std::logic_error("the world does not come to an end");
}

}  // namespace simulation
