// Tests NodeSmithHosts in a cluster: discovered, compared with each other, locked, and queried no more than
// needed.
#include "controllers/host_reconciler.hpp"
#include "controllers/services/host_inventory.hpp"
#include "test/simulators/redfish/transport.hpp"
#include "test/support/catch.hpp"
#include "test/support/redfish_objects.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/cluster.hpp"
#include "test/unit/controllers/objects.hpp"

using api::v1alpha1::HostPhase;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithHost;
using api::v1alpha1::NodeSmithProvider;
using redfish_simulator::Profile;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const api::ObjectKey kA{"default", "a"};

struct Rack : test::Cluster {
    Rack() {
        server.put(test::bmc_credentials(Profile{}.password));
        server.put(test::rack_provider());
        add("host", hosts);
    }
    redfish_simulator::Bmc& put(const std::string& name, Profile profile = {}) {
        server.put(test::rack_host(name));
        return network.add("https://" + name, std::move(profile));
    }
    NodeSmithHost host(const std::string& name) {
        return server.get<NodeSmithHost>({"default", name}).value();
    }
    std::string reason(const std::string& name, std::string_view type = "Ready") {
        const auto object = host(name);
        const auto* condition = api::find_condition(object.status.conditions, type);
        return condition ? condition->reason : std::string();
    }
    // Returns the host as a backend sees it.
    providers::Host seen(const std::string& name) {
        return test::run(context, clock, inventory.read("default", name)).value();
    }
    std::optional<providers::Host> take(providers::Host before, const std::string& claim) {
        auto use = before.use;
        use.owner = providers::HostOwner{claim, "uid-of-" + claim};
        use.stage = providers::HostStage::reserved;
        return test::run(context, clock, inventory.write(std::move(before), use, "reserved for " + claim));
    }

    redfish_simulator::Network network{clock};
    controllers::KubernetesHostInventory inventory{informers, client, clock, events};
    providers::ProviderEnvironment environment{
        context.get_executor(),
        clock,
        *random,
        metrics,
        [this](base::HttpClientOptions options) { return network.connect(options); },
        [] { return true; },
        &inventory};
    controllers::ProviderInstances instances{informers, client, environment};
    controllers::HostReconciler hosts{informers, client, clock, *random, events, metrics, instances};
};

}  // namespace

TEST_CASE("hosts are discovered, each with one look, and then left in peace") {
    Rack rack;
    auto& bmc = rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    CHECK(rack.host("a").status.phase == HostPhase::Available);
    CHECK(rack.host("a").status.capacity->cpuCores == 16);
    CHECK(rack.host("a").status.macs == std::vector<std::string>{"52:54:00:aa:bb:01"});
    CHECK(rack.network.connections == 0);
    const auto asked = bmc.exchanges().size();
    const auto writes = rack.writes();
    rack.run_for(minutes{30});
    CHECK(bmc.exchanges().size() - asked <= 4);
    CHECK(rack.writes() == writes);
}

TEST_CASE("a host in maintenance is as a person wants it, and can be given to a claim afterwards") {
    Rack rack;
    rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) { host.spec.maintenance = true; });
    rack.start();
    rack.run_for(seconds{20});
    CHECK(rack.host("a").status.phase == HostPhase::Maintenance);
    CHECK(api::is_true(rack.host("a").status.conditions, "Ready"));
    CHECK(rack.reason("a") == "Maintenance");
    CHECK(rack.reason("a", "Stalled").empty());
    CHECK_THAT(rack.metrics.exposition(),
               Catch::Contains("kubenodesmith_host_ready{namespace=\"default\",host=\"a\"} 0"));
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& edited) { edited.spec.maintenance = false; });
    rack.run_for(minutes{1});
    CHECK(rack.host("a").status.phase == HostPhase::Available);
    CHECK(rack.seen("a").readiness->is_ready);
}

TEST_CASE("a host that others had turned on is looked at twice before it is free") {
    Rack rack;
    auto& bmc = rack.put("a");
    bmc.set_power(redfish_simulator::Power::on);
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(rack.host("a").status.phase == HostPhase::Foreign);
    bmc.set_power(redfish_simulator::Power::off);
    int doubted = 0;
    for (int i = 0; i < 90 && rack.host("a").status.phase == HostPhase::Foreign; ++i) {
        rack.run_for(seconds{10});
        const auto& status = rack.host("a").status;
        if (status.phase == HostPhase::Foreign && status.powerState == "Off") ++doubted;
    }
    CHECK(rack.host("a").status.phase == HostPhase::Available);
    CHECK(doubted >= 5);
    CHECK(doubted <= 7);
}

TEST_CASE("after its maintenance a host is unfit until it was looked at again") {
    Rack rack;
    rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) {
        objects::set_condition(host.status.conditions, "Ready", api::ConditionStatus::True, objects::kStart,
                               "Maintenance");
    });
    CHECK_FALSE(rack.seen("a").is_in_maintenance);
    CHECK_FALSE(rack.seen("a").readiness->is_ready);
}

TEST_CASE("a machine that is listed twice is found, whoever is looked at first") {
    Rack rack;
    rack.put("a", {.uuid = "4c4c4544-0042-3510-8054-b4c04f4d3132"});
    rack.run_for(seconds{2});
    rack.put("b", {.uuid = "44454c4c-4200-1035-8054-b4c04f4d3132"});
    rack.start();
    rack.run_for(minutes{1});
    CHECK(rack.reason("a") == "Ready");
    CHECK(rack.reason("b") == "DuplicateHost");
    rack.server.remove<NodeSmithHost>(kA);
    rack.run_for(minutes{1});
    CHECK(rack.reason("b") == "Ready");
}

TEST_CASE("a webhook that blocks a host's Secret is named, and the host is still examined and kept") {
    Rack rack;
    rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) {
        host.spec.bmc.credentialsSecretRef = api::v1alpha1::SecretReference{"bmc", ""};
    });
    rack.start();
    rack.run_for(seconds{20});
    const auto refuse = [](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const bool is_of_secret =
            request.method == "PATCH" && request.target.find("/secrets/") != std::string::npos;
        if (!is_of_secret) return std::nullopt;
        return fake::status_response(500, "InternalError", "failed calling webhook \"guard.example\"");
    };
    const auto is_held = [&rack] {
        const auto secret = rack.server.get<api::Secret>({"default", "bmc"});
        return api::has_finalizer(secret->metadata, api::finalizers::kCredentials);
    };
    rack.requests.answer = refuse;
    REQUIRE(rack.take(rack.seen("a"), "first"));
    rack.run_for(minutes{1});
    CHECK(rack.events.count("CredentialsNotProtected: Secret default/bmc") >= 1);
    CHECK(rack.host("a").status.phase != HostPhase::Available);
    rack.requests.answer = {};
    rack.run_for(minutes{2});
    REQUIRE(is_held());

    rack.requests.answer = refuse;
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) { host.status.claimRef.reset(); });
    rack.run_for(minutes{1});
    CHECK(rack.events.count("CredentialsNotReleased: Secret default/bmc") >= 1);
    CHECK(rack.host("a").status.phase == HostPhase::Available);
    rack.server.remove<NodeSmithHost>(kA);
    rack.run_for(minutes{2});
    CHECK(rack.server.get<NodeSmithHost>(kA));
    rack.requests.answer = {};
    rack.run_for(minutes{2});
    CHECK_FALSE(is_held());
    CHECK_FALSE(rack.server.get<NodeSmithHost>(kA));
}

TEST_CASE("a host is taken once, and not deleted while it is taken") {
    Rack rack;
    rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    const auto before = rack.seen("a");
    REQUIRE(rack.take(before, "first"));
    CHECK_FALSE(rack.take(before, "second"));
    CHECK(rack.host("a").status.claimRef->name == "first");
    CHECK(api::has_finalizer(rack.host("a").metadata, api::finalizers::kHost));
    rack.server.remove<NodeSmithHost>(kA);
    rack.run_for(minutes{1});
    REQUIRE(rack.server.get<NodeSmithHost>(kA));
    const auto taken = rack.seen("a");
    auto use = taken.use;
    use.owner.reset();
    use.stage = providers::HostStage::other;
    REQUIRE(test::run(rack.context, rack.clock, rack.inventory.write(taken, use, "was given back")));
    rack.run_for(minutes{1});
    CHECK_FALSE(rack.server.get<NodeSmithHost>(kA));
}

TEST_CASE("a host that a claim takes while its finalizer is being removed keeps it") {
    Rack rack;
    rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(rack.take(rack.seen("a"), "first"));
    rack.run_for(minutes{1});
    const auto taken = rack.seen("a");
    auto use = taken.use;
    use.owner.reset();
    use.stage = providers::HostStage::other;
    bool is_taken_again = false;
    rack.requests.on_request = [&](const base::HttpRequest& request) {
        const bool drops =
            request.method == "PATCH" && request.target.find("/nodesmithhosts/a?") != std::string::npos;
        if (!drops || std::exchange(is_taken_again, true)) return;
        rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) {
            host.status.claimRef = api::v1alpha1::ClaimReference{"second", "uid"};
        });
    };
    REQUIRE(test::run(rack.context, rack.clock, rack.inventory.write(taken, use, "was given back")));
    rack.run_for(minutes{1});
    REQUIRE(is_taken_again);
    CHECK(rack.host("a").status.claimRef->name == "second");
    CHECK(api::has_finalizer(rack.host("a").metadata, api::finalizers::kHost));
}

TEST_CASE("a deleted host stays until the claim that was on it has ended, as it is looked at once more") {
    Rack rack;
    rack.put("a");
    NodeSmithClaim claim;
    claim.metadata.name = "first";
    claim.metadata.namespace_ = "default";
    claim.status.host = "a";
    claim.status.providerRef = rack.host("a").spec.providerRef;
    rack.server.put(claim);
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(rack.take(rack.seen("a"), "first"));
    rack.server.remove<NodeSmithHost>(kA);
    auto use = rack.seen("a").use;
    use.owner.reset();
    use.stage = providers::HostStage::other;
    REQUIRE(test::run(rack.context, rack.clock, rack.inventory.write(rack.seen("a"), use, "was given back")));
    rack.run_for(minutes{10});
    CHECK(rack.server.get<NodeSmithHost>(kA));
    rack.server.remove<NodeSmithClaim>({"default", "first"});
    rack.run_for(minutes{1});
    CHECK_FALSE(rack.server.get<NodeSmithHost>(kA));
}

TEST_CASE(
    "a deleted host whose claim and provider were taken away by force is let go, and an Event says so") {
    Rack rack;
    rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(rack.take(rack.seen("a"), "first"));
    rack.server.remove<NodeSmithHost>(kA);
    rack.run_for(minutes{10});
    REQUIRE(rack.server.get<NodeSmithHost>(kA));
    const api::ObjectKey provider{"default", rack.host("a").spec.providerRef};
    rack.server.edit<NodeSmithProvider>(provider, [](auto& edited) { edited.metadata.finalizers.reset(); });
    rack.server.remove<NodeSmithProvider>(provider);
    rack.run_for(minutes{20});
    CHECK_FALSE(rack.server.get<NodeSmithHost>(kA));
    CHECK(rack.events.count("ReleasedUnseen") == 1);
}

TEST_CASE("a backend sees of a host what its user wrote and what is known") {
    Rack rack;
    rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) {
        host.metadata.labels = api::StringMap{{"rack", "7"}};
        host.spec.bmc.systemID = "Blade1";
        host.spec.bmc.credentialsSecretRef = api::v1alpha1::SecretReference{"own", "elsewhere"};
        host.spec.bmc.tls = api::v1alpha1::TlsConfig{"PEM", "AB:CD", true};
        host.spec.bootMACAddress = "52:54:00:aa:bb:02";
        host.spec.nodeName = "node-a";
        host.spec.priority = 3;
        host.spec.maintenance = true;
        host.spec.quirks = {"basicAuth"};
        host.status.phase = HostPhase::InUse;
        host.status.claimRef = api::v1alpha1::ClaimReference{"c", "uid-of-c"};
        host.status.powerState = "On";
        host.status.systemUUID = "4c4c4544-0042-3510-8054-b4c04f4d3132";
        host.status.macs = {"52:54:00:aa:bb:01"};
        host.status.capacity = api::v1alpha1::HostCapacity{16, 65536, {}};
        host.status.failures = 2;
        host.status.lastFailure = "no boot target";
        host.status.nextRetryTime = api::Time::parse("2026-01-01T00:00:00Z");
        host.status.wokenTime = api::Time::parse("2026-01-01T00:00:01Z");
        host.spec.systemUUID = "4c4c4544-0042-3510-8054-b4c04f4d3132";
        host.metadata.annotations["kubenodesmith.io/adopt"] = "true";
        host.status.refusedCredentials.emplace().secret = "own@7";
        api::set_condition(host.status.conditions,
                           {"Ready", api::ConditionStatus::True, "Ready", "is fine", {}}, {});
        api::set_condition(host.status.conditions,
                           {"Reachable", api::ConditionStatus::True, "Reachable", "", {}}, {});
    });
    const auto host = rack.seen("a");
    CHECK(host.name == "a");
    CHECK(host.labels.at("rack") == "7");
    CHECK_FALSE(host.is_being_deleted);
    CHECK(host.bmc == providers::BmcAddress{"https://a", "Blade1", providers::SecretName{"own", "elsewhere"},
                                            "PEM", "AB:CD", true});
    CHECK(host.boot_mac == "52:54:00:aa:bb:02");
    CHECK(host.node_name == "node-a");
    CHECK(host.priority == 3);
    CHECK(host.is_in_maintenance);
    CHECK(host.quirks == std::vector<std::string>{"basicAuth"});
    CHECK((host.readiness && host.readiness->is_ready && host.readiness->message == "is fine"));
    CHECK(host.is_reachable);
    CHECK(host.power_state == "On");
    CHECK(host.system_uuid == "4c4c4544-0042-3510-8054-b4c04f4d3132");
    CHECK(host.macs == std::vector<std::string>{"52:54:00:aa:bb:01"});
    CHECK(host.capacity == providers::Capacity{16, 65536});
    CHECK(host.use == providers::HostUse{providers::HostOwner{"c", "uid-of-c"}, providers::HostStage::in_use,
                                         2, api::Time::parse("2026-01-01T00:00:00Z").at,
                                         api::Time::parse("2026-01-01T00:00:01Z").at, "no boot target"});
    CHECK(host.is_given);
    CHECK(host.pinned_uuid == "4c4c4544-0042-3510-8054-b4c04f4d3132");
    CHECK(host.refused_credentials == "own@7");
}

TEST_CASE("what a backend writes of a host is its phase, its claim and a reason why it is not ready") {
    Rack rack;
    rack.put("a");
    const std::pair<providers::HostStage, HostPhase> stages[] = {
        {providers::HostStage::reserved, HostPhase::Reserved},
        {providers::HostStage::powering_on, HostPhase::PoweringOn},
        {providers::HostStage::joining, HostPhase::Joining},
        {providers::HostStage::powering_off, HostPhase::PoweringOff},
        {providers::HostStage::wiping, HostPhase::Wiping},
        {providers::HostStage::other, HostPhase::Discovering}};
    const std::string reasons[] = {"Reserved",    "PoweringOn", "Joining",
                                   "PoweringOff", "Wiping",     "Discovering"};
    const auto* reason = std::begin(reasons);
    for (const auto& [stage, phase] : stages) {
        const auto before = rack.seen("a");
        const providers::HostUse use{providers::HostOwner{"c", "uid-of-c"}, stage, 1,
                                     api::Time::parse("2026-01-01T00:00:00Z").at,
                                     api::Time::parse("2026-01-01T00:00:01Z").at};
        const auto after = test::run(rack.context, rack.clock, rack.inventory.write(before, use, "because"));
        REQUIRE(after);
        CHECK(after->use == use);
        CHECK_FALSE(after->readiness->is_ready);
        CHECK(after->readiness->message == "because");
        CHECK(rack.host("a").status.phase == phase);
        CHECK(rack.host("a").status.claimRef->uid == "uid-of-c");
        CHECK(rack.host("a").status.nextRetryTime->str() == "2026-01-01T00:00:00Z");
        CHECK(rack.reason("a") == *reason++);
        // The same result again causes no write.
        const auto writes = rack.writes();
        REQUIRE(test::run(rack.context, rack.clock, rack.inventory.write(*after, use, "because")));
        CHECK(rack.writes() == writes);
    }
}

TEST_CASE("what is written without a message leaves phase and readiness as they are") {
    Rack rack;
    rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) { host.status.phase = HostPhase::Draining; });
    const auto before = rack.seen("a");
    auto use = before.use;
    use.woken = api::Time::parse("2026-01-01T00:00:01Z").at;
    REQUIRE(test::run(rack.context, rack.clock, rack.inventory.write(before, use, "")));
    CHECK(rack.host("a").status.phase == HostPhase::Draining);
    CHECK(rack.host("a").status.wokenTime->str() == "2026-01-01T00:00:01Z");
}

TEST_CASE("a host that is tried again later can be given to a claim at that time, and not at the next poll") {
    Rack rack;
    rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(rack.reason("a") == "Ready");
    rack.server.edit<NodeSmithHost>(kA, [&rack](NodeSmithHost& host) {
        host.status.failures = 1;
        host.status.nextRetryTime = api::Time(rack.clock.wall_now() + minutes{1});
        host.status.phase = HostPhase::Discovering;
    });
    rack.run_for(seconds{50});
    CHECK(rack.reason("a") == "BackingOff");
    rack.run_for(seconds{15});
    CHECK(rack.reason("a") == "Ready");
}

TEST_CASE("what is about to be done to a host is told on it") {
    Rack rack;
    rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    rack.inventory.announce(rack.seen("a"), "CuttingPower", "is switched off by force: because");
    CHECK(rack.events.count("NodeSmithHost a CuttingPower: is switched off by force") == 1);
}

TEST_CASE("what a BMC tells wrong costs that field, and a condition names it") {
    Rack rack;
    rack.put("a",
             {.macs = {"52:54:00:aa:bb:01", "52:54:00:AA:BB:01", "not available"}, .port_gbps = {25, 25}});
    rack.start();
    rack.run_for(seconds{20});
    CHECK(rack.reason("a") == "Ready");
    CHECK(rack.host("a").status.macs == std::vector<std::string>{"52:54:00:aa:bb:01"});
    CHECK(rack.reason("a", "InventoryComplete") == "Incomplete");
    CHECK(rack.host("a").status.diskSummary == "2x960GB NVMe");
    CHECK(rack.host("a").status.portSummary == "2x25G");
}

TEST_CASE("refused credentials are sent again when the Secret changes, and not before") {
    Rack rack;
    auto& bmc = rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) {
        host.spec.bmc.credentialsSecretRef = api::v1alpha1::SecretReference{"own", ""};
    });
    rack.start();
    rack.run_for(minutes{5});
    CHECK(rack.reason("a", "Reachable") == "SecretMissing");
    api::Secret own;
    own.metadata.name = "own";
    own.metadata.namespace_ = "default";
    own.data = {{"username", api::Bytes{"admin"}}, {"password", api::Bytes{"wrong"}}};
    rack.server.put(own);
    rack.run_for(minutes{30});
    CHECK(rack.reason("a") == "Unauthorized");
    CHECK(bmc.wrong_passwords() == 2);
    rack.server.edit<api::Secret>({"default", "own"}, [](api::Secret& secret) {
        secret.data["password"] = api::Bytes{Profile{}.password};
    });
    rack.run_for(seconds{75});
    CHECK(rack.reason("a") == "Ready");
}

TEST_CASE("a Secret that is corrected soon after the first refusal is noticed within seconds") {
    Rack rack;
    auto& bmc = rack.put("a");
    rack.server.edit<NodeSmithHost>(kA, [](NodeSmithHost& host) {
        host.spec.bmc.credentialsSecretRef = api::v1alpha1::SecretReference{"own", ""};
    });
    auto own = test::bmc_credentials("wrong");
    own.metadata.name = "own";
    rack.server.put(own);
    rack.start();
    rack.run_for(seconds{3});
    REQUIRE(rack.reason("a") == "Unauthorized");
    rack.server.edit<api::Secret>({"default", "own"}, [](api::Secret& secret) {
        secret.data["password"] = api::Bytes{Profile{}.password};
    });
    rack.run_for(seconds{10});
    CHECK(rack.reason("a") == "Ready");
    // The password was sent to a session and, because this BMC may have none, by Basic.
    CHECK(bmc.wrong_passwords() == 2);
}

TEST_CASE("a provider's Secret is read again when its hosts refuse it") {
    Rack rack;
    rack.server.put(test::bmc_credentials("wrong"));
    std::vector<kube::ObjectKey> told;
    rack.instances.on_refusal([&told](const kube::ObjectKey& provider) { told.push_back(provider); });
    rack.put("a");
    rack.put("b");
    rack.start();
    rack.run_for(seconds{4});
    const kube::ObjectKey provider{"default", test::rack_provider().metadata.name};
    CHECK(told == std::vector{provider});
    for (int host = 0; host < 20; ++host) {
        rack.put("host-" + std::to_string(host));
        rack.run_for(seconds{3});
    }
    told.clear();
    rack.run_for(minutes{10});
    CHECK(told.size() >= 10);
    CHECK(told.size() <= 30);
}

TEST_CASE("a BMC that does not answer is asked less and less, whichever process asks") {
    Rack rack;
    rack.put("a");
    rack.network.unplug("https://a");
    rack.start();
    rack.run_for(minutes{60});
    CHECK(rack.reason("a") == "Unreachable");
    const auto failed = rack.host("a").status.failedLooks;
    CHECK(failed == 6);
    const auto writes = rack.writes();
    rack.run_for(minutes{60});
    CHECK(rack.writes() == writes);

    const auto asked = rack.network.calls;
    std::size_t at_once = 0;
    for (int i = 0; i < 20; ++i) {
        controllers::HostReconciler each{rack.informers, rack.client,  rack.clock,    *rack.random,
                                         rack.events,    rack.metrics, rack.instances};
        const auto result = test::run(rack.context, rack.clock, each.reconcile(kA));
        CHECK(result.requeue_after <= minutes{10});
        at_once += rack.network.calls > asked ? 1 : 0;
    }
    CHECK(at_once == 0);
    CHECK(rack.host("a").status.failedLooks == failed);
    rack.network.plug_in("https://a");
    rack.run_for(minutes{13});
    CHECK(rack.host("a").status.failedLooks == 0);
    CHECK(rack.reason("a") == "Ready");
}

TEST_CASE("a host that is made anew during a look is looked at itself at once") {
    Rack rack;
    rack.put("a");
    rack.network.unplug("https://a");
    rack.network.add("https://b", {});
    bool is_new = false;
    rack.requests.on_request = [&](const base::HttpRequest& request) {
        if (is_new || request.target.find("/secrets/") == std::string::npos) return;
        is_new = true;
        rack.server.remove<NodeSmithHost>(kA);
        auto right = test::rack_host("a");
        right.spec.bmc.address = "https://b";
        rack.server.put(right);
    };
    rack.start();
    rack.run_for(seconds{30});
    CHECK(is_new);
    CHECK(rack.reason("a") == "Ready");
    CHECK(rack.host("a").status.failedLooks == 0);
}

TEST_CASE("a host without its provider says so, and is looked at when the provider comes") {
    Rack rack;
    rack.put("a");
    auto provider = rack.server.get<NodeSmithProvider>({"default", "rack"}).value();
    rack.server.remove<NodeSmithProvider>({"default", "rack"});
    rack.start();
    rack.run_for(minutes{5});
    CHECK(rack.reason("a") == "ProviderMissing");
    provider.metadata.uid.clear();
    provider.metadata.resourceVersion.clear();
    rack.server.put(provider);
    rack.run_for(seconds{20});
    CHECK(rack.reason("a") == "Ready");
}

TEST_CASE("whether the Node of a host's claim is Ready is what the API server says of the claim's own Node") {
    Rack rack;
    rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    const auto uuid = rack.host("a").status.systemUUID;
    api::v1alpha1::NodeSmithClaim claim;
    claim.metadata.name = "c";
    claim.metadata.namespace_ = "default";
    claim.status.host = claim.status.machineID = "a";
    claim.status.systemUUID = uuid;
    claim.status.providerRef = "rack";
    objects::set_condition(claim.status.conditions, "Launched", api::ConditionStatus::True);
    rack.server.put(claim);
    const auto uid = rack.server.get<api::v1alpha1::NodeSmithClaim>({"default", "c"})->metadata.uid;
    rack.server.edit<NodeSmithHost>(kA, [&](NodeSmithHost& host) {
        host.status.claimRef = api::v1alpha1::ClaimReference{"c", uid};
        host.status.wokenTime = api::Time(rack.clock.wall_now());
    });
    rack.run_for(seconds{5});
    const auto is_ready = [&rack] {
        return test::run(rack.context, rack.clock, rack.inventory.has_ready_node(rack.seen("a")));
    };
    CHECK_FALSE(is_ready());
    auto node = objects::node("of-others");
    node.status.nodeInfo.systemUUID = "99999999-0042-3510-8054-b4c04f4d3132";
    rack.server.put(node);
    CHECK_FALSE(is_ready());
    node = objects::node("c", false);
    node.status.nodeInfo.systemUUID = uuid;
    node.metadata.creationTimestamp = api::Time(rack.clock.wall_now());
    rack.server.put(node);
    rack.run_for(seconds{5});
    CHECK_FALSE(is_ready());
    rack.server.edit<api::Node>({"", "c"}, [](api::Node& own) {
        objects::set_condition(own.status.conditions, "Ready", api::ConditionStatus::True);
    });
    CHECK(is_ready());
}

TEST_CASE("a backend that is made anew leaves no session of the one before on a BMC") {
    Rack rack;
    auto& bmc = rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(bmc.sessions() == 1);
    const api::ObjectKey provider{"default", test::rack_provider().metadata.name};
    for (int request = 31; request < 34; ++request) {
        rack.server.edit<NodeSmithProvider>(provider, [&](NodeSmithProvider& edited) {
            edited.spec.redfish->timeouts.request.value = seconds{request};
        });
        rack.run_for(minutes{1});
        CHECK(bmc.sessions() == 1);
    }
}

TEST_CASE("a backend that is dropped leaves no session on a BMC") {
    Rack rack;
    auto& bmc = rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    REQUIRE(bmc.sessions() == 1);
    const api::ObjectKey provider{"default", test::rack_provider().metadata.name};
    const auto forget = [](Rack& of, api::ObjectKey key) -> boost::asio::awaitable<bool> {
        co_await of.instances.forget(std::move(key));
        co_return true;
    };
    test::run(rack.context, rack.clock, forget(rack, provider));
    CHECK(bmc.sessions() == 0);
}

TEST_CASE(
    "a Secret that got another version with the same data keeps the session, and its version is noted") {
    Rack rack;
    auto& bmc = rack.put("a");
    rack.start();
    rack.run_for(seconds{20});
    const auto before = rack.host("a").status.acceptedCredentials;
    rack.server.edit<api::Secret>({"default", "bmc"},
                                  [](api::Secret& edited) { edited.metadata.annotations["a"] = "b"; });
    test::run(rack.context, rack.clock,
              rack.instances.refresh({"default", test::rack_provider().metadata.name}));
    rack.run_for(minutes{30});
    CHECK_FALSE(before.empty());
    CHECK(rack.host("a").status.acceptedCredentials != before);
    CHECK(bmc.count("POST", "/Sessions") == 1);
}
