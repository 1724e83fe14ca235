// Endpoints for one host: status, network, capabilities.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/cpu_models.hpp"
#include "test/simulators/proxmox/core/machine_status.hpp"
#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {
namespace {

asio::awaitable<json::value> node_status(Call& call) {
    const auto& host = call.cluster.host(call.node);
    auto used = host_memory_used(call.cluster, host);
    auto usage = host_usage(call.cluster, host);
    const std::string kernel = "6.17.2-1-pve";
    json::object result{{"cpu", usage.at("cpu")}, {"idle", 0}, {"wait", 0}, {"uptime", usage.at("uptime")}};
    result["memory"] = {{"total", host.memory},
                        {"used", used},
                        {"free", host.memory - used},
                        {"available", host.memory - used}};
    result["swap"] = {{"total", 0}, {"used", 0}, {"free", 0}};
    result["ksm"] = {{"shared", 0}};
    result["rootfs"] = {{"total", kRootDisk},
                        {"used", kRootDiskUsed},
                        {"free", kRootDisk - kRootDiskUsed},
                        {"avail", kRootDisk - kRootDiskUsed}};
    result["cpuinfo"] = {{"cpus", host.cpus}, {"cores", host.cpus},
                         {"sockets", 1},      {"model", "AMD EPYC"},
                         {"mhz", "2600.000"}, {"vendor", "AuthenticAMD"},
                         {"family", "26"},    {"hvm", "1"},
                         {"user_hz", 100},    {"flags", "fpu vme de pse tsc msr pae mce cx8 apic svm"}};
    result["loadavg"] = json::array{"0.10", "0.12", "0.09"};
    result["boot-info"] = {{"mode", "efi"}, {"secureboot", 0}};
    result["current-kernel"] = {{"sysname", "Linux"},
                                {"release", kernel},
                                {"version", "#1 SMP PREEMPT_DYNAMIC"},
                                {"machine", "x86_64"}};
    result["kversion"] = "Linux " + kernel + " #1 SMP PREEMPT_DYNAMIC";
    result["pveversion"] = "pve-manager/" + call.cluster.world.version + "/5e1f00d5";
    co_return result;
}

asio::awaitable<json::value> power_host(Call& call) {
    auto name = call.node;
    call.cluster.power_off_host(name);
    if (call.text("command") == "reboot") call.cluster.power_on_host(name);
    co_return nullptr;
}

// Silently leaves out bridges that the caller may not use.
asio::awaitable<json::value> list_network(Call& call) {
    const auto& host = call.cluster.host(call.node);
    auto type = call.text("type");
    bool bridges = type.empty() || type == "bridge" || type == "any_bridge" || type == "any_local_bridge" ||
                   type == "include_sdn";
    bool ports = type.empty() || type == "eth" || type == "include_sdn";
    json::array result;
    int priority = 3;
    for (const auto& bridge : host.bridges) {
        if (ports && !bridge.port.empty()) {
            result.push_back({{"iface", bridge.port},
                              {"type", "eth"},
                              {"method", "manual"},
                              {"method6", "manual"},
                              {"families", json::array{"inet"}},
                              {"priority", priority++}});
        }
        auto path = "/sdn/zones/localnetwork/" + bridge.name;
        if (!bridges || !has_any(call.cluster.world, call.user, path, {"SDN.Audit", "SDN.Use"})) continue;
        json::object entry{{"iface", bridge.name},
                           {"type", "bridge"},
                           {"active", 1},
                           {"autostart", 1},
                           {"method", "manual"},
                           {"method6", "manual"},
                           {"bridge_ports", bridge.port},
                           {"bridge_stp", "off"},
                           {"bridge_fd", "0"},
                           {"families", json::array{"inet"}},
                           {"priority", priority++}};
        if (auto slash = bridge.address.find('/'); slash != std::string::npos) {
            entry["method"] = "static";
            entry["cidr"] = bridge.address;
            entry["address"] = bridge.address.substr(0, slash);
            entry["netmask"] = bridge.address.substr(slash + 1);
        }
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> list_cpu_models(Call&) {
    json::array result;
    for (const auto& model : cpu_models()) {
        auto vendor = cpu_vendor(model);
        if (vendor != "ARM") result.push_back({{"name", model}, {"vendor", vendor}, {"custom", 0}});
    }
    co_return result;
}

asio::awaitable<json::value> get_time(Call& call) {
    auto now = call.cluster.wall_seconds() + call.cluster.host(call.node).clock_ahead.count();
    co_return json::object{{"time", now}, {"localtime", now}, {"timezone", "UTC"}};
}

json::object certificate(const std::string& file, const std::string& fingerprint,
                         const std::string& subject) {
    return {{"filename", file},
            {"fingerprint", fingerprint},
            {"issuer", "/CN=Proxmox Virtual Environment/OU=PVE Cluster Node/O=PVE Cluster Manager CA"},
            {"subject", subject},
            {"san", json::array{}},
            {"notbefore", 1767225600},
            {"notafter", 2082758400},
            {"public-key-type", "rsaEncryption"},
            {"public-key-bits", 4096}};
}

// Shows only the authority if the host is named "localhost", because no folder has that name.
asio::awaitable<json::value> certificates_info(Call& call) {
    json::array result;
    auto authority = certificate("pve-root-ca.pem", call.cluster.world.authority_fingerprint,
                                 "/CN=Proxmox Virtual Environment/O=PVE Cluster Manager CA");
    if (!call.cluster.world.authority_pem.empty()) authority["pem"] = call.cluster.world.authority_pem;
    result.push_back(std::move(authority));
    if (call.text("node") != "localhost") {
        const auto& host = call.cluster.host(call.node);
        result.push_back(certificate("pve-ssl.pem", host.certificate_fingerprint, "/CN=" + host.name));
    }
    co_return result;
}

}  // namespace

void add_nodes(Routes& routes) {
    const std::string node = "/nodes/{node}";
    routes.add({.method = "GET",
                .path = node + "/status",
                .handler = node_status,
                .place = Place::node,
                .access = Access::privilege,
                .permission_path = node,
                .privileges = {"Sys.Audit"}});
    routes.add({.method = "POST",
                .path = node + "/status",
                .handler = power_host,
                .parameters = "command! enum=reboot|shutdown",
                .place = Place::node,
                .daemon = true,
                .access = Access::privilege,
                .permission_path = node,
                .privileges = {"Sys.PowerMgmt"}});
    routes.add({.method = "GET",
                .path = node + "/network",
                .handler = list_network,
                .parameters =
                    "type enum=bridge|bond|eth|alias|vlan|fabric|OVSBridge|OVSBond|OVSPort|OVSIntPort|vnet|"
                    "any_bridge|any_local_bridge|include_sdn",
                .place = Place::node});
    routes.add({.method = "GET",
                .path = node + "/certificates/info",
                .handler = certificates_info,
                .place = Place::node});
    routes.add({.method = "GET",
                .path = node + "/capabilities/qemu/cpu",
                .handler = list_cpu_models,
                .parameters = "arch enum=x86_64|aarch64"});
    routes.add({.method = "GET",
                .path = node + "/time",
                .handler = get_time,
                .place = Place::node,
                .access = Access::privilege,
                .permission_path = node,
                .privileges = {"Sys.Audit"}});
}

}  // namespace proxmox_simulator
