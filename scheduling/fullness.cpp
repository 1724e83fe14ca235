#include "scheduling/fullness.hpp"

#include <algorithm>
#include <set>

namespace scheduling {

namespace {

constexpr double kFullShare = 0.9;

double share_of(std::int64_t used, std::int64_t most) {
    return most > 0 ? static_cast<double>(used) / static_cast<double>(most) : 0;
}

}  // namespace

Fullness::Fullness(PodPlacer& placer, const std::vector<Demand>& demand) : placer_(placer) {
    std::set<ClassId> known;
    for (const auto& pod : demand) {
        const auto& required = placer.required(pod.pod_class);
        if (!required.rules.spreads.empty() || !required.rules.affinities.empty()) dependent_.insert(pod.pod);
        if (!known.insert(pod.pod_class).second) continue;
        const auto& plan = placer.plan(pod.pod_class);
        kinds_.push_back({plan.room, plan.requests, &required.candidates->places});
    }
    const auto& new_machines = placer.new_machines();
    for (std::size_t i = 0; i < new_machines.size(); ++i)
        if (const auto& most = new_machines.at(i).most; most && std::ranges::count(planned_, *most) == 0)
            planned_.push_back(*most);
}

bool Fullness::is_remainder(const NewMachine& new_machine) const {
    return new_machine.most && std::ranges::any_of(planned_, [&](const MachineSize& other) {
               return new_machine.most->is_within(other) && *new_machine.most != other;
           });
}

bool Fullness::is_full(std::size_t index, const std::vector<const api::Pod*>& pods) const {
    const auto& new_machines = placer_.new_machines();
    const auto& new_machine = new_machines.at(index);
    if (is_remainder(new_machine)) return false;
    const auto room = new_machines.room(index);
    if (used_share(index, room) < kFullShare) return false;
    if (std::ranges::any_of(pods, [&](const auto* pod) { return dependent_.contains(pod); })) return false;
    return std::ranges::none_of(kinds_, [&](const Kind& kind) {
        if (!room.holds(kind.room)) return false;
        const auto places = (*kind.places)[new_machine.pool] & new_machine.allowed;
        return !places.empty() && new_machines.fit_more(index, places, *kind.requests);
    });
}

// Returns the share of the most used resource, relative to the largest machine that this one could become.
double Fullness::used_share(std::size_t index, const Room& room) const {
    const auto& new_machines = placer_.new_machines();
    const auto& new_machine = new_machines.at(index);
    if (room == Room{}) return 1;  // as many pods as a machine may have
    auto used = new_machines.overhead(new_machine.pool, new_machine.allowed, new_machine.size.shape);
    used += new_machine.used;
    const auto& largest = new_machines.machines(new_machine.pool).largest();
    auto most = std::max(share_of(used.base[kCpu], used.base[kCpu] + room.cpu),
                         share_of(used.base[kMemory], used.base[kMemory] + room.memory));
    for (const auto resource : {kStorage, kPods})
        most = std::max(most, share_of(used.base[resource], largest.base[resource]));
    for (const auto& extra : used.extra)
        most = std::max(most, share_of(extra.amount, largest.extra_amount(extra.resource)));
    return most;
}

}  // namespace scheduling
