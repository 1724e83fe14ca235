// Endpoints for the rules of high availability. The simulator stores and shows them, but does not place
// machines by them.
#include <algorithm>
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

json::object shown_rule(const std::string& name, const HaRule& rule, int order) {
    json::object entry{{"rule", name}, {"type", rule.type}, {"order", order}, {"digest", "0"}};
    for (const auto& [key, value] : rule.settings) {
        if (key == "strict" || key == "disable")
            entry[key] = value == "1" ? 1 : 0;
        else
            entry[key] = value;
    }
    return entry;
}

asio::awaitable<json::value> list_rules(Call& call) {
    json::array result;
    int order = 0;
    for (const auto& [name, rule] : call.cluster.world.ha_rules) {
        if (!call.has("type") || call.text("type") == rule.type)
            result.push_back(shown_rule(name, rule, ++order));
    }
    co_return result;
}

asio::awaitable<json::value> create_rule(Call& call) {
    auto& world = call.cluster.world;
    call.cluster.require_quorum();
    const auto name = call.text("rule");
    if (world.ha_rules.contains(name))
        throw failure("create ha rule failed: HA rule '" + name + "' already exists");
    std::vector<std::string> unmanaged;
    for (const auto& resource : split_list(call.text("resources")))
        if (!world.ha_resources.contains(resource)) unmanaged.push_back(resource);
    if (!unmanaged.empty())
        throw failure("create ha rule failed: cannot use unmanaged resource(s) " + join(unmanaged, ", ") +
                      ".");
    HaRule rule{call.text("type"), {}};
    for (const char* key : {"resources", "nodes", "affinity", "strict", "disable", "comment"})
        if (call.has(key)) rule.settings[key] = call.text(key);
    world.ha_rules[name] = std::move(rule);
    co_return nullptr;
}

asio::awaitable<json::value> delete_rule(Call& call) {
    call.cluster.require_quorum();
    call.cluster.world.ha_rules.erase(call.text("rule"));
    co_return nullptr;
}

asio::awaitable<json::value> list_groups(Call&) {
    throw failure("cannot index groups: ha groups have been migrated to rules");
    co_return nullptr;
}

Endpoint of_rules(std::string method, std::string path, Handler handler, std::string_view privilege,
                  std::string parameters = {}) {
    auto endpoint = ha_endpoint(std::move(method), "/cluster/ha/" + path, handler, privilege);
    endpoint.parameters = std::move(parameters);
    return endpoint;
}

}  // namespace

void add_ha_rules(Routes& routes) {
    routes.add(of_rules("GET", "rules", list_rules, "Sys.Audit",
                        "type enum=node-affinity|resource-affinity\nresource string"));
    routes.add(of_rules("POST", "rules", create_rule, "Sys.Console", R"(
        rule! format=pve-configid
        type! enum=node-affinity|resource-affinity
        resources! string
        nodes string
        affinity enum=positive|negative
        strict boolean
        disable boolean
        comment maxlen=4096)"));
    routes.add(of_rules("DELETE", "rules/{rule}", delete_rule, "Sys.Console", "rule! format=pve-configid"));
    routes.add(of_rules("GET", "groups", list_groups, "Sys.Audit"));
}

}  // namespace proxmox_simulator
