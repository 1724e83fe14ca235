#include "test/unit/controllers/claim_world.hpp"

#include "test/support/run_coroutine.hpp"

namespace claims {

using namespace std::chrono_literals;
namespace conditions = api::conditions;

namespace {

api::Namespace system_namespace() {
    api::Namespace result;
    result.metadata.name = "kube-system";
    return result;
}

void set_ready(api::Node& node, api::ConditionStatus status, base::WallTime now) {
    objects::set_condition(node.status.conditions, conditions::kReady, status, api::Time(now));
}

}  // namespace

World::World(fake::Cloud::Options options) : cloud(clock, options) {
    base::log::configure(base::log::Level::error, base::log::Format::text);
    server.put(system_namespace());
    server.put(objects::provider("proxmox"));
    server.put(objects::pool("p"));
    server.put(objects::control_plane("main", {"p"}));
    cloud.on_boot = [this](const fake::CloudMachine& machine) {
        if (!machines_join) return;
        auto join = [this, id = machine.machine_id] {
            auto found = cloud.machines.find(id);
            if (found != cloud.machines.end()) kubelet_joins(found->second);
        };
        joins_[machine.machine_id] = clock.call_at(clock.now() + join_delay, std::move(join));
    };
    cloud.on_gone = [this](const fake::CloudMachine& machine) {
        joins_.erase(machine.machine_id);
        auto node = server.get<api::Node>({"", machine.name});
        if (!node || node->status.nodeInfo.systemUUID != machine.identity.system_uuid) return;
        server.edit<api::Node>({"", machine.name}, [this](api::Node& dead) {
            set_ready(dead, api::ConditionStatus::Unknown, clock.wall_now());
        });
    };
}

void World::lose_status() {
    server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) { claim.status = {}; });
}

void World::kubelet_joins(const fake::CloudMachine& machine) {
    auto node = server.get<api::Node>({"", machine.name}).value_or(objects::node(machine.name));
    node.status.nodeInfo.systemUUID = machine.identity.system_uuid;
    set_ready(node, api::ConditionStatus::True, clock.wall_now());
    server.put(node);
}

bool World::run_until(const std::function<bool()>& holds, base::Duration limit) {
    const auto deadline = clock.now() + limit;
    while (!holds()) {
        if (clock.now() >= deadline) return false;
        run(100ms);
    }
    return true;
}

NodeSmithClaim World::launch(const std::string& name) {
    auto pool = server.get<NodeSmithPool>({"default", "p"}).value();
    auto claim = objects::created_claim(name, pool, 1);
    claim.metadata.uid.clear();
    return server.put(claim);
}

std::optional<NodeSmithClaim> World::claim(const std::string& name) {
    return server.get<NodeSmithClaim>({"default", name});
}

const api::Condition* World::condition(std::string_view type, const std::string& name) {
    found_ = claim(name);
    return found_ ? api::find_condition(found_->status.conditions, type) : nullptr;
}

std::string World::reason(std::string_view type, const std::string& name) {
    const auto* found = condition(type, name);
    return found ? found->reason : "";
}

bool World::ready(const std::string& name) {
    const auto* found = condition(conditions::kReady, name);
    return found && found->status == api::ConditionStatus::True;
}

bool World::clean() {
    return server.list<NodeSmithClaim>().empty() && cloud.machines.empty() &&
           server.list<api::Node>().empty() && server.list<api::Secret>().empty();
}

Process::Process(World& world, fake::Interference* requests, fake::ProviderCalls* calls)
    : world_(world),
      client_(std::make_unique<kube::Client>(world.server.connect(requests), world.clock, metrics_)),
      events_(world),
      informers_(*client_, world.clock, *random_, world.context.get_executor()),
      environment_{world.context.get_executor(), world.clock, *random_, metrics_, {}, [] { return true; }},
      instances_(informers_, *client_, environment_,
                 [&world, calls](providers::ProviderConfig, providers::ProviderEnvironment&) {
                     return fake::make_fake_provider(world.cloud, calls);
                 }),
      reservations_(informers_, *client_, world.clock),
      drainer_(informers_, *client_, world.clock),
      boot_data_(informers_, *client_, world.clock, *random_),
      claims_({informers_, *client_, world.clock, events_, metrics_}, instances_, reservations_, drainer_,
              boot_data_, machine_reports_, disruption_reports_, world.context.get_executor()),
      garbage_({informers_, *client_, world.clock, events_, metrics_}, instances_, machine_reports_),
      claim_controller_({"claim", 4}, claims_, world.context.get_executor(), world.clock, metrics_),
      garbage_controller_({"garbage", 1}, garbage_, world.context.get_executor(), world.clock, metrics_),
      tasks_(world.context.get_executor()) {
    claims_.subscribe(claim_controller_.queue());
    garbage_.subscribe(garbage_controller_.queue());
    informers_.spawn_all(tasks_);
    tasks_.spawn(work());
}

Process::~Process() {
    tasks_.stop();
    while (tasks_.size() > 0) world_.run(1ms);
    test::run(world_.context, world_.clock, drainer_.end());
}

asio::awaitable<void> Process::work() {
    co_await informers_.wait_synced();
    tasks_.spawn(claim_controller_.run());
    tasks_.spawn(garbage_controller_.run());
}

}  // namespace claims
