// Makes the last check before a drain, by live reads instead of the cache.
#include <algorithm>
#include <utility>

#include "controllers/disruption/queue.hpp"
#include "controllers/disruption/rules/blocks.hpp"
#include "controllers/services/drain.hpp"

namespace controllers::disruption {

asio::awaitable<Queue::LiveLook> Queue::look_live(const PoolView& view, Member member, Kind kind,
                                                  bool all_at_once) {
    const auto pods = co_await live_pods(with_.client, member.node->metadata.name);
    LiveLook look;
    look.is_empty = std::ranges::none_of(pods, [](const auto& pod) { return is_drainable(*pod); });
    if (!keeps_machine_for_volumes(kind)) {
        look.why_not = co_await look_for_volumes(view, member);
        if (look.why_not) co_return look;
    }
    if (kind == Kind::Empty && !look.is_empty) {
        look.why_not = Blocker{"NotEmpty", "pods run on the node", std::nullopt};
        co_return look;
    }
    look.why_not = pod_blocker(pods, pod_rules(view, member, kind, all_at_once), view.now);
    co_return look;
}

// Reads the volumes live. The cache may lack a new volume or the deletion of a claim.
asio::awaitable<std::optional<Blocker>> Queue::look_for_volumes(const PoolView& view, Member member) {
    if (gave_up_volumes(view.pool.get(), *member.claim)) co_return std::nullopt;
    const std::vector<std::string> everywhere{""};
    co_await with_.informers.persistent_volumes.observe_list(with_.client, everywhere);
    if (!with_.informers.persistent_volumes.undecodable().empty())
        co_return Blocker{"VolumeNotReadable",
                          "a PersistentVolume that may be on the node's disk cannot be decoded",
                          std::nullopt};
    const auto& node = *member.node;
    LocalVolumes held;
    for (const auto& volume :
         held_among(local_volumes_on(with_.informers, node), view.pool.get(), *member.claim)) {
        const bool is_claimed = co_await has_live_claim(volume);
        if (is_claimed) held.push_back(volume);
    }
    member.facts.held_volumes = named(held);
    co_return volume_blocker(member.facts);
}

asio::awaitable<bool> Queue::has_live_claim(LocalVolume volume) {
    if (volume.is_claim_known) co_return true;
    kube::ListOptions of_that_name;
    of_that_name.namespace_ = volume.claim.namespace_;
    of_that_name.field_selector = "metadata.name=" + volume.claim.name;
    auto claims = co_await with_.client.list<api::PersistentVolumeClaim>(std::move(of_that_name));
    const bool is_there = !claims.existing().empty();
    for (auto& claim : claims.objects) with_.informers.persistent_volume_claims.observe(std::move(claim));
    co_return is_there;
}

}  // namespace controllers::disruption
