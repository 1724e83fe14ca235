// No machine is launched that no pod needed. A claim that was launched for pods and is removed as Empty has
// run one of them. Exceptions are pods that disappeared meanwhile, and new pods that kept the node that it
// was to replace. The number of machines that are launched together for a set of pods is limited: at most
// three times what a greedy packing needs, plus one. All this is judged only while there is no trouble. Pods
// that prefer to be apart may be treated as if they had to be.
#include <algorithm>
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/packing.hpp"
#include "test/simulation/search.hpp"

namespace simulation {
namespace {

// Pods that disappear make room; the operator may take this long to learn of it.
constexpr std::chrono::seconds kHearsWithin{30};
constexpr std::size_t kFactor = 3;

bool keeps_apart(const api::Pod& pod) {
    const bool has_anti_affinity = pod.spec.affinity && pod.spec.affinity->podAntiAffinity;
    const bool has_ports = std::ranges::any_of(
        pod.spec.containers, [](const api::Container& container) { return !container.ports.empty(); });
    return has_anti_affinity || has_ports || !pod.spec.topologySpreadConstraints->empty();
}

class NothingIsWasted final : public Invariant {
public:
    explicit NothingIsWasted(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<api::Pod>(
            [this](const api::Pod* before, const api::Pod* after) { follow(before, after); });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) { follow(before, after); });
        world_.view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
            if (!before) joined_[after->metadata.name] = world_.now();
            if (!after) joined_.erase(before->metadata.name);
        });
    }

    void each_second() override {
        if (world_.faults.active() && !world_.faults.is_calm()) troubled_ = world_.now();
        for (const auto& [pool, burst] : std::exchange(bursts_, {}))
            if (is_calm_since(world_.now())) check_burst(pool, burst);
    }

private:
    struct Launched {
        base::TimePoint at{};
        base::TimePoint in_service{};
        std::map<std::string, std::string> pods;  // by UID; the value is the Node on which the pod ran, or
                                                  // empty
        bool keeps_apart = false;
        bool needs_disk = false;
        std::string kind;  // kind of the machine
        std::string node;
        bool is_guess = false;         // the offer of this kind of machine was not known yet
        bool lost_to_another = false;  // one of its pods runs on a machine that was launched for others
    };

    // Burst is what a pool launched within one second.
    struct Burst {
        std::size_t claims = 0;
        api::v1alpha1::Size size;              // of all machines together
        std::map<std::string, api::Pod> pods;  // by UID
        std::vector<Room> rooms;               // rooms before the first machine was placed
    };

    bool is_calm_since(base::TimePoint when) const {
        const auto last = std::max(troubled_, stage_.last_deed());
        return last == base::TimePoint{} || last + kSettled <= when;
    }

    void follow(const api::Pod* before, const api::Pod* after) {
        const auto& pod = after ? *after : *before;
        if (belongs_to_node(pod)) return;
        const bool is_bound = after && !after->spec.nodeName.empty();
        if (is_bound && (!before || before->spec.nodeName.empty())) note_binding(*after);
        const bool was_there = before && is_alive(*before);
        if (was_there && (!after || !is_alive(*after))) last_departure_ = world_.now();
        if (!before) last_arrival_ = world_.now();
    }

    // Notes a pod that the scheduler bound. It may use a machine that was launched for other pods, and the
    // pod's own machine is then empty.
    void note_binding(const api::Pod& pod) {
        const auto& node = pod.spec.nodeName;
        used_.insert(node);
        const bool was_meant = std::ranges::any_of(launched_, [&](const auto& entry) {
            return entry.second.node == node && entry.second.pods.contains(pod.metadata.uid);
        });
        if (was_meant) return;
        for (auto& [uid, launched] : launched_)
            if (launched.pods.contains(pod.metadata.uid) && came(node) > launched.at)
                launched.lost_to_another = true;
    }

    // Returns when the Node came into service. The operator may not have recorded its claim yet when its
    // first pods are bound.
    base::TimePoint came(const std::string& node) const {
        const auto service = in_service_.find(node);
        const auto joined = joined_.find(node);
        return std::max(service == in_service_.end() ? base::TimePoint{} : service->second,
                        joined == joined_.end() ? base::TimePoint{} : joined->second);
    }

    void note_service(const NodeSmithClaim& claim) {
        if (claim.status.nodeName.empty()) return;
        const bool serves = api::is_true(claim.status.conditions, api::conditions::kInitialized);
        auto& since = in_service_.try_emplace(claim.status.nodeName, base::TimePoint::max()).first->second;
        if (serves) since = std::min(since, world_.now());
    }

    void follow(const NodeSmithClaim* before, const NodeSmithClaim* after) {
        if (!after) {
            launched_.erase(before->metadata.uid);
            return;
        }
        if (!before) note_launch(*after);
        note_service(*after);
        const auto known = launched_.find(after->metadata.uid);
        if (known == launched_.end()) return;
        known->second.node = after->status.nodeName;
        const bool in_service = api::is_true(after->status.conditions, api::conditions::kInitialized);
        if (in_service && known->second.in_service == base::TimePoint{}) {
            known->second.in_service = world_.now();
            known_kinds_.insert(known->second.kind);
        }
        const auto* why = api::find_condition(after->status.conditions, api::conditions::kDisrupted);
        if (why && why->status == api::ConditionStatus::True && why->reason == api::reasons::kEmpty)
            check_removal(*after, known->second);
    }

    void note_launch(const NodeSmithClaim& claim) {
        const auto* uids = api::find(claim.metadata.annotations, api::annotations::kLaunchedFor);
        if (!uids || uids->empty()) return;
        auto& burst = bursts_[{claim.metadata.namespace_, claim.spec.poolRef}];
        if (++burst.claims == 1) burst.rooms = rooms_of_pool({claim.metadata.namespace_, claim.spec.poolRef});
        burst.size.cpuCores += claim.spec.requirements.cpuCores;
        burst.size.memoryMiB += claim.spec.requirements.memoryMiB;
        Launched launched;
        launched.at = world_.now();
        launched.kind = kind_of(claim);
        launched.is_guess = !known_kinds_.contains(launched.kind);
        for (const auto& [key, pod] : world_.view.all<api::Pod>()) {
            if (uids->find(pod->metadata.uid) == std::string::npos) continue;
            launched.pods.emplace(pod->metadata.uid, pod->spec.nodeName);
            burst.pods[pod->metadata.uid] = *pod;
            launched.keeps_apart = launched.keeps_apart || keeps_apart(*pod);
            launched.needs_disk = launched.needs_disk || requests_of(*pod).contains("ephemeral-storage");
        }
        launched_[claim.metadata.uid] = std::move(launched);
    }

    // Returns the kind of the pool's machines. Their offer is known only for the present template and image.
    std::string kind_of(const NodeSmithClaim& claim) const {
        const auto& namespace_ = claim.metadata.namespace_;
        const auto* pool = world_.view.find<NodeSmithPool>({namespace_, claim.spec.poolRef});
        if (!pool) return claim.spec.poolRef;
        const auto* revision = api::find(pool->spec.machineTemplate.labels, "revision");
        const auto* provider = world_.view.find<NodeSmithProvider>({namespace_, pool->spec.providerRef});
        const bool has_image = provider && provider->spec.proxmox && provider->spec.proxmox->template_ &&
                               provider->spec.proxmox->template_->image;
        return claim.spec.poolRef + "/" + (revision ? *revision : "") + "/" +
               (has_image ? provider->spec.proxmox->template_->image->url : "");
    }

    std::vector<Room> rooms_of_pool(const api::ObjectKey& key) const {
        const auto* pool = world_.view.find<NodeSmithPool>(key);
        const auto* provider =
            pool ? world_.view.find<NodeSmithProvider>({key.namespace_, pool->spec.providerRef}) : nullptr;
        if (!provider || !provider->spec.proxmox) return {};
        return rooms_for(world_, *provider);
    }

    void check_burst(const api::ObjectKey& key, const Burst& burst) const {
        const auto* pool = world_.view.find<NodeSmithPool>(key);
        std::vector<api::Pod> pods;
        for (const auto& [uid, pod] : burst.pods) {
            if (keeps_apart(pod)) return;
            pods.push_back(pod);
        }
        if (!pool || pods.empty()) return;
        const auto needed = greedy_machines(world_, *pool, burst.rooms, pods);
        if (!needed || burst.claims <= kFactor * needed->machines + 1) return;
        // Many small machines may be less than one large one.
        const auto& least = needed->size;
        if (burst.size.cpuCores <= least.cpuCores && burst.size.memoryMiB <= least.memoryMiB) return;
        stage_.violate("nothing is wasted", std::to_string(burst.claims) + " machines of pool " + key.name +
                                                " are launched at once for " + std::to_string(pods.size()) +
                                                " pods, which a greedy packing puts on " +
                                                std::to_string(needed->machines));
    }

    // Reports whether the node that the machine was to replace was kept for pods that came meanwhile.
    bool was_called_off(const Launched& launched) const {
        if (last_arrival_ == base::TimePoint{} || last_arrival_ < launched.at) return false;
        return std::ranges::all_of(launched.pods, [&](const auto& entry) {
            return !entry.second.empty() &&
                   std::ranges::any_of(world_.view.pods_on(entry.second), [&](const api::Pod* pod) {
                       return pod->metadata.uid == entry.first && is_alive(*pod);
                   });
        });
    }

    // Checks a removal as Empty. Pods that disappeared between the launch and the binding of the last of the
    // others explain it.
    void check_removal(const NodeSmithClaim& claim, const Launched& launched) {
        if (launched.pods.empty() || launched.keeps_apart || launched.lost_to_another) return;
        if (used_.contains(claim.status.nodeName) || was_called_off(launched)) return;
        // Of several machines that replace a node the API server may have refused one.
        const auto& refusal = world_.interference.refusal;
        if (refusal.is_in_force || (refusal.ended != base::TimePoint{} && refusal.ended >= launched.at))
            return;
        // Kubelets may reserve more than the pool says, and the disk size of blank machines is unknown. The
        // first Node shows both.
        if (launched.is_guess && (launched.needs_disk || !world_.kubelets.habits().are_usual())) return;
        if (launched.in_service == base::TimePoint{} || !is_calm_since(launched.at)) return;
        if (last_departure_ != base::TimePoint{} && last_departure_ + kHearsWithin >= launched.at) return;
        stage_.violate("nothing is wasted", "claim " + claim.metadata.name + " was created for " +
                                                std::to_string(launched.pods.size()) +
                                                " pods, and is removed without having run any");
    }

    base::TimePoint troubled_{};
    base::TimePoint last_departure_{};
    base::TimePoint last_arrival_{};
    std::map<api::ObjectKey, Burst> bursts_;
    std::set<std::string> known_kinds_;
    std::set<std::string> used_;                         // names of Nodes that ran a pod
    std::map<std::string, Launched> launched_;           // by claim UID
    std::map<std::string, base::TimePoint> joined_;      // time by name of the Node
    std::map<std::string, base::TimePoint> in_service_;  // time by name of the claim's Node
};

}  // namespace

std::unique_ptr<Invariant> nothing_is_wasted(const Stage& stage) {
    return std::make_unique<NothingIsWasted>(stage);
}

}  // namespace simulation
