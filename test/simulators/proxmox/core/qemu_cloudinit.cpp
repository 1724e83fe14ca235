// Endpoints for cloud-init: pending changes, a preview of the drive, and its generation.
#include <array>
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/cloudinit.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/router.hpp"

namespace proxmox_simulator {
namespace {

bool is_always_listed(std::string_view option) {
    constexpr std::array<std::string_view, 5> kListed{"ciuser", "cipassword", "searchdomain", "nameserver",
                                                      "sshkeys"};
    return std::find(kListed.begin(), kListed.end(), option) != kListed.end();
}

std::string shown(const std::string& option, const std::string& value) {
    return option == "cipassword" ? "**********" : value;
}

asio::awaitable<json::value> list_pending(Call& call) {
    const auto& machine = call.machine();
    bool generated = machine.generated_cloudinit.has_value();
    json::array result;
    for (const auto& change : cloudinit_changes(machine)) {
        bool changed = generated && change.old_value != change.new_value;
        if (!changed && !is_always_listed(change.option)) continue;
        json::object entry{{"key", change.option}};
        const auto& value = generated ? change.old_value : change.new_value;
        if (!value.empty()) entry["value"] = shown(change.option, value);
        if (changed && change.new_value.empty())
            entry["delete"] = 1;
        else if (changed)
            entry["pending"] = shown(change.option, change.new_value);
        result.push_back(std::move(entry));
    }
    co_return result;
}

asio::awaitable<json::value> dump(Call& call) {
    const auto& machine = call.machine();
    co_return json::value(render_cloudinit(machine.config, machine.vmid, call.text("type")));
}

asio::awaitable<json::value> regenerate(Call& call) {
    auto name = machine_lock(call.vmid());
    auto lock = co_await call.cluster.locks.acquire(std::move(name), LockMode::exclusive, kLockTimeout);
    auto& machine = call.machine();
    require_unlocked(machine.config);
    if (!has_cloudinit_drive(machine.config))
        throw failure("no cloud-init drive found for VM " + call.text("vmid"));
    require_snippets(call.cluster, machine);
    regenerate_cloudinit(machine);
    co_return nullptr;
}

}  // namespace

void add_qemu_cloudinit(Routes& routes) {
    const std::string path = "/nodes/{node}/qemu/{vmid}/cloudinit";
    Endpoint list{.method = "GET", .path = path, .handler = list_pending};
    list.place = Place::node;
    list.access = Access::privilege;
    list.permission_path = "/vms/{vmid}";
    list.privileges = {"VM.Audit"};
    auto show = list;
    show.path = path + "/dump";
    show.handler = dump;
    show.parameters = "type! enum=user|network|meta";
    auto make = list;
    make.method = "PUT";
    make.handler = regenerate;
    make.daemon = true;
    make.privileges = {"VM.Config.Cloudinit"};
    for (auto* endpoint : {&list, &show, &make}) routes.add(std::move(*endpoint));
}

}  // namespace proxmox_simulator
