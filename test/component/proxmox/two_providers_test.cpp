// Tests two providers of one Proxmox cluster whose ranges of VMIDs overlap, as two Kubernetes clusters may
// have them. They choose IDs without any communication.
#include "providers/registry/registry.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::Lab;

namespace {

struct Owner {
    std::unique_ptr<Provider> provider;
    MachineSpec spec;
    bool runs = false;
};

Owner owner_in(Lab& lab, int number) {
    Owner owner;
    auto config = lab.config;
    config.name = "lab-" + std::to_string(number);
    config.uid.back() = static_cast<char>('0' + number);
    config.cluster_id.back() = static_cast<char>('0' + number);
    owner.provider = make_provider(config, lab.environment);
    owner.spec = lab.machine(number);
    owner.spec.identity.provider_uid = config.uid;
    owner.spec.identity.cluster_id = config.cluster_id;
    return owner;
}

// Makes one call, as a controller does. Temporary failures are tried again.
void step(Lab& lab, Owner& owner) {
    const auto result = lab.run(owner.provider->ensure(owner.spec));
    if (const auto* failed = std::get_if<AttemptFailed>(&result))
        FAIL(failed->reason + ": " + failed->message);
    if (const auto* machine = std::get_if<Machine>(&result)) {
        owner.spec.record = machine->record;
        owner.runs = machine->state == MachineState::running;
    }
}

void race_for_one_id(Lab& lab) {
    // Each provider begins at one of two IDs, which depends on its name. The second one is chosen to begin at
    // the same ID.
    lab.config.spec.proxmox->vmIDRange = api::v1alpha1::VMIDRange{1000, 1001};
    std::vector<Owner> owners;
    owners.push_back(owner_in(lab, 1));
    step(lab, owners.front());
    for (int number = 2; number < 10 && owners.size() < 2; ++number) {
        auto second = owner_in(lab, number);
        step(lab, second);
        if (second.spec.record.machine_id == owners.front().spec.record.machine_id)
            owners.push_back(std::move(second));
    }
    REQUIRE(owners.size() == 2);
    for (int calls = 0; calls < 200 && !(owners[0].runs && owners[1].runs); ++calls) {
        for (auto& owner : owners)
            if (!owner.runs) step(lab, owner);
        lab.wait(1s);
    }
    REQUIRE(owners[0].runs);
    REQUIRE(owners[1].runs);
    CHECK(owners[0].spec.record.machine_id != owners[1].spec.record.machine_id);
    for (const auto& owner : owners) {
        const auto* machine = lab.vm(owner.spec);
        REQUIRE(machine);
        CHECK(machine->config.at("name") == owner.spec.name);
        CHECK_THAT(machine->config.at("description"), Contains(owner.spec.identity.claim_uid));
    }
    // The first machine is removed, and the other one remains.
    auto result = lab.run(owners[0].provider->remove(owners[0].spec.identity, owners[0].spec.record, {}));
    for (int calls = 0; calls < 200 && std::holds_alternative<RemovalInProgress>(result); ++calls) {
        owners[0].spec.record.task = std::get<RemovalInProgress>(result).task;
        lab.wait(1s);
        result = lab.run(owners[0].provider->remove(owners[0].spec.identity, owners[0].spec.record, {}));
    }
    CHECK(std::holds_alternative<Gone>(result));
    CHECK(lab.vm(owners[0].spec) == nullptr);
    CHECK(lab.vm(owners[1].spec)->running);
}

}  // namespace

TEST_CASE("Of two providers that choose one VMID for a new machine each gets one of its own") {
    Lab lab;
    race_for_one_id(lab);
}

TEST_CASE("Of two providers that choose one VMID for a clone each gets one of its own") {
    Lab lab(test::world_with_template("shared"));
    test::use_template(lab, test::named("debian"));
    race_for_one_id(lab);
}

TEST_CASE("Of two providers that see their own resource pool only each gets a machine of its own") {
    Lab lab(test::with_pool_rights_alone());
    test::use_pool(lab);
    race_for_one_id(lab);
}
