// A deleted object ends, whatever the order of deletions, and its machines end with it.
#include <set>

#include "controllers/claim/state/doubtful_machine.hpp"
#include "controllers/services/rights_keeper.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class DeletionsEnd final : public Invariant {
public:
    using Invariant::Invariant;

    Findings at_rest() const override {
        Findings findings;
        const auto held = held_by_people();
        check<NodeSmithClaim>(findings, held);
        check<NodeSmithPool>(findings, held);
        check<NodeSmithProvider>(findings, held);
        check<NodeSmithControlPlane>(findings, held);
        check<NodeSmithHost>(findings, held);
        check<api::Secret>(findings, held);
        check<api::RoleBinding>(findings, held);
        if (!world_.is_demolished) check_finalizers(findings);
        return findings;
    }

private:
    // Held are kinds and names of objects in the managed namespace that may stay after their deletion.
    using Held = std::set<std::pair<std::string_view, std::string>>;

    // A claim waits for a person if its machine cannot be proven its own. The objects that it needs wait as
    // well: its pool, its provider, its host, their Secrets and the rights on these. Nothing else waits.
    Held held_by_people() const {
        Held held;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
            if (key.namespace_ == kNodesNamespace && waits(*claim)) hold_what_it_needs(*claim, held);
        return held;
    }

    void hold_what_it_needs(const NodeSmithClaim& claim, Held& held) const {
        hold<NodeSmithClaim>(claim.metadata.name, held);
        hold<NodeSmithPool>(claim.spec.poolRef, held);
        const auto* pool = world_.view.find<NodeSmithPool>({kNodesNamespace, claim.spec.poolRef});
        const auto& recorded = claim.status.providerRef;
        const auto name = recorded.empty() && pool ? pool->spec.providerRef : recorded;
        if (const auto* provider = world_.view.find<NodeSmithProvider>({kNodesNamespace, name})) {
            hold<NodeSmithProvider>(name, held);
            hold_secret(provider->status.protectedSecret, held);
        }
        const auto* host = world_.view.find<NodeSmithHost>({kNodesNamespace, claim.status.host});
        if (host && claim_uid_of(host) == claim.metadata.uid) {
            hold<NodeSmithHost>(claim.status.host, held);
            hold_secret(host->status.protectedSecret, held);
        }
    }

    template <class T>
    static void hold(const std::string& name, Held& held) {
        held.emplace(T::kResource.kind, name);
    }

    static void hold_secret(const std::string& secret, Held& held) {
        if (secret.empty()) return;
        hold<api::Secret>(secret, held);
        hold<api::RoleBinding>(controllers::kCredentialsInUse, held);
    }

    bool waits(const NodeSmithClaim& claim) const {
        if (!claim.metadata.deletionTimestamp) return false;
        if (waits_for_secret(world_, claim) || has_lost_its_mark(world_, claim)) return true;
        for (const auto& condition : claim.status.conditions) {
            for (const std::string_view reason :
                 {std::string_view("OwnershipMismatch"), std::string_view("MissingPrivileges"),
                  api::reasons::kMarkMismatch, api::reasons::kBlockedByBudget, api::reasons::kDrainStalled,
                  controllers::claim::kMarkOfOther, controllers::claim::kSeveralMachines})
                if (condition.reason == reason) return true;
        }
        return false;
    }

    // The operator keeps a Secret for claims that live on.
    bool is_needed(const std::string& secret) const {
        const auto names = [&](const auto& entry) { return entry.second->status.protectedSecret == secret; };
        return std::ranges::any_of(world_.view.all<NodeSmithProvider>(), names) ||
               std::ranges::any_of(world_.view.all<NodeSmithHost>(), names);
    }

    template <class T>
    void check(Findings& findings, const Held& held) const {
        for (const auto& object : world_.server.list<T>()) {
            if (!object.metadata.deletionTimestamp || object.metadata.namespace_ != kNodesNamespace) continue;
            const bool is_shared = !world_.is_demolished && is_needed(object.metadata.name);
            if (is_shared || held.contains({T::kResource.kind, object.metadata.name})) continue;
            findings.push_back({"what was deleted ends", std::string(T::kResource.kind) + " " +
                                                             object.metadata.name + " is still there"});
        }
    }

    // Only the recorded objects may hold a Secret.
    void check_finalizers(Findings& findings) const {
        for (const auto& secret : world_.server.list<api::Secret>()) {
            if (!api::has_finalizer(secret.metadata, api::finalizers::kCredentials)) continue;
            if (secret.metadata.namespace_ == kNodesNamespace && is_needed(secret.metadata.name)) continue;
            findings.push_back({"Secrets are held while they are needed",
                                "Secret " + secret.metadata.namespace_ + "/" + secret.metadata.name +
                                    " carries our finalizer, and no object has it on record"});
        }
    }
};

}  // namespace

std::unique_ptr<Invariant> deletions_end(const Stage& stage) {
    return std::make_unique<DeletionsEnd>(stage);
}

}  // namespace simulation
