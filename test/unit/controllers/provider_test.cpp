// Tests the Provider reconciler: what each kind of wrong input leads to.
#include "test/support/catch.hpp"
#include "test/unit/controllers/provider_world.hpp"

using namespace provider_tests;

TEST_CASE("a provider that works is Ready, with version and hosts by committed size") {
    World world;
    world.start();
    world.run_for(1s);
    CHECK(world.condition("Ready") == "True Ready");
    CHECK(world.condition("CredentialsResolved") == "True CredentialsResolved");
    CHECK(world.condition("Reachable") == "True Reachable");
    const auto status = world.provider().status;
    CHECK(status.version == "9.2");
    CHECK(status.endpoint == "https://pve.example:8006/api2/json");
    CHECK(status.machines == 2);
    REQUIRE(status.hosts.size() == 1);
    CHECK(status.hosts[0].freeMemoryMiB == 60000);
    CHECK(status.hosts[0].machineIDs == std::vector<std::string>{"100", "101"});
    CHECK(api::has_finalizer(world.provider().metadata, api::finalizers::kProvider));
}

TEST_CASE("a healthy provider is examined every five minutes and nothing is written") {
    World world;
    world.start();
    world.run_for(10s);
    const auto writes = world.writes();
    const auto checks = world.script.checks;
    world.run_for(1h);
    CHECK(world.writes() == writes);
    CHECK(world.script.checks - checks == 12);
    CHECK(world.script.made == 1);
}

TEST_CASE("rights that only some ways of joining need have conditions of their own, while they are missing") {
    World world;
    world.script.health.boot_image_obstacle = "lacks Datastore.Allocate on /storage/local";
    world.start();
    world.run_for(10s);
    CHECK(world.condition("Ready") == "True Ready");
    CHECK(world.condition("BootImagesUsable") == "False MissingPrivileges");
    CHECK(world.message("BootImagesUsable") == "lacks Datastore.Allocate on /storage/local");
    const auto& conditions = world.provider().status.conditions;
    CHECK_FALSE(api::find_condition(conditions, "GuestAgentUsable"));
    world.script.health.boot_image_obstacle.clear();
    world.run_for(6min);
    CHECK_FALSE(api::find_condition(world.provider().status.conditions, "BootImagesUsable"));
}

TEST_CASE("a storage that is about to be full is warned of, while it is") {
    World world;
    world.script.health.storage_low = "storage local-lvm on pve1 has little room left";
    world.start();
    world.run_for(10s);
    CHECK(world.condition("Ready") == "True Ready");
    CHECK(world.condition("StorageLow") == "True StorageLow");
    world.script.health.storage_low.clear();
    world.run_for(6min);
    CHECK_FALSE(api::find_condition(world.provider().status.conditions, "StorageLow"));
}

TEST_CASE(
    "a configuration that no host can serve makes the provider not Ready, with the hosts and the remedy") {
    World world;
    world.script.hosts.push_back(world.script.hosts[0]);
    world.script.hosts[1].name = "pve2";
    const auto lacks_bridge = [&](std::size_t host, bool lacks) {
        world.script.hosts[host].usable = !lacks;
        world.script.hosts[host].why_not = lacks ? "has no bridge vmbr1" : "";
        world.script.hosts[host].remedy = lacks ? "create it there" : "";
    };
    lacks_bridge(0, true);
    lacks_bridge(1, true);
    world.start();
    world.run_for(10s);
    CHECK(world.condition("Ready") == "False ConfigurationInvalid");
    CHECK(world.condition("ConfigurationValid") == "False ConfigurationInvalid");
    CHECK(world.condition("Stalled") == "True ConfigurationInvalid");
    CHECK(world.message("Ready") == "pve1, pve2: has no bridge vmbr1 (create it there)");
    CHECK(world.provider().status.hosts[0].message == "has no bridge vmbr1 (create it there)");
    CHECK(world.events.count("ConfigurationInvalid: pve1, pve2: has no bridge vmbr1") == 1);

    SECTION("with one host that can, it is Ready and says which cannot") {
        lacks_bridge(1, false);
        world.run_for(6min);
        CHECK(world.condition("Ready") == "True Ready");
        CHECK(world.condition("Stalled").empty());
        CHECK(world.message("Ready") ==
              "machines can be created, but not on every host: pve1: has no bridge vmbr1 (create it there)");
        CHECK(world.condition("ConfigurationValid") == "False ConfigurationInvalid");
    }
    SECTION("what is mended is noticed soon") {
        lacks_bridge(0, false);
        lacks_bridge(1, false);
        world.run_for(1min);
        CHECK(world.condition("Ready") == "True Ready");
        CHECK(world.message("Ready") == "machines can be created");
        CHECK(world.condition("ConfigurationValid") == "True ConfigurationValid");
    }
    SECTION("nothing is written while nothing changes") {
        const auto writes = world.writes();
        world.run_for(1h);
        CHECK(world.writes() == writes);
    }
}

TEST_CASE("what keeps a host from use loses its middle to fit its status, between characters") {
    World world;
    world.script.hosts[0].usable = false;
    world.script.hosts[0].why_not = std::string(1023, 'x') + "ä";
    world.start();
    world.run_for(10s);
    REQUIRE(world.provider().status.hosts.size() == 1);
    CHECK(world.provider().status.hosts[0].message ==
          std::string(382, 'x') + "..." + std::string(637, 'x') + "ä");
}

TEST_CASE("hosts that are full or off are no fault of the configuration, a storage that is nowhere is") {
    World world;
    world.script.hosts[0].usable = false;
    world.script.hosts[0].why_not = "offline";
    world.script.health.not_visible = "whether resource pool k8s exists is not visible";
    world.start();
    world.run_for(10s);
    CHECK(world.condition("Ready") == "True Ready");
    CHECK(world.condition("ConfigurationValid") == "True ConfigurationValid");
    CHECK(world.message("ConfigurationValid").find("resource pool k8s") != std::string::npos);
    world.script.health.configuration_fault = "storage local-zfs does not exist";
    world.run_for(6min);
    CHECK(world.condition("Ready") == "False ConfigurationInvalid");
    CHECK(world.message("Ready") == "storage local-zfs does not exist");
}

TEST_CASE("templates are on record as they were last seen, also while they cannot be seen") {
    using Templates = std::vector<api::v1alpha1::ProviderTemplate>;
    World world;
    world.edit(
        [](NodeSmithProvider& provider) { provider.spec.proxmox->template_.emplace().name = "debian"; });
    world.script.health.template_revisions = {{"pve1", "9000-aa"}, {"pve2", "9001-bb"}};
    world.start();
    world.run_for(10s);
    CHECK(world.provider().status.templates == Templates{{"pve1", "9000-aa"}, {"pve2", "9001-bb"}});
    world.script.health.template_revisions = {{"pve1", "9005-cc"}};
    world.run_for(6min);
    CHECK(world.provider().status.templates == Templates{{"pve1", "9005-cc"}, {"pve2", "9001-bb"}});
    world.script.health.template_revisions.clear();
    world.script.health.template_reason = "TemplateNotFound";
    world.run_for(6min);
    CHECK(world.provider().status.templates == Templates{{"pve1", "9005-cc"}, {"pve2", "9001-bb"}});
    world.script.health.template_reason.clear();
    world.script.health.template_revisions = {{"*", "9000-aa"}};
    world.run_for(6min);
    CHECK(world.provider().status.templates == Templates{{"*", "9000-aa"}});
    world.edit([](NodeSmithProvider& provider) { provider.spec.proxmox->template_.reset(); });
    world.run_for(10s);
    CHECK(world.provider().status.templates.empty());
}

TEST_CASE("bad input: each ends in a condition that says what to do") {
    World world;
    SECTION("the Secret is missing") {
        world.server.remove<api::Secret>({"default", "token"});
        world.start();
        world.run_for(1s);
        CHECK(world.condition("Ready") == "False SecretMissing");
        CHECK(world.condition("CredentialsResolved") == "False SecretMissing");
        CHECK(world.message("Ready").find("default/token") != std::string::npos);
        world.put_secret("root@pam!token");
        world.run_for(6s);
        CHECK(world.condition("Ready") == "True Ready");
    }
    SECTION("the Secret is in another namespace") {
        world.edit([](auto& p) { p.spec.credentialsSecretRef->namespace_ = "kube-system"; });
        world.start();
        world.run_for(1s);
        CHECK(world.condition("CredentialsResolved") == "False SecretNamespaceRefused");
    }
    SECTION("a key is missing") {
        auto secret = world.server.get<api::Secret>({"default", "token"}).value();
        secret.data.clear();
        world.server.put(secret);
        world.start();
        world.run_for(1s);
        CHECK(world.condition("Ready") == "False ProviderInitializationFailed");
        CHECK(world.message("Ready").find("PROXMOX_TOKEN_ID") != std::string::npos);
    }
    SECTION("the token is wrong") {
        world.use_image();
        world.script.health = {false, true, "Unauthorized", "401: token root@pam!token is not known", ""};
        world.start();
        world.run_for(1s);
        CHECK(world.condition("Ready") == "False Unauthorized");
        CHECK(world.condition("CredentialsResolved") == "False Unauthorized");
        CHECK(world.condition("Reachable") == "True Reachable");
        CHECK(world.condition("TemplateResolved") == "Unknown NotReconciled");
    }
    SECTION("TLS does not match") {
        world.script.health = {false, false, "TLSFailed", "certificate has another fingerprint", ""};
        world.start();
        world.run_for(1s);
        CHECK(world.condition("Ready") == "False TLSFailed");
        CHECK(world.condition("Reachable") == "False TLSFailed");
    }
    SECTION("the endpoint does not answer") {
        world.script.failure = "connecting to pve.example:8006: connection refused";
        world.start();
        world.run_for(1s);
        CHECK(world.condition("Ready") == "False Unreachable");
        CHECK(world.message("Ready").find("connection refused") != std::string::npos);
    }
    CHECK(world.events.count("NodeSmithProvider proxmox") >= 1);
}

TEST_CASE("a provider that fails is tried again soon, then once a minute, and found again when it is back") {
    World world;
    world.script.failure = "no route to host";
    world.start();
    world.run_for(1min);
    CHECK(world.script.checks >= 4);
    CHECK(world.script.checks <= 6);
    const auto writes = world.writes();
    world.run_for(30min);
    // After five minutes the outage counts as Stalled.
    CHECK(world.writes() == writes + 1);
    CHECK(world.condition("Stalled") == "True Unreachable");
    CHECK(world.script.checks >= 30);
    CHECK(world.script.checks < 40);
    world.script.failure.clear();
    world.run_for(1min);
    CHECK(world.condition("Ready") == "True Ready");
}

TEST_CASE("a new token in the Secret is used at the next examination") {
    World world;
    world.start();
    world.run_for(1s);
    world.put_secret("root@pam!new");
    world.run_for(5min);
    CHECK(world.script.token == "root@pam!new");
    CHECK(world.script.made == 2);
}

TEST_CASE("a new token in the Secret is used as soon as the old one is refused") {
    World world;
    world.start();
    world.run_for(1s);
    world.put_secret("root@pam!other");
    world.run_for(1s);
    CHECK(world.script.token == "root@pam!token");
    world.environment.on_credentials_refused("default/proxmox");
    world.run_for(1s);
    CHECK(world.script.token == "root@pam!other");
}

TEST_CASE("a changed spec is examined at once") {
    World world;
    world.start();
    world.run_for(1s);
    const auto checks = world.script.checks;
    world.edit([](auto& p) { p.spec.proxmox->nodeWhitelist = {"pve2"}; });
    world.run_for(100ms);
    CHECK(world.script.checks == checks + 1);
}

TEST_CASE("additionalSettings are accepted with a warning that they do nothing") {
    World world;
    world.edit([](auto& p) { p.spec.additionalSettings["x"] = "y"; });
    world.start();
    world.run_for(1h);
    CHECK(world.events.count("AdditionalSettingsIgnored") == 1);
}

TEST_CASE("a deleted provider stays as long as a claim has a machine there") {
    World world;
    world.server.put(objects::pool("small"));
    auto claim = objects::created_claim("a", world.pool(), 1);
    claim.status.providerRef = "proxmox";
    world.server.put(claim);
    world.start();
    world.run_for(1s);
    world.server.remove<NodeSmithProvider>({"default", "proxmox"});
    world.run_for(1h);
    CHECK(world.condition("Ready") == "False Deleting");
    world.server.remove<objects::NodeSmithClaim>({"default", "a"});
    world.run_for(10s);
    CHECK_FALSE(world.server.get<NodeSmithProvider>({"default", "proxmox"}));
}
