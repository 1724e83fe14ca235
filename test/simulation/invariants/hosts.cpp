// Invariant 7 and its consequences for bare metal. No host serves two claims, and no claim has two hosts. The
// operator leaves a host alone if no claim has it or if somebody else turned it on. The same holds if its BMC
// speaks for another machine. A released host is off.
#include <map>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class HostsServeOneClaim final : public Invariant {
public:
    explicit HostsServeOneClaim(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithHost>([this](const NodeSmithHost* before, const NodeSmithHost* after) {
            if (after) check_owner(claim_uid_of(before), *after);
            if (before && after) check_given_back(*before, *after);
        });
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (!after) check_claim_gone(*before);
            });
        world_.bmcs.subscribe(
            [this](const std::string& host, const std::string& type) { check_reset(host, type); });
    }

    // A restore of etcd changes one host after the other.
    void each_second() override {
        for (const auto& [owner, hosts] : hosts_)
            if (hosts.size() > 1)
                stage_.violate("a claim has one host", "hosts " + *hosts.begin() + " and " + *hosts.rbegin() +
                                                           " are both of claim " + owner);
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& name : world_.bmcs.names()) {
            const auto* host = world_.view.find<NodeSmithHost>({kNodesNamespace, name});
            if (host) check_rest(*host, findings);
        }
        return findings;
    }

private:
    // Checks that the operator cuts the power only of hosts that it turned on or that their user gave to it.
    // two_clusters.cpp judges hosts that the other cluster turned on.
    void check_power(const std::string& name, const std::string& type, const NodeSmithHost* host) {
        const auto lent = world_.bmcs.lent_since(name);
        const bool is_theirs = world_.bmcs.woken_by(name) == Cluster::theirs;
        if (type.ends_with("On") || !lent || is_theirs || (host && is_adoptable(*host))) return;
        if (world_.now() <= *lent + longest_way_to_provider(world_.faults)) return;
        stage_.violate("what others turned on stays on",
                       "host " + name + " is asked for " + type + ", which somebody else turned on");
    }

    // Checks that a host that the operator turned on is not released while it is on.
    void check_given_back(const NodeSmithHost& before, const NodeSmithHost& after) {
        const auto& name = after.metadata.name;
        if (claim_uid_of(&before).empty() || !claim_uid_of(&after).empty() || !before.status.wokenTime)
            return;
        if (world_.bmcs.bmc(name).power() != Power::on || world_.bmcs.is_foreign(name)) return;
        const auto* claim = world_.view.claim_by_uid(claim_uid_of(&before));
        if (claim && claim->spec.deletionPolicy == api::v1alpha1::DeletionPolicy::Retain) return;
        if (world_.bmcs.meddled_with(world_.bmcs.uuid(name))) return;
        stage_.violate("what we woke is turned off",
                       "host " + name + " is given back on, though it was turned on for its claim");
    }

    void check_owner(const std::string& before, const NodeSmithHost& host) {
        const auto owner = claim_uid_of(&host);
        if (owner == before) return;
        const auto& name = host.metadata.name;
        if (!before.empty() && !owner.empty())
            stage_.violate("a host serves one claim", "host " + name + " was taken from claim " + before);
        if (!before.empty()) hosts_[before].erase(name);
        if (owner.empty()) {
            given_back_[name] = world_.now();
            return;
        }
        hosts_[owner].insert(name);
    }

    void check_reset(const std::string& name, const std::string& type) {
        const auto* host = world_.view.find<NodeSmithHost>({kNodesNamespace, name});
        const bool is_free = claim_uid_of(host).empty();
        check_power(name, type, host);
        // BMCs know no fence. A paused process sends what it had begun when it resumes.
        if (is_free && world_.faults.has(Fault::paused)) {
            late_.insert(name);
        } else if (is_free && !was_under_way(name, type)) {
            stage_.violate("free hosts are left alone",
                           "host " + name + " is asked for " + type + ", though no claim has it");
        }
        const auto swapped = world_.bmcs.swapped_since(name);
        if (swapped && world_.now() > *swapped + kInFlight)
            stage_.violate("other machines are left alone",
                           "another machine is asked for " + type + " in place of host " + name);
    }

    bool was_under_way(const std::string& name, const std::string& type) const {
        const auto given_back = given_back_.find(name);
        if (type.ends_with("On") || given_back == given_back_.end()) return false;
        return world_.now() <= given_back->second + longest_way_to_provider(world_.faults);
    }

    void check_claim_gone(const NodeSmithClaim& claim) const {
        if (stage_.may_go_first(claim)) return;
        for (const auto& [key, host] : world_.view.all<NodeSmithHost>()) {
            if (claim_uid_of(host.get()) != claim.metadata.uid) continue;
            stage_.violate("no claim goes before its machine", "claim " + claim.metadata.name +
                                                                   " is gone, its host " + key.name +
                                                                   " is still reserved for it");
        }
    }

    // Reports whether a person turned the host on while a claim had it but had not yet asked for power. The
    // operator then leaves the host alone, and its status says so.
    bool was_turned_on_by_hand(const NodeSmithHost& host) const {
        const auto* ready = api::find_condition(host.status.conditions, api::conditions::kReady);
        return ready && ready->reason == "InUseByOthers" &&
               world_.bmcs.meddled_with(world_.bmcs.uuid(host.metadata.name));
    }

    void check_rest(const NodeSmithHost& host, Findings& findings) const {
        const auto& name = host.metadata.name;
        const auto owner = claim_uid_of(&host);
        const bool is_on = world_.bmcs.bmc(name).power() == Power::on;
        const bool is_excused =
            world_.bmcs.is_foreign(name) || late_.contains(name) || was_turned_on_by_hand(host);
        if (owner.empty() && is_on && !is_excused)
            findings.push_back({"no host is left on", "host " + name + " is on, though no claim has it"});
        if (owner.empty() || world_.view.claim_by_uid(owner)) return;
        // A host whose Node lives is kept until a person decides.
        if (is_on && world_.view.node_of_machine(world_.bmcs.uuid(name))) return;
        findings.push_back({"no host is kept for nobody",
                            "host " + name + " is reserved for claim " + owner + ", which is gone"});
    }

    std::map<std::string, std::set<std::string>> hosts_;  // by claim UID
    std::map<std::string, base::TimePoint> given_back_;
    std::set<std::string> late_;  // free hosts that a paused process turned on
};

}  // namespace

std::unique_ptr<Invariant> hosts_serve_one_claim(const Stage& stage) {
    return std::make_unique<HostsServeOneClaim>(stage);
}

}  // namespace simulation
