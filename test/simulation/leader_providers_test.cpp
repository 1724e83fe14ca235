// Tests the leader's knowledge of providers, hosts and objects that cannot be decoded. The next leader does
// not have this knowledge.
#include "test/simulation/dice.hpp"
#include "test/simulation/leader_check.hpp"
#include "test/simulation/reliable_rack.hpp"
#include "test/simulation/sites.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/support/seeded_random.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

void use_a_rack(Scenario& scenario) {
    use_reliable_rack(scenario, kStoryDeployment);
}

void use_a_rack_with_erasure(Scenario& scenario) {
    use_a_rack(scenario);
    scenario.providers.back().spec.redfish->powerOff.wipe = api::v1alpha1::WipeMode::SecureErase;
}

auto any_host_is(api::v1alpha1::HostPhase phase) {
    return [phase](World& world) {
        return std::ranges::any_of(world.view.all<NodeSmithHost>(), [phase](const auto& entry) {
            return entry.second->status.phase == phase;
        });
    };
}

// Lets four machines be cloned from the template of one host, for a minute each.
void use_slow_clones(Scenario& scenario) {
    const boost::json::value description{{"durations", {{"tasks", {{"qmclone", 60}}}}},
                                         {"machines",
                                          {{{"vmid", 9000},
                                            {"node", "alfaromeo"},
                                            {"config",
                                             {{"name", kTemplateName},
                                              {"template", "1"},
                                              {"memory", "1024"},
                                              {"cores", "1"},
                                              {"boot", "order=scsi0"},
                                              {"scsi0", "shared:8"}}}}}}};
    scenario.proxmox = proxmox_simulator::world_from_json(description);
    scenario.providers.front().spec.proxmox->template_.emplace().name = kTemplateName;
    scenario.deployments = {a_deployment(kStoryDeployment, 4, "1500m", "1Gi")};
}

bool any_task(World& world) {
    return any_claim(world, [](const auto& claim) { return !claim.status.taskRef.empty(); });
}

auto provider_hangs(bool hangs) {
    return [hangs](World& world) {
        world.network.provider_hangs = [hangs](const base::HttpRequest&) { return hangs; };
    };
}

// Removes the claims by force, and the Nodes of machines that do not answer. The machines remain.
void leave_orphans(World& world) {
    world.workloads.scale(kStoryDeployment, 0);
    for (const auto& node : world.kubelets.running()) {
        world.kubelets.set_well(node, false);
        world.server.remove<api::Node>({"", node});
    }
    for (const auto& [key, claim] : std::map(world.view.all<NodeSmithClaim>())) {
        world.server.edit<NodeSmithClaim>(key, [](auto& edited) { edited.metadata.finalizers = {}; });
        world.server.remove<NodeSmithClaim>(key);
    }
}

// Writes the pods as a program of another version would.
auto set_requests(std::string cpu) {
    return [cpu](World& world) {
        auto& store = world.server.store();
        for (const auto& pod : store.list("pods", "")) {
            const auto& object = pod->object();
            const fake::Key key{"pods", fake::metadata_text(object, "namespace"),
                                fake::metadata_text(object, "name")};
            store.update(key, [&cpu](boost::json::object& changed) {
                auto& containers = fake::member(changed, "spec").at("containers").as_array();
                containers.front().at("resources").at("requests").as_object()["cpu"] = cpu;
            });
        }
    };
}

}  // namespace

TEST_CASE("another leader goes on with what was asked of a host's power") {
    using api::v1alpha1::HostPhase;
    check_change_of_leader({"what was asked of a host's power, to come on",
                            30min,
                            use_a_rack,
                            {{15min, scales_to(0)}},
                            any_host_is(HostPhase::PoweringOn)});
    check_change_of_leader({"what was asked of a host's power, to go off",
                            30min,
                            use_a_rack,
                            {{15min, scales_to(0)}},
                            any_host_is(HostPhase::PoweringOff)});
}

TEST_CASE("another leader goes on with the repair of a host that somebody switched off") {
    const auto switch_one_off = [](World& world) {
        world.bmcs.turn_off(world.view.all<NodeSmithClaim>().begin()->second->status.host);
    };
    check_change_of_leader({"that a machine is off",
                            50min,
                            use_a_rack,
                            {{20min, switch_one_off}},
                            any_with(api::conditions::kDisrupted, api::ConditionStatus::True)});
}

TEST_CASE("another leader erases the drives that one has begun to erase") {
    check_change_of_leader({"drives that are being erased",
                            40min,
                            use_a_rack_with_erasure,
                            {{15min, scales_to(0)}},
                            any_host_is(api::v1alpha1::HostPhase::Wiping)});
}

TEST_CASE("another leader waits for a provider that does not answer") {
    check_change_of_leader({"the pauses of a provider",
                            20min,
                            {},
                            {{100ms, provider_hangs(true)}, {6min, provider_hangs(false)}},
                            is_past(3min),
                            1min});
}

TEST_CASE("another leader makes no more clones at a time") {
    check_change_of_leader({"how many clones of a host run", 30min, use_slow_clones, {}, any_task}, 4);
}

TEST_CASE("another leader removes orphans, if later") {
    const auto adapt = [](Scenario& scenario) { scenario.providers.front().spec.orphanGracePeriod = 2min; };
    check_change_of_leader(
        {"since when an orphan was seen", 30min, adapt, {{8min, leave_orphans}}, is_past(9min)}, 4);
}

TEST_CASE("another leader takes no node whose pods it cannot decode") {
    check_change_of_leader({"pods that can no longer be decoded",
                            30min,
                            {},
                            {{8min, set_requests("plenty")}, {25min, set_requests("1500m")}},
                            is_past(9min)});
}
