// Conditions that must always hold, as small checkers. Each checker watches what it needs and reports the
// first violation.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/simulation/adversary.hpp"
#include "test/simulation/other_cluster.hpp"

namespace simulation {

// Time for which a request may be under way when somebody removes a mark or changes the cables. Such a
// request is no violation.
inline constexpr std::chrono::minutes kInFlight{3};

// Time for which the effects of trouble last, such as nodes that are not Ready again yet, or dead watches.
inline constexpr std::chrono::minutes kSettled{15};

struct Violation {
    base::TimePoint at;
    std::string invariant;
    std::string message;
};

struct Finding {
    std::string invariant;
    std::string message;
};
using Findings = std::vector<Finding>;

// SharedRackCounts counts cases that no BMC can decide for two clusters without a lock.
struct SharedRackCounts {
    std::uint64_t contested = 0;        // both clusters asked a host to turn on after they saw it off
    std::uint64_t cut_unknowingly = 0;  // the second of them then asked it to turn off
};

// Stage is what checkers see, and where they report violations.
struct Stage {
    World& world;
    Operators& operators;
    const Deeds& deeds;
    std::vector<Violation>& violations;
    OtherCluster& others;
    SharedRackCounts& counts;

    // Reports whether a user or an outsider deleted the claim.
    bool was_deleted_by_others(const std::string& claim_uid) const {
        return deeds.deleted_claims.contains(claim_uid) ||
               world.interference.deleted_claims.contains(claim_uid);
    }
    // Returns when anybody last did something that excuses a violation.
    base::TimePoint last_deed() const { return std::max(deeds.last, world.interference.last); }
    void violate(const std::string& invariant, const std::string& message) const;
    // Reports whether its user wanted or caused that the claim ends before its machine or host.
    bool may_go_first(const NodeSmithClaim& claim) const;
};

class Invariant {
public:
    explicit Invariant(Stage stage) : stage_(stage), world_(stage.world) {}
    Invariant(const Invariant&) = delete;
    Invariant& operator=(const Invariant&) = delete;
    virtual ~Invariant() = default;

    // Runs every virtual second.
    virtual void each_second() {}
    // Runs after each virtual second in which a claim or a machine changed.
    virtual void after_change() {}
    // Returns the violations that remain once the world is at rest.
    virtual Findings at_rest() const { return {}; }

protected:
    Stage stage_;
    World& world_;
};

std::vector<std::unique_ptr<Invariant>> all_invariants(const Stage& stage);

// Returns the VMID in a path of Proxmox (.../nodes/HOST/qemu/VMID[/...]); nullopt if there is none.
std::optional<int> vmid_of(const std::string& path);
// Returns the UID of the claim that has the host; "" if no claim has it or the host does not exist.
std::string claim_uid_of(const NodeSmithHost* host);

// Reports whether a claim without a status waits since the Secret of its provider does not exist. People
// deleted it before the operator could protect it, or never made it, and nothing shows whether it was used.
bool waits_for_secret(World& world, const NodeSmithClaim& claim);
// Reports whether the claim's status is lost, and somebody took the mark off its machine. The system UUID
// alone proves no machine, so a person has to write the mark again.
bool has_lost_its_mark(World& world, const NodeSmithClaim& claim);

// Returns after which time every request to a provider has arrived. BMCs are slow, and so may be the network
// to any provider.
base::Duration longest_way_to_provider(const FaultPlan& faults);

// Reports whether the operator repairs the claim's node, which was not Ready for so long that budgets no
// longer count.
bool is_repaired(const NodeSmithClaim& claim);

// ---- one maker per file
std::unique_ptr<Invariant> one_machine_per_claim(const Stage& stage);
std::unique_ptr<Invariant> limits_hold(const Stage& stage);
std::unique_ptr<Invariant> rates_hold(const Stage& stage);
std::unique_ptr<Invariant> busy_nodes_live(const Stage& stage);
std::unique_ptr<Invariant> budgets_hold(const Stage& stage);
std::unique_ptr<Invariant> others_machines_untouched(const Stage& stage);
std::unique_ptr<Invariant> all_comes_to_rest(const Stage& stage);
std::unique_ptr<Invariant> secrets_stay_secret(const Stage& stage);
std::unique_ptr<Invariant> never_launches_for_ever(const Stage& stage);
std::unique_ptr<Invariant> status_tells_the_truth(const Stage& stage);
std::unique_ptr<Invariant> writes_fit_their_schemas(const Stage& stage);
std::unique_ptr<Invariant> evicted_pods_run_again(const Stage& stage);
std::unique_ptr<Invariant> hosts_serve_one_claim(const Stage& stage);
std::unique_ptr<Invariant> waiting_pods_are_served(const Stage& stage);
std::unique_ptr<Invariant> nothing_is_wasted(const Stage& stage);
std::unique_ptr<Invariant> outsiders_are_waited_for(const Stage& stage);
std::unique_ptr<Invariant> refusals_hold_up_no_others(const Stage& stage);
std::unique_ptr<Invariant> only_the_leader_writes(const Stage& stage);
std::unique_ptr<Invariant> kept_machines_rest(const Stage& stage);
std::unique_ptr<Invariant> retained_machines_stay(const Stage& stage);
std::unique_ptr<Invariant> tokens_are_bound(const Stage& stage);
std::unique_ptr<Invariant> nothing_is_hammered(const Stage& stage);
std::unique_ptr<Invariant> tenants_get_nothing(const Stage& stage);
std::unique_ptr<Invariant> strangers_are_left_alone(const Stage& stage);
std::unique_ptr<Invariant> addresses_are_given_once(const Stage& stage);
std::unique_ptr<Invariant> two_clusters_share_a_rack(const Stage& stage);
std::unique_ptr<Invariant> names_are_free(const Stage& stage);
std::unique_ptr<Invariant> nominations_are_of_our_machines(const Stage& stage);
std::unique_ptr<Invariant> templates_are_of_their_images(const Stage& stage);
std::unique_ptr<Invariant> volumes_of_others_stay(const Stage& stage);
std::unique_ptr<Invariant> other_cluster_untouched(const Stage& stage);
std::unique_ptr<Invariant> provider_is_not_believed_alone(const Stage& stage);
std::unique_ptr<Invariant> deletions_end(const Stage& stage);
std::unique_ptr<Invariant> local_volumes_are_kept(const Stage& stage);
std::unique_ptr<Invariant> series_end(const Stage& stage);
std::unique_ptr<Invariant> running_machines_are_seen(const Stage& stage);
std::unique_ptr<Invariant> roles_suffice(const Stage& stage);
std::unique_ptr<Invariant> drains_evict_once(const Stage& stage);
std::unique_ptr<Invariant> drains_go_on(const Stage& stage);
std::unique_ptr<Invariant> machines_run_again(const Stage& stage);
std::unique_ptr<Invariant> nothing_is_due_by_a_clock(const Stage& stage);
std::unique_ptr<Invariant> odd_answers_cost_nothing(const Stage& stage);
std::unique_ptr<Invariant> copies_destroy_nothing(const Stage& stage);

}  // namespace simulation
