#include "test/simulation/sites.hpp"

#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include "test/simulation/dice.hpp"
#include "test/simulation/images.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"

namespace simulation {
namespace {

namespace json = boost::json;

struct HostSize {
    std::int64_t cpus, memory_gib;
};

HostSize draw_size(Dice& dice) {
    const auto cpus = dice.one_of<std::int64_t>({2, 4, 6, 8, 12, 16, 24, 32});
    return {cpus, std::min<std::int64_t>(
                      128, std::max<std::int64_t>(4, cpus * dice.one_of<std::int64_t>({1, 2, 4})))};
}

json::array draw_hosts(Dice& dice, const std::vector<std::string>& names) {
    const bool all_alike = dice.chance(0.4);
    const bool lacks_bridge = names.size() > 1 && dice.chance(0.1);
    auto size = draw_size(dice);
    json::array hosts;
    for (const auto& name : names) {
        if (!all_alike) size = draw_size(dice);
        const bool lacks = lacks_bridge && name == names.back();
        hosts.push_back({{"name", name},
                         {"cpus", size.cpus},
                         {"memoryMiB", size.memory_gib * 1024},
                         {"bridges", json::array{{{"name", lacks ? "vmbr9" : "vmbr0"}}}}});
    }
    return hosts;
}

// Returns a selection that is not empty.
json::array some_of(Dice& dice, const std::vector<std::string>& names) {
    json::array some{json::string(names.front())};
    for (std::size_t i = 1; i < names.size(); ++i)
        if (dice.chance(0.6)) some.push_back(json::string(names[i]));
    return some;
}

json::array storages(Dice& dice, const std::vector<std::string>& names) {
    return {
        {{"id", "local"}, {"totalGiB", 4000}, {"content", {"images", "iso", "vztmpl", "import", "snippets"}}},
        {{"id", "shared"},
         {"type", "nfs"},
         {"shared", true},
         {"totalGiB", 20000},
         {"content", {"images", "iso", "snippets", "import"}}},
        {{"id", "fast"},
         {"totalGiB", 4000},
         {"content", json::array{"images"}},
         {"hosts", some_of(dice, names)}}};
}

// Returns templates on the local storage of some hosts. No machine can be made on the others.
json::array templates(Dice& dice, const std::vector<std::string>& names) {
    json::array machines;
    int vmid = 9000;
    for (const auto& host : some_of(dice, names)) {
        machines.push_back({{"vmid", vmid++},
                            {"node", host},
                            {"config",
                             {{"name", kTemplateName},
                              {"template", "1"},
                              {"memory", "1024"},
                              {"cores", "1"},
                              {"boot", "order=scsi0"},
                              {"scsi0", "local:8"}}}});
    }
    return machines;
}

}  // namespace

std::vector<std::string> draw_host_names(Dice& dice) {
    std::vector<std::string> names{"alfaromeo", "porsche", "zagato", "lancia", "maserati"};
    names.resize(static_cast<std::size_t>(dice.between(1, 5)));
    return names;
}

Site draw_site(Dice& dice, const std::vector<std::string>& names, Disks disks) {
    Site site;
    site.disks = disks;
    site.disk_storage = dice.one_of<std::string>({"local", "shared", "fast"});
    json::object description{{"hosts", draw_hosts(dice, names)}, {"storages", storages(dice, names)}};
    if (disks == Disks::from_template) description["machines"] = templates(dice, names);
    site.world = proxmox_simulator::world_from_json(description);
    publish_image(site.world, 0);
    site.world.standalone = names.size() == 1;
    // The other hosts keep the quorum.
    if (names.size() > 2 && dice.chance(0.1)) site.world.hosts.back().powered_on = false;
    if (names.size() > 1 && dice.chance(0.05)) site.world.hosts[1].maintenance = true;
    return site;
}

void draw_site_use(Dice& dice, const Site& site, api::v1alpha1::NodeSmithProvider& provider) {
    using api::v1alpha1::PlacementStrategy;
    auto& proxmox = *provider.spec.proxmox;
    if (site.disks == Disks::blank) {
        const auto gib = std::to_string(dice.one_of<std::int64_t>({8, 20, 40}));
        // A machine without a seed on its CD-ROM boots from the network.
        proxmox.vmOptions = {{"scsi0", json::value(site.disk_storage + ":" + gib)},
                             {"boot", json::value("order=scsi0;net0")}};
    }
    if (site.disks == Disks::from_template) {
        auto& source = proxmox.template_.emplace();
        if (dice.chance(0.6)) {
            use_image(source, 0);
            source.image->storage = dice.one_of<std::string>({"local", "local", "shared", "fast"});
        } else {
            source.name = kTemplateName;
            source.localStorage = true;
        }
        if (dice.chance(0.5)) source.bootDisk.sizeGiB = 20;
    }
    auto& placement = proxmox.placement;
    placement.strategy = dice.one_of<PlacementStrategy>(
        {PlacementStrategy::Spread, PlacementStrategy::Spread, PlacementStrategy::MaxMemory,
         PlacementStrategy::MaxCPU, PlacementStrategy::Balanced, PlacementStrategy::RoundRobin});
    if (dice.chance(0.3)) placement.cpuAllocationPercent = dice.chance(0.5) ? 100 : 200;
    if (dice.chance(0.2)) placement.memoryAllocationPercent = dice.chance(0.5) ? 80 : 120;
    if (dice.chance(0.3)) placement.hostReserved = {dice.between(0, 2), 1024 * dice.between(0, 4)};
}

void confine_to_pools(proxmox_simulator::World& world,
                      std::vector<api::v1alpha1::NodeSmithProvider>& providers) {
    constexpr const char* kUser = "automation@pve";
    auto& rest = world.custom_roles["KubeNodeSmith"];
    for (const auto& privilege : std::set(rest)) {
        if (!privilege.starts_with("VM.")) continue;
        world.custom_roles["Machines"].insert(privilege);
        rest.erase(privilege);
    }
    world.custom_roles["Templates"] = {"VM.Audit", "VM.Clone"};
    for (auto& provider : providers) {
        if (!provider.spec.proxmox) continue;
        auto& pool = provider.spec.proxmox->resourcePool;
        if (pool.empty()) pool = "kubernetes";
        // A deeper entry replaces what is inherited.
        for (const auto* role : {"Machines", "KubeNodeSmith"})
            world.acl.push_back({"/pool/" + pool, "user", kUser, role, true});
    }
    for (const auto& [vmid, machine] : world.machines)
        world.acl.push_back({"/vms/" + std::to_string(vmid), "user", kUser, "Templates", true});
}

}  // namespace simulation
