// Invariant 2: the limits of pools and of the ControlPlane are never exceeded, whatever the status says. A
// user who lowers a limit below the present use causes no violation. A launch after that would be one.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "test/simulation/forgers.hpp"
#include "test/simulation/invariants/invariant.hpp"
#include "test/simulation/search.hpp"

namespace simulation {
namespace {

struct Figures {
    std::int64_t nodes = 0, cpu_cores = 0, memory_mib = 0;

    Figures& operator+=(const Figures& other) {
        nodes += other.nodes;
        cpu_cores += other.cpu_cores;
        memory_mib += other.memory_mib;
        return *this;
    }
    std::string str() const {
        return std::to_string(nodes) + " nodes, " + std::to_string(cpu_cores) + " cores, " +
               std::to_string(memory_mib) + " MiB";
    }
};

// Time for which a decision under the old limit may still be carried out.
constexpr std::chrono::minutes kLimitsInFlight{4};

// Limit is the highest limit that was recently in force; 0 means no limit.
class Limit {
public:
    void set(std::int64_t value, base::TimePoint now) {
        if (!history_.empty() && history_.back().second == value) return;
        history_.emplace_back(now, value);
    }
    std::int64_t lately(base::TimePoint now) {
        // An entry counts until a later one has been in force for long enough.
        while (history_.size() > 1 && history_[1].first + kLimitsInFlight < now) history_.pop_front();
        std::int64_t highest = 0;
        for (const auto& [since, value] : history_) {
            if (value == 0) return 0;
            highest = std::max(highest, value);
        }
        return highest;
    }

private:
    std::deque<std::pair<base::TimePoint, std::int64_t>> history_;
};

// Account holds the limits of one pool or ControlPlane, and their use at the last look.
class Account {
public:
    Limit nodes, cpu_cores, memory_mib;

    // Returns what exceeds its limit, or "". Only use that grew counts.
    std::string check(const Figures& used, base::TimePoint now) {
        auto before = std::exchange(last_, used);
        std::string excess;
        auto one = [&](const char* what, std::int64_t had, std::int64_t has, Limit& limit) {
            auto most = limit.lately(now);
            if (most > 0 && has > most && has > had)
                excess = std::string(what) + ": limit " + std::to_string(most);
        };
        one("nodes", before.nodes, used.nodes, nodes);
        one("cpuCores", before.cpu_cores, used.cpu_cores, cpu_cores);
        one("memoryMiB", before.memory_mib, used.memory_mib, memory_mib);
        return excess.empty() ? "" : excess + ", used " + used.str();
    }

private:
    Figures last_;
};

class LimitsHold final : public Invariant {
public:
    explicit LimitsHold(const Stage& stage) : Invariant(stage) {
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) learn(*pool);
        for (const auto& [key, plane] : world_.view.all<NodeSmithControlPlane>()) learn(*plane);
        world_.view.subscribe<NodeSmithPool>([this](const auto*, const NodeSmithPool* pool) {
            if (pool) learn(*pool);
        });
        world_.view.subscribe<NodeSmithControlPlane>([this](const auto*, const NodeSmithControlPlane* plane) {
            if (plane) learn(*plane);
        });
        world_.view.subscribe<NodeSmithClaim>([this](const auto*, const NodeSmithClaim* claim) {
            if (claim) check_claims();
        });
    }

    void after_change() override { check_machines(); }

private:
    void learn(const NodeSmithPool& pool) {
        for (auto* accounts : {&by_claims_, &by_machines_}) {
            auto& account = (*accounts)[pool.metadata.name];
            account.nodes.set(pool.spec.limits.maxNodes, world_.now());
            account.cpu_cores.set(pool.spec.limits.cpuCores, world_.now());
            account.memory_mib.set(pool.spec.limits.memoryMiB, world_.now());
        }
    }
    void learn(const NodeSmithControlPlane& plane) {
        for (auto* accounts : {&by_claims_, &by_machines_}) {
            auto& account = (*accounts)[""];
            account.nodes.set(plane.spec.limits.maxNodes, world_.now());
            account.cpu_cores.set(plane.spec.limits.cpuCores, world_.now());
            account.memory_mib.set(plane.spec.limits.memoryMiB, world_.now());
        }
    }

    // Does not judge a look at which a claim has just lost its status: nothing was launched then.
    void judge(std::map<std::string, Account>& accounts, const std::map<std::string, Figures>& used,
               const char* what, std::set<std::string>& lost_before, std::set<std::string> lost) {
        const bool is_restored = !std::ranges::includes(lost_before, lost);
        lost_before = std::move(lost);
        for (auto& [name, account] : accounts) {
            auto found = used.find(name);
            auto excess = account.check(found == used.end() ? Figures{} : found->second, world_.now());
            if (excess.empty() || is_restored) continue;
            stage_.violate("limits hold", (name.empty() ? "the ControlPlane" : "pool " + name) +
                                              " has more " + what + " than allowed: " + excess);
        }
    }

    // Returns the UIDs of claims whose mark a machine carries.
    std::set<std::string> claims_with_machine() const {
        std::set<std::string> uids;
        for (auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            uids.insert(world_.administrators.mark_of(machine)->claim_uid);
        }
        return uids;
    }

    // Reports whether the claim may have a machine that its status does not show. Once the operator has
    // stated that the machine is gone, only a machine that exists counts.
    bool has_lost_machine(const NodeSmithClaim& claim) const {
        const auto& uid = claim.metadata.uid;
        if (!claim.status.machineID.empty() || !stage_.deeds.restored_claims.contains(uid)) return false;
        // It waits for room only once it has looked for a machine and found none.
        const auto* launched = api::find_condition(claim.status.conditions, api::conditions::kLaunched);
        const bool was_looked_for = api::is_true(claim.status.conditions, api::conditions::kMachineDeleted) ||
                                    (launched && launched->reason == api::reasons::kLimitExceeded);
        return !was_looked_for || claims_with_machine().contains(uid);
    }

    void check_claims() {
        std::map<std::string, Figures> used;
        std::set<std::string> lost;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const bool lost_status = has_lost_machine(*claim);
            if (lost_status) lost.insert(claim->metadata.uid);
            if ((!may_have_machine(*claim) && !lost_status) || is_forged(*claim)) continue;
            const auto& size = claim->spec.requirements;
            for (const auto& name : {claim->spec.poolRef, std::string()}) {
                used[name] += {1, size.cpuCores, size.memoryMiB};
            }
        }
        judge(by_claims_, used, "claims", lost_claims_, std::move(lost));
    }

    // Counts machines that exist, and those that have a place on a host and may be made at any moment. It
    // leaves out machines whose claim is gone or has seen its machine gone. Such a machine is an orphan that
    // a killed process may have requested.
    void check_machines() {
        const auto with_machine = claims_with_machine();
        std::map<std::string, Figures> used;
        std::set<std::string> lost;
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            const bool may_have_one = !claim->status.machineID.empty() && !is_forged(*claim);
            const bool has_mark = with_machine.contains(claim->metadata.uid);
            const bool lost_status = has_lost_machine(*claim);
            if (lost_status) lost.insert(claim->metadata.uid);
            if (!may_have_one && !has_mark && !lost_status) continue;
            if (api::is_true(claim->status.conditions, api::conditions::kMachineDeleted)) continue;
            if (claim->status.keptSince) continue;  // stopped, and kept for inspection
            const auto& size = claim->spec.requirements;
            for (const auto& name : {claim->spec.poolRef, std::string()}) {
                used[name] += {1, size.cpuCores, size.memoryMiB};
            }
        }
        judge(by_machines_, used, "machines", lost_machines_, std::move(lost));
    }

    std::map<std::string, Account> by_claims_, by_machines_;  // by pool; "": the ControlPlane
    std::set<std::string> lost_claims_, lost_machines_;       // UIDs of claims that had lost their status
};

}  // namespace

std::unique_ptr<Invariant> limits_hold(const Stage& stage) {
    return std::make_unique<LimitsHold>(stage);
}

}  // namespace simulation
