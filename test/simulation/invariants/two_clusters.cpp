// Rules for two clusters on one rack. With a lock they never both use one host, and no cluster cuts the
// other's power. Without a lock a BMC cannot say which of two simultaneous requests turned a host on. Such
// cases are counted. A cluster that never asked for power must not cut it. With a lock no cluster erases
// drives of a host that the other one has.
#include <map>

#include "providers/redfish/bmc/asset_tag.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// Reports whether the tag is the mark of the claim, whatever its cluster and with or without an epoch.
bool is_mark_of(const std::string& claim_uid, const std::string& tag) {
    auto mark = providers::redfish::lock_mark({.claim_uid = claim_uid});
    if (const auto record = providers::redfish::epoch_in(tag))
        mark = providers::redfish::with_epoch(mark, *record);
    return tag.ends_with(mark.substr(mark.rfind('-')));
}

class TwoClustersShareARack final : public Invariant {
public:
    explicit TwoClustersShareARack(const Stage& stage) : Invariant(stage) {
        if (!stage.others.exists()) return;
        world_.bmcs.subscribe([this](Cluster cluster, const std::string& host, const std::string& type) {
            type.ends_with("On") ? check_on(cluster, host) : check_off(cluster, host, type);
        });
        world_.bmcs.subscribe(
            [this](Cluster cluster, const std::string& host) { check_erasure(cluster, host); });
        for (const auto cluster : {Cluster::ours, Cluster::theirs})
            view_of(cluster).subscribe<NodeSmithHost>(
                [this, cluster](const NodeSmithHost* before, const NodeSmithHost* after) {
                    note(cluster, before);
                    if (before && after && is_given_back(*before, *after)) check_lock(cluster, *before);
                });
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& what : stage_.others.leftovers())
            findings.push_back({"the other cluster comes to rest, and locks are taken back", what});
        return findings;
    }

private:
    // Notes when the status last said that the host was turned on for its claim.
    void note(Cluster cluster, const NodeSmithHost* before) {
        if (before && before->status.wokenTime) noted_[{cluster, before->metadata.name}] = world_.now();
    }

    // Reports whether the operator has turned the host off and ends its claim's use. Older objects of a
    // restored backup rarely look so.
    static bool is_given_back(const NodeSmithHost& before, const NodeSmithHost& after) {
        using api::v1alpha1::HostPhase;
        const auto phase = before.status.phase;
        const bool was_turned_off = phase == HostPhase::PoweringOff || phase == HostPhase::Wiping;
        const auto* ready = api::find_condition(after.status.conditions, api::conditions::kReady);
        return was_turned_off && before.status.claimRef && !after.status.claimRef && ready &&
               ready->message.starts_with("was returned");
    }

    // A later look at the host would remove the mark, but a host that is being deleted has none.
    void check_lock(Cluster cluster, const NodeSmithHost& host) {
        auto& bmc = world_.bmcs.bmc(host.metadata.name);
        if (!locks_hosts(world_) || may_be_late(cluster) || bmc.power() != Power::off) return;
        for (const bool of_chassis : {false, true})
            if (is_mark_of(host.status.claimRef->uid, bmc.asset_tag(of_chassis)))
                stage_.violate("locks are taken back before their hosts",
                               std::string(name_of(cluster)) + " gives back host " + host.metadata.name +
                                   ", which bears the mark " + bmc.asset_tag(of_chassis));
    }

    ClusterSnapshot& view_of(Cluster cluster) const {
        return cluster == Cluster::ours ? world_.view : stage_.others.view();
    }
    const NodeSmithHost* host_of(Cluster cluster, const std::string& name) const {
        return view_of(cluster).find<NodeSmithHost>({kNodesNamespace, name});
    }

    static const char* name_of(Cluster cluster) {
        return cluster == Cluster::ours ? "our cluster" : "the other cluster";
    }

    bool is_of_another(Cluster cluster, const std::string& name) const {
        const auto woken_by = world_.bmcs.woken_by(name);
        return woken_by && *woken_by != cluster && world_.bmcs.bmc(name).power() != Power::off;
    }

    // Reports whether requests may arrive late. BMCs know no fence, so requests of a paused or killed process
    // may arrive at any time.
    bool may_be_late(Cluster cluster) const {
        const auto& faults = world_.faults;
        return cluster == Cluster::ours ? faults.has(Fault::paused) || faults.has(Fault::provider_slow)
                                        : stage_.others.has_late_requests();
    }

    void check_on(Cluster cluster, const std::string& name) {
        if (!is_of_another(cluster, name)) return;
        const auto* host = host_of(cluster, name);
        ++stage_.counts.contested;
        const bool is_given = host && is_adoptable(*host);
        if (!locks_hosts(world_) || is_given || may_be_late(cluster)) return;
        stage_.violate("with a lock never both on one host",
                       std::string(name_of(cluster)) + " asks host " + name +
                           " to turn on, which the other one has turned on");
    }

    void check_off(Cluster cluster, const std::string& name, const std::string& type) {
        if (!is_of_another(cluster, name)) return;
        const auto* host = host_of(cluster, name);
        if (host && is_adoptable(*host)) return;
        const bool is_noted = host && host->status.wokenTime;
        const auto noted = noted_.find({cluster, name});
        const bool is_under_way =
            noted != noted_.end() &&
            world_.now() <= noted->second + longest_way_to_provider(world_.faults) + kInFlight;
        const bool is_honest = is_noted || is_under_way || world_.bmcs.is_contested(name);
        if (!locks_hosts(world_) && is_honest) {
            ++stage_.counts.cut_unknowingly;
            return;
        }
        if (may_be_late(cluster) && is_honest) return;
        stage_.violate("nobody cuts the power of another cluster's host",
                       std::string(name_of(cluster)) + " asks host " + name + " for " + type +
                           ", which the other one has turned on");
    }

    // Reports whether the host bears the mark of the cluster's claim.
    bool is_marked_by(Cluster cluster, const std::string& name) const {
        const auto* host = host_of(cluster, name);
        if (!host || !host->status.claimRef) return false;
        auto& bmc = world_.bmcs.bmc(name);
        const auto& uid = host->status.claimRef->uid;
        return is_mark_of(uid, bmc.asset_tag(false)) || is_mark_of(uid, bmc.asset_tag(true));
    }

    // An erasure destroys data, so the only excuse is that the request was sent before.
    void check_erasure(Cluster cluster, const std::string& name) {
        const auto other = cluster == Cluster::ours ? Cluster::theirs : Cluster::ours;
        const bool is_theirs = is_of_another(cluster, name) || is_marked_by(other, name);
        if (!locks_hosts(world_) || !is_theirs || may_be_late(cluster)) return;
        stage_.violate("nobody erases drives of another cluster's host",
                       std::string(name_of(cluster)) + " erases a drive of host " + name +
                           ", which the other one has taken");
    }

    std::map<std::pair<Cluster, std::string>, base::TimePoint> noted_;
};

}  // namespace

std::unique_ptr<Invariant> two_clusters_share_a_rack(const Stage& stage) {
    return std::make_unique<TwoClustersShareARack>(stage);
}

}  // namespace simulation
