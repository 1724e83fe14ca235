// Invariant 24: each host that needs a template of an image has one with the image's content. Nothing else
// remains of its creation. No template is made again and again.
#include <map>

#include "test/simulation/images.hpp"
#include "test/simulation/invariants/invariant.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace simulation {
namespace {

// Reports whether the template is the provider's, from what the operator wrote on it. This code is
// independent of the operator's.
bool is_of(const proxmox::Machine& machine, const NodeSmithProvider& provider) {
    const auto description = proxmox::config_text(machine.config, "description");
    return description.find("\"image\":") != std::string::npos &&
           description.find(provider.metadata.uid) != std::string::npos;
}

const proxmox::Volume* disk_of(const proxmox::World& lab, const proxmox::Machine& machine,
                               const std::string& device) {
    const auto drive = proxmox::config_text(machine.config, device);
    return proxmox::find_volume(lab, machine.node, drive.substr(0, drive.find(',')));
}

class TemplatesAreOfTheirImages final : public Invariant {
public:
    using Invariant::Invariant;

    void after_change() override {
        for (const auto& [key, provider] : world_.view.all<NodeSmithProvider>()) {
            if (!image_of(*provider)) continue;
            std::map<std::string, std::size_t> counts;
            for (const auto& [vmid, machine] : lab().machines)
                if (!world_.administrators.is_stranger(vmid) && is_of(machine, *provider))
                    ++counts[machine.node];
            for (const auto& [host, count] : counts)
                if (count > lab().web.size() + kSecondOnes)
                    stage_.violate(kName, std::to_string(count) + " templates on " + host + " for " +
                                              std::to_string(lab().web.size()) + " images");
        }
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& [key, provider] : world_.view.all<NodeSmithProvider>())
            if (image_of(*provider)) check(*provider, findings);
        for (const auto& [id, storage] : lab().storages) {
            for (const auto& [host, volumes] : storage.volumes) {
                for (const auto& [name, volume] : volumes)
                    // A provider that cannot delete the file for minutes reports it or its host, and gives up
                    // when it is deleted itself.
                    if (volume.content == "import" && serves(host) &&
                        !world_.was_reported(name.substr(name.rfind('/') + 1)) &&
                        !world_.was_reported("host " + host + " is offline and may have"))
                        findings.push_back({kName, "file " + id + ":" + name + " is left on " + host});
            }
        }
        return findings;
    }

private:
    static constexpr const char* kName = "templates are of their images";
    // Number of second templates that may come from an operator that died before it learned of the first one.
    static constexpr std::size_t kSecondOnes = 2;

    const proxmox::World& lab() const { return world_.proxmox.cluster().world; }

    static const api::v1alpha1::TemplateImage* image_of(const NodeSmithProvider& provider) {
        const auto& proxmox = provider.spec.proxmox;
        return proxmox && proxmox->template_ && proxmox->template_->image ? &*proxmox->template_->image
                                                                          : nullptr;
    }

    // Reports whether the host is on; "" stands for a storage that all hosts share.
    bool serves(const std::string& host) const {
        return host.empty() || std::ranges::any_of(lab().hosts, [&](const proxmox::Host& known) {
                   return known.name == host && known.powered_on;
               });
    }

    // Reports whether machines may be placed on the host. The judge of rooms uses the same rules.
    bool needs_one(const NodeSmithProvider& provider, const proxmox::Host& host) const {
        const auto& spec = *provider.spec.proxmox;
        const auto lists = [&](const std::vector<std::string>& names) {
            return std::ranges::find(names, host.name) != names.end();
        };
        const auto& storage = lab().storages.at(image_of(provider)->storage);
        return host.powered_on && !host.maintenance &&
               (storage.hosts.empty() || storage.hosts.contains(host.name)) &&
               (spec.nodeWhitelist.empty() || lists(spec.nodeWhitelist)) &&
               !lists(spec.placement.excludedNodes) && !lists(spec.placement.evacuateNodes);
    }

    bool is_linked(const proxmox::Machine& machine, const std::string& device) const {
        const auto* disk = disk_of(lab(), machine, device);
        return disk && std::ranges::any_of(lab().machines, [&](const auto& entry) {
                   const auto* other = disk_of(lab(), entry.second, device);
                   return other && other->parent == disk->name;
               });
    }

    void check(const NodeSmithProvider& provider, Findings& findings) const {
        const auto* ready = api::find_condition(provider.status.conditions, api::conditions::kReady);
        const bool is_about_image = ready && ready->reason.starts_with("Image");
        // Another problem keeps the provider from all work.
        if (!ready || (ready->status != api::ConditionStatus::True && !is_about_image)) return;
        const auto& wish = *provider.spec.proxmox->template_;
        const auto content = content_of(lab(), *wish.image);
        const bool is_shared = lab().storages.at(wish.image->storage).shared;
        std::map<std::string, int> serving;
        for (const auto& [vmid, machine] : lab().machines) {
            // A copy that a person made of a template has its description.
            const bool is_copy = world_.administrators.is_stranger(vmid);
            if (is_copy || !is_of(machine, provider) || !serves(machine.node)) continue;
            const auto* disk = disk_of(lab(), machine, wish.bootDisk.device);
            const bool is_done = proxmox::config_flag(machine.config, "template");
            const auto about = "VM " + std::to_string(vmid) + " on " + machine.node;
            if (!is_done) findings.push_back({kName, about + " never became a template"});
            if (disk && is_done && disk->data == content) {
                ++serving[is_shared ? "" : machine.node];
            } else if (is_done && !is_linked(machine, wish.bootDisk.device)) {
                findings.push_back({kName, about + " is a template that nobody needs"});
            }
        }
        for (const auto& host : lab().hosts) {
            if (!needs_one(provider, host)) continue;
            const auto count = serving[is_shared ? "" : host.name];
            if (count != 1)
                findings.push_back({kName, "host " + host.name + " has " + std::to_string(count) +
                                               " templates of provider " + provider.metadata.name});
        }
    }
};

}  // namespace

std::unique_ptr<Invariant> templates_are_of_their_images(const Stage& stage) {
    return std::make_unique<TemplatesAreOfTheirImages>(stage);
}

}  // namespace simulation
