#include "providers/proxmox/setup/administrator.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/text.hpp"
#include "providers/foreign/bounded_json.hpp"
#include "providers/proxmox/wire/answer.hpp"
#include "providers/proxmox/wire/cluster_identity.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {
namespace {

constexpr const char* kInstead =
    "; log in as another administrator, or run the commands that --print shows on a host of the cluster";

Call list(std::string operation, std::string tried, std::string path) {
    Call call;
    call.method = "GET";
    call.operation = std::move(operation);
    call.tried = std::move(tried);
    call.path = std::move(path);
    call.data = DataKind::list;
    return call;
}

Call call_for(const ProxmoxStep& step) {
    Call call;
    call.method = step.method;
    call.operation = "set_up";
    call.tried = step.command;
    call.path = step.path;
    call.parameters = step.parameters;
    return call;
}

// Returns the kinds of second factors that a terminal can show, from a ticket
// "PVE:!tfa!{...}:TIME::SIGNATURE". Its JSON has escaped colons. An unknown form may be of any kind.
std::string kinds_in(const std::string& ticket) {
    constexpr std::string_view kBegin = "!tfa!", kColon = "%3A";
    constexpr const char* kCode = "a TOTP code";
    constexpr const char* kKey = "a recovery key";
    const auto any = std::string(kCode) + " or " + kKey;
    const auto begin = ticket.find(kBegin);
    if (begin == std::string::npos) return any;
    auto text = ticket.substr(begin + kBegin.size());
    text = text.substr(0, text.find(':'));
    for (auto at = text.find(kColon); at != std::string::npos; at = text.find(kColon, at))
        text.replace(at, kColon.size(), ":");
    const auto document = foreign::parse(text);
    const auto* kinds = document ? document->if_object() : nullptr;
    if (!kinds) return any;
    const auto* recovery = kinds->if_contains("recovery");
    // Older versions name a state in place of the list of keys.
    const auto state = recovery ? text_of(*recovery) : std::string();
    const bool has_keys = !state.empty() && state != "[]" && state != "unavailable";
    const bool has_codes = flag_of(*kinds, "totp");
    if (has_codes && has_keys) return any;
    return has_codes ? kCode : has_keys ? kKey : "";
}

std::string response_of(const std::string& factor) {
    const bool is_code = factor.find_first_not_of("0123456789") == std::string::npos;
    return (is_code ? "totp:" : "recovery:") + factor;
}

// Sends one half of a login. The password never reaches an error.
asio::awaitable<json::object> send_login(base::HttpTransport& transport, Call call, std::string secret) {
    try {
        auto response = co_await transport.send(to_request(call));
        hide_secret(response, secret);
        if (response.status == 401)
            throw ProxmoxError(ErrorKind::unauthenticated, call.tried, refusal_of(response));
        const auto data = data_of(call, response);
        co_return data.is_object() ? data.get_object() : json::object();
    } catch (const base::TransportError& error) {
        throw ProxmoxError(ErrorKind::unreachable, call.tried, error.what());
    }
}

Call login_call(const std::string& username, const std::string& password) {
    auto call = proxmox::log_in(username, password);
    // Proxmox VE 7 describes second factors differently without it.
    call.parameters.emplace_back("new-format", "1");
    return call;
}

std::string second_factor_for(const ProxmoxLogin& login, const std::string& challenge) {
    const auto refuse = [&](const std::string& why) {
        throw ProxmoxError(ErrorKind::unauthenticated, "logging in as " + login.username, why + kInstead);
    };
    const auto kinds = kinds_in(challenge);
    if (kinds.empty()) refuse("its second factor needs a browser (WebAuthn, U2F or Yubico)");
    if (!login.ask_second_factor) refuse("it needs a second factor, and nobody can be asked for " + kinds);
    auto factor = login.ask_second_factor(kinds);
    if (factor.empty()) refuse("it needs a second factor, and none was given: " + kinds);
    return factor;
}

asio::awaitable<std::string> ticket_for(const ProxmoxLogin& login, base::HttpTransport& transport) {
    auto first = login_call(login.username, login.password);
    auto answer = co_await send_login(transport, std::move(first), login.password);
    const auto challenge = text_of(answer, "ticket");
    if (!flag_of(answer, "NeedTFA")) co_return challenge;
    const auto factor = second_factor_for(login, challenge);
    // Proxmox signs the challenge for the name in its own spelling.
    const auto username = text_of(answer, "username");
    auto second = login_call(username.empty() ? login.username : username, response_of(factor));
    second.tried += " with the second factor";
    second.parameters.emplace_back("tfa-challenge", challenge);
    answer = co_await send_login(transport, std::move(second), factor);
    co_return text_of(answer, "ticket");
}

std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    std::string word;
    for (const char c : text + ",") {
        const bool is_between = c == ',' || c == ' ' || c == ';';
        if (!is_between) word += c;
        if (is_between && !word.empty()) words.insert(std::exchange(word, {}));
    }
    return words;
}

void add_storage(ProxmoxSite& site, const json::object& entry) {
    if (text_of(entry, "status") != "available") return;
    const auto name = text_of(entry, "storage");
    auto known = std::ranges::find(site.storages, name, &ProxmoxSite::SiteStorage::name);
    const auto free = mib_of(entry, "maxdisk") - mib_of(entry, "disk");
    if (known == site.storages.end()) {
        site.storages.push_back({name,
                                 text_of(entry, "plugintype"),
                                 words_of(text_of(entry, "content")),
                                 {},
                                 flag_of(entry, "shared"),
                                 free});
        known = std::prev(site.storages.end());
    }
    known->hosts.insert(text_of(entry, "node"));
    known->free_mib = std::min(known->free_mib, free);
}

void add_entry(ProxmoxSite& site, const json::object& entry) {
    const auto type = text_of(entry, "type");
    if (type == "node")
        site.hosts.push_back({text_of(entry, "node"),
                              text_of(entry, "status") == "online",
                              integer_of(entry, "maxcpu"),
                              mib_of(entry, "maxmem"),
                              {}});
    if (type == "storage") add_storage(site, entry);
    if (type == "qemu" && flag_of(entry, "template"))
        site.templates.push_back({integer_of(entry, "vmid"), text_of(entry, "name"), text_of(entry, "node")});
}

std::string authority_in(const json::value& certificates) {
    for (const auto* certificate : objects_of(certificates))
        if (text_of(*certificate, "filename") == "pve-root-ca.pem") return text_of(*certificate, "pem");
    return {};
}

std::int64_t major_of(const std::string& version) {
    std::int64_t major = 0;
    std::from_chars(version.data(), version.data() + version.size(), major);
    return major;
}

ProxmoxClientOptions client_options(const ProxmoxLogin& login, std::string ticket) {
    ProxmoxClientOptions options;
    options.provider = {"", "setup"};
    options.endpoints = {login.endpoint};
    options.tls = login.tls;
    options.credentials.username = login.username;
    options.credentials.password = std::move(ticket);
    return options;
}

}  // namespace

Administrator::Administrator(const ProxmoxLogin& login, std::string ticket, ProviderEnvironment& environment)
    : username_(login.username), client_(client_options(login, std::move(ticket)), environment) {}

asio::awaitable<std::string> Administrator::version() {
    const auto data = co_await client_.read(get_version());
    co_return data.is_object() ? text_of(data.get_object(), "version") : std::string();
}

asio::awaitable<ProxmoxSite> Administrator::look() {
    ProxmoxSite site;
    site.version = co_await version();
    site.major_version = major_of(site.version);
    const auto status = co_await client_.read(get_cluster_status());
    site.cluster = cluster_name(status);
    const auto resources = co_await client_.read(get_cluster_resources());
    for (const auto* entry : objects_of(resources)) add_entry(site, *entry);
    for (auto& host : site.hosts)
        if (host.is_online) host.bridges = co_await bridges_of(host.name);
    const auto certificates = co_await client_.read(get_own_certificates());
    site.authority_pem = authority_in(certificates);
    std::ranges::sort(site.hosts, {}, &ProxmoxSite::SiteHost::name);
    std::ranges::sort(site.storages, {}, &ProxmoxSite::SiteStorage::name);
    std::ranges::sort(site.templates, {}, &ProxmoxSite::SiteTemplate::vmid);
    co_return site;
}

asio::awaitable<std::set<std::string>> Administrator::bridges_of(std::string host) {
    std::set<std::string> names;
    const auto bridges = co_await client_.read(get_bridges(host));
    for (const auto* bridge : objects_of(bridges)) names.insert(text_of(*bridge, "iface"));
    co_return names;
}

asio::awaitable<Permissions> Administrator::permissions_of(std::string subject) {
    auto call = get_permissions();
    if (!subject.empty()) call.parameters.emplace_back("userid", std::move(subject));
    const auto data = co_await client_.read(std::move(call));
    co_return Permissions::parse(data);
}

asio::awaitable<TemplateParts> Administrator::template_parts(std::int64_t vmid) {
    const auto resources = co_await client_.read(get_cluster_resources());
    std::vector<std::string> known;
    for (const auto* entry : objects_of(resources)) {
        if (text_of(*entry, "type") != "qemu" || !flag_of(*entry, "template")) continue;
        known.push_back(text_of(*entry, "vmid"));
        if (integer_of(*entry, "vmid") != vmid) continue;
        const auto config = co_await client_.read(get_vm_config(text_of(*entry, "node"), vmid));
        co_return parts_of_template(vmid, parse_vm_config(config));
    }
    throw std::invalid_argument("there is no template " + std::to_string(vmid) +
                                (known.empty() ? "" : "; there are " + base::joined(known)));
}

asio::awaitable<AccessState> Administrator::access_state(ProxmoxSetup wish) {
    AccessState state;
    for (const auto vmid : wish.templates) {
        auto parts = co_await template_parts(vmid);
        state.templates.push_back(std::move(parts));
    }
    const auto pools = co_await client_.read(list("get_pools", "listing the resource pools", "/pools"));
    for (const auto* pool : objects_of(pools)) state.pools.insert(text_of(*pool, "poolid"));
    auto all_users = list("get_users", "listing the users", "/access/users");
    all_users.parameters.emplace_back("full", "1");
    const auto users = co_await client_.read(std::move(all_users));
    for (const auto* entry : objects_of(users)) {
        auto& user = state.users[text_of(*entry, "userid")];
        user.is_enabled = flag_of(*entry, "enable");
        const auto* tokens = entry->if_contains("tokens");
        if (!tokens) continue;
        for (const auto* token : objects_of(*tokens))
            user.tokens[text_of(*token, "tokenid")] = flag_of(*token, "privsep");
    }
    const auto roles = co_await client_.read(list("get_roles", "listing the roles", "/access/roles"));
    for (const auto* role : objects_of(roles))
        state.roles[text_of(*role, "roleid")] = words_of(text_of(*role, "privs"));
    const auto acl = co_await client_.read(list("get_acl", "listing the rights", "/access/acl"));
    for (const auto* entry : objects_of(acl))
        state.acl.push_back({text_of(*entry, "path"), text_of(*entry, "ugid"), text_of(*entry, "roleid"),
                             flag_of(*entry, "propagate")});
    const auto user = state.users.find(wish.user);
    if (user == state.users.end()) co_return state;
    state.of_user = co_await permissions_of(wish.user);
    state.of_token = state.of_user;
    if (user->second.tokens.contains(wish.token))
        state.of_token = co_await permissions_of(wish.user + "!" + wish.token);
    co_return state;
}

asio::awaitable<ProxmoxPlan> Administrator::plan(ProxmoxSetup wish) {
    const auto running = co_await version();
    wish.major_version = major_of(running);
    const auto state = co_await access_state(wish);
    auto plan = access_plan(wish, state);
    const auto own = co_await permissions_of("");
    const auto lack = lacking_for(plan, username_, own);
    if (!lack.empty())
        throw ProxmoxError(ErrorKind::permission, "looking what " + username_ + " may change",
                           lack + "; nothing was changed" + kInstead);
    co_return plan;
}

asio::awaitable<std::string> Administrator::carry_out(ProxmoxPlan plan) {
    std::string secret;
    for (const auto& step : plan.steps) {
        const auto data = co_await client_.change(call_for(step));
        if (data.is_object()) secret = text_of(data.get_object(), "value");
    }
    if (plan.makes_token && secret.empty())
        throw ProxmoxError(ErrorKind::other, "making the token " + plan.token_id,
                           "the answer has no secret; make another token");
    co_return secret;
}

}  // namespace providers::proxmox

namespace providers {

boost::asio::awaitable<std::unique_ptr<ProxmoxAdministrator>> log_in_to_proxmox(
    ProxmoxLogin login, ProviderEnvironment& environment) {
    base::HttpClientOptions http;
    http.url = login.endpoint;
    http.tls = login.tls;
    const auto transport = environment.connect(std::move(http));
    auto ticket = co_await proxmox::ticket_for(login, *transport);
    co_return std::make_unique<proxmox::Administrator>(login, std::move(ticket), environment);
}

}  // namespace providers
