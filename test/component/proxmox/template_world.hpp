// Worlds with templates, and labs whose machines are cloned from them.
#pragma once

#include <boost/json/parse.hpp>
#include <set>
#include <vector>

#include "providers/capabilities.hpp"
#include "test/component/proxmox/lab.hpp"

namespace test {

// Returns three hosts with template 9000 ("debian", tags k8s and debian, disk of 8 GiB, cloud-init drive) on
// `storage` of alfaromeo. The template also has options that a machine must not inherit.
inline proxmox_simulator::World world_with_template(const std::string& storage) {
    return proxmox_simulator::world_from_json(boost::json::parse(R"({"machines": [
        {"vmid": 9000, "node": "alfaromeo", "config": {
            "name": "debian", "template": "1", "tags": "debian;k8s", "memory": "2048", "cores": "1", "sockets": "2",
            "scsihw": "virtio-scsi-pci", "scsi0": ")" + storage + R"(:8", "ide2": ")" +
                                                                 storage + R"(:cloudinit",
            "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0", "boot": "order=scsi0", "onboot": "1", "protection": "1",
            "balloon": "1024", "agent": "1", "smbios1": "uuid=99999999-0000-4000-8000-000000000001"}}]})"));
}

// Returns a world in which only the resource pool "kubernetes" grants rights on machines.
inline proxmox_simulator::World with_pool_rights_alone(
    proxmox_simulator::World world = proxmox_simulator::default_world()) {
    auto& all = world.custom_roles["KubeNodeSmith"];
    for (const auto& privilege : std::set(all)) {
        if (!privilege.starts_with("VM.")) continue;
        world.custom_roles["Machines"].insert(privilege);
        all.erase(privilege);
    }
    // A deeper entry replaces what is inherited.
    for (const auto* role : {"Machines", "KubeNodeSmith"})
        world.acl.push_back({"/pool/kubernetes", "user", "automation@pve", role, true});
    return world;
}

inline void use_pool(Lab& lab) {
    lab.config.spec.proxmox->resourcePool = "kubernetes";
    lab.restart();
}

// Uses a template, with vmOptions that fit clones and without our cloud-init.
inline void use_template(Lab& lab, api::v1alpha1::Template wish) {
    auto& spec = *lab.config.spec.proxmox;
    spec.template_ = std::move(wish);
    spec.vmOptions.clear();
    spec.cloudInit.reset();
    lab.restart();
}

inline api::v1alpha1::Template named(const std::string& name) {
    api::v1alpha1::Template wish;
    wish.name = name;
    return wish;
}

// Returns what dead creations left behind, once Proxmox shows it.
inline std::vector<providers::Leftover> leftovers(Lab& lab) {
    lab.wait(std::chrono::seconds{30});
    auto* finder = lab.provider->capabilities().leftover_finder;
    REQUIRE(finder);
    return lab.run(finder->leftovers()).found;
}

// GuestSettings holds settings for Proxmox' own cloud-init, as the controllers would provide them.
class GuestSettings final : public providers::GuestSettingsSource {
public:
    asio::awaitable<providers::GuestSettings> guest_settings() override { co_return settings; }
    providers::GuestSettings settings;
};

}  // namespace test
