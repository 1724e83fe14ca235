// Builds scenarios from the manifests that users copy. It fits them to the world as users do: addresses,
// names of Secrets and namespaces, and the hosts, storages and templates that the manifests name.
#include <algorithm>

#include "test/simulation/dice.hpp"
#include "test/simulation/manifests.hpp"
#include "test/simulation/scenario.hpp"
#include "test/simulation/sites.hpp"

namespace simulation {
namespace {

struct Source {
    std::vector<std::string> files;
    std::vector<std::string> hosts;
    Disks disks = Disks::none;
};

Source draw_source(Dice& dice) {
    switch (dice.between(0, 4)) {
        case 0:
            return {{"samples/homelab/provider.yaml", "samples/homelab/pool.yaml",
                     "samples/homelab/control-plane.yaml"},
                    {"pve1", "pve2", "nas"},
                    Disks::from_template};
        case 1:
            return {{"samples/homelab/provider.yaml", "samples/homelab/pool.yaml",
                     "samples/homelab/control-plane.yaml", "samples/demo/pool.yaml",
                     "samples/demo/control-plane.yaml"},
                    {"pve1", "pve2"},
                    Disks::from_template};
        case 2:
            return {{"samples/netboot/provider.yaml", "samples/netboot/pool.yaml",
                     "samples/netboot/control-plane.yaml"},
                    {"pve1", "pve2", "pve3"},
                    Disks::blank};
        case 3:
            return {{"docs/user-guide.md"}, draw_host_names(dice), Disks::from_template};
        default:
            return {{"README.md"}, draw_host_names(dice), Disks::from_template};
    }
}

void fit(NodeSmithProvider& provider, const Scenario& scenario) {
    provider.metadata.namespace_ = kNodesNamespace;
    provider.spec.credentialsSecretRef->name = scenario.credentials.metadata.name;
    auto& proxmox = *provider.spec.proxmox;
    proxmox.endpoint = "https://" + scenario.proxmox.hosts.front().name + ":8006/api2/json";
    proxmox.endpoints.clear();
    if (proxmox.template_) {
        proxmox.template_->name = kTemplateName;
        proxmox.template_->localStorage = true;
    }
    for (auto& option : proxmox.vmOptions)
        if (option.name == "scsi0") option.value = boost::json::value("fast:16,discard=on");
}

void add_workloads(Dice& dice, Scenario& scenario) {
    static const std::vector<std::string> kWorkloads{
        "samples/workloads/burst.yaml", "samples/workloads/spread.yaml", "samples/workloads/batch.yaml",
        "samples/workloads/gpu.yaml"};
    auto workloads = read_manifests({dice.one_of(kWorkloads)});
    for (auto& deployment : workloads.deployments) scenario.deployments.push_back(std::move(deployment));
    for (auto& budget : workloads.budgets) {
        budget.metadata.namespace_ = kNamespace;
        scenario.budgets.push_back(std::move(budget));
    }
}

}  // namespace

void draw_manifests(Dice& dice, Scenario& scenario) {
    const auto source = draw_source(dice);
    const auto manifests = read_manifests(source.files);
    scenario.proxmox = draw_site(dice, source.hosts, source.disks).world;
    for (auto provider : manifests.providers) {
        fit(provider, scenario);
        scenario.providers.push_back(std::move(provider));
    }
    for (auto pool : manifests.pools) {
        pool.metadata.namespace_ = kNodesNamespace;
        scenario.pools.push_back(std::move(pool));
    }
    scenario.control_plane.metadata.name = manifests.control_plane.value().metadata.name;
    scenario.control_plane.spec = manifests.control_plane.value().spec;
    // The user guide says so in its fifth step.
    scenario.control_plane.spec.mode = api::v1alpha1::Mode::Active;
    if (dice.chance(0.5)) add_workloads(dice, scenario);
    if (dice.chance(0.3)) scenario.deployments.push_back(a_deployment("twenty", 20, "1", "1Gi"));
}

}  // namespace simulation
