#include "controllers/provisioning/nominator.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/log.hpp"
#include "bootstrap/cluster_info.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/claim/facts/undeclared_taints.hpp"
#include "controllers/disruption/facts/disruption_state.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "kube/client.hpp"

namespace controllers::provisioning {

namespace json = boost::json;

namespace {

constexpr base::Duration kVersionKnownFor = std::chrono::hours{1};
// A missing right is granted by people, which takes time.
constexpr base::Duration kSilence = std::chrono::minutes{10};

// Returns the parts of a claim that affect nominations for its Node.
auto place_of_claim(const NodeSmithClaim& claim) {
    return std::tuple(claim.status.nodeName, disruption::is_staying(claim),
                      api::is_true(claim.status.conditions, conditions::kRegistered),
                      claim::usable_since(claim));
}
auto usability_of_node(const api::Node& node) {
    return std::tuple(node.spec.unschedulable, node.metadata.deletionTimestamp,
                      disruption::has_leaving_taint(node), is_open(node));
}

const api::ResourceList& allocatable(const api::Node& node) {
    return node.status.allocatable;
}

const std::string& nominated(const api::Pod& pod) {
    return pod.status.nominatedNodeName;
}

}  // namespace

Nominator::Nominator(const Context& context)
    : InContext(context),
      promises_(informers_),
      written_(context.metrics.counter("kubenodesmith_nominations_total",
                                       "Writes of status.nominatedNodeName of pods, by action", {"action"})) {
}

void Nominator::subscribe(kube::WorkQueue& queue) {
    kube::watch(informers_.pods).changed(is_unschedulable, nominated).when(is_unschedulable).enqueue(queue);
    kube::watch(informers_.pods).ceased(is_unschedulable).call([this](const api::Pod& pod) {
        told_.erase(pod.metadata.uid);
    });
    // Each of many pods that are bound simultaneously changes the room of the others.
    kube::watch(informers_.pods)
        .changed(is_unschedulable, &api::Pod::spec)
        .after(kBurst)
        .enqueue(queue, [this](const api::Pod& pod) { return promises_.forget_nodes_of(pod); });
    kube::watch(informers_.claims)
        .changed(place_of_claim)
        .before_too()
        .enqueue(queue, [this](const NodeSmithClaim& claim) {
            auto keys = promises_.forget(claim.status.nodeName);
            std::ranges::move(kube::keys_of(promises_.waiting_for(claim)), std::back_inserter(keys));
            return keys;
        });
    kube::watch(informers_.nodes)
        .changed(usability_of_node, allocatable)
        .enqueue(queue, [this](const api::Node& node) {
            const auto& name = node.metadata.name;
            auto keys = promises_.forget(name);
            std::ranges::move(waiting_pods_told_of(name), std::back_inserter(keys));
            for (const auto& claim : informers_.claims.store().by_index(kClaimsByNode, name))
                std::ranges::move(kube::keys_of(promises_.waiting_for(*claim)), std::back_inserter(keys));
            return keys;
        });
    kube::watch(informers_.control_planes)
        .changed(&NodeSmithControlPlane::spec)
        .enqueue(queue, [this](const NodeSmithControlPlane&) {
            return kube::keys_of(unschedulable_pods(informers_));
        });
}

kube::Keys Nominator::waiting_pods_told_of(const std::string& node) const {
    kube::Keys keys;
    for (const auto& pod : unschedulable_pods(informers_))
        if (nominated(*pod) == node) keys.push_back(api::key_of(*pod));
    return keys;
}

asio::awaitable<kube::Result> Nominator::reconcile(kube::ObjectKey key) {
    kube::Result result;
    auto pod = informers_.pods.store().get(key);
    if (!pod || !is_unschedulable(*pod)) co_return result;
    const auto now = api::Time(clock_.wall_now());
    const auto told = told_.find(pod->metadata.uid);
    const auto wanted =
        nomination(informers_, *pod, promises_.of(*pod), told == told_.end() ? Told() : told->second, now);
    if (wanted.until) result.requeue_after = wanted.until->at - now.at;
    if (!wanted.node) co_return result;
    if (clock_.now() < silent_until_) {
        result.requeue_after = silent_until_ - clock_.now();
        co_return result;
    }
    const bool served = co_await is_served();
    if (!served) co_return kube::Result();
    const bool allowed = co_await write(std::move(pod), *wanted.node);
    if (!allowed) result.requeue_after = kSilence;
    co_return result;
}

asio::awaitable<bool> Nominator::is_served() {
    if (server_ && clock_.now() - server_->asked < kVersionKnownFor) co_return server_->takes_nominations;
    const auto version = co_await client_.get_json("/version");
    const auto minor = version ? bootstrap::minor_version(*version) : 0;
    server_ = Server{minor >= kFirstMinorWithNominations, clock_.now()};
    co_return server_->takes_nominations;
}

// Writes the nomination. It fails if the pod was replaced or changed meanwhile; that change queues it again.
asio::awaitable<bool> Nominator::write(PodPointer pod, std::string node) {
    const auto& metadata = pod->metadata;
    json::object status;
    status["nominatedNodeName"] = node.empty() ? json::value(nullptr) : json::value(node);
    kube::Patch patch;
    patch.body = json::object{
        {"metadata", json::object{{"uid", metadata.uid}, {"resourceVersion", metadata.resourceVersion}}},
        {"status", std::move(status)}};
    const auto before = informers_.pods.before_write(api::key_of(*pod));
    try {
        auto written = co_await client_.patch_status<api::Pod>(api::key_of(*pod), std::move(patch));
        informers_.pods.check_answer(written, before);
        // If the process dies before this line, it finds the value by the claim later.
        if (node.empty())
            informers_.pods.observe(std::move(written));
        else if (is_unschedulable(written)) {
            auto& told = told_[metadata.uid];
            const auto object = informers_.nodes.store().get({"", node});
            const bool open = object && is_open(*object);
            if (told.node != node || told.is_open != open) told = Told{node, open, 0};
            ++told.times;
            informers_.pods.observe(std::move(written));
        }
    } catch (const kube::ApiError& error) {
        if (!error.is_forbidden() || is_policy_denial(error)) throw;
        base::log::warning("The operator lacks the right to nominate new nodes for pods",
                           {{"error", error.what()}});
        silent_until_ = clock_.now() + kSilence;
        co_return false;
    }
    written_.with({node.empty() ? "cleared" : "nominated"}).add();
    co_return true;
}

}  // namespace controllers::provisioning
