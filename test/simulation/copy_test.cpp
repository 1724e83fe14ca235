// A disaster drill with its network attached: a copy of the control plane has an operator that sees the same
// machines. It destroys nothing, and the original destroys nothing until a person decides.
#include <algorithm>

#include "test/simulation/control_plane_copy.hpp"
#include "test/simulation/reliable_rack.hpp"
#include "test/support/catch.hpp"

using namespace simulation;
using namespace std::chrono_literals;

namespace {

enum class Machines { vms, hosts };

Scenario scenario_with(Machines machines) {
    auto scenario = two_machine_scenario("web");
    if (machines == Machines::vms) return scenario;
    use_reliable_rack(scenario, "web");
    scenario.providers.back().spec.redfish->hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    return scenario;
}

struct Drill {
    explicit Drill(Machines kind = Machines::vms)
        : world(1, scenario_with(kind), Recording::off), operators(world) {
        world.faults.stop();
        operators.keep(1);
        world.run_for(10min);
    }
    ~Drill() {
        copy.reset();
        operators.stop_all();
        world.shut_down();
    }

    void begin() { copy = std::make_unique<ControlPlaneCopy>(world); }
    std::size_t machines() {
        const auto names = world.bmcs.names();
        const auto on = std::ranges::count_if(names, [this](const std::string& name) {
            return world.bmcs.bmc(name).power() != redfish_simulator::Power::off;
        });
        return world.administrators.marked().size() + static_cast<std::size_t>(on);
    }
    // Returns the provider of all machines.
    const NodeSmithProvider& provider() {
        const api::ObjectKey key{kNodesNamespace, world.scenario.providers.back().metadata.name};
        return *world.view.find<NodeSmithProvider>(key);
    }
    std::string other_of_original() { return epoch_of_other_operator(provider()); }
    std::string other_of_copy() {
        return epoch_of_other_operator(*copy->server().get<NodeSmithProvider>(api::key_of(provider())));
    }
    void decide(fake::ApiServer& server, const std::string& ended) {
        server.edit<NodeSmithProvider>(api::key_of(provider()), [&ended](NodeSmithProvider& edited) {
            edited.metadata.annotations[std::string(api::annotations::kOtherOperatorEnded)] = ended;
        });
    }
    void kill_leader() { operators.kill(*operators.alive().front()); }

    World world;
    Operators operators;
    std::unique_ptr<ControlPlaneCopy> copy;
};

}  // namespace

TEST_CASE("the operator of a copied control plane destroys nothing") {
    Drill drill(GENERATE(Machines::vms, Machines::hosts));
    CHECK(drill.machines() == 2);
    drill.begin();
    drill.world.run_for(2h);
    CHECK(drill.world.interference.destroyed_by_copies.empty());
    CHECK(drill.machines() == 2);
    CHECK_FALSE(drill.other_of_original().empty());
    CHECK_FALSE(drill.other_of_copy().empty());
    CHECK(drill.other_of_original() != drill.other_of_copy());
}

TEST_CASE("the operator of the original destroys nothing either, until a person decides") {
    Drill drill(GENERATE(Machines::vms, Machines::hosts));
    drill.begin();
    drill.world.run_for(10min);
    drill.world.workloads.scale("web", 0);
    drill.world.run_for(30min);
    CHECK(drill.machines() == 2);
    drill.copy->end();
    drill.world.run_for(5min);
    CHECK(drill.machines() == 2);
    drill.decide(drill.world.server, drill.other_of_original());
    drill.world.run_for(20min);
    CHECK(drill.machines() == 0);
    CHECK(drill.other_of_original().empty());
    CHECK_FALSE(
        drill.provider().metadata.annotations->contains(std::string(api::annotations::kOtherOperatorEnded)));
}

TEST_CASE("a person who decides while the other operator runs has to decide again") {
    Drill drill(GENERATE(Machines::vms, Machines::hosts));
    drill.begin();
    drill.world.run_for(10min);
    drill.world.workloads.scale("web", 0);
    drill.decide(drill.world.server, drill.other_of_original());
    drill.world.run_for(30min);
    CHECK(drill.machines() == 2);
    CHECK_FALSE(drill.other_of_original().empty());
}

TEST_CASE("a person may decide for the copy") {
    Drill drill(GENERATE(Machines::vms, Machines::hosts));
    drill.begin();
    drill.world.run_for(10min);
    drill.operators.keep(0);
    drill.world.run_for(5min);
    CHECK(drill.world.interference.destroyed_by_copies.empty());
    drill.decide(drill.copy->server(), drill.other_of_copy());
    drill.world.run_for(30min);
    CHECK_FALSE(drill.world.interference.destroyed_by_copies.empty());
}

TEST_CASE("the copy destroys nothing, whenever the leader of the original changes") {
    const auto kind = GENERATE(Machines::vms, Machines::hosts);
    for (const std::chrono::seconds killed : {-90s, -30s, -5s, 5s, 30s, 65s, 100s, 130s}) {
        Drill drill(kind);
        drill.operators.keep(2);
        drill.world.run_for(1min);
        if (killed < 0s) {
            drill.kill_leader();
            drill.world.run_for(-killed);
            drill.begin();
        } else {
            drill.begin();
            drill.world.run_for(killed);
            drill.kill_leader();
        }
        drill.world.run_for(30min);
        CAPTURE(killed.count());
        CHECK(drill.world.interference.destroyed_by_copies.empty());
        CHECK(drill.machines() == 2);
    }
}

TEST_CASE("a new leader of the only operator needs no person") {
    Drill drill(GENERATE(Machines::vms, Machines::hosts));
    drill.kill_leader();
    drill.world.run_for(1min);
    drill.world.workloads.scale("web", 0);
    drill.world.run_for(20min);
    CHECK(drill.machines() == 0);
    CHECK(drill.other_of_original().empty());
}

TEST_CASE("a first leader that finds machines without an epoch needs no person") {
    Drill drill;
    // Neither the Lease nor a VM has an epoch, as with an operator of an earlier version.
    drill.operators.keep(0);
    drill.world.run_for(2min);
    drill.world.server.edit<api::Lease>({"kubenodesmith-system", "kubenodesmith"},
                                        [](api::Lease& edited) { edited.metadata.annotations = {}; });
    for (auto& [vmid, machine] : drill.world.proxmox.cluster().world.machines) {
        auto& description = machine.config["description"];
        description = description.substr(0, description.find("\n{\"kubenodesmith-operator\""));
    }
    drill.world.workloads.scale("web", 0);
    drill.operators.keep(1);
    drill.world.run_for(20min);
    CHECK(drill.machines() == 0);
    CHECK(drill.other_of_original().empty());
}

TEST_CASE("a leader whose Lease was restored from an old backup waits for a person") {
    Drill drill;
    const auto backup = drill.world.server.store().back_up();
    drill.kill_leader();
    drill.world.run_for(5min);
    drill.operators.keep(0);
    drill.world.run_for(2min);
    drill.world.server.restore(backup);
    drill.operators.keep(1);
    drill.world.run_for(5min);
    const auto other = drill.other_of_original();
    CHECK_FALSE(other.empty());
    drill.world.workloads.scale("web", 0);
    drill.world.run_for(15min);
    CHECK(drill.machines() == 2);
    drill.decide(drill.world.server, other);
    drill.world.run_for(20min);
    CHECK(drill.machines() == 0);
}
