// Tests hosts that left the cluster, as after "pvecm delnode" or under a new name. Their names no longer
// resolve, and their guests stay listed until somebody removes their configurations.
#include <algorithm>

#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::Lab;

namespace {

// Makes the only endpoint one that stays, so that each machine's host may leave.
void use_two_hosts(Lab& lab) {
    lab.config.spec.proxmox->endpoints.clear();
    lab.config.spec.proxmox->nodeWhitelist = {"porsche", "zagato"};
    lab.restart();
}

void leave(Lab& lab, const std::string& host) {
    std::erase_if(lab.simulator.cluster().world.hosts,
                  [&](const proxmox_simulator::Host& one) { return one.name == host; });
    lab.wait(6min);  // the statistics of its guests are gone by then, and so are their names
}

// Returns two running machines. The host of the first one is to leave.
std::pair<MachineSpec, MachineSpec> launch_two(Lab& lab) {
    auto first = lab.machine(1), second = lab.machine(2);
    lab.launch(first);
    second.avoid_hosts = {first.record.host};
    lab.launch(second);
    REQUIRE(first.record.host != second.record.host);
    return {first, second};
}

}  // namespace

TEST_CASE("A machine is gone once its host left the cluster and its configuration was removed") {
    Lab lab;
    use_two_hosts(lab);
    auto [lost, kept] = launch_two(lab);
    lab.simulator.cluster().world.machines.erase(std::stoi(lost.record.machine_id));
    leave(lab, lost.record.host);
    CHECK_FALSE(lab.run(lab.provider->get(lost.identity, lost.record)));
    CHECK(std::holds_alternative<Gone>(lab.destroy(lost)));
    CHECK(std::holds_alternative<Gone>(lab.destroy(kept)));
}

TEST_CASE("A host that left the cluster keeps no other machine from being found, and says how its own end") {
    Lab lab;
    use_two_hosts(lab);
    auto [lost, kept] = launch_two(lab);
    const bool is_new_leader = GENERATE(false, true);
    INFO(is_new_leader);
    if (is_new_leader) lab.restart();
    leave(lab, lost.record.host);
    const auto machines = lab.run(lab.provider->list());
    CHECK(std::ranges::any_of(machines, [&](const Machine& machine) {
        return machine.identity.claim_uid == kept.identity.claim_uid;
    }));
    CHECK(lab.run(lab.provider->check()).reason.empty());
    CHECK_NOTHROW(test::leftovers(lab));
    const auto removal = lab.destroy(lost);
    REQUIRE(std::holds_alternative<RemovalBlocked>(removal));
    CHECK(std::get<RemovalBlocked>(removal).reason == "HostUnreachable");
    const auto file =
        "rm /etc/pve/nodes/" + lost.record.host + "/qemu-server/" + lost.record.machine_id + ".conf";
    CHECK_THAT(std::get<RemovalBlocked>(removal).message,
               Contains(lost.record.host + " is no longer in the cluster") && Contains(file));
    CHECK_THROWS_WITH(lab.run(lab.provider->get(lost.identity, lost.record)), Contains(file));
    lab.simulator.cluster().world.machines.erase(std::stoi(lost.record.machine_id));
    CHECK(std::holds_alternative<Gone>(lab.destroy(lost)));
}

TEST_CASE("A machine whose host left the cluster while it was made is made on another host") {
    Lab lab;
    use_two_hosts(lab);
    auto spec = lab.machine(1);
    lab.place(spec);
    const auto lost = spec.record.host;
    const bool is_begun = GENERATE(false, true);
    INFO(is_begun);
    if (is_begun) lab.step(spec);
    lab.simulator.cluster().world.machines.clear();
    leave(lab, lost);
    lab.launch(spec);
    CHECK(spec.record.host != lost);
    CHECK(lab.simulator.cluster().world.machines.size() == 1);
}

TEST_CASE("A template whose host is down for long is still known, and the messages name its host") {
    Lab lab(test::world_with_template("shared"));
    lab.config.spec.proxmox->endpoint = "https://porsche:8006/api2/json";
    lab.config.spec.proxmox->endpoints.clear();
    api::v1alpha1::Template wish;
    const auto* by = GENERATE("name", "vmid", "tags");
    INFO(by);
    if (by == std::string("name")) wish.name = "debian";
    if (by == std::string("vmid")) wish.vmid = 9000;
    if (by == std::string("tags")) wish.matchTags = {"k8s"};
    test::use_template(lab, wish);
    CHECK(lab.run(lab.provider->check()).template_message == "");
    lab.simulator.cluster().power_off_host("alfaromeo");
    lab.wait(6min);
    CHECK(lab.run(lab.provider->check()).template_message == "");
    const auto why_not = [&](const std::string& host) {
        for (const auto& offering : lab.run(lab.provider->offerings()))
            if (offering.name == host) return offering.why_not;
        return std::string("no such host");
    };
    CHECK_THAT(why_not("porsche"), Contains("template 9000 is on alfaromeo, which is offline"));
    // After a restart the operator does not know the name.
    lab.restart();
    const auto message = lab.run(lab.provider->check()).template_message;
    if (by == std::string("vmid"))
        CHECK(message == "");
    else
        CHECK_THAT(message, Contains("alfaromeo is offline"));
}

TEST_CASE("A host that sends no statistics gets no machines, says why, and its machines are looked after") {
    Lab lab;
    use_two_hosts(lab);
    auto [there, elsewhere] = launch_two(lab);
    const auto silent = there.record.host;
    lab.simulator.cluster().host(silent).sends_statistics = false;
    lab.wait(6min);
    const auto offerings = lab.run(lab.provider->offerings());
    const auto offering = std::ranges::find(offerings, silent, &HostOffering::name);
    REQUIRE(offering != offerings.end());
    CHECK_FALSE(offering->usable);
    CHECK_THAT(offering->why_not, Contains("systemctl restart pvestatd"));
    CHECK(lab.run(lab.provider->list()).size() == 2);
    CHECK(lab.run(lab.provider->get(there.identity, there.record)));
    // Its host is not known by the record, as after a migration.
    auto moved = there;
    moved.record.host = elsewhere.record.host;
    CHECK(lab.run(lab.provider->get(moved.identity, moved.record)));
    lab.simulator.cluster().stop_machine(*lab.vm(there));
    auto* starter = lab.provider->capabilities().machine_starter;
    const auto waits = lab.run(starter->start_again(there.identity, there.record));
    REQUIRE(std::holds_alternative<WaitsForStart>(waits));
    CHECK_THAT(std::get<WaitsForStart>(waits).message, Contains("systemctl restart pvestatd"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(there)));
}

TEST_CASE("A template on a host that left the cluster is not taken for an unreachable cluster") {
    Lab lab(test::world_with_template("shared"));
    lab.config.spec.proxmox->endpoint = "https://porsche:8006/api2/json";
    lab.config.spec.proxmox->endpoints.clear();
    test::use_template(lab, test::named("debian"));
    std::erase_if(lab.simulator.cluster().world.hosts,
                  [](const proxmox_simulator::Host& one) { return one.name == "alfaromeo"; });
    lab.wait(30s);
    const auto health = lab.run(lab.provider->check());
    CHECK(health.reason != "Unreachable");
}
