#include "controllers/claim/decide/vanished.hpp"

#include "controllers/claim/decide/boot_evidence.hpp"
#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/facts/pool_counts.hpp"

namespace controllers::claim {

namespace {

std::string how_to_state_it() {
    return "if the machine is gone, annotate the claim with " + std::string(api::annotations::kMachineGone) +
           "=true";
}

// Reports whether the machine ran and its removal has not begun.
bool is_in_service(const Situation& s) {
    return is_true(s.claim, conditions::kLaunched) && !s.claim.metadata.deletionTimestamp &&
           !api::find_condition(s.claim.status.conditions, conditions::kMachineDeleted);
}

// Returns why the loss is doubtful. A reporting kubelet is better evidence than a list without its machine.
// The node controller sets the Node of a silent kubelet to not Ready within a minute.
std::optional<Hold> doubt_of(const Situation& s) {
    if (stated_gone(s)) return std::nullopt;
    if (is_elsewhere(s)) return Hold{std::string(reasons::kOtherCluster), elsewhere_text(s)};
    const auto machine = machine_text(s) + " is not found by the provider";
    if (s.node && is_ready(*s.node))
        return Hold{std::string(reasons::kNodeIsReady),
                    machine + ", but its Node is Ready: nothing is done until one of the two changes; " +
                        how_to_state_it()};
    if (!s.machine.doubt.empty())
        return Hold{std::string(reasons::kManyVanished),
                    machine + ", " + s.machine.doubt + "; " + how_to_state_it()};
    return std::nullopt;
}

}  // namespace

bool is_elsewhere(const Situation& s) {
    const auto& own = s.claim.status.cluster;
    if (own.empty() || !s.provider || !s.provider->status.cluster) return false;
    const auto& current = s.provider->status.cluster->id;
    return !current.empty() && current != own;
}

std::string elsewhere_text(const Situation& s) {
    return machine_text(s) + " was created on the cluster with the identity " + s.claim.status.cluster +
           ", but provider " + s.claim.status.providerRef +
           " now leads to another cluster: nothing is done with the machine until the provider leads back "
           "there; " +
           how_to_state_it();
}

bool has_vanished(const Situation& s) {
    return s.machine.is_gone && (is_in_service(s) || is_kept(s.claim)) && !doubt_of(s);
}

Decision decide_vanished(const Situation& s) {
    Decision decision{Step::nothing, s.claim.status, std::nullopt};
    auto& status = decision.status;
    const auto machine = "machine " + status.machineID + " on host " + status.host;
    if (status.keptSince) {
        status.keptSince.reset();
        set(status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kMachineVanished,
            machine + ", which was kept for inspection, no longer exists", s.now);
        return decision;
    }
    const auto what = machine + " no longer exists: the claim is replaced";
    set(status, conditions::kMachineDeleted, ConditionStatus::True, reasons::kMachineVanished, what, s.now);
    set(status, conditions::kDisrupted, ConditionStatus::True, reasons::kMachineVanished, what, s.now);
    return decision;
}

void note_doubt(ClaimStatus& status, const Situation& s) {
    const auto doubt = s.machine.is_gone && is_in_service(s) ? doubt_of(s) : std::nullopt;
    if (doubt)
        set(status, conditions::kMachineFound, ConditionStatus::False, doubt->reason, doubt->message, s.now);
    else
        api::remove_condition(status.conditions, conditions::kMachineFound);
}

}  // namespace controllers::claim
