// Runs one world twice: with a leader that lives on, and with one that is killed at a moment of the story.
// The decisions of both are compared.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/simulation/operators.hpp"

namespace simulation {

inline constexpr const char* kStoryDeployment = "web";

struct LeaderDecision {
    std::string what;
    base::TimePoint at;
};

// DecisionRate limits how many such decisions there may be within an hour.
struct DecisionRate {
    std::string what;
    std::ptrdiff_t most = 0;  // 0: any number
};

struct Story {
    std::string name;
    base::Duration lasts;
    std::function<void(Scenario&)> adapt;
    std::map<base::Duration, std::function<void(World&)>> happens;  // actions at these times
    std::function<bool(World&)> is_held;                            // the leader is killed when this is true
    // A new leader does not know all pauses after failed requests, so it may decide this much earlier.
    base::Duration earlier = std::chrono::seconds{2};
    DecisionRate rate{};
    base::Duration without_leader{};  // after the kill no process runs for this long
};

class Tale {
public:
    explicit Tale(const Story& story);
    ~Tale();
    Tale(const Tale&) = delete;
    Tale& operator=(const Tale&) = delete;

    enum class Kill { never, when_held };
    void run(Kill kill);
    void run_and_kill_at_write(int number);

    const std::vector<LeaderDecision>& decisions() const { return decisions_; }
    bool was_killed() const { return was_killed_; }
    int writes() const { return writes_; }

private:
    void kill_leader();
    void note_write();
    void note(const NodeSmithClaim* before, const NodeSmithClaim* after);
    void note(const proxmox_simulator::RequestRecord& record);
    void decide(std::string what) { decisions_.push_back({std::move(what), world_.now()}); }

    const Story& story_;
    World world_;
    Operators operators_;
    std::vector<std::unique_ptr<base::Alarm>> alarms_;
    std::vector<LeaderDecision> decisions_;
    int writes_ = 0;
    int kill_at_ = 0;
    bool was_killed_ = false;
};

std::string text_of(const std::vector<LeaderDecision>& decisions);
// Returns the differences, or "" if both made the same decisions at about the same times.
std::string difference(const std::vector<LeaderDecision>& undisturbed,
                       const std::vector<LeaderDecision>& with_kill, const Story& story);
bool holds(const DecisionRate& rate, const std::vector<LeaderDecision>& decisions);

// ---- parts of stories
bool any_claim(World& world, const std::function<bool(const NodeSmithClaim&)>& is_so);
std::function<bool(World&)> any_with(std::string_view type, api::ConditionStatus status);
std::function<void(World&)> scales_to(std::int64_t replicas);
std::function<bool(World&)> is_past(base::Duration time);

}  // namespace simulation
