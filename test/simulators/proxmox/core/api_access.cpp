// Endpoints for tickets, permissions, roles and access control lists.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

// Returns the user's privileges that the web interface asks about, by area.
json::object capabilities(const World& world, const std::string& user) {
    static const std::vector<std::array<std::string_view, 3>> kAreas{{"vms", "/vms", "VM."},
                                                                     {"storage", "/storage", "Datastore."},
                                                                     {"access", "/access", "User."},
                                                                     {"nodes", "/nodes", "Sys."},
                                                                     {"dc", "/", "Sys."},
                                                                     {"sdn", "/sdn", "SDN."},
                                                                     {"mapping", "/mapping", "Mapping."}};
    json::object result;
    for (const auto& [area, path, prefix] : kAreas) {
        json::object held;
        for (const auto& [privilege, propagate] : permissions(world, user, std::string(path))) {
            bool belongs = privilege.starts_with(prefix) || (area == "dc" && privilege.starts_with("SDN."));
            if (belongs) held[privilege] = 1;
        }
        result[area] = std::move(held);
    }
    return result;
}

asio::awaitable<json::value> create_ticket(Call& call) {
    auto& cluster = call.cluster;
    const auto now = cluster.wall_seconds();
    auto name = call.text("username");
    if (call.has("realm")) name += "@" + call.text("realm");
    const auto* user = active_user(cluster.world, name, now);
    auto password = call.text("password");
    bool known = user && ((!user->password.empty() && user->password == password) ||
                          cluster.authentication.is_valid_ticket(name, password, now));
    if (!known) throw ApiError(401, "authentication failure");
    json::object result{{"username", name},
                        {"ticket", cluster.authentication.make_ticket(name, now)},
                        {"CSRFPreventionToken", cluster.authentication.make_csrf_token(name, now)},
                        {"cap", capabilities(cluster.world, name)}};
    if (!cluster.world.standalone) result["clustername"] = cluster.world.cluster_name;
    co_return result;
}

json::object as_flags(const std::map<std::string, bool>& privileges) {
    json::object result;
    for (const auto& [privilege, propagate] : privileges) result[privilege] = propagate ? 1 : 0;
    return result;
}

asio::awaitable<json::value> list_permissions(Call& call) {
    const auto& world = call.cluster.world;
    auto who = call.text("userid", call.user);
    if (who != call.user && !who.starts_with(call.user + "!")) call.require("/access", "Sys.Audit");
    json::object result;
    if (call.has("path")) {
        result[call.text("path")] = as_flags(permissions(world, who, call.text("path")));
        co_return result;
    }
    std::set<std::string> paths{"/",     "/access", "/access/groups", "/nodes",
                                "/pool", "/sdn",    "/storage",       "/vms"};
    for (const auto& entry : world.acl) {
        if (entry.subject == who || who.starts_with(entry.subject + "!")) paths.insert(entry.path);
    }
    for (const auto& [id, pool] : world.pools) {
        paths.insert("/pool/" + id);
        for (int vmid : pool.vms) paths.insert("/vms/" + std::to_string(vmid));
        for (const auto& storage : pool.storages) paths.insert("/storage/" + storage);
    }
    for (const auto& path : paths) {
        auto privileges = as_flags(permissions(world, who, path));
        if (!privileges.empty()) result[path] = std::move(privileges);
    }
    co_return result;
}

asio::awaitable<json::value> list_roles(Call& call) {
    json::array result;
    for (const auto& [name, privileges] : all_roles(call.cluster.world)) {
        result.push_back({{"roleid", name},
                          {"privs", join({privileges.begin(), privileges.end()}, ",")},
                          {"special", is_predefined_role(name) ? 1 : 0}});
    }
    co_return result;
}

asio::awaitable<json::value> create_role(Call& call) {
    co_await call.cluster.lock_user_config("create role failed");
    auto name = call.text("roleid");
    auto& world = call.cluster.world;
    if (find_role(world, name)) throw failure("create role failed: role '" + name + "' already exists");
    const auto* known = find_role(world, "Administrator");
    std::set<std::string> privileges;
    for (auto& privilege : split_list(call.text("privs"))) {
        if (!known->contains(privilege))
            throw failure("create role failed: invalid privilege '" + privilege + "'");
        privileges.insert(std::move(privilege));
    }
    world.custom_roles[name] = std::move(privileges);
    co_return nullptr;
}

asio::awaitable<json::value> list_acl(Call& call) {
    const auto& world = call.cluster.world;
    bool audit = has_any(world, call.user, "/access", {"Sys.Audit", "Permissions.Modify"});
    json::array result;
    for (const auto& entry : world.acl) {
        if (!audit && !has_any(world, call.user, entry.path, {"Permissions.Modify"})) continue;
        result.push_back({{"path", entry.path},
                          {"type", entry.type},
                          {"ugid", entry.subject},
                          {"roleid", entry.role},
                          {"propagate", entry.propagate ? 1 : 0}});
    }
    co_return result;
}

void change_acl(World& world, const AclEntry& wanted, bool remove) {
    std::erase_if(world.acl, [&](const auto& entry) {
        return entry.path == wanted.path && entry.subject == wanted.subject && entry.role == wanted.role;
    });
    if (!remove) world.acl.push_back(wanted);
}

asio::awaitable<json::value> update_acl(Call& call) {
    auto& world = call.cluster.world;
    auto path = call.text("path");
    require_any(world, call.user, path, {"Permissions.Modify"});
    co_await call.cluster.lock_user_config("update ACL failed");
    for (const auto& role : split_list(call.text("roles"))) {
        if (!find_role(world, role)) throw failure("update ACL failed: role '" + role + "' does not exist");
        AclEntry entry{path, "user", "", role, call.flag("propagate", true)};
        for (const auto& user : split_list(call.text("users"))) {
            if (!world.users.contains(user))
                throw failure("update ACL failed: user '" + user + "' does not exist");
            entry.subject = user;
            change_acl(world, entry, call.flag("delete"));
        }
        entry.type = "token";
        for (const auto& token : split_list(call.text("tokens"))) {
            if (!world.tokens.contains(token))
                throw failure("update ACL failed: API token '" + token + "' does not exist");
            entry.subject = token;
            change_acl(world, entry, call.flag("delete"));
        }
    }
    co_return nullptr;
}

asio::awaitable<json::value> list_domains(Call&) {
    json::array result;
    result.push_back({{"realm", "pam"}, {"type", "pam"}, {"comment", "Linux PAM standard authentication"}});
    result.push_back({{"realm", "pve"}, {"type", "pve"}, {"comment", "Proxmox VE authentication server"}});
    co_return result;
}

}  // namespace

void add_user_endpoints(Routes& routes);

void add_access(Routes& routes) {
    routes.add({.method = "POST",
                .path = "/access/ticket",
                .handler = create_ticket,
                .parameters = R"(
                    username! maxlen=64
                    password! string
                    realm format=pve-realm maxlen=32
                    otp string
                    path maxlen=64 requires=privs
                    privs format=pve-priv-list maxlen=64 requires=path
                    new-format boolean
                    tfa-challenge string)",
                .daemon = true,
                .for_tokens = false,
                .access = Access::world});
    routes.add(
        {.method = "GET", .path = "/access/domains", .handler = list_domains, .access = Access::world});
    routes.add({.method = "GET", .path = "/access/permissions", .handler = list_permissions, .parameters = R"(
                    path string
                    userid pattern=(?:[^\s:/]+)\@(?:[A-Za-z][A-Za-z0-9\.\-_]+)(?:!(?:[A-Za-z][A-Za-z0-9\.\-_]+))?)"});
    routes.add({.method = "GET", .path = "/access/roles", .handler = list_roles});
    routes.add({.method = "POST",
                .path = "/access/roles",
                .handler = create_role,
                .parameters = "roleid! format=pve-roleid\nprivs format=pve-priv-list",
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/access",
                .privileges = {"Sys.Modify"}});
    routes.add({.method = "GET", .path = "/access/acl", .handler = list_acl});
    routes.add({.method = "PUT",
                .path = "/access/acl",
                .handler = update_acl,
                .parameters = R"(
                    path! string
                    roles! format=pve-roleid-list
                    users format=pve-userid-list
                    tokens format=pve-tokenid-list
                    groups format=pve-groupid-list
                    propagate boolean
                    delete boolean)",
                .daemon = true});
    add_user_endpoints(routes);
}

}  // namespace proxmox_simulator
