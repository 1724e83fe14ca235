// Labs whose templates are made from an image on the web.
#pragma once

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "test/component/proxmox/template_world.hpp"

namespace test {

inline constexpr const char* kImageUrl = "https://images.example/debian-12.qcow2";

inline std::string sha256_of(const std::string& data) {
    const auto digest = base::sha256(data);
    return "sha256:" + base::hex(digest);
}

inline proxmox_simulator::World world_with_image(const std::string& data = "debian 12.8") {
    auto world = proxmox_simulator::default_world();
    world.web[kImageUrl] = {data, 3 * proxmox_simulator::kGiB};
    return world;
}

class ImageLab : public Lab {
public:
    explicit ImageLab(const std::string& storage = "local",
                      proxmox_simulator::World world = world_with_image())
        : Lab(std::move(world)) {
        api::v1alpha1::Template wish;
        wish.image = api::v1alpha1::TemplateImage{kImageUrl, sha256_of("debian 12.8"), storage, ""};
        use_template(*this, std::move(wish));
    }

    proxmox_simulator::World& world() { return simulator.cluster().world; }
    api::v1alpha1::TemplateImage& image() { return *config.spec.proxmox->template_->image; }
    providers::Health check() { return run(provider->check()); }
    // Checks the provider as often as it asks for, until it has nothing to do or that time has passed.
    providers::Health settle(base::Duration within = 5min) {
        auto health = check();
        for (const auto until = clock.now() + within; clock.now() < until; health = check()) {
            if (health.look_again_after == base::Duration{}) break;
            wait(health.look_again_after);
        }
        return health;
    }
    // Publishes another image at the same URL.
    void publish(const std::string& data) {
        world().web[kImageUrl] = {data, 3 * proxmox_simulator::kGiB};
        image().checksum = sha256_of(data);
        restart();
    }
    // Returns the hosts of our templates, by VMID.
    std::map<int, std::string> templates() {
        std::map<int, std::string> found;
        for (const auto& [vmid, vm] : world().machines)
            if (is_named(vm) && vm.config.contains("template")) found[vmid] = vm.node;
        return found;
    }
    // Counts VMs that are still being made, or that were never completed.
    std::size_t unfinished() {
        std::size_t count = 0;
        for (const auto& [vmid, vm] : world().machines)
            count += is_named(vm) && !vm.config.contains("template");
        return count;
    }
    // Returns entries such as "local on alfaromeo: import/x.qcow2".
    std::vector<std::string> files() {
        std::vector<std::string> found;
        for (const auto& [id, storage] : world().storages) {
            for (const auto& [host, volumes] : storage.volumes) {
                for (const auto& [name, volume] : volumes)
                    if (volume.content == "import") found.push_back(id + " on " + host + ": " + name);
            }
        }
        return found;
    }
    std::string usable_hosts() {
        std::string names;
        for (const auto& offering : run(provider->offerings()))
            if (offering.usable) names += (names.empty() ? "" : " ") + offering.name;
        return names;
    }
    std::string why_not(const std::string& host) {
        for (const auto& offering : run(provider->offerings()))
            if (offering.name == host) return offering.why_not;
        return "no such host";
    }

private:
    static bool is_named(const proxmox_simulator::Machine& vm) {
        const auto name = vm.config.find("name");
        return name != vm.config.end() && name->second.starts_with("nodesmith-image-");
    }
};

}  // namespace test
