#include "scheduling/machine_planner.hpp"

#include <algorithm>

#include "scheduling/packing/linear_bound.hpp"

namespace scheduling {

namespace {

// Machines that exceed the least price by at most this factor are kept.
constexpr double kGoodEnough = 1.005;
constexpr double kMiBPerGiB = 1024;

double worth_of(const Amounts& amounts, const Prices& prices) {
    return prices.of(static_cast<double>(amounts.base[kCpu]) / kMilli,
                     static_cast<double>(amounts.base[kMemory]) / kMiB);
}

}  // namespace

MachinePlanner::MachinePlanner(const Snapshot& snapshot, PodPlacer& placer, const std::vector<Demand>& demand)
    : snapshot_(snapshot), placer_(placer) {
    for (const auto& pod : demand) class_of_.emplace(pod.pod, pod.pod_class);
}

bool MachinePlanner::asks_for_room_only(ClassId id, std::size_t pool) const {
    const auto& plan = placer_.plan(id);
    const auto& required = placer_.required(id);
    const auto& places = required.candidates->places[pool];
    return required.rules.none() && plan.others.none() && plan.preferences == 0 && plan.ports.empty() &&
           !plan.pod_class->has_volumes && !plan.pod_class->has_devices && plan.requests->extra.empty() &&
           places == BitSet::all(snapshot_.pools[pool].places.size());
}

double MachinePlanner::price_of(std::size_t pool, const MachineSize& size) const {
    const auto& prices = snapshot_.pools[pool].prices;
    const auto price = prices.of(size);
    if (prices.machine) return price;
    const auto& reserved = snapshot_.pools[pool].reserved;
    const auto all = BitSet::all(snapshot_.pools[pool].places.size());
    return price + worth_of(placer_.new_machines().overhead(pool, all), prices) +
           prices.of(static_cast<double>(reserved.cpuMillicores) / kMilli,
                     static_cast<double>(reserved.memoryMiB));
}

double MachinePlanner::price() const {
    double price = 0;
    const auto& machines = placer_.new_machines();
    for (std::size_t i = 0; i < machines.size(); ++i)
        price += price_of(machines.at(i).pool, machines.at(i).size);
    return price;
}

bool MachinePlanner::has_place(std::size_t pool, const MachineSize& size) const {
    const FreeCapacity untouched(snapshot_);
    const Take take{1, size.cpu_cores, size.memory_mib};
    return std::ranges::any_of(snapshot_.pools[pool].places, [&](const PlaceOfPool& place) {
        return untouched.place_allows(place.place, size) && untouched.place_holds(place.place, take);
    });
}

MachineOption MachinePlanner::option_of(std::size_t pool, const ShapeSize& size) const {
    const auto& machines = placer_.new_machines();
    MachineOption option{machines.machines(pool).allocatable(size), price_of(pool, size)};
    option.room -=
        machines.complete_overhead(pool, BitSet::all(snapshot_.pools[pool].places.size()), size.shape);
    return option;
}

MachinePlanner::WorkOfPools MachinePlanner::work_of(const SolveResult& result) const {
    WorkOfPools all;
    for (const auto& claim : result.claims) {
        if (claim.pods.empty()) continue;
        auto& work = all[claim.pool];
        const MachineSize size{claim.cpu_cores, claim.memory_mib};
        work.price += price_of(claim.pool, size);
        for (const auto* pod : claim.pods) add(work, pod, class_of_.at(pod), claim.pool);
    }
    return all;
}

void MachinePlanner::add(Work& work, const api::Pod* pod, ClassId id, std::size_t pool) const {
    const auto* requests = placer_.plan(id).requests;
    work.total += *requests;
    if (!asks_for_room_only(id, pool)) return;
    const auto [entry, is_new] = work.kind_of.emplace(requests, work.kinds.size());
    if (is_new) work.kinds.push_back({{*requests, 0}, {}});
    auto& kind = work.kinds[entry->second];
    ++kind.pods.count;
    kind.names.push_back(pod);
}

double MachinePlanner::least_for(std::size_t pool, const Work& work, bool plainly) const {
    std::vector<PricedRoom> rooms;
    for (const auto& size : placer_.new_machines().machines(pool).sizes()) {
        rooms.push_back(priced_room(option_of(pool, size)));
        if (plainly) rooms.back().price = snapshot_.pools[pool].prices.of(size);
    }
    const auto [cpu, memory, nothing] = priced_room({work.total, 0});
    return LinearBound(rooms).worth(cpu, memory).of(cpu, memory);
}

bool MachinePlanner::is_dear(std::size_t pool, const Work& work) const {
    return work.price > kGoodEnough * least_for(pool, work, false);
}

Price MachinePlanner::price_of(const SolveResult& result, const WorkOfPools& work) const {
    Price prices;
    for (const auto& claim : result.claims) {
        const auto& of_pool = snapshot_.pools[claim.pool].prices;
        const auto price = of_pool.of({claim.cpu_cores, claim.memory_mib});
        prices.is_stated = prices.is_stated || of_pool != Prices();
        prices.machines += price;
        if (claim.pods.empty()) prices.least += price;
    }
    for (const auto& [pool, its_work] : work) prices.least += least_for(pool, its_work, true);
    prices.least = std::min(prices.least, prices.machines);
    return prices;
}

std::optional<Prices> MachinePlanner::scarcity(std::size_t pool) const {
    const FreeCapacity untouched(snapshot_);
    double cpu = 0, memory = 0;
    for (const auto& entry : snapshot_.pools[pool].places) {
        const auto& place = untouched.place(entry.place);
        if (!place.free_cpu_cores || !place.free_memory_mib || place.is_whole) return std::nullopt;
        cpu += static_cast<double>(*place.free_cpu_cores);
        memory += static_cast<double>(*place.free_memory_mib);
    }
    if (cpu <= 0 || memory <= 0) return std::nullopt;
    return Prices{1 / cpu, kMiBPerGiB / memory, 0};
}

MachinePlan MachinePlanner::plan_for_hosts(const SolveResult& result) const {
    auto work = work_of(result);
    bool is_any = false;
    for (const auto& unplaced : result.unplaced) {
        const auto id = class_of_.at(unplaced.pod);
        const auto fits = [&](const auto& entry) { return asks_for_room_only(id, entry.first); };
        const auto entry = std::ranges::find_if(work, fits);
        if (entry == work.end()) continue;
        add(entry->second, unplaced.pod, id, entry->first);
        is_any = true;
    }
    MachinePlan plan;
    if (!is_any) return plan;
    for (const auto& [pool, its_work] : work)
        if (const auto prices = scarcity(pool); prices && !snapshot_.pools[pool].shapes.empty())
            pack_pool(pool, its_work, plan, prices);
    return plan;
}

void MachinePlanner::pack_pool(std::size_t pool, const Work& work, MachinePlan& plan,
                               const std::optional<Prices>& prices) const {
    if (!prices && !is_dear(pool, work)) return;
    const auto& machines = placer_.new_machines().machines(pool);
    // Flexible machines are launched as small as their pods permit.
    auto sizes = machines.is_flexible() ? machines.balanced(work.total) : machines.sizes();
    std::erase_if(sizes, [&](const ShapeSize& size) { return !has_place(pool, size); });
    std::vector<MachineOption> options;
    options.reserve(sizes.size());
    for (const auto& size : sizes) {
        options.push_back(option_of(pool, size));
        if (prices) options.back().price = prices->of(size);
    }
    std::vector<PodsAlike> kinds;
    kinds.reserve(work.kinds.size());
    for (const auto& kind : work.kinds) kinds.push_back(kind.pods);
    std::vector<std::size_t> taken(kinds.size());
    for (const auto& machine : pack(kinds, options)) {
        for (const auto& [kind, count] : machine.pods)
            for (std::size_t i = 0; i < count; ++i)
                plan.machine_of.emplace(work.kinds[kind].names[taken[kind]++], plan.machines.size());
        plan.machines.push_back({pool, sizes[machine.option]});
    }
}

MachinePlan MachinePlanner::plan(const WorkOfPools& work) const {
    MachinePlan plan;
    for (const auto& [pool, its_work] : work) pack_pool(pool, its_work, plan);
    return plan;
}

}  // namespace scheduling
