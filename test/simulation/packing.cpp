#include "test/simulation/packing.hpp"

#include <algorithm>

#include "test/simulation/offers.hpp"

namespace simulation {
namespace {

std::int64_t cpu_of(const api::Pod& pod) {
    const auto requests = requests_of(pod);
    const auto found = requests.find("cpu");
    return found == requests.end() ? base::Saturating(0) : found->second.milli();
}

api::ResourceList rest_of(api::ResourceList free, const api::Pod& pod) {
    for (const auto& [name, amount] : requests_of(pod)) free[name] -= amount;
    return free;
}

class Packing {
public:
    Packing(const World& world, const NodeSmithPool& pool, const NodeSmithProvider& provider,
            std::vector<Room> rooms)
        : world_(world), pool_(pool), provider_(provider), rooms_(std::move(rooms)) {}

    bool add(const api::Pod& pod) {
        const auto wanted = requests_of(pod);
        for (auto& machine : machines_) {
            if (lacks(machine, wanted)) continue;
            machine = rest_of(std::move(machine), pod);
            return true;
        }
        return open_for(pod);
    }
    Packed packed() const { return {machines_.size(), size_}; }

private:
    // Opens the largest machine on the host with the most free CPUs.
    bool open_for(const api::Pod& pod) {
        std::ranges::sort(rooms_, std::ranges::greater(), [](const Room& room) {
            return std::tuple(std::min(room.cpus, room.free_cpus), room.free_memory_mib);
        });
        for (auto& room : rooms_) {
            const auto size = largest_in(room);
            if (!size) continue;
            const Registration machine{"", "", size->cpuCores, size->memoryMiB, room.disk_mib, {}, {},
                                       "", {}};
            auto free = offered(world_, pool_, machine);
            for (const auto& daemon : daemons_on(world_, new_node(pool_, provider_, room.host)))
                free = rest_of(std::move(free), daemon);
            if (lacks(free, requests_of(pod))) continue;
            size_.cpuCores += size->cpuCores;
            size_.memoryMiB += size->memoryMiB;
            room.free_cpus -= size->cpuCores;
            room.free_memory_mib -= size->memoryMiB + provider_.spec.proxmox->vmMemOverheadMiB;
            machines_.push_back(rest_of(std::move(free), pod));
            return true;
        }
        return false;
    }

    std::optional<api::v1alpha1::Size> largest_in(const Room& room) const {
        const auto cpus = std::min(room.cpus, room.free_cpus);
        const auto memory =
            std::min(room.memory_mib, room.free_memory_mib) - provider_.spec.proxmox->vmMemOverheadMiB;
        const auto& machine = pool_.spec.machineTemplate;
        std::optional<api::v1alpha1::Size> largest;
        for (const auto& size : machine.sizes) {
            const bool is_larger = !largest || size.cpuCores > largest->cpuCores;
            if (size.cpuCores <= cpus && size.memoryMiB <= memory && is_larger)
                largest = {size.cpuCores, size.memoryMiB};
        }
        if (!machine.sizes.empty()) return largest;
        const auto flexible = machine.flexible.value_or(api::v1alpha1::FlexibleSize{});
        if (cpus < flexible.cpuCores.min || memory < flexible.memoryMiB.min) return std::nullopt;
        return api::v1alpha1::Size{std::min(cpus, flexible.cpuCores.max),
                                   std::min(memory, flexible.memoryMiB.max)};
    }

    const World& world_;
    const NodeSmithPool& pool_;
    const NodeSmithProvider& provider_;
    std::vector<Room> rooms_;
    std::vector<api::ResourceList> machines_;  // free resources of each machine
    api::v1alpha1::Size size_;
};

}  // namespace

std::optional<Packed> greedy_machines(const World& world, const NodeSmithPool& pool, std::vector<Room> rooms,
                                      std::vector<api::Pod> pods) {
    const auto* provider =
        world.view.find<NodeSmithProvider>({pool.metadata.namespace_, pool.spec.providerRef});
    if (!provider || !provider->spec.proxmox) return std::nullopt;
    std::ranges::sort(pods, std::ranges::greater(), cpu_of);
    Packing packing(world, pool, *provider, std::move(rooms));
    for (const auto& pod : pods)
        if (!packing.add(pod)) return std::nullopt;
    return packing.packed();
}

}  // namespace simulation
