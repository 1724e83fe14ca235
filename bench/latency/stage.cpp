#include "bench/latency/stage.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <stdexcept>

#include "api/v1alpha1/host.hpp"
#include "controllers/provisioning/facts/claim_factory.hpp"
#include "test/simulators/proxmox/core/transport.hpp"
#include "test/support/cluster_info.hpp"
#include "test/support/seeded_random.hpp"

namespace bench {

namespace {

constexpr int kPodsPerNode = 50;
constexpr auto kPatience = std::chrono::minutes{10};  // a busy computer is no failure

using simulation::kNamespace;
using simulation::kNodesNamespace;

fake::ApiServer::Options server_options() {
    fake::ApiServer::Options options;
    options.custom_resources = {simulation::NodeSmithProvider::kResource,
                                simulation::NodeSmithPool::kResource, NodeSmithClaim::kResource,
                                simulation::NodeSmithControlPlane::kResource,
                                api::v1alpha1::NodeSmithHost::kResource};
    return options;
}

simulation::Scenario scenario() {
    auto scenario = simulation::plain_scenario();
    for (auto& host : scenario.proxmox.hosts) host.memory = 512 * proxmox_simulator::kGiB;
    auto& pool = scenario.pools.front();
    pool.spec.bootstrap.reset();  // the images join by themselves
    pool.spec.machineTemplate.sizes = {{"small", 4, 8192}};
    scenario.deployments.clear();
    return scenario;
}

api::Node node(const std::string& name) {
    api::Node result;
    result.metadata.name = name;
    result.metadata.labels = {{"kubernetes.io/hostname", name}, {"kubernetes.io/arch", "amd64"}};
    result.status.capacity = {{"cpu", api::Quantity::parse("4")},
                              {"memory", api::Quantity::parse("8Gi")},
                              {"pods", api::Quantity::parse("110")}};
    result.status.allocatable = result.status.capacity;
    return result;
}

void set_ready(api::Node& node, api::ConditionStatus status, api::Time now) {
    api::set_condition(node.status.conditions,
                       {std::string(api::conditions::kReady), status, "Kubelet", "", std::nullopt}, now);
}

api::Pod pod(const std::string& name, const std::string& cpu) {
    auto pod = simulation::a_deployment("web", 1, cpu, "64Mi").pod;
    pod.metadata.name = name;
    pod.metadata.namespace_ = kNamespace;
    api::OwnerReference owner;
    owner.apiVersion = "apps/v1";
    owner.kind = "ReplicaSet";
    owner.name = "web";
    owner.uid = "uid-of-web";
    owner.controller = true;
    pod.metadata.ownerReferences = {owner};
    return pod;
}

}  // namespace

Stage::Stage(int pods)
    : clock_(base::make_steady_clock(loop_.get_executor())),
      random_(fake::make_seeded_random(1)),
      scenario_(scenario()),
      server_(loop_.get_executor(), *clock_, server_options()),
      proxmox_(loop_.get_executor(), *clock_, *random_, scenario_.proxmox) {
    put_configuration(scenario_);
    put_pods(pods);
    watch();
    auto connect = [this](const base::HttpClientOptions&) -> std::unique_ptr<base::HttpTransport> {
        return std::make_unique<proxmox_simulator::SimulatorTransport>(proxmox_);
    };
    kubenodesmith::OperatorEnvironment environment{loop_.get_executor(), *clock_, *random_, server_.connect(),
                                                   connect};
    operator_ =
        std::make_unique<kubenodesmith::Operator>(std::move(environment), kubenodesmith::OperatorSettings{});
    asio::co_spawn(loop_, operator_->run(), [this](const std::exception_ptr& failure, auto) {
        ended_ = true;
        if (failure) std::rethrow_exception(failure);
    });
    run_until("the pool's readiness", [this] {
        const auto pool = server_.get<simulation::NodeSmithPool>({kNodesNamespace, "general"});
        return pool && api::is_true(pool->status.conditions, api::conditions::kReady);
    });
    run_for(std::chrono::seconds{3});  // waits for the first decisions about existing objects
}

Stage::~Stage() {
    operator_->stop();
    run_until("the operator's end", [this] { return ended_; });
    bool ended = false;
    asio::co_spawn(loop_, proxmox_.shut_down(), [&](const std::exception_ptr&) { ended = true; });
    run_until("Proxmox' end", [&] { return ended; });
}

base::Duration Stage::batching_window() const {
    return std::chrono::duration_cast<base::Duration>(
        scenario_.control_plane.spec.batching.idleDuration.value);
}

void Stage::run_until(const std::string& what, const std::function<bool()>& holds) {
    const auto begun = now();
    while (!holds()) {
        if (now() - begun > kPatience) throw std::runtime_error(what + " takes longer than ten minutes");
        loop_.run_one_for(std::chrono::milliseconds{100});
    }
}

void Stage::run_for(base::Duration duration) {
    loop_.run_for(duration);
}

void Stage::put_configuration(const simulation::Scenario& scenario) {
    for (const char* name : {"default", "kube-system", "kube-public", kNodesNamespace}) {
        api::Namespace space;
        space.metadata.name = name;
        server_.put(space);
    }
    server_.put(scenario.credentials);
    server_.put(scenario.providers.front());
    server_.put(scenario.pools.front());
    server_.put(scenario.control_plane);
}

void Stage::put_pods(int pods) {
    const api::Time started(clock_->wall_now());
    for (int i = 0; i < pods; ++i) {
        const auto on = "node-" + std::to_string(i / kPodsPerNode);
        if (i % kPodsPerNode == 0) {
            auto full = node(on);
            set_ready(full, api::ConditionStatus::True, started);
            server_.put(full);
        }
        auto running = pod("web-" + std::to_string(i), "80m");
        running.spec.nodeName = on;
        running.status.phase = api::PodPhase::Running;
        server_.put(running);
    }
}

void Stage::watch() {
    const auto claims = fake::ApiServer::resource_name(NodeSmithClaim::kResource);
    server_.observe([this, claims](const fake::Change& change) {
        if (change.key.resource != claims || !change.after) return;
        if (!change.before) {
            const auto launched = api::decode<NodeSmithClaim>(change.after->value());
            for (const auto& uid : controllers::provisioning::launched_for(launched))
                launched_.try_emplace(uid, now());
        }
        if (!change.before && claim_.empty()) {
            claim_ = change.key.name;
            claim_created_ = now();
        }
        if (change.key.name != claim_ || claim_ready_) return;
        const auto claim = api::decode<NodeSmithClaim>(change.after->value());
        if (api::is_true(claim.status.conditions, api::conditions::kReady)) claim_ready_ = now();
    });
    proxmox_.observe([this](const proxmox_simulator::RequestRecord& record) {
        const bool makes = record.method == "POST" && record.path.ends_with("/qemu");
        if (makes && !machine_requested_) machine_requested_ = now();
    });
}

std::string Stage::add_unschedulable_pod(const std::string& name, const std::string& cpu) {
    auto waiting = pod(name, cpu);
    waiting.status.phase = api::PodPhase::Pending;
    api::set_condition(*waiting.status.conditions,
                       {std::string(api::conditions::kPodScheduled), api::ConditionStatus::False,
                        std::string(api::reasons::kUnschedulable), "0 nodes are available", std::nullopt},
                       api::Time(clock_->wall_now()));
    return server_.put(waiting).metadata.uid;
}

void Stage::bind_pod(const std::string& name, const std::string& node) {
    server_.edit<api::Pod>({kNamespace, name}, [&](api::Pod& bound) {
        bound.spec.nodeName = node;
        bound.status.phase = api::PodPhase::Running;
        bound.status.conditions->clear();
    });
}

void Stage::join(const NodeSmithClaim& claim) {
    auto joined = node(claim.metadata.name);
    joined.status.nodeInfo.systemUUID = claim.status.systemUUID;
    set_ready(joined, api::ConditionStatus::False, api::Time(clock_->wall_now()));
    server_.put(joined);
}

void Stage::make_ready(const std::string& node) {
    server_.edit<api::Node>({"", node}, [this](api::Node& ready) {
        set_ready(ready, api::ConditionStatus::True, api::Time(clock_->wall_now()));
    });
}

std::optional<NodeSmithClaim> Stage::claim() const {
    if (claim_.empty()) return std::nullopt;
    return server_.get<NodeSmithClaim>({kNodesNamespace, claim_});
}

void Stage::forget() {
    claim_.clear();
    claim_created_.reset();
    machine_requested_.reset();
    claim_ready_.reset();
}

}  // namespace bench
