#include "test/simulation/other_cluster.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "test/simulation/cluster/certificate.hpp"
#include "test/simulation/dice.hpp"
#include "test/support/cluster_info.hpp"

namespace simulation {

namespace {

constexpr const char* kPods = "theirs";
constexpr const char* kSaysNothing = "Unknown";
constexpr std::int64_t kMostPods = 2;
constexpr std::chrono::minutes kTidies{1};

api::Namespace a_namespace(const std::string& name) {
    api::Namespace result;
    result.metadata.name = name;
    return result;
}

const NodeSmithProvider* rack_of(const Scenario& scenario) {
    const auto found = std::ranges::find_if(
        scenario.providers, [](const auto& provider) { return provider.spec.redfish.has_value(); });
    return found == scenario.providers.end() ? nullptr : &*found;
}

// Returns the world's pool on the rack, for pods that come and go.
NodeSmithPool their_pool(const Scenario& scenario) {
    const auto rack = rack_of(scenario)->metadata.name;
    auto pool = *std::ranges::find_if(scenario.pools,
                                      [&](const auto& each) { return each.spec.providerRef == rack; });
    pool.spec.limits = {};
    pool.spec.scaleUp.headroom = {};
    pool.spec.scaleUp.keepFailed = 0;
    pool.spec.deletionPolicy = api::v1alpha1::DeletionPolicy::Delete;
    // No person turns their few hosts on again. An outage of all of them must not block the removals that end
    // the run.
    pool.spec.disruption.repair.action = api::v1alpha1::RepairAction::Replace;
    pool.spec.disruption.repair.maxUnhealthyPercent = 100;
    return pool;
}

NodeSmithControlPlane their_control_plane() {
    auto control_plane = plain_scenario().control_plane;
    control_plane.spec.health.maxUnreadyPercent = 100;
    return control_plane;
}

bool says(const NodeSmithClaim& claim, std::string_view type, std::string_view reason) {
    const auto* condition = api::find_condition(claim.status.conditions, type);
    return condition && condition->reason == reason;
}

// Reports whether the claim waits for a person because its host's Node bears the label of another claim.
bool says_node_is_of_others(const NodeSmithClaim& claim) {
    return says(claim, api::conditions::kDrained, api::reasons::kNodeIdentityMismatch);
}

bool says_in_use_by_others(const NodeSmithClaim& claim) {
    return says(claim, api::conditions::kMachineDeleted, "InUseByOthers");
}

}  // namespace

bool locks_hosts(const World& world) {
    const auto* rack = rack_of(world.scenario);
    return rack && rack->spec.redfish->hostLock.field == api::v1alpha1::HostLockField::AssetTag;
}

void draw_host_lock(Scenario& scenario, base::Random& random) {
    Dice dice(random);
    if (!dice.chance(0.5)) return;
    for (auto& provider : scenario.providers) {
        if (!provider.spec.redfish) continue;
        provider.spec.redfish->hostLock.field = api::v1alpha1::HostLockField::AssetTag;
        provider.spec.redfish->hostLock.freeValues = {kSaysNothing};
    }
    for (auto& host : scenario.bare_metal) {
        auto& profile = host.profile;
        profile.chassis_has_tag = dice.chance(0.5);
        if (profile.chassis_has_tag) profile.system_has_tag = dice.chance(0.5);
        if (profile.chassis_has_tag && dice.chance(0.3)) profile.refuses_system_tag = true;
        profile.clears_tag_by_null = dice.chance(0.2);
        if (dice.chance(0.3)) host.asset_tag = kSaysNothing;
    }
    if (!dice.chance(0.5)) return;
    for (auto& provider : scenario.providers)
        if (provider.spec.redfish)
            provider.spec.redfish->powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
}

struct OtherCluster::Parts {
    explicit Parts(World& world)
        : faults(world.seed ^ 0x07e2c105, world.clock, world.trace),
          server(world.context.get_executor(), world.clock, server_options()),
          view(server),
          scheduler(server, view, world.trace),
          kubelets(server, view, world.trace, world.random_for("their kubelets"), world.scenario.kubelets),
          workloads(server, view, world.trace),
          network(world.context.get_executor(), world.clock, faults, world.trace) {
        Premises premises{world.context, world.clock,          world.trace, faults, network, server,
                          world.seed,    "the other operator", {},          {},     {},      {}};
        premises.random_for = [&world](const std::string& purpose) { return world.random_for(purpose); };
        premises.connect = [&world](const base::HttpClientOptions& options) {
            return world.bmcs.connect(options.url, Cluster::theirs);
        };
        operators = std::make_unique<Operators>(std::move(premises));
        populate(world.scenario);
    }

    void populate(const Scenario& scenario) {
        // The first namespace shifts the UIDs, so that the clusters have different ones.
        for (const char* name : {"elsewhere", "default", "kube-system", "kube-public", kNodesNamespace})
            server.put(a_namespace(name));
        server.put(test::cluster_info(kCertificate));
        server.put(scenario.bmc_credentials);
        server.put(*rack_of(scenario));
        server.put(their_pool(scenario));
        server.put(their_control_plane());
        for (const auto& host : scenario.bare_metal) server.put(host.object);
        workloads.apply(a_deployment(kPods, 0, "2500m", "2Gi"));
    }

    FaultPlan faults;
    fake::ApiServer server;
    ClusterSnapshot view;
    Scheduler scheduler;
    Kubelets kubelets;
    Workloads workloads;
    Network network;
    std::unique_ptr<Operators> operators;
};

OtherCluster::OtherCluster(World& world) : world_(world), random_(world.random_for("the other cluster")) {
    if (world.scenario.bare_metal.empty() || random_->below(2) == 0) return;
    parts_ = std::make_unique<Parts>(world);
    pool_ = their_pool(world.scenario).metadata.name;
    world.view.subscribe<NodeSmithClaim>([this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
        if (!before && after) follow(*after);
    });
    world.bmcs.on_their_boot = [this](const Registration& machine) {
        if (!parts_->kubelets.resume(machine.system_uuid)) parts_->kubelets.join(machine);
    };
    world.bmcs.on_stop = [this](const std::string& uuid) { parts_->kubelets.machine_stopped(uuid); };
}

OtherCluster::~OtherCluster() = default;

void OtherCluster::begin() {
    if (!exists()) return;
    parts_->operators->keep(1);
    arm_scaling();
    arm_killing();
}

// Often scales the other cluster up when our cluster needs a machine. Both then choose the same host.
void OtherCluster::follow(const NodeSmithClaim& claim) {
    if (!parts_->faults.active() || claim.spec.poolRef != pool_ || random_->below(2) == 0) return;
    const auto pause = std::chrono::milliseconds{random_->below(4000)};
    rush_ = world_.clock.call_at(world_.now() + pause, [this] {
        const auto now = parts_->workloads.deployments().at(kPods).replicas;
        parts_->workloads.scale(kPods, std::min(now + 1, kMostPods));
    });
}

void OtherCluster::arm_scaling() {
    const auto pause = std::chrono::minutes{1 + random_->below(15)};
    scaling_ = world_.clock.call_at(world_.now() + pause, [this] {
        parts_->workloads.scale(kPods, static_cast<std::int64_t>(random_->below(kMostPods + 1)));
        arm_scaling();
    });
}

void OtherCluster::arm_killing() {
    const auto pause = std::chrono::seconds{60 + random_->below(1800)};
    killing_ = world_.clock.call_at(world_.now() + pause, [this] {
        for (auto* process : parts_->operators->alive()) parts_->operators->kill(*process);
        arm_killing();
    });
}

void OtherCluster::make_peace() {
    if (!exists()) return;
    parts_->faults.stop();
    scaling_.reset();
    rush_.reset();
    killing_.reset();
    parts_->workloads.scale(kPods, 0);
    tidy();
}

// Turns off hosts that the claims do not record as theirs, or that they gave up as somebody else's. A host
// whose Node a claim leaves alone is turned off, too, and the claim is told so.
void OtherCluster::tidy() {
    for (const auto& [key, host] : parts_->view.all<NodeSmithHost>()) {
        if (world_.bmcs.woken_by(key.name) == Cluster::theirs && !host->status.claimRef)
            world_.bmcs.turn_off(key.name);
    }
    std::vector<kube::ObjectKey> taken_over;
    for (const auto& [key, claim] : parts_->view.all<NodeSmithClaim>()) {
        const bool is_theirs =
            world_.bmcs.has(claim->status.host) && world_.bmcs.woken_by(claim->status.host) != Cluster::ours;
        if (is_theirs && says_node_is_of_others(*claim)) {
            world_.bmcs.turn_off(claim->status.host);
            taken_over.push_back(key);
        }
        if (!says_in_use_by_others(*claim)) continue;
        if (is_theirs)
            world_.bmcs.turn_off(claim->status.host);
        else
            taken_over.push_back(key);
    }
    for (const auto& key : taken_over) state_gone(key);
    tidying_ = world_.clock.call_at(world_.now() + kTidies, [this] { tidy(); });
}

// A host that our cluster has turned on since is no longer theirs. The claim offers three ways out, and this
// one does not touch the host.
void OtherCluster::state_gone(const kube::ObjectKey& claim) {
    parts_->server.edit<NodeSmithClaim>(claim, [](NodeSmithClaim& edited) {
        edited.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
    });
}

void OtherCluster::shut_down() {
    if (!exists()) return;
    scaling_.reset();
    rush_.reset();
    killing_.reset();
    tidying_.reset();
    parts_->operators->stop_all();
    bool is_done = false;
    asio::co_spawn(world_.context, parts_->network.shut_down(),
                   [&is_done](const std::exception_ptr&) { is_done = true; });
    world_.run_for(std::chrono::seconds{1});
    if (!is_done) throw std::logic_error("the other cluster does not come to an end");
}

ClusterSnapshot& OtherCluster::view() {
    return parts_->view;
}

bool OtherCluster::has_late_requests() const {
    return exists() && (parts_->faults.has(Fault::paused) || parts_->faults.has(Fault::provider_slow));
}

std::vector<std::string> OtherCluster::leftovers() const {
    std::vector<std::string> found;
    if (exists()) {
        for (const auto& [key, claim] : parts_->view.all<NodeSmithClaim>())
            found.push_back("claim " + key.name + " of the other cluster is still there");
    }
    if (!locks_hosts(world_)) return found;
    for (const auto& name : world_.bmcs.names()) {
        const auto* ours = world_.view.find<NodeSmithHost>({kNodesNamespace, name});
        const auto* theirs = exists() ? parts_->view.find<NodeSmithHost>({kNodesNamespace, name}) : nullptr;
        const bool is_used = (ours && ours->status.claimRef) || (theirs && theirs->status.claimRef);
        // A host whose provider was deleted by force is let go without a look, and an Event says so.
        const bool is_released_unseen = world_.is_demolished && !ours;
        if (is_used || is_released_unseen || world_.bmcs.bmc(name).power() != Power::off) continue;
        for (const bool of_chassis : {false, true}) {
            const auto& tag = world_.bmcs.bmc(name).asset_tag(of_chassis);
            if (tag.starts_with("kns-"))
                found.push_back("host " + name + " is off and free, and bears the mark " + tag);
        }
    }
    return found;
}

}  // namespace simulation
