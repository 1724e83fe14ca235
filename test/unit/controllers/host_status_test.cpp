// Tests the status of a NodeSmithHost. It follows from its BMC's report, its claim and its neighbours.
#include "controllers/host_status.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

using namespace controllers;
using api::ConditionStatus;
using api::v1alpha1::HostPhase;
using api::v1alpha1::HostStatus;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithHost;

namespace {

const std::string kUuid = "4c4c4544-0042-3510-8054-b4c04f4d3132";

struct Case {
    Case() {
        host.metadata.name = "a";
        host.metadata.namespace_ = "default";
        report.reachable = true;
        report.authenticated = true;
        report.power_state = "Off";
        report.health = "OK";
        report.system_uuid = kUuid;
        report.cpu_cores = 16;
        report.memory_mib = 65536;
    }
    // Returns the status after the second look at the host.
    HostStatus settled() {
        host.status = next();
        host.status = next();
        return host.status;
    }
    HostStatus next() const {
        HostFacts facts{host};
        facts.report = &report;
        facts.claim = claim ? &*claim : nullptr;
        facts.twin = twin;
        facts.node = node;
        facts.looked = objects::at(looked);
        facts.is_off_new = is_off_new;
        facts.has_ready_node = has_ready_node;
        facts.now = objects::at(now);
        return next_host_status(facts);
    }
    void take(HostPhase phase) {
        settled();
        claim.emplace();
        claim->metadata.name = "c";
        claim->metadata.uid = "uid-of-c";
        host.status.claimRef = api::v1alpha1::ClaimReference{"c", "uid-of-c"};
        host.status.phase = phase;
        objects::set_condition(host.status.conditions, "Ready", ConditionStatus::False, objects::at(now),
                               "Joining");
    }
    std::string reason() { return api::find_condition(host.status.conditions, "Ready")->reason; }

    NodeSmithHost host;
    providers::HostReport report;
    std::optional<NodeSmithClaim> claim;
    std::string twin;
    std::string node;
    bool is_off_new = false;
    bool has_ready_node = false;
    std::chrono::seconds now{100};
    std::chrono::seconds looked{100};
};

}  // namespace

TEST_CASE("a host that was examined can be given to a claim once its identity was compared") {
    Case c;
    CHECK(c.next().phase == HostPhase::Discovering);
    const auto status = c.settled();
    CHECK(status.phase == HostPhase::Available);
    CHECK(api::is_true(status.conditions, "Ready"));
    CHECK(status.systemUUID == kUuid);
    CHECK(status.capacity->cpuCores == 16);
}

TEST_CASE("a second look that shows nothing new changes nothing") {
    Case c;
    const auto before = c.settled();
    c.now += std::chrono::hours{1};
    CHECK(c.next() == before);
}

TEST_CASE("what is wrong with a host keeps it from claims and says why") {
    Case c;
    SECTION("no answer") {
        c.report.reachable = false;
        c.report.authenticated = false;
        c.report.reason = "Unreachable";
        c.settled();
        CHECK(c.reason() == "Unreachable");
    }
    SECTION("refused credentials") {
        c.report.authenticated = false;
        c.report.reason = "Unauthorized";
        c.settled();
        CHECK(c.reason() == "Unauthorized");
        CHECK(api::is_true(c.host.status.conditions, "Reachable"));
    }
    SECTION("no UUID that identifies") {
        c.report.system_uuid.clear();
        c.settled();
        CHECK(c.reason() == "NoSystemUUID");
    }
    SECTION("another UUID than the pinned one") {
        c.host.spec.systemUUID = "99999999-0042-3510-8054-b4c04f4d3132";
        c.settled();
        CHECK(c.reason() == "SystemUUIDMismatch");
    }
    SECTION("listed twice") {
        c.twin = "default/older";
        c.settled();
        CHECK(c.reason() == "DuplicateHost");
    }
    SECTION("broken") {
        c.report.health = "Critical";
        c.settled();
        CHECK(c.reason() == "Critical");
    }
    SECTION("failed before") {
        c.host.status.failures = 3;
        c.host.status.nextRetryTime = objects::at(std::chrono::hours{1});
        c.settled();
        CHECK(c.reason() == "BackingOff");
        c.now = std::chrono::hours{2};
        c.settled();
        CHECK(c.reason() == "Ready");
    }
    SECTION("no figures") {
        c.report.cpu_cores = 0;
        c.settled();
        CHECK(c.reason() == "CapacityUnknown");
    }
    CHECK(c.host.status.phase != std::optional(HostPhase::InUse));
}

TEST_CASE("the pinned UUID may be written in the other byte order") {
    Case c;
    c.host.spec.systemUUID = "44454c4c-4200-1035-8054-b4c04f4d3132";
    CHECK(c.settled().phase == HostPhase::Available);
}

TEST_CASE("a host that is on and nobody's is left alone unless the user says otherwise") {
    Case c;
    c.report.power_state = "On";
    c.node = "worker-7";
    CHECK(c.settled().phase == HostPhase::Foreign);
    CHECK(c.reason() == "InUseByOthers");
    CHECK(api::find_condition(c.host.status.conditions, "Ready")->message.find("worker-7") !=
          std::string::npos);
    c.host.metadata.annotations["kubenodesmith.io/adopt"] = "true";
    CHECK(c.settled().phase == HostPhase::Available);
}

TEST_CASE("what the lock of other clusters says of a host is a condition, also after a restart") {
    Case c;
    c.report.lock = providers::LockReport{false, "InUseByOthers", "another cluster has it"};
    auto status = c.settled();
    CHECK(status.phase == HostPhase::Foreign);
    CHECK(c.reason() == "InUseByOthers");
    CHECK(api::is_false(status.conditions, "Lockable"));
    // The next process has not looked yet.
    HostFacts facts{c.host};
    facts.now = objects::at(c.now);
    CHECK(next_host_status(facts) == status);
    c.report.lock = providers::LockReport{false, "AssetTagTaken", "its AssetTag is somebody's"};
    CHECK(c.settled().phase == HostPhase::Quarantined);
    CHECK(c.reason() == "AssetTagTaken");
    c.report.lock = providers::LockReport{true, "Free", "its AssetTag carries no mark"};
    CHECK(c.settled().phase == HostPhase::Available);
    // The provider no longer locks hosts.
    c.report.lock.reset();
    CHECK_FALSE(api::find_condition(c.settled().conditions, "Lockable"));
}

TEST_CASE("a host that somebody else turned on is free only when two looks say that it is off") {
    Case c;
    c.report.power_state = "On";
    CHECK(c.settled().phase == HostPhase::Foreign);
    c.report.power_state = "Off";
    c.is_off_new = true;
    CHECK(c.settled().phase == HostPhase::Foreign);
    CHECK(c.reason() == "InUseByOthers");
    c.is_off_new = false;
    CHECK(c.settled().phase == HostPhase::Available);
}

TEST_CASE("that it runs its claim's Node proves whose a host is, until it was off") {
    Case c;
    c.take(HostPhase::Joining);
    c.report.power_state = "On";
    objects::set_condition(c.claim->status.conditions, "Registered", ConditionStatus::True,
                           objects::at(c.now), "Registered");
    CHECK_FALSE(c.settled().wokenTime);
    c.has_ready_node = true;
    REQUIRE(c.settled().wokenTime == objects::at(c.now));
    c.report.power_state = "Off";
    c.has_ready_node = false;
    SECTION("what its BMC said before proves nothing") {
        c.now += std::chrono::hours{1};
        CHECK(c.settled().wokenTime);
    }
    SECTION("its power cycle turned it off, and may have turned it on again") {
        c.now = c.looked = std::chrono::hours{1};
        objects::set_condition(c.claim->status.conditions, "PowerCycled", ConditionStatus::False,
                               objects::at(c.now), "SwitchingOn");
        CHECK(c.settled().wokenTime);
        objects::set_condition(c.claim->status.conditions, "PowerCycled", ConditionStatus::True,
                               objects::at(c.now), "PowerFailed");
        CHECK_FALSE(c.settled().wokenTime);
    }
    SECTION("one look that says so is not enough, nor are two if its Node is Ready") {
        c.now = c.looked = std::chrono::hours{1};
        c.is_off_new = true;
        CHECK(c.settled().wokenTime);
        c.is_off_new = false;
        c.has_ready_node = true;
        CHECK(c.settled().wokenTime);
    }
    SECTION("and it is on again") {
        c.now = c.looked = std::chrono::hours{1};
        CHECK_FALSE(c.settled().wokenTime);
        c.report.power_state = "On";
        CHECK_FALSE(c.settled().wokenTime);
        c.has_ready_node = true;
        CHECK(c.settled().wokenTime == objects::at(c.now));
    }
}

TEST_CASE("capacity is what the user says, else what the Node said, else what the BMC says") {
    Case c;
    c.take(HostPhase::Joining);
    c.claim->status.capacity = {{"cpu", api::Quantity::of(16)},
                                {"memory", api::Quantity::of_mebibytes(64000)}};
    CHECK(c.settled().capacity->memoryMiB == 64000);
    c.claim.reset();
    c.host.status.claimRef.reset();
    CHECK(c.settled().capacity->memoryMiB == 64000);
    SECTION("its kubelet lies") {
        c.take(HostPhase::Joining);
        c.claim->status.capacity = {{"cpu", api::Quantity::of(1)},
                                    {"memory", api::Quantity::of_mebibytes(1)}};
        CHECK(c.settled().capacity->cpuCores == c.report.cpu_cores);
        CHECK(c.host.status.capacity->memoryMiB == c.report.memory_mib);
    }
    SECTION("memory was added") {
        c.report.memory_mib = 131072;
        CHECK(c.settled().capacity->memoryMiB == 131072);
    }
    SECTION("the user knows better") {
        c.host.spec.capacity = api::v1alpha1::HostCapacity{8, 0, {}};
        CHECK(c.settled().capacity->cpuCores == 8);
        CHECK(c.host.status.capacity->memoryMiB == 64000);
    }
}

TEST_CASE("what device plugins offer is learned from the Node, and the user knows better") {
    Case c;
    c.take(HostPhase::Joining);
    c.claim->status.capacity = {{"cpu", api::Quantity::of(16)},
                                {"memory", api::Quantity::of_mebibytes(64000)},
                                {"pods", api::Quantity::of(110)},
                                {"example.org/gpu", api::Quantity::of(4)},
                                {"example.org/fpga", api::Quantity::of(0)}};
    const api::ResourceList learned{{"example.org/gpu", api::Quantity::of(4)}};
    CHECK(c.settled().capacity->extended == learned);
    c.claim.reset();
    c.host.status.claimRef.reset();
    CHECK(c.settled().capacity->extended == learned);
    c.host.spec.capacity.emplace().extended = {{"example.org/gpu", api::Quantity::of(2)}};
    CHECK(c.settled().capacity->extended.at("example.org/gpu") == api::Quantity::of(2));
}

TEST_CASE("a kubelet that states more devices than a machine has is not believed") {
    Case c;
    c.take(HostPhase::Joining);
    c.claim->status.capacity = {{"cpu", api::Quantity::of(16)},
                                {"memory", api::Quantity::of_mebibytes(64000)},
                                {"example.org/all", api::Quantity::of(INT64_MAX)},
                                {"example.org/few", api::Quantity::of(8)},
                                {"example.org/less", api::Quantity::of(-1)}};
    CHECK(c.settled().capacity->extended == api::ResourceList{{"example.org/few", api::Quantity::of(8)}});
    for (int i = 0; i < 200; ++i)
        c.claim->status.capacity["example.org/" + std::to_string(i)] = api::Quantity::of(1);
    CHECK(c.settled().capacity->extended.size() == 16);
}

TEST_CASE("a kubelet that states more than is known is not believed either while the BMC says nothing") {
    Case c;
    const auto known = *c.settled().capacity;
    c.report.reachable = false;
    c.take(HostPhase::Joining);
    c.claim->status.capacity = {{"cpu", api::Quantity::of(1000)}, {"memory", api::Quantity::of_mebibytes(1)}};
    CHECK(c.settled().capacity->cpuCores == known.cpuCores);
    CHECK(c.settled().capacity->memoryMiB == known.memoryMiB);
}

TEST_CASE("a power draw that hardly changes is no news") {
    Case c;
    c.report.power_watts = 200;
    CHECK(c.settled().powerWatts == 200);
    c.report.power_watts = 215;
    CHECK(c.settled().powerWatts == 200);
    c.report.power_watts = 240;
    CHECK(c.settled().powerWatts == 240);
    c.report.power_watts.reset();
    CHECK_FALSE(c.settled().powerWatts);
}

TEST_CASE("a host follows its claim, and learns how long it takes to wake") {
    Case c;
    c.take(HostPhase::Joining);
    c.now += std::chrono::seconds{180};
    CHECK(c.next().phase == HostPhase::Joining);
    objects::set_condition(c.claim->status.conditions, "Registered", ConditionStatus::True,
                           objects::at(c.now));
    c.host.status.failures = 2;
    c.settled();
    CHECK(c.host.status.phase == HostPhase::InUse);
    CHECK(c.host.status.wakeSeconds == 180);
    CHECK(c.host.status.failures == 0);
    c.claim->metadata.deletionTimestamp = objects::at(c.now);
    CHECK(c.settled().phase == HostPhase::Draining);
    c.host.status.phase = HostPhase::PoweringOff;
    CHECK(c.settled().phase == HostPhase::PoweringOff);
}

TEST_CASE("the board of a reserved host was replaced: the host is no longer who it was") {
    Case c;
    c.take(HostPhase::InUse);
    c.report.system_uuid = "99999999-0042-3510-8054-b4c04f4d3132";
    SECTION("while its claim is there") {}
    // Otherwise another machine would be turned off as the claim's.
    SECTION("and after a user took the finalizers off its claim") {
        c.claim.reset();
    }
    c.settled();
    CHECK(c.host.status.systemUUID == kUuid);
    CHECK(api::find_condition(c.host.status.conditions, "IdentityVerified")->reason == "SystemUUIDMismatch");
}

TEST_CASE("what a host that is off no longer shows stays as it was known, until it is on") {
    Case c;
    c.report.macs = {"52:54:00:aa:bb:01"};
    c.report.disks = {{"NVMe", 960, 2}, {"SSD", 480, 2}};
    c.report.architecture = "arm64";
    const auto known = c.settled();
    c.report.macs.clear();
    c.report.disks = {{"SSD", 480, 2}};
    c.report.architecture.clear();
    c.report.power_state = "Off";
    CHECK(c.settled() == known);
    c.report.power_state = "On";
    const auto on = c.settled();
    CHECK(on.macs.empty());
    CHECK(on.disks.size() == 1);
    CHECK(on.architecture.empty());
}

TEST_CASE("what could not be read of a host stays as it was known") {
    Case c;
    c.report.macs = {"52:54:00:aa:bb:01"};
    c.report.disks = {{"NVMe", 960, 2}};
    c.report.ports = {{25000, 2}};
    c.report.accelerators = {{"GPU", "Contoso G1", 4}};
    c.report.architecture = "amd64";
    c.report.bmc_version = "1.2";
    const auto known = c.settled();
    CHECK(known.accelerators.front().count == 4);
    using providers::Part;
    c.report.unread = {Part::processors, Part::interfaces, Part::storage,
                       Part::chassis,    Part::adapters,   Part::manager};
    c.report.macs.clear();
    c.report.disks.clear();
    c.report.ports.clear();
    c.report.accelerators.clear();
    c.report.architecture.clear();
    c.report.bmc_version.clear();
    c.report.flaws = {"Storage: HTTP status 503"};
    auto after = c.settled();
    CHECK(after.phase == HostPhase::Available);
    CHECK_FALSE(api::is_true(after.conditions, "InventoryComplete"));
    after.conditions = known.conditions;
    CHECK(after == known);
}

TEST_CASE("a host that is absent or being updated is given to no claim, and one in use stays in use") {
    for (const auto* state : {"Absent", "Updating"}) {
        Case c;
        c.report.state = state;
        CHECK(c.settled().phase == HostPhase::Quarantined);
        CHECK(c.reason() == state);
        c.report.state.clear();
        CHECK(c.settled().phase == HostPhase::Available);
        c.take(HostPhase::InUse);
        c.report.state = state;
        objects::set_condition(c.claim->status.conditions, "Registered", ConditionStatus::True,
                               objects::at(c.now), "Registered");
        CHECK(c.settled().phase == HostPhase::InUse);
    }
}

TEST_CASE("a look that tells no identity or power leaves what is known of the host") {
    Case c;
    const auto known = c.settled();
    c.report.reason = "UnexpectedAnswer";
    c.report.message = "its BMC tells no power state at the moment";
    c.report.power_state.clear();
    c.report.system_uuid.clear();
    const auto after = c.settled();
    CHECK(after.powerState == known.powerState);
    CHECK(after.systemUUID == known.systemUUID);
    CHECK(api::is_true(after.conditions, "IdentityVerified"));
    CHECK(c.reason() == "UnexpectedAnswer");
}

TEST_CASE("of cores and memory only what the BMC does not tell has to be stated") {
    Case c;
    c.report.cpu_cores = 0;
    CHECK(c.settled().capacity->memoryMiB == c.report.memory_mib);
    const auto message = [&] { return api::find_condition(c.host.status.conditions, "Ready")->message; };
    CHECK(message() == "its BMC does not tell its cores; set spec.capacity.cpuCores");
    c.host.spec.capacity = api::v1alpha1::HostCapacity{8, 0, {}};
    CHECK(c.settled().phase == HostPhase::Available);
    Case other;
    other.report.memory_mib = 0;
    other.settled();
    CHECK(api::find_condition(other.host.status.conditions, "Ready")->message.find("memoryMiB") !=
          std::string::npos);
}

TEST_CASE("a host that is deleted while a claim has it says what it waits for") {
    Case c;
    c.take(HostPhase::Joining);
    c.settled();
    c.host.metadata.deletionTimestamp = objects::at(c.now);
    c.settled();
    const auto message = api::find_condition(c.host.status.conditions, "Ready")->message;
    CHECK(message.find("is being deleted: waiting until claim c has returned it") != std::string::npos);
    CHECK(c.settled().phase == HostPhase::Joining);
    CHECK(api::find_condition(c.host.status.conditions, "Ready")->message == message);
}
