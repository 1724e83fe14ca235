// Tests the preparation of a cluster with an administrator's login, up to a provider that works with its
// token.
#include "providers/proxmox_setup.hpp"

#include "providers/errors.hpp"
#include "test/component/proxmox/lab.hpp"
#include "test/support/catch.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

namespace {

constexpr const char* kPassword = "correct horse battery";
constexpr const char* kCode = "314159";
constexpr const char* kKey = "aaaa-bbbb-cccc-dddd";

proxmox_simulator::World world_without_token() {
    auto world = proxmox_simulator::default_world();
    world.tokens.clear();
    world.acl.clear();
    world.pools.clear();
    world.users.at("root@pam").password = kPassword;
    return world;
}

ProxmoxLogin login_as(const std::string& administrator, const std::string& password = kPassword) {
    ProxmoxLogin login;
    login.endpoint = "https://alfaromeo:8006";
    login.username = administrator;
    login.password = password;
    return login;
}

ProxmoxSetup some_wish() {
    ProxmoxSetup wish;
    wish.disk_storages = {"local"};
    wish.image_storages = {"local"};
    wish.download_storages = {"local"};
    wish.bridges = {"vmbr0"};
    return wish;
}

// Returns what a login is refused with; empty: it succeeds.
std::string refusal(Lab& lab, const ProxmoxLogin& login) {
    try {
        lab.run(log_in_to_proxmox(login, lab.environment));
    } catch (const ProviderError& error) {
        const std::string text = error.what();
        for (const auto* secret : {kPassword, kCode, kKey}) CHECK_THAT(text, !Contains(secret));
        return text;
    }
    return {};
}

}  // namespace

TEST_CASE("The token of setup is enough for a healthy provider") {
    Lab lab(world_without_token());
    const auto administrator = lab.run(log_in_to_proxmox(login_as("root@pam"), lab.environment));
    const auto site = lab.run(administrator->look());
    CHECK(site.version == "9.2.11");
    CHECK(site.cluster == "lab");
    REQUIRE(site.hosts.size() == 3);
    CHECK(site.hosts[0].bridges == std::set<std::string>{"vmbr0"});
    REQUIRE(site.storages.size() == 2);
    CHECK(site.storages[0].hosts.size() == 3);
    CHECK(site.storages[1].is_shared);
    const auto plan = lab.run(administrator->plan(some_wish()));
    const auto secret = lab.run(administrator->carry_out(plan));
    CHECK(lab.run(administrator->plan(some_wish())).steps.empty());

    lab.config.credentials = {{"PROXMOX_TOKEN_ID", plan.token_id}, {"PROXMOX_SECRET", secret}};
    lab.config.spec.proxmox->resourcePool = "kubernetes";
    lab.restart();
    const auto health = lab.run(lab.provider->check());
    CHECK(health.message == "");
    CHECK(health.credentials_ok);
    CHECK(health.boot_image_obstacle == "");
}

TEST_CASE("A second factor completes the login, and one that a terminal cannot show is refused") {
    auto world = world_without_token();
    auto& root = world.users.at("root@pam");
    auto login = login_as("root@pam");
    std::string asked;
    const auto answer = [&asked](const std::string& text) {
        return [&asked, text](const std::string& kinds) {
            asked = kinds;
            return text;
        };
    };
    SECTION("a code") {
        root.second_factors.totp = kCode;
        Lab lab(world);
        login.ask_second_factor = answer(kCode);
        CHECK(refusal(lab, login) == "");
        CHECK(asked == "a TOTP code");
        login.ask_second_factor = answer("000000");
        CHECK_THAT(refusal(lab, login), Contains("authentication failure"));
        login.ask_second_factor = {};
        CHECK_THAT(refusal(lab, login), Contains("needs a second factor") && Contains("a TOTP code"));
    }
    SECTION("a recovery key, which is good for one login") {
        root.second_factors.recovery_keys = {kKey};
        Lab lab(world);
        login.ask_second_factor = answer(kKey);
        CHECK(refusal(lab, login) == "");
        CHECK(asked == "a recovery key");
        CHECK(lab.simulator.cluster().world.users.at("root@pam").second_factors.recovery_keys.empty());
    }
    SECTION("a security key") {
        root.second_factors.webauthn = true;
        Lab lab(world);
        login.ask_second_factor = answer(kCode);
        CHECK_THAT(refusal(lab, login), Contains("needs a browser") && Contains("--print"));
        CHECK(asked == "");
    }
}

TEST_CASE("A login that is refused says so without its password") {
    Lab lab(world_without_token());
    CHECK_THAT(refusal(lab, login_as("root@pam", "wrong")), Contains("authentication failure"));
    CHECK_THAT(refusal(lab, login_as("nobody@pve")), Contains("authentication failure"));
}

TEST_CASE("An administrator who lacks a right changes nothing") {
    auto world = world_without_token();
    world.users["helper@pve"] = {"helper@pve", kPassword, true, 0, {}};
    world.acl = {{"/", "user", "helper@pve", "PVEAdmin", true}};
    Lab lab(world);
    const auto administrator = lab.run(log_in_to_proxmox(login_as("helper@pve"), lab.environment));
    lab.requests();
    CHECK_THROWS_WITH(lab.run(administrator->plan(some_wish())),
                      Contains("helper@pve lacks") && Contains("Sys.Modify on /access") &&
                          Contains("Permissions.Modify on /nodes") && !Contains("Pool.Allocate"));
    CHECK(lab.count("POST", "/pools") == 0);
    CHECK(lab.count("POST", "/access/roles") == 0);
}

TEST_CASE("A setup that Proxmox ends half-way is completed by the next one") {
    Lab lab(world_without_token());
    const auto administrator = lab.run(log_in_to_proxmox(login_as("root@pam"), lab.environment));
    const auto plan = lab.run(administrator->plan(some_wish()));
    for (std::size_t done = 0; done + 1 < plan.steps.size(); ++done) {
        auto begun = lab.run(administrator->plan(some_wish()));
        begun.steps.resize(1);
        begun.makes_token = false;
        lab.run(administrator->carry_out(begun));
    }
    const auto rest = lab.run(administrator->plan(some_wish()));
    REQUIRE(rest.steps.size() == 1);
    CHECK(rest.makes_token);
    CHECK(lab.run(administrator->carry_out(rest)) != "");
}
