// How far the operator may believe the provider. It must believe nothing while the endpoint leads to another
// Proxmox cluster. It must trust a kubelet that reports more, and it must doubt a provider if many machines
// vanish simultaneously. Other invariants check that machines are removed before their claims and Nodes.
#include <deque>
#include <map>
#include <string>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class OtherClusterUntouched final : public Invariant {
public:
    explicit OtherClusterUntouched(const Stage& stage) : Invariant(stage) {}

    void each_second() override {
        if (!world_.host_apis.leads_elsewhere()) {
            since_.reset();
            return;
        }
        if (!since_) since_ = world_.now();
        if (is_watched_ || !world_.other_proxmox) return;
        is_watched_ = true;
        world_.other_proxmox->observe([this](const proxmox::RequestRecord& record) { check(record); });
    }

private:
    // A change that was sent to the right cluster a moment ago arrives at the other one.
    bool may_have_been_under_way() const {
        return !since_ || world_.now() - *since_ <= longest_way_to_provider(world_.faults);
    }

    void check(const proxmox::RequestRecord& record) {
        const bool changes = record.method != "GET" && record.path != "/access/ticket";
        if (!changes || record.status != 200 || may_have_been_under_way()) return;
        stage_.violate("another cluster is left alone", record.method + " " + record.path +
                                                            " was done there, though the provider's machines "
                                                            "are on the one that it was before");
    }

    std::optional<base::TimePoint> since_;
    bool is_watched_ = false;
};

class ProviderIsNotBelievedAlone final : public Invariant {
public:
    explicit ProviderIsNotBelievedAlone(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (before && after && !is_given_up(*before) && is_given_up(*after)) check(*after);
            });
    }

private:
    static bool is_given_up(const NodeSmithClaim& claim) {
        const auto* deleted = api::find_condition(claim.status.conditions, api::conditions::kMachineDeleted);
        return deleted && deleted->reason == api::reasons::kMachineVanished;
    }

    static bool is_confirmed(const NodeSmithClaim& claim) {
        return claim.metadata.annotations->contains(std::string(api::annotations::kMachineGone));
    }

    void check(const NodeSmithClaim& claim) {
        if (is_confirmed(claim)) return;
        const auto* node = world_.view.find<api::Node>({"", claim.status.nodeName});
        const auto* label = node ? api::find(node->metadata.labels, api::labels::kClaim) : nullptr;
        // A forged status names Nodes that are not the claim's; the operator labels no such Node.
        const bool is_its = label && *label == claim.metadata.name &&
                            node->status.nodeInfo.systemUUID == claim.status.systemUUID;
        if (is_its && api::is_true(node->status.conditions, api::conditions::kReady))
            stage_.violate("no Ready Node is given up",
                           "claim " + claim.metadata.name + " counts as vanished while its Node is Ready");
        check_number(claim);
    }

    // Checks how many claims are given up together. The claims of one look are given up within moments.
    void check_number(const NodeSmithClaim& claim) {
        constexpr base::Duration kOneLook = std::chrono::seconds{5};
        constexpr std::size_t kBelievedOneIn = 10;
        const auto& provider = claim.status.providerRef;
        auto& given_up = given_up_[provider];
        given_up.push_back(world_.now());
        while (given_up.front() + kOneLook < world_.now()) given_up.pop_front();
        std::size_t launched = 0;
        for (const auto& [key, other] : world_.view.all<NodeSmithClaim>()) {
            const bool is_launched = api::is_true(other->status.conditions, api::conditions::kLaunched);
            if (is_launched && other->status.providerRef == provider) ++launched;
        }
        if (given_up.size() <= 1 || given_up.size() * kBelievedOneIn <= launched) return;
        stage_.violate("many machines that vanish are a question",
                       std::to_string(given_up.size()) + " of " + std::to_string(launched) +
                           " claims of provider " + provider + " were given up at once, the last of them " +
                           claim.metadata.name);
    }

    std::map<std::string, std::deque<base::TimePoint>> given_up_;  // by provider
};

}  // namespace

std::unique_ptr<Invariant> other_cluster_untouched(const Stage& stage) {
    return std::make_unique<OtherClusterUntouched>(stage);
}

std::unique_ptr<Invariant> provider_is_not_believed_alone(const Stage& stage) {
    return std::make_unique<ProviderIsNotBelievedAlone>(stage);
}

}  // namespace simulation
