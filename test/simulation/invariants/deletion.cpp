// What was deleted ends, in whatever order it was deleted, and takes its machines with it.
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

class DeletionsEnd final : public Invariant {
public:
    using Invariant::Invariant;

    Findings at_rest() const override {
        Findings findings;
        // A claim whose machine nobody can prove to be its own waits for a person, and what it needs with it.
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
        for (const auto& condition : claim.status.conditions) {
            for (const std::string_view reason :
                 {api::reasons::kMarkMismatch, api::reasons::kBlockedByBudget, api::reasons::kDrainStalled})
                if (condition.reason == reason) return true;
            if (condition.reason == "OwnershipMismatch" || condition.reason == "MissingPrivileges")
                return true;
        }
        return false;
    }

    // A Secret whose claims live on is kept for them.
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

    // Nobody but the objects on record holds a Secret.
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
