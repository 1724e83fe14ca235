// A deleted object ends, whatever the order of deletions, and its machines end with it.
#include "controllers/claim/state/doubtful_machine.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class DeletionsEnd final : public Invariant {
public:
    using Invariant::Invariant;

    Findings at_rest() const override {
        Findings findings;
        // A claim waits for a person if its machine cannot be proven its own. The objects that it needs wait
        // as well.
        const bool waits_for_people = std::ranges::any_of(
            world_.view.all<NodeSmithClaim>(), [this](const auto& entry) { return waits(*entry.second); });
        if (waits_for_people) return findings;
        check<NodeSmithClaim>(findings);
        check<NodeSmithPool>(findings);
        check<NodeSmithProvider>(findings);
        check<NodeSmithControlPlane>(findings);
        check<NodeSmithHost>(findings);
        check<api::Secret>(findings);
        check<api::RoleBinding>(findings);
        if (!world_.is_demolished) check_finalizers(findings);
        return findings;
    }

private:
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
    void check(Findings& findings) const {
        for (const auto& object : world_.server.list<T>()) {
            if (!object.metadata.deletionTimestamp || object.metadata.namespace_ != kNodesNamespace) continue;
            const bool is_shared = !world_.is_demolished && is_needed(object.metadata.name);
            if (is_shared) continue;
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
