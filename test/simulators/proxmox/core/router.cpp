#include "test/simulators/proxmox/core/router.hpp"

#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> result;
    for (auto& part : split(path, '/')) {
        if (!part.empty()) result.push_back(std::move(part));
    }
    return result;
}

bool is_variable(const std::string& segment) {
    return segment.starts_with('{');
}

std::string variable_name(const std::string& segment) {
    return segment.substr(1, segment.size() - 2);
}

// Returns the declaration of a path parameter that the endpoint does not declare itself.
std::string_view path_declaration(std::string_view name) {
    if (name == "vmid") return "vmid! vmid";
    if (name == "node") return "node! format=pve-node";
    if (name == "storage") return "storage! format=pve-storage-id";
    if (name == "upid") return "upid! string";
    if (name == "volume") return "volume! string";
    if (name == "userid") return "userid! format=pve-userid maxlen=64";
    if (name == "tokenid") return "tokenid! pattern=(?:[A-Za-z][A-Za-z0-9\\.\\-_]+)";
    if (name == "poolid") return "poolid! format=pve-poolid";
    return {};
}

bool match_segments(const Endpoint& endpoint, const std::vector<std::string>& parts, Routes::Match& match) {
    if (endpoint.segments.size() > parts.size()) return false;
    // A volume's name may hold slashes that are not encoded.
    bool open_end = endpoint.segments.size() < parts.size();
    if (open_end && endpoint.segments.back() != "{volume}") return false;
    std::map<std::string, std::string> parameters;
    for (std::size_t i = 0; i < endpoint.segments.size(); ++i) {
        auto part = parts[i];
        if (open_end && i + 1 == endpoint.segments.size()) {
            part = join({parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end()}, "/");
        }
        if (is_variable(endpoint.segments[i])) {
            parameters[variable_name(endpoint.segments[i])] = percent_decode(part);
        } else if (endpoint.segments[i] != part) {
            return false;
        }
    }
    if (match.endpoint && match.parameters.size() <= parameters.size()) return false;
    match = {&endpoint, std::move(parameters)};
    return true;
}

}  // namespace

std::string Call::text(std::string_view name, std::string_view otherwise) const {
    const auto* value = parameters.if_contains(name);
    return value && value->is_string() ? std::string(value->as_string()) : std::string(otherwise);
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
    return to_integer(text(name)).value_or(otherwise);
}

bool Call::flag(std::string_view name, bool otherwise) const {
    return has(name) ? text(name) == "1" : otherwise;
}

std::vector<std::string> Call::list(std::string_view name) const {
    std::vector<std::string> items;
    const auto* value = parameters.if_contains(name);
    if (!value || !value->is_array()) return items;
    for (const auto& item : value->as_array()) items.emplace_back(item.as_string());
    return items;
}

void Call::require(const std::string& path, std::string_view privilege) const {
    proxmox_simulator::require(cluster.world, user, path, privilege);
}

void Call::only_root(std::initializer_list<std::string_view> names) const {
    for (auto name : names) {
        if (flag(name) && !is_root())
            throw parameter_error(std::string(name), "Only root may use this option.");
    }
}

void Routes::add(Endpoint endpoint) {
    endpoint.segments = segments_of(endpoint.path);
    for (const auto& segment : endpoint.segments) {
        if (is_variable(segment)) endpoint.schema.add(path_declaration(variable_name(segment)));
    }
    endpoint.schema.add(endpoint.parameters);
    endpoints_.push_back(std::move(endpoint));
}

Routes::Match Routes::find(const std::string& method, const std::string& path) const {
    auto parts = segments_of(path);
    Match match;
    for (const auto& endpoint : endpoints_) {
        if (endpoint.method == method) match_segments(endpoint, parts, match);
    }
    return match;
}

const Routes& routes() {
    static const Routes all = [] {
        Routes result;
        for (auto add :
             {add_access,          add_cluster,        add_ha,          add_ha_rules,     add_mapping,
              add_pools,           add_nodes,          add_node_config, add_tasks,        add_storage,
              add_storage_content, add_qemu_status,    add_qemu_create, add_qemu_destroy, add_qemu_clone,
              add_qemu_template,   add_qemu_cloudinit, add_qemu_disk,   add_qemu_migrate, add_qemu_agent,
              add_qemu_config,     add_qemu_power,     add_qemu_suspend}) {
            add(result);
        }
        return result;
    }();
    return all;
}

}  // namespace proxmox_simulator
