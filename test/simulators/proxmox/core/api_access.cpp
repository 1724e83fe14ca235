// Endpoints for tickets, permissions, roles and access control lists.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>

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

asio::awaitable<json::value> get_ticket(Call&) {
    co_return nullptr;
}

std::string challenge_of(const SecondFactors& factors) {
    json::object kinds;
    if (!factors.totp.empty()) kinds["totp"] = true;
    if (!factors.recovery_keys.empty()) {
        json::array left;
        for (std::size_t i = 0; i < factors.recovery_keys.size(); ++i) left.emplace_back(i);
        kinds["recovery"] = std::move(left);
    }
    if (factors.webauthn) kinds["webauthn"] = json::object{{"publicKey", json::object()}};
    return json::serialize(kinds);
}

// Checks "totp:CODE" or "recovery:KEY". A recovery key is used up.
bool shows_second_factor(SecondFactors& factors, const std::string& response) {
    if (response.starts_with("totp:")) return !factors.totp.empty() && response.substr(5) == factors.totp;
    return response.starts_with("recovery:") && factors.recovery_keys.erase(response.substr(9)) > 0;
}

enum class Login { refused, incomplete, complete };

// A ticket in place of the password has passed the second factor before. With `tfa-challenge` the password is
// the second factor, and an immediate TOTP may be in `otp`.
Login log_in(Call& call, User& user, std::int64_t now) {
    const auto& authentication = call.cluster.authentication;
    const auto password = call.text("password");
    if (call.has("tfa-challenge")) {
        const bool is_shown = authentication.is_valid_challenge(user.id, call.text("tfa-challenge"), now) &&
                              !call.has("otp") && shows_second_factor(user.second_factors, password);
        return is_shown ? Login::complete : Login::refused;
    }
    if (authentication.is_valid_ticket(user.id, password, now)) return Login::complete;
    if (user.password.empty() || user.password != password) return Login::refused;
    if (!user.second_factors.any()) return call.has("otp") ? Login::refused : Login::complete;
    if (!call.has("otp")) return Login::incomplete;
    return shows_second_factor(user.second_factors, call.text("otp")) ? Login::complete : Login::refused;
}

asio::awaitable<json::value> create_ticket(Call& call) {
    auto& cluster = call.cluster;
    const auto now = cluster.wall_seconds();
    auto name = call.text("username");
    if (call.has("realm")) name += "@" + call.text("realm");
    const bool is_active = active_user(cluster.world, name, now) != nullptr;
    const auto login = is_active ? log_in(call, cluster.world.users.at(name), now) : Login::refused;
    if (login == Login::refused) throw ApiError(401, "authentication failure");
    const auto& authentication = cluster.authentication;
    json::object result{{"username", name},
                        {"CSRFPreventionToken", authentication.make_csrf_token(name, now)}};
    if (login == Login::incomplete) {
        const auto challenge = challenge_of(cluster.world.users.at(name).second_factors);
        result["ticket"] = authentication.make_challenge(name, challenge, now);
        result["NeedTFA"] = 1;
        co_return result;
    }
    result["ticket"] = authentication.make_ticket(name, now);
    result["cap"] = capabilities(cluster.world, name);
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

std::set<std::string> known_privileges(const Call& call, const std::string& tried) {
    const auto* known = find_role(call.cluster.world, "Administrator");
    std::set<std::string> privileges;
    for (auto& privilege : split_list(call.text("privs"))) {
        if (!known->contains(privilege)) throw failure(tried + ": invalid privilege '" + privilege + "'");
        privileges.insert(std::move(privilege));
    }
    return privileges;
}

asio::awaitable<json::value> create_role(Call& call) {
    const std::string tried = "create role failed";
    auto name = call.text("roleid");
    if (lower(name).starts_with("pve")) {
        throw parameter_error("roleid",
                              "cannot use role ID starting with the (case-insensitive) 'PVE' namespace");
    }
    co_await call.cluster.lock_user_config(tried);
    auto& world = call.cluster.world;
    if (find_role(world, name)) throw failure(tried + ": role '" + name + "' already exists");
    world.custom_roles[name] = known_privileges(call, tried);
    co_return nullptr;
}

asio::awaitable<json::value> get_role(Call& call) {
    const auto* role = find_role(call.cluster.world, call.text("roleid"));
    if (!role) throw failure("role '" + call.text("roleid") + "' does not exist");
    json::object result;
    for (const auto& privilege : *role) result[privilege] = 1;
    co_return result;
}

// Replaces the role's privileges, unless they are to be added to those that it has.
asio::awaitable<json::value> update_role(Call& call) {
    const std::string tried = "update role failed";
    auto name = call.text("roleid");
    if (is_predefined_role(name)) throw failure("auto-generated role '" + name + "' cannot be modified");
    co_await call.cluster.lock_user_config(tried);
    auto& roles = call.cluster.world.custom_roles;
    if (!roles.contains(name)) throw failure(tried + ": role '" + name + "' does not exist");
    auto privileges = known_privileges(call, tried);
    if (call.flag("append")) privileges.merge(roles.at(name));
    roles.at(name) = std::move(privileges);
    co_return nullptr;
}

// Besides Permissions.Modify, who may allocate VMs, storage or pools may hand out rights on them.
std::vector<std::string_view> rights_to_modify(const std::string& path) {
    std::vector<std::string_view> privileges{"Permissions.Modify"};
    if (path.starts_with("/storage/")) privileges.emplace_back("Datastore.Allocate");
    if (path.starts_with("/vms/")) privileges.emplace_back("VM.Allocate");
    if (path.starts_with("/pool/")) privileges.emplace_back("Pool.Allocate");
    return privileges;
}

asio::awaitable<json::value> list_acl(Call& call) {
    const auto& world = call.cluster.world;
    bool audit = has_any(world, call.user, "/access", {"Sys.Audit"});
    json::array result;
    for (const auto& entry : world.acl) {
        if (!audit && !has_any(world, call.user, entry.path, rights_to_modify(entry.path))) continue;
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

bool is_acl_path(const std::string& path) {
    static const std::set<std::string, std::less<>> kAreas{"/access",  "/nodes", "/pool",   "/sdn",
                                                           "/storage", "/vms",   "/mapping"};
    if (path == "/" || kAreas.contains(path)) return true;
    const auto is_plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) ||
               std::string_view(".-_/").find(c) != std::string_view::npos;
    };
    const auto area = path.substr(0, path.find('/', 1));
    if (!kAreas.contains(area) || !std::ranges::all_of(path, is_plain)) return false;
    const auto rest = path.substr(std::min(path.size(), area.size() + 1));
    return area != "/vms" || (rest.size() > 2 && to_integer(rest));
}

// Without Permissions.Modify one may only hand out what one has, and not for longer than one has it.
void require_superset(const Call& call, const std::string& path, const std::string& role) {
    const auto& world = call.cluster.world;
    const auto mine = permissions(world, call.user, path);
    if (mine.contains("Permissions.Modify")) return;
    const auto complain = [&](const std::string& what) {
        throw parameter_error("role", "Cannot " + std::string(call.flag("delete") ? "remove" : "add") +
                                          " role '" + role + "'" + what + " superset of privileges.");
    };
    for (const auto& privilege : *find_role(world, role)) {
        const auto held = mine.find(privilege);
        if (held == mine.end()) complain(" - requires 'Permissions.Modify' or");
        if (!call.flag("delete") && call.flag("propagate", true) && !held->second)
            complain(" with propagation - requires 'Permissions.Modify' or propagated");
    }
}

asio::awaitable<json::value> update_acl(Call& call) {
    const std::string tried = "ACL update failed";
    auto& world = call.cluster.world;
    auto path = call.text("path");
    require_any(world, call.user, path, rights_to_modify(path));
    if (!call.has("users") && !call.has("tokens") && !call.has("groups")) {
        json::object errors;
        for (const char* name : {"users", "groups", "tokens"})
            errors[name] = "either 'users', 'groups' or 'tokens' is required.";
        throw parameter_errors(std::move(errors));
    }
    if (!call.flag("delete") && !is_acl_path(path))
        throw parameter_error("path", "invalid ACL path '" + path + "'");
    co_await call.cluster.lock_user_config(tried);
    for (const auto& role : split_list(call.text("roles"))) {
        if (!find_role(world, role)) throw failure(tried + ": role '" + role + "' does not exist");
        require_superset(call, path, role);
        AclEntry entry{path, "user", "", role, call.flag("propagate", true)};
        for (const auto& user : split_list(call.text("users"))) {
            if (!world.users.contains(user)) throw failure(tried + ": user '" + user + "' does not exist");
            entry.subject = user;
            change_acl(world, entry, call.flag("delete"));
        }
        entry.type = "token";
        for (const auto& token : split_list(call.text("tokens"))) {
            if (!world.tokens.contains(token)) {
                throw failure(tried + ": no such token '" + token.substr(token.find('!') + 1) +
                              "' for user '" + token.substr(0, token.find('!')) + "'");
            }
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
    // Proxmox has it for login pages. It answers anybody, whatever the parameters are.
    routes.add({.method = "GET",
                .path = "/access/ticket",
                .handler = get_ticket,
                .access = Access::world,
                .schema = Schema::open()});
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
    Endpoint role{.method = "GET", .path = "/access/roles/{roleid}", .handler = get_role};
    role.parameters = "roleid! format=pve-roleid";
    auto change = role;
    change.method = "PUT";
    change.handler = update_role;
    change.parameters += "\nprivs format=pve-priv-list\nappend boolean requires=privs";
    change.daemon = true;
    change.access = Access::privilege;
    change.permission_path = "/access";
    change.privileges = {"Sys.Modify"};
    routes.add(std::move(role));
    routes.add(std::move(change));
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
