#include "controllers/claim/act/node_keeper.hpp"

#include <algorithm>

#include "api/kept_node.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/decide/cleanup.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/state/field_managers.hpp"

namespace controllers::claim {

namespace {

constexpr base::Duration kSoon = std::chrono::seconds{2};

std::string time_in_service(const NodeSmithClaim& claim, api::Time now) {
    const auto since = api::true_since(claim.status.conditions, conditions::kInitialized);
    if (!since) return ", before it came into service";
    const api::Duration served = std::max(now.at - since->at, base::Seconds{0});
    return ", " + served.str() + " after it came into service";
}

}  // namespace

asio::awaitable<void> NodeKeeper::patch(NodePointer before, api::Node after) {
    if (api::has_more_taints_than_kept(*before)) {
        // Taints are written as a list, so those that the cache does not keep would be lost.
        const auto live = co_await client_.get<api::Node>(api::key_of(*before));
        if (!live) co_return;
        api::Node whole = *before;
        whole.spec.taints = live->spec.taints;
        after.spec.taints =
            with_changes(live->spec.taints, before->spec.taints, std::move(after.spec.taints));
        before = std::make_shared<const api::Node>(std::move(whole));
    }
    co_await write_object(client_, informers_.nodes, *before, std::move(after));
}

asio::awaitable<kube::Result> NodeKeeper::patch_with_pauses(Observation observation, api::Node after,
                                                            std::string change) {
    if (after == *observation.node) co_return kube::Result{kSoon};
    if (const auto wait = pauses_.begin(observation.claim->metadata.uid, change))
        co_return kube::Result{*wait};
    co_await patch(observation.node, std::move(after));
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<std::vector<std::string>> NodeKeeper::writers_of(Observation observation,
                                                                 std::vector<Deviation> due) {
    std::vector<std::string> writers(due.size());
    // A single change may be an accident, and the query costs a call.
    if (observation.claim->status.contestedLabels.empty()) co_return writers;
    const auto live =
        co_await client_.get_json(kube::path_of(api::Node::kResource, api::key_of(*observation.node)));
    if (!live) co_return writers;
    for (std::size_t i = 0; i < due.size(); ++i)
        if (due[i].effect.empty()) writers[i] = label_writer(*live, due[i].key);
    co_return writers;
}

asio::awaitable<kube::Result> NodeKeeper::put_back(Observation observation) {
    const auto next = upkeep(observation.claim->status.contestedLabels,
                             deviations(*observation.node, observation.origin()), observation.now);
    const auto writers = co_await writers_of(observation, next.due);
    // A Node without our first label may have been recreated by its kubelet: it gets everything that it had.
    const bool is_new = std::ranges::any_of(next.due, [&](const Deviation& deviation) {
        return deviation.key == api::labels::kClaim && deviation.found.empty() &&
               observation.claim->status.contestedLabels.empty();
    });
    auto after = is_new ? registered(*observation.node, observation.origin())
                        : with_put_back(*observation.node, next.due);
    co_await patch(observation.node, std::move(after));
    auto status = observation.claim->status;
    status.contestedLabels = after_putting_back(next, writers, observation.now);
    co_await writer_.record(observation, std::move(status));
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<kube::Result> NodeKeeper::register_node(Observation observation) {
    const auto claim = observation.claim;
    // A closed Node is opened only after its claim has recorded it. Nominations then show the
    // scheduler first which pods it is for.
    const bool is_noted = is_true(*claim, conditions::kRegistered);
    if (is_noted) {
        auto after = registered(*observation.node, observation.origin());
        co_return co_await patch_with_pauses(std::move(observation), std::move(after), "open");
    }
    if (!is_closed(*observation.node))
        co_await patch(observation.node, registered(*observation.node, observation.origin()));
    // The token has served its purpose, and no other machine may join with it.
    if (!claim->status.bootstrapTokenID.empty()) co_await boot_data_.revoke(claim);
    const auto known = informers_.nodes.store().get(api::key_of(*observation.node));
    if (!known) co_return kube::Result{base::Duration::zero()};
    observation.node = known;
    auto status = claim->status;
    if (!boot_data_.uses_image(observation)) status.bootstrapTokenID.clear();
    const auto& node = observation.node;
    status.nodeName = node->metadata.name;
    note_resources(status, *node);
    set(status, conditions::kRegistered, ConditionStatus::True, reasons::kRegistered,
        "the machine joined as Node " + node->metadata.name, observation.now);
    co_await writer_.record_outcome(observation, std::move(status));
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<kube::Result> NodeKeeper::discard_boot_data(Observation observation) {
    const auto claim = observation.claim;
    auto status = claim->status;
    status.bootstrapTokenID.clear();
    if (!boot_data_.uses_image(observation)) {
        co_await writer_.record(observation, std::move(status));
        co_return kube::Result{base::Duration::zero()};
    }
    const auto provider_key = provider_of(*claim);
    const auto lookup = co_await instances_.get(provider_key);
    const auto* provider = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    if (!provider || !observation.provider) co_return kube::Result{kProviderRetry};
    const auto identity = identity_of(*claim, instances_.cluster_id(), observation.provider->metadata.uid);
    const bool discarded = co_await (*provider)->discard_boot_image(identity, record_of(claim->status));
    if (!discarded) co_return kube::Result{kSoon};
    co_await writer_.record(observation, std::move(status));
    co_return kube::Result{base::Duration::zero()};
}

// Treats a Node that cannot be decoded as present.
asio::awaitable<bool> NodeKeeper::has_live_node(ClaimPointer claim) {
    const kube::ObjectKey key{"", claim->status.nodeName};
    try {
        const auto live = co_await client_.get<api::Node>(key);
        if (!live) co_return false;
        co_return is_node_of(*live, claim->status);
    } catch (const kube::UndecodableError&) {
        co_return true;
    }
}

asio::awaitable<kube::Result> NodeKeeper::confirm_gone(Observation observation) {
    const auto claim = observation.claim;
    const bool is_there = co_await has_live_node(claim);
    if (is_there) co_return kube::Result{kSoon};
    auto status = claim->status;
    if (is_leaving(*claim)) {
        set(status, conditions::kDrained, ConditionStatus::True, reasons::kNodeDeleted,
            "Node " + claim->status.nodeName + " is gone, and its pods with it", observation.now);
    } else {
        auto hints = co_await hints_.about(claim);
        const auto why = "Node " + claim->status.nodeName + " was deleted while its machine still exists" +
                         time_in_service(*claim, observation.now) + ": the claim is replaced; " + hints;
        set(status, conditions::kDisrupted, ConditionStatus::True, reasons::kNodeDeleted, why,
            observation.now);
        set(status, conditions::kReady, ConditionStatus::False, reasons::kNodeDeleted, why, observation.now);
    }
    co_await writer_.record_outcome(observation, std::move(status));
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<bool> NodeKeeper::has_joined(ClaimPointer claim) {
    const kube::ListOptions all;
    auto nodes = co_await client_.list<api::Node>(all);
    for (auto& node : nodes.objects) {
        if (!is_node_of(node, claim->status)) continue;
        informers_.nodes.observe(std::move(node));
        co_return true;
    }
    // A Node that cannot be decoded is this claim's if its name or UUID says so.
    co_return std::ranges::any_of(nodes.undecodable,
                                  [&](const auto& node) { return is_node_of(node.rest, claim->status); });
}

asio::awaitable<kube::Result> NodeKeeper::look(Observation observation) {
    const bool joined = co_await has_joined(observation.claim);
    if (joined) co_return kube::Result{kSoon};
    co_await writer_.record(observation, after_vain_search(observation.situation()));
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<kube::Result> NodeKeeper::taint(Observation observation) {
    auto after = leaving(*observation.node, observation.origin());
    co_return co_await patch_with_pauses(std::move(observation), std::move(after), "taint");
}

asio::awaitable<kube::Result> NodeKeeper::untaint(Observation observation) {
    auto after = disruption::back_in_service(*observation.node);
    co_return co_await patch_with_pauses(std::move(observation), std::move(after), "untaint");
}

asio::awaitable<void> NodeKeeper::label(Observation observation, NodePointer node) {
    co_await patch(node, kept(*node, observation.origin()));
}

asio::awaitable<kube::Result> NodeKeeper::release(Observation observation) {
    auto after = released(*observation.node);
    co_return co_await patch_with_pauses(std::move(observation), std::move(after), "release");
}

asio::awaitable<kube::Result> NodeKeeper::remove(Observation observation) {
    const auto claim = observation.claim;
    const auto node = observation.node ? observation.node : observation.namesake;
    if (!is_labelled(*node, *claim)) {
        if (const auto wait = pauses_.begin(claim->metadata.uid, "label")) co_return kube::Result{*wait};
        co_await label(observation, node);
        co_return kube::Result{base::Duration::zero()};
    }
    api::Preconditions same;
    same.uid = node->metadata.uid;
    co_await client_.remove<api::Node>(api::key_of(*node), same);
    co_return kube::Result{kSoon};
}

}  // namespace controllers::claim
