#include "test/simulation/eviction_webhook.hpp"

#include <algorithm>
#include <chrono>

#include "test/simulation/dice.hpp"

namespace simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds kLookForNode{15};
// The timeout in the webhook's configuration, after which the API server gives up.
constexpr std::chrono::seconds kWebhookTimeout{10};

}  // namespace

EvictionWebhook::EvictionWebhook(World& world, double share)
    : world_(world), share_(share), random_(world.random_for("eviction webhook")) {}

EvictionWebhook::~EvictionWebhook() {
    world_.network.admit = nullptr;
}

void EvictionWebhook::begin() {
    Dice dice(*random_);
    if (world_.faults.is_calm() || !dice.chance(share_)) return;
    world_.network.admit = [this](const base::HttpRequest& request) { return admit(request); };
    next_ = world_.clock.call_at(world_.now() + dice.seconds(30, 600), [this] { turn(true); });
}

void EvictionWebhook::make_peace() {
    next_.reset();
    next_drain_.reset();
    world_.interference.webhook.reset();
}

void EvictionWebhook::turn(bool is_at_work) {
    Dice dice(*random_);
    auto& webhook = world_.interference.webhook;
    webhook.reset();
    if (is_at_work) {
        webhook.emplace();
        webhook->way =
            dice.one_of(std::vector{Webhook::Way::denies, Webhook::Way::is_down, Webhook::Way::hangs});
        webhook->code = dice.one_of(std::vector{400, 403, 404, 409, 422, 429, 500});
        webhook->modulus = dice.one_of(std::vector{2, 2, 3});
        world_.trace.line("eviction webhook", "is at work for one of ", webhook->modulus, " pods");
        next_drain_ =
            world_.clock.call_at(world_.now() + dice.seconds(10, 60), [this] { have_node_drained(); });
    }
    const auto lasts = is_at_work ? dice.seconds(240, 1500) : dice.seconds(60, 900);
    next_ = world_.clock.call_at(world_.now() + lasts, [this, is_at_work] { turn(!is_at_work); });
}

void EvictionWebhook::have_node_drained() {
    if (!world_.interference.webhook) return;
    const NodeSmithClaim* chosen = nullptr;
    std::ptrdiff_t most = 0;
    for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
        if (claim->metadata.deletionTimestamp || claim->status.nodeName.empty()) continue;
        if (!api::is_true(claim->status.conditions, api::conditions::kReady)) continue;
        // The node must have pods that can be evicted beside one that cannot.
        const auto on_node = world_.view.pods_on(claim->status.nodeName);
        const auto held = [this](const api::Pod* pod) {
            return !belongs_to_node(*pod) && world_.interference.webhook->is_for(pod->metadata.name);
        };
        if (std::ranges::none_of(on_node, held)) continue;
        const auto pods = std::ranges::count_if(
            on_node, [&held](const api::Pod* pod) { return !belongs_to_node(*pod) && !held(pod); });
        if (pods <= most) continue;
        most = pods;
        chosen = claim.get();
    }
    if (!chosen) {
        next_drain_ = world_.clock.call_at(world_.now() + kLookForNode, [this] { have_node_drained(); });
        return;
    }
    const auto key = api::key_of(*chosen);
    world_.trace.line("eviction webhook", "a user deletes claim ", key.str());
    world_.happenings.count("eviction webhook: a claim was deleted beside it");
    world_.interference.deleted_claims.insert(chosen->metadata.uid);
    world_.interference.last = world_.now();
    world_.server.remove<NodeSmithClaim>(key);
}

Admission EvictionWebhook::admit(const base::HttpRequest& request) const {
    const auto& webhook = world_.interference.webhook;
    if (!webhook || !request.target.ends_with("/eviction")) return {};
    const auto end = request.target.rfind('/');
    const auto begin = request.target.rfind('/', end - 1) + 1;
    if (!webhook->is_for(request.target.substr(begin, end - begin))) return {};
    switch (webhook->way) {
        case Webhook::Way::denies:
            world_.happenings.count("eviction webhook: denied an eviction");
            return {{},
                    fake::status_response(webhook->code, webhook->code == 404 ? "NotFound" : "",
                                          "admission webhook \"evictions.example\" denied the request: the "
                                          "broker moves its partitions first")};
        case Webhook::Way::is_down:
            world_.happenings.count("eviction webhook: was down");
            return {{},
                    fake::status_response(500, "InternalError",
                                          "Internal error occurred: failed calling webhook "
                                          "\"evictions.example\": connection refused")};
        case Webhook::Way::hangs:
            world_.happenings.count("eviction webhook: did not answer");
            return {kWebhookTimeout,
                    fake::status_response(500, "InternalError",
                                          "Internal error occurred: failed calling webhook "
                                          "\"evictions.example\": context deadline exceeded")};
    }
    return {};
}

}  // namespace simulation
