// Tests the evidence of a machine that never joins: the data that it got, what the operator saw of it, and
// what to look at.
#include "controllers/claim/decide/boot_evidence.hpp"
#include "test/support/cluster_info.hpp"
#include "test/unit/bootstrap/certificate.hpp"
#include "test/unit/controllers/claim_scene.hpp"
#include "test/unit/controllers/claim_world.hpp"

using namespace test;
using Catch::Contains;

namespace {

struct Boot : Scene {
    api::v1alpha1::ClaimBoot& boot = claim.status.boot.emplace();

    Boot() {
        launched();
        boot.delivery = delivery_of(bootstrap(api::v1alpha1::BootstrapMethod::CloudInit), &provider);
        boot.apiServer = "10.0.0.10:6443";
        boot.startedTime = at(0s);
    }
    static api::v1alpha1::Bootstrap bootstrap(api::v1alpha1::BootstrapMethod method) {
        api::v1alpha1::Bootstrap result;
        result.method = method;
        return result;
    }
    std::string told() {
        now = at(15min);
        return decide().status.lastFailure.value().message;
    }
};

// Looks records the calls of the provider that examine a guest.
struct Looks final : fake::ProviderCalls {
    void before(const std::string& method) override { count += method == "look_at_guest"; }
    int count = 0;
};

// Silent has machines that get their join by cloud-init and never join.
struct Silent : claims::World {
    Silent() {
        machines_join = false;
        server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
            pool.spec.bootstrap.emplace().method = api::v1alpha1::BootstrapMethod::CloudInit;
            pool.spec.scaleUp.maxLaunchAttempts = 1;
        });
        server.put(test::cluster_info(test::kCACertificate));
        cloud.on_boot = {};
    }
    bool launched() {
        return condition(conditions::kLaunched) &&
               condition(conditions::kLaunched)->status == api::ConditionStatus::True;
    }
    bool failed() { return reason(conditions::kFailed) == "RegistrationTimeoutExceeded"; }
};

}  // namespace

TEST_CASE(
    "the message about a machine that never joined names its boot data, its progress and what to check") {
    Boot scene;
    CHECK(scene.told() ==
          "no Node of its machine appeared within 15m0s. It should have joined 10.0.0.10:6443 by an ISO "
          "image with cloud-init's data; it has been running since " +
              at(0s).str() +
              ". Look at the console of VM 101 on host pve1 (cloud-init's output: "
              "/var/log/cloud-init-output.log); is 10.0.0.10:6443 reachable from its network? With "
              "scaleUp.keepFailed: 1 the pool keeps the last such machine, stopped, for inspection");
}

TEST_CASE("what the guest agent showed is told, and so is why it showed nothing") {
    Boot scene;
    SECTION("it answered") {
        scene.boot.agentTime = at(40s);
        scene.boot.addresses = {"10.0.0.77"};
        CHECK_THAT(scene.told(), Contains("its guest agent answered at " + at(40s).str() +
                                          ", with the addresses 10.0.0.77. Look"));
    }
    SECTION("it has no address") {
        scene.boot.agentTime = at(40s);
        CHECK_THAT(scene.told(), Contains(", without an address. Look"));
    }
    SECTION("it was asked in vain") {
        auto situation = scene.situation();
        situation.now = at(15min);
        situation.guest_silence = "its guest agent never answered";
        CHECK_THAT(decide(situation).status.lastFailure->message,
                   Contains("; its guest agent never answered. Look"));
    }
}

TEST_CASE("whether boot data that the operator serves was fetched is told") {
    Boot scene;
    auto bootstrap = Boot::bootstrap(api::v1alpha1::BootstrapMethod::CloudInit);
    bootstrap.delivery = api::v1alpha1::BootstrapDelivery::HTTP;
    scene.boot.delivery = delivery_of(bootstrap, &scene.provider);
    SECTION("no") {
        CHECK_THAT(scene.told(), Contains("by cloud-init's data over HTTP; it has been running since") &&
                                     Contains("; no request for its boot data was seen"));
    }
    SECTION("yes") {
        scene.boot.fetchedTime = at(30s);
        CHECK_THAT(scene.told(), Contains("; it fetched its boot data at " + at(30s).str()));
    }
}

TEST_CASE("a machine without cloud-init is told of by the document that it boots with") {
    Boot scene;
    auto bootstrap = Boot::bootstrap(api::v1alpha1::BootstrapMethod::CloudInit);
    SECTION("Talos") {
        bootstrap.format = api::v1alpha1::BootstrapFormat::Talos;
        scene.boot.delivery = delivery_of(bootstrap, &scene.provider);
        CHECK_THAT(scene.told(), Contains("by an ISO image with its machine configuration;"));
        bootstrap.delivery = api::v1alpha1::BootstrapDelivery::HTTP;
        scene.boot.delivery = delivery_of(bootstrap, &scene.provider);
        CHECK_THAT(scene.told(), Contains("by its machine configuration over HTTP;") &&
                                     Contains("no request for its boot data was seen"));
    }
    SECTION("Ignition") {
        bootstrap.userData = api::v1alpha1::BootstrapUserData::Ignition;
        scene.boot.delivery = delivery_of(bootstrap, &scene.provider);
        CHECK_THAT(scene.told(), Contains("by an ISO image with its Ignition configuration;"));
    }
    CHECK_THAT(scene.told(), !Contains("cloud-init"));
}

TEST_CASE("an API server at a loopback address is told of while the machine is waited for, and afterwards") {
    for (const auto* endpoint : {"127.0.0.1:9", "127.8.0.1:6443", "[::1]:6443", "localhost:6443"}) {
        Boot scene;
        scene.boot.apiServer = endpoint;
        const auto warning = std::string(endpoint) + " is a loopback address";
        CHECK_THAT(condition(scene.decide().status, conditions::kRegistered).message, Contains(warning));
        CHECK_THAT(scene.told(), Contains(warning) && Contains("set bootstrap.apiServerEndpoint"));
    }
    for (const auto* endpoint : {"10.127.0.1:6443", "localhost.example:6443", "[fd00::1]:6443"})
        CHECK_FALSE(is_loopback(endpoint));
}

TEST_CASE("a machine whose image joins by itself is told of by what that is") {
    Boot scene;
    const auto none = Boot::bootstrap(api::v1alpha1::BootstrapMethod::None);
    scene.boot.apiServer.clear();
    scene.boot.delivery = delivery_of(none, &scene.provider);
    CHECK_THAT(condition(scene.decide().status, conditions::kRegistered).message,
               Contains("by its own image (bootstrap.method None); if it cannot join by itself, set"));
    CHECK_THAT(scene.told(),
               Contains("It should have joined the cluster by its own image (bootstrap.method None)") &&
                   !Contains("reachable") && !Contains("cloud-init"));
    scene.provider.spec.proxmox->template_.emplace();
    CHECK_THAT(delivery_of(none, &scene.provider), Contains("its template's own means"));
    scene.provider.spec.proxmox.reset();
    scene.provider.spec.redfish.emplace().boot.method = api::v1alpha1::BootMethod::PXE;
    CHECK_THAT(delivery_of(none, &scene.provider), Contains("the image that it boots by PXE"));
    CHECK_THAT(scene.told(), Contains("Look at the console of host pve1") && !Contains("keepFailed"));
}

TEST_CASE("what is seen of a machine that has not joined stands in its claim's status, and costs little") {
    Silent world;
    Looks looks;
    claims::Process process(world, nullptr, &looks);
    world.launch();
    REQUIRE(world.run_until([&] { return world.launched(); }));
    auto boot = world.claim()->status.boot.value();
    CHECK(boot.delivery == "an ISO image with cloud-init's data");
    CHECK(boot.apiServer == "10.0.0.1:6443");
    CHECK(boot.startedTime);
    world.run(10s);
    CHECK(looks.count == 0);

    const auto writes = world.server.writes().size();
    world.run(5min);
    CHECK(looks.count == 5);
    CHECK(world.server.writes().size() == writes);
    CHECK_FALSE(world.claim()->status.boot->agentTime);

    world.cloud.machines.begin()->second.guest = {true, {"10.0.0.77"}, ""};
    world.run(2min);
    boot = world.claim()->status.boot.value();
    CHECK(boot.agentTime);
    CHECK(boot.addresses == std::vector<std::string>{"10.0.0.77"});
    CHECK(looks.count == 6);
    CHECK(world.server.writes().size() == writes + 1);
}

TEST_CASE("that a machine fetched its boot data shows in its claim's status, once") {
    Silent world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.launched(); }));
    const auto token_id = world.claim()->status.bootstrapTokenID;
    REQUIRE_FALSE(token_id.empty());
    world.run(10s);
    const api::Time fetched(world.clock.wall_now());
    process.boot_data().note_fetched(token_id);
    world.run(2min);
    process.boot_data().note_fetched(token_id);
    CHECK(world.claim()->status.boot->fetchedTime == fetched);
    const auto writes = world.server.writes().size();
    world.run(5min);
    CHECK(world.server.writes().size() == writes);
}

TEST_CASE("the end of a claim whose status names a token of others leaves that token") {
    Silent world;
    claims::Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.launched(); }));
    api::Secret of_others;
    of_others.metadata.namespace_ = "kube-system";
    of_others.metadata.name = "bootstrap-token-abcdef";
    world.server.put(of_others);
    world.server.edit<claims::NodeSmithClaim>(claims::kClaim,
                                              [](auto& claim) { claim.status.bootstrapTokenID = "abcdef"; });
    world.server.remove<claims::NodeSmithClaim>(claims::kClaim);
    REQUIRE(world.run_until([&] { return world.gone(); }));
    CHECK(world.server.get<api::Secret>(api::key_of(of_others)));
}

TEST_CASE("a machine is looked at once more before it is given up, however short that takes") {
    Silent world;
    Looks looks;
    claims::Process process(world, nullptr, &looks);
    world.server.edit<NodeSmithPool>(
        {"default", "p"}, [](NodeSmithPool& pool) { pool.spec.scaleUp.registrationTimeout = 12s; });
    SECTION("silent") {
        world.launch();
        REQUIRE(world.run_until([&] { return world.failed(); }));
        CHECK_THAT(world.claim()->status.lastFailure->message, Contains("its guest agent never answered"));
    }
    SECTION("cannot be asked") {
        world.cloud.on_boot = [&](const fake::CloudMachine& machine) {
            world.cloud.machines[machine.machine_id].guest.obstacle = "No QEMU guest agent configured";
        };
        world.launch();
        REQUIRE(world.run_until([&] { return world.failed(); }));
        CHECK_THAT(world.claim()->status.lastFailure->message,
                   Contains("its guest agent could not be asked (No QEMU guest agent configured)"));
    }
    CHECK(looks.count == 1);
}
