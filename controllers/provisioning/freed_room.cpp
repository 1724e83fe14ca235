#include "controllers/provisioning/freed_room.hpp"

#include <algorithm>

namespace controllers::provisioning {

std::optional<api::Time> ends_by(const api::Pod& pod) {
    const auto& deadline = pod.metadata.deletionTimestamp;
    if (!deadline || pod.status.phase == api::PodPhase::Succeeded ||
        pod.status.phase == api::PodPhase::Failed)
        return std::nullopt;
    return api::Time(deadline->at + kEndingPatience);
}

std::optional<api::Time> ends_within(const api::Pod& pod, api::Time now, base::Duration patience) {
    const auto by = ends_by(pod);
    return by && *by > now && by->at - now.at <= patience ? by : std::nullopt;
}

FreedRoom free_room_of_ending_pods(World& world, api::Time now) {
    FreedRoom freed;
    for (std::size_t i = 0; i < world.snapshot.nodes.size(); ++i) {
        auto& node = world.snapshot.nodes[i];
        if (node.availability == scheduling::Availability::leaving) continue;
        const auto count = std::erase_if(node.pods, [&](const auto& pod) {
            const auto by = ends_within(*pod, now, kLongestWaitForRoom);
            if (!by) return false;
            freed.until = freed.until ? std::min(*freed.until, *by) : *by;
            return true;
        });
        if (count > 0) freed.nodes.insert(i);
    }
    return freed;
}

}  // namespace controllers::provisioning
