// Decides whether another operator owns the same machines, as after a control plane was copied. Each leader
// writes its epoch at the provider. An epoch that the Lease does not record is of another operator. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "kube/leader_election.hpp"
#include "providers/capabilities.hpp"
#include "providers/environment.hpp"

namespace controllers {

// Interval of looks at the epoch at a provider.
inline constexpr base::Duration kEpochLook = std::chrono::minutes{1};
// Time from writing an epoch until something may be destroyed: another operator looks twice meanwhile.
inline constexpr base::Duration kEpochSettles = 2 * kEpochLook - std::chrono::seconds{5};

// EpochState is what a leader knows of the operators at one provider.
struct EpochState {
    bool is_alone = false;                 // no other operator owns the machines
    bool had_machines = false;             // at the last look
    bool has_nothing_to_lose = false;      // no machine was seen for a while
    std::optional<base::TimePoint> waits;  // since when it waits for a sign of another operator
    std::string other;                     // epoch of another operator; empty: none was found
    std::string obstacle;                  // why the last look failed; empty: it did not
};

struct EpochSight {
    providers::EpochLook look;
    kube::LeaderEpochs leader;
    bool leads_from_nothing = false;  // no claim existed when this process began to lead
    bool is_of_our_claim = false;     // the machine with the record has a claim in our cluster
    std::string ended;                // epoch of another operator that a person has ended; empty: none
    base::TimePoint now{};
};

struct EpochDecision {
    EpochState state;
    std::optional<providers::EpochRecord> write;  // nullopt: nothing is to be written
    bool heeds_person = false;                    // the operator that a person has ended is forgotten
};
// The state is valid once the record was written, except that another operator is known immediately.
EpochDecision next_epoch(const EpochState& before, const EpochSight& sight);

providers::RemovalHold why_not_destroy(const EpochState& state, const std::string& own);

}  // namespace controllers
