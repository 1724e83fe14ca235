// Endpoints for users and their API tokens.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/identifiers.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

json::object describe(const Token& token) {
    json::object result{{"expire", token.expire}, {"privsep", token.separated ? 1 : 0}};
    if (!token.comment.empty()) result["comment"] = token.comment;
    return result;
}

json::array tokens_of(const World& world, const std::string& user) {
    json::array result;
    for (const auto& [id, token] : world.tokens) {
        if (token.user != user) continue;
        auto entry = describe(token);
        entry["tokenid"] = token.id;
        result.push_back(std::move(entry));
    }
    return result;
}

asio::awaitable<json::value> list_users(Call& call) {
    bool all = has_any(call.cluster.world, call.user, "/access/groups", {"User.Modify", "Sys.Audit"});
    json::array result;
    for (const auto& [id, user] : call.cluster.world.users) {
        bool self = call.user == id || call.user.starts_with(id + "!");
        if (!all && !self) continue;
        json::object entry{{"userid", id},
                           {"enable", user.enabled ? 1 : 0},
                           {"expire", user.expire},
                           {"realm-type", id.substr(id.find('@') + 1)}};
        if (call.flag("full")) {
            entry["groups"] = "";
            entry["tokens"] = tokens_of(call.cluster.world, id);
        }
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> create_user(Call& call) {
    auto id = call.text("userid");
    const auto realm = id.substr(id.find('@') + 1);
    call.require("/access/realm/" + realm, "Realm.AllocateUser");
    co_await call.cluster.lock_user_config("create user failed");
    auto& users = call.cluster.world.users;
    if (users.contains(id)) throw failure("create user failed: user '" + id + "' already exists");
    users[id] = {id, call.text("password"), call.flag("enable", true), call.integer("expire"), {}};
    co_return nullptr;
}

asio::awaitable<json::value> delete_user(Call& call) {
    co_await call.cluster.lock_user_config("delete user failed");
    auto id = call.text("userid");
    auto& world = call.cluster.world;
    if (world.users.erase(id) == 0) throw failure("delete user failed: user '" + id + "' does not exist");
    std::erase_if(world.tokens, [&](const auto& entry) { return entry.second.user == id; });
    std::erase_if(world.acl, [&](const auto& entry) {
        return entry.subject == id || entry.subject.starts_with(id + "!");
    });
    co_return nullptr;
}

// A user may manage the user's own tokens, but a token may not.
void require_token_rights(const Call& call) {
    if (call.user == call.text("userid")) return;
    if (!has_any(call.cluster.world, call.user, "/access/groups", {"User.Modify"})) throw permission_denied();
}

Token& find_token(Call& call) {
    auto& tokens = call.cluster.world.tokens;
    auto token = tokens.find(call.text("userid") + "!" + call.text("tokenid"));
    if (token == tokens.end()) {
        throw failure("no such token '" + call.text("tokenid") + "' for user '" + call.text("userid") + "'");
    }
    return token->second;
}

asio::awaitable<json::value> list_tokens(Call& call) {
    require_token_rights(call);
    co_return tokens_of(call.cluster.world, call.text("userid"));
}

asio::awaitable<json::value> get_token(Call& call) {
    require_token_rights(call);
    co_return describe(find_token(call));
}

asio::awaitable<json::value> create_token(Call& call) {
    require_token_rights(call);
    co_await call.cluster.lock_user_config("generating token failed");
    auto& world = call.cluster.world;
    auto user = call.text("userid");
    auto id = user + "!" + call.text("tokenid");
    if (world.tokens.contains(id)) throw parameter_error("tokenid", "Token already exists.");
    if (!world.users.contains(user)) throw failure("generating token failed: no such user ('" + user + "')");
    Token token{call.text("tokenid"),
                user,
                random_uuid(call.cluster.random),
                call.flag("privsep", true),
                call.integer("expire"),
                call.text("comment")};
    json::object info{{"privsep", token.separated ? "1" : "0"}, {"expire", std::to_string(token.expire)}};
    json::object result{{"full-tokenid", id}, {"value", token.secret}, {"info", std::move(info)}};
    world.tokens[id] = std::move(token);
    co_return result;
}

asio::awaitable<json::value> delete_token(Call& call) {
    require_token_rights(call);
    co_await call.cluster.lock_user_config("deleting token failed");
    find_token(call);
    auto id = call.text("userid") + "!" + call.text("tokenid");
    call.cluster.world.tokens.erase(id);
    std::erase_if(call.cluster.world.acl, [&](const auto& entry) { return entry.subject == id; });
    co_return nullptr;
}

}  // namespace

void add_user_endpoints(Routes& routes) {
    routes.add({.method = "GET",
                .path = "/access/users",
                .handler = list_users,
                .parameters = "enabled boolean\nfull boolean",
                .daemon = true});
    routes.add({.method = "POST",
                .path = "/access/users",
                .handler = create_user,
                .parameters = R"(
                    userid! format=pve-userid maxlen=64
                    password minlen=8 maxlen=64
                    enable boolean
                    expire integer min=0
                    comment maxlen=2048
                    email format=email-opt maxlen=254
                    firstname maxlen=1024
                    lastname maxlen=1024
                    groups format=pve-groupid-list
                    keys pattern=[0-9a-zA-Z!=]{0,4096})",
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/access/groups",
                .privileges = {"User.Modify"}});
    routes.add({.method = "DELETE",
                .path = "/access/users/{userid}",
                .handler = delete_user,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = "/access/groups",
                .privileges = {"User.Modify"}});
    const std::string tokens = "/access/users/{userid}/token";
    routes.add({.method = "GET", .path = tokens, .handler = list_tokens});
    routes.add({.method = "GET", .path = tokens + "/{tokenid}", .handler = get_token});
    routes.add({.method = "POST",
                .path = tokens + "/{tokenid}",
                .handler = create_token,
                .parameters = "comment string\nexpire integer min=0\nprivsep boolean",
                .daemon = true});
    routes.add({.method = "DELETE", .path = tokens + "/{tokenid}", .handler = delete_token, .daemon = true});
}

}  // namespace proxmox_simulator
