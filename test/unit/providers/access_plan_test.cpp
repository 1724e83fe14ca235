// Tests which changes setup proposes, from what exists in Proxmox.
#include "providers/proxmox/setup/access_plan.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <sstream>

#include "test/support/catch.hpp"

using namespace providers;
using namespace providers::proxmox;

namespace {

const std::string kUser = "kubenodesmith@pve";

ProxmoxSetup some_wish() {
    ProxmoxSetup wish;
    wish.disk_storages = {"local-lvm"};
    wish.image_storages = {"local"};
    wish.download_storages = {"local"};
    wish.bridges = {"vmbr0"};
    return wish;
}

std::string parameter(const ProxmoxStep& step, const std::string& name) {
    for (const auto& [key, value] : step.parameters)
        if (key == name) return value;
    return {};
}

std::set<std::string> parts(const std::string& text) {
    std::istringstream words(text);
    std::set<std::string> all;
    for (std::string word; std::getline(words, word, ',');) all.insert(word);
    return all;
}

// Returns the rights that Proxmox derives: on each path the subject's roles there replace inherited ones.
Permissions permissions_of(const AccessState& state, const std::string& subject) {
    boost::json::object paths;
    for (const auto& entry : state.acl) {
        if (entry.subject != subject) continue;
        auto& rights = paths[entry.path];
        if (!rights.is_object()) rights.emplace_object();
        for (const auto& privilege : state.roles.at(entry.role))
            rights.get_object()[privilege] = entry.propagates ? 1 : 0;
    }
    return Permissions::parse(paths);
}

void see_rights(AccessState& state, const ProxmoxSetup& wish) {
    state.of_user = permissions_of(state, wish.user);
    state.of_token = state.of_user;
}

// Makes the changes as Proxmox does.
void carry_out(const ProxmoxPlan& plan, AccessState& state, const ProxmoxSetup& wish) {
    for (const auto& step : plan.steps) {
        INFO(step.command);
        const std::string roles = "/access/roles/";
        if (step.path == "/pools") {
            CHECK(state.pools.insert(parameter(step, "poolid")).second);
        } else if (step.path == "/access/users") {
            CHECK(state.users.try_emplace(parameter(step, "userid")).second);
        } else if (step.path == "/access/roles") {
            CHECK(state.roles.try_emplace(parameter(step, "roleid"), parts(parameter(step, "privs"))).second);
        } else if (step.path.starts_with(roles)) {
            REQUIRE(parameter(step, "append") == "1");
            state.roles.at(step.path.substr(roles.size())).merge(parts(parameter(step, "privs")));
        } else if (step.path == "/access/acl") {
            CHECK(parameter(step, "delete").empty());
            for (const auto* subjects : {"users", "tokens"})
                if (const auto subject = parameter(step, subjects); !subject.empty())
                    state.acl.push_back({parameter(step, "path"), subject, parameter(step, "roles"), true});
        } else {
            const auto name = step.path.substr(step.path.rfind('/') + 1);
            CHECK(state.users.at(wish.user).tokens.try_emplace(name, false).second);
        }
    }
    see_rights(state, wish);
}

std::size_t count(const ProxmoxPlan& plan, const std::string& path) {
    return static_cast<std::size_t>(std::ranges::count(plan.steps, path, &ProxmoxStep::path));
}

}  // namespace

TEST_CASE("A new installation gets everything, and then nothing is missing") {
    const auto wish = some_wish();
    AccessState state;
    const auto plan = access_plan(wish, state);
    CHECK(plan.makes_token);
    CHECK(plan.token_id == kUser + "!operator");
    CHECK(plan.notes.empty());
    CHECK(count(plan, "/pools") == 1);
    CHECK(plan.steps.back().path == "/access/users/kubenodesmith%40pve/token/operator");
    CHECK(proxmox_setup_commands(wish) ==
          "# As root on a host of the Proxmox cluster.\n\n" + commands_of(plan));
    carry_out(plan, state, wish);
    const auto again = access_plan(wish, state);
    CHECK(commands_of(again) == "");
    CHECK_FALSE(again.makes_token);
    for (const auto& entry : state.acl) CHECK(entry.path != "/");
}

TEST_CASE("A half-done setup is completed") {
    const auto wish = some_wish();
    AccessState state;
    auto plan = access_plan(wish, state);
    const auto all = plan.steps;
    for (std::size_t done = 0; done < all.size(); ++done) {
        AccessState half;
        plan.steps.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(done));
        carry_out(plan, half, wish);
        const auto rest = access_plan(wish, half);
        CHECK(rest.steps.size() == all.size() - done);
        carry_out(rest, half, wish);
        CHECK(access_plan(wish, half).steps.empty());
    }
}

TEST_CASE("A role on a deeper path repeats the rights that it would take away") {
    const auto wish = some_wish();
    AccessState state;
    state.users[kUser];
    state.roles["PVEAuditor"] = {"Sys.Audit", "VM.Audit", "Datastore.Audit", "Pool.Audit"};
    state.acl = {{"/", kUser, "PVEAuditor", true}};
    see_rights(state, wish);
    const auto before = state.of_user;
    const auto plan = access_plan(wish, state);
    CHECK_THAT(plan.notes.at(0), Catch::Contains("has the role PVEAuditor on /"));
    carry_out(plan, state, wish);
    for (const auto* path :
         {"/", "/pool/kubernetes", "/storage/local-lvm", "/storage/local", "/nodes", "/vms/100"})
        for (const auto& privilege : before.at(path)) {
            INFO(path << " " << privilege);
            CHECK(state.of_user.has(path, privilege));
        }
    CHECK(access_plan(wish, state).steps.empty());
}

TEST_CASE("A role that others have is neither changed nor used for more than is needed") {
    const auto wish = some_wish();
    AccessState state;
    const std::string role = "KubeNodeSmith-storage-local-lvm";
    SECTION("it has less") {
        state.roles[role] = {"Datastore.Audit"};
    }
    SECTION("it has more") {
        state.roles[role] = {"Datastore.Audit", "Datastore.AllocateSpace", "Datastore.Allocate"};
    }
    state.acl = {{"/storage/local-lvm", "other@pve", role, true}};
    const auto before = state.roles.at(role);
    carry_out(access_plan(wish, state), state, wish);
    CHECK(state.roles.at(role) == before);
    CHECK(state.roles.at(role + "-2") == std::set<std::string>{"Datastore.AllocateSpace", "Datastore.Audit"});
    CHECK_FALSE(state.of_user.has("/storage/local-lvm", "Datastore.Allocate"));
}

TEST_CASE("A role of the user alone is completed in its place") {
    auto wish = some_wish();
    AccessState state;
    carry_out(access_plan(wish, state), state, wish);
    const auto entries = state.acl.size();
    wish.disk_storages.push_back("nas");
    wish.through_guest_agent = true;
    const auto plan = access_plan(wish, state);
    CHECK_FALSE(plan.makes_token);
    CHECK_THAT(commands_of(plan),
               Catch::Contains("pveum role modify KubeNodeSmith-pool-kubernetes --append 1 -privs "
                               "'VM.GuestAgent.Audit VM.GuestAgent.Unrestricted'\n"));
    carry_out(plan, state, wish);
    CHECK(state.acl.size() == entries + 1);  // the storage
    CHECK(access_plan(wish, state).steps.empty());
}

TEST_CASE("Another token has another name, and the old one stays") {
    auto wish = some_wish();
    AccessState state;
    carry_out(access_plan(wish, state), state, wish);
    wish.another_token = true;
    const auto plan = access_plan(wish, state);
    CHECK(plan.makes_token);
    CHECK(plan.steps.size() == 1);
    CHECK(plan.token_id == kUser + "!operator-2");
    CHECK_THAT(plan.notes.at(0), Catch::Contains("pveum user token remove " + kUser + " operator"));
    carry_out(plan, state, wish);
    CHECK(access_plan(wish, state).token_id == kUser + "!operator-3");
}

TEST_CASE("A token with privilege separation gets the roles, too") {
    const auto wish = some_wish();
    AccessState state;
    state.users[kUser].tokens["operator"] = true;
    const auto plan = access_plan(wish, state);
    CHECK_FALSE(plan.makes_token);
    for (const auto& step : plan.steps)
        if (step.path == "/access/acl") CHECK(parameter(step, "tokens") == kUser + "!operator");
    carry_out(plan, state, wish);
    state.of_token = permissions_of(state, kUser + "!operator");
    CHECK(access_plan(wish, state).steps.empty());
}

TEST_CASE("A user that is disabled is said to be, and one with all rights is refused") {
    auto wish = some_wish();
    AccessState state;
    state.users[kUser].is_enabled = false;
    CHECK_THAT(access_plan(wish, state).notes.at(0), Catch::Contains("is disabled"));
    wish.user = "root@pam";
    CHECK_THROWS_WITH(access_plan(wish, state), Catch::Contains("would have all rights"));
}

TEST_CASE("A privilege that the server's version lacks is left out and named") {
    const auto wish = some_wish();
    AccessState state;
    for (const auto& step : access_plan(wish, {}).steps)
        if (step.path == "/access/roles") state.roles["Administrator"].merge(parts(parameter(step, "privs")));
    CHECK(access_plan(wish, state).notes.empty());
    state.roles["Administrator"].erase("Sys.AccessNetwork");
    const auto plan = access_plan(wish, state);
    REQUIRE(plan.notes.size() == 1);
    CHECK_THAT(plan.notes[0], Catch::Contains("has no privilege Sys.AccessNetwork (to download the image)"));
    CHECK_THAT(commands_of(plan), !Catch::Contains("Sys.AccessNetwork"));
}

TEST_CASE("Clones of a template that was read have their disks and bridges where it has them") {
    ProxmoxSetup wish;
    wish.templates = {9000};
    AccessState state;
    auto& parts = state.templates.emplace_back();
    parts.vmid = 9000;
    parts.disk_storages = {"tank"};
    parts.interfaces = {"virtio,bridge=vmbr1"};
    parts.has_cloud_init_drive = true;
    carry_out(access_plan(wish, state), state, wish);
    CHECK(state.of_user.has("/storage/tank", "Datastore.AllocateSpace"));
    CHECK(state.of_user.has("/sdn/zones/localnetwork/vmbr1", "SDN.Use"));
    CHECK(state.of_user.has("/vms/9000", "VM.Clone"));
    CHECK(access_plan(wish, state).steps.empty());
}

TEST_CASE("The rights that an administrator lacks are named before anything is changed") {
    const auto plan = access_plan(some_wish(), {});
    const boost::json::object everything{{"/", boost::json::object{{"Sys.Modify", 1},
                                                                   {"Permissions.Modify", 1},
                                                                   {"User.Modify", 1},
                                                                   {"Realm.AllocateUser", 1},
                                                                   {"Pool.Allocate", 1}}}};
    CHECK(lacking_for(plan, "root@pam", Permissions::parse(everything)) == "");
    const auto lack = lacking_for(plan, "helper@pve", Permissions());
    CHECK_THAT(lack, Catch::StartsWith("helper@pve lacks Pool.Allocate on /pool/kubernetes") &&
                         Catch::Contains("Realm.AllocateUser on /access/realm/pve") &&
                         Catch::Contains("User.Modify on /access/groups") &&
                         Catch::Contains("Permissions.Modify on /nodes"));
    CHECK(lacking_for({}, "helper@pve", Permissions()) == "");
}
