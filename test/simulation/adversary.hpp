// Makes trouble from time to time: it kills and pauses operators, breaks hosts, and lets users and
// administrators delete and edit things. make_peace() repairs everything that must work before the world can
// be judged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/simulation/operators.hpp"

namespace simulation {

// Deeds records actions of users that excuse what would otherwise be a violation.
struct Deeds {
    std::set<std::string> claims_without_finalizer;         // UIDs of claims whose finalizer a user removed
    std::set<std::string> deleted_claims;                   // UIDs
    std::set<std::string> restored_claims;                  // UIDs of claims that were restored without their
                                                            // status
    std::set<std::string> deleted_nodes;                    // names
    std::set<std::string> deleted_pools;                    // names
    std::set<std::string> stated_gone;                      // UIDs of claims whose machine a person stated to
                                                            // be gone
    std::map<std::string, base::TimePoint> limits_lowered;  // by pool
    std::map<base::TimePoint, base::Duration> unseen_jumps;  // of every clock, while no operator ran
    base::TimePoint last{};                                  // time of the last deed
};

class Adversary {
public:
    Adversary(World& world, Operators& operators);

    void begin();
    // Ends all trouble and repairs everything that no program in the cluster would repair.
    void make_peace();
    const Deeds& deeds() const { return deeds_; }

private:
    void arm();
    void strike(Fault fault);
    void arm_changes();
    // Runs every minute from peace on.
    void heed_reports();
    void ask_for_another_try();
    const api::Node* node_on_machine_of(const NodeSmithClaim& claim) const;
    void label_nodes_as_told();
    bool has_lost_its_host(const NodeSmithClaim& claim) const;
    bool has_only_copies(const NodeSmithClaim& claim) const;
    void state_gone_as_told();
    void end_other_operators_as_told();

    void kill();
    void pause();
    void second_operator();
    void cut_off();
    void jump_clock();
    void restore_etcd(int tries = 10);
    void forbid_tags();
    void withdraw_right();
    void renew_certificate();
    bool hits_bare_metal();
    void host_dies();
    void cut_power();
    void node_ails();
    void meddle_with_machine(Fault fault);
    void user_deletes();
    void user_edits();
    void delete_claim();
    void delete_node();
    void edit_limits();
    void edit_mode();
    void edit_node();
    void apply_claim_by_hand();
    void take_finalizer();
    void lose_status();
    void edit_template();
    void renew_image(const NodeSmithProvider& provider);
    void edit_pod_budget();
    void evacuate_host();
    void maintain_bare_metal();
    void delete_pool();
    void delete_credentials();
    void restore_credentials();

    Process* any_process();
    template <api::Kind T>
    const T* any() {
        return world_.view.any<T>(*random_);
    }
    void later(base::Duration wait, std::function<void()> action);

    World& world_;
    Operators& operators_;
    std::unique_ptr<base::Random> random_;
    Deeds deeds_;
    std::unique_ptr<base::Alarm> next_, next_change_;
    std::list<std::unique_ptr<base::Alarm>> pending_;
    std::vector<std::function<void()>> repairs_;
    int made_by_hand_ = 0;
    int revisions_ = 0;
    bool at_peace_ = false;
};

}  // namespace simulation
