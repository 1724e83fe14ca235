#include "test/component/redfish/played_host.hpp"

#include "controllers/host_status.hpp"

namespace recorded {

namespace {

constexpr const char* kName = "recorded";
constexpr base::Duration kServes = std::chrono::minutes{30};

redfish_player::PlayerOptions options_of(const Play& play) {
    redfish_player::PlayerOptions options;
    options.password = redfish_simulator::Profile{}.password;
    options.hears_shutdown = play.hears_shutdown;
    return options;
}

}  // namespace

PlayedHost::PlayedHost(const json::object& documents, NodeSmithHost host, Play play)
    : world_(play.spec),
      player_(redfish_player::Tree(documents), options_of(play), world_.clock),
      host_(std::move(host)),
      claim_(world_.claim("claim")) {
    world_.environment.connect = [this](const base::HttpClientOptions&) {
        auto to_player = std::make_unique<redfish_player::Transport>(player_, world_.clock);
        return redfish_simulator::with_odd_answers(std::move(to_player), world_.odd(kName), world_.clock);
    };
    world_.restart();
    host_.metadata.name = kName;
    host_.metadata.namespace_ = "default";
    tell_inventory();
}

void PlayedHost::examine() {
    for (int look = 0; look < 2; ++look) {
        report_ = world_.examine(kName);
        controllers::HostFacts facts{host_};
        facts.report = &report_;
        facts.now = api::Time(world_.clock.wall_now());
        host_.status = controllers::next_host_status(facts);
    }
    tell_inventory();
}

// Shows the object to the provider as the controllers' inventory does.
void PlayedHost::tell_inventory() {
    providers::Host host;
    host.name = kName;
    host.bmc.url = "https://recorded";
    host.bmc.system_id = host_.spec.bmc.systemID;
    host.pinned_uuid = host_.spec.systemUUID;
    host.power_state = host_.status.powerState;
    host.system_uuid = host_.status.systemUUID;
    host.macs = host_.status.macs;
    if (const auto& capacity = host_.status.capacity)
        host.capacity = providers::Capacity{capacity->cpuCores, capacity->memoryMiB};
    if (const auto* ready = api::find_condition(host_.status.conditions, api::conditions::kReady))
        host.readiness =
            providers::HostReadiness{ready->status == api::ConditionStatus::True, ready->message};
    world_.inventory.objects[kName] = std::move(host);
    world_.inventory.touch(kName);
}

bool PlayedHost::wake() {
    return world_.wake(claim_);
}

void PlayedHost::join() {
    world_.joined(kName);
    world_.examine(kName);
    world_.pass(kServes);
}

bool PlayedHost::sleep() {
    return world_.put_to_sleep(claim_);
}

}  // namespace recorded
