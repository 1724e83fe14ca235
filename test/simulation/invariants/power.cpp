// After a power cut the machines of all nodes in service run again. They do so within a bounded time after
// their hosts are back and nothing hinders the operator. A machine that a person switched off stays off, and
// its claim says so.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"

namespace simulation {
namespace {

// This is longer than the longest pause between two starts of one machine, even if others are started first
// on its host.
constexpr std::chrono::minutes kRunsAgainWithin{30};
constexpr std::chrono::seconds kLooksAtPower{15};

// These faults keep the operator from starting machines, or from learning that they are off.
constexpr Fault kHindering[] = {
    Fault::api_refused,      Fault::api_answer_lost, Fault::api_throttled,    Fault::api_unreachable,
    Fault::watch_dropped,    Fault::watch_stale,     Fault::watch_stalled,    Fault::watch_cut_when_quiet,
    Fault::provider_refused, Fault::provider_slow,   Fault::task_failed_late, Fault::provider_answer_lost,
    Fault::task_failed,      Fault::task_hung,       Fault::task_died,        Fault::killed_at_request,
    Fault::killed,           Fault::paused,          Fault::second_operator,  Fault::clock_jump,
    Fault::host_died,        Fault::power_cut,       Fault::quorum_lost,      Fault::right_withdrawn,
    Fault::not_ready,        Fault::mark_edited,     Fault::user_edited,      Fault::user_deleted};

class MachinesRunAgain final : public Invariant {
public:
    using Invariant::Invariant;

    void each_second() override {
        if (is_hindered()) off_since_.clear();
        if (world_.now() < next_look_) return;
        next_look_ = world_.now() + kLooksAtPower;
        std::map<std::string, base::TimePoint> still;
        for (const auto& claim : left_off()) {
            const auto known = off_since_.find(claim->metadata.uid);
            const auto since = known == off_since_.end() ? world_.now() : known->second;
            still[claim->metadata.uid] = since;
            if (since + kRunsAgainWithin < world_.now())
                stage_.violate(kName, describe(*claim) + ", for 30 minutes now");
        }
        off_since_ = std::move(still);
    }

    Findings at_rest() const override {
        Findings findings;
        for (const auto& claim : left_off()) findings.push_back({kName, describe(*claim)});
        return findings;
    }

private:
    bool is_hindered() const {
        const auto& cluster = world_.proxmox.cluster();
        const auto recent = [this](Fault fault) { return world_.faults.recent(fault); };
        const auto alive = stage_.operators.alive();
        const bool acts = std::ranges::any_of(alive, [](const Process* each) { return !each->paused(); });
        const auto is_dark = [](const proxmox::Host& host) { return !host.powered_on; };
        return !acts || std::ranges::any_of(kHindering, recent) || !cluster.has_quorum() ||
               world_.is_demolished || world_.host_apis.leads_elsewhere() ||
               world_.interference.hang.is_in_force ||
               cluster.world.custom_roles != world_.scenario.proxmox.custom_roles ||
               std::ranges::all_of(cluster.world.hosts, is_dark);
    }

    // Returns the claims whose machine must run but is off: they are in service and not disrupted, their host
    // is on and tells how much room it has, and no person switched the machine off.
    std::vector<std::shared_ptr<const NodeSmithClaim>> left_off() const {
        std::vector<std::shared_ptr<const NodeSmithClaim>> found;
        for (const auto& [vmid, machine] : world_.proxmox.cluster().world.machines) {
            const auto& mark = world_.administrators.mark_of(machine);
            if (!mark || machine.running || machine.config.contains("lock")) continue;
            if (world_.administrators.untouchable().contains(vmid)) continue;
            if (world_.administrators.meddled_with(uuid_of(machine)) || !is_reachable(machine.node)) continue;
            for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
                const bool is_of_claim =
                    claim->metadata.uid == mark->claim_uid && claim->status.systemUUID == uuid_of(machine);
                if (is_of_claim && is_to_run(*claim)) found.push_back(claim);
            }
        }
        return found;
    }

    bool is_reachable(const std::string& host) const {
        const auto& cluster = world_.proxmox.cluster();
        const auto found = std::ranges::find(cluster.world.hosts, host, &proxmox::Host::name);
        return found != cluster.world.hosts.end() && found->powered_on && found->sends_statistics &&
               !cluster.is_isolated(host);
    }

    bool is_to_run(const NodeSmithClaim& claim) const {
        const auto& conditions = claim.status.conditions;
        if (claim.metadata.deletionTimestamp || !api::is_true(conditions, api::conditions::kInitialized) ||
            api::is_true(conditions, api::conditions::kFailed) ||
            api::is_true(conditions, api::conditions::kDisrupted))
            return false;
        const auto* node = world_.view.find<api::Node>({"", claim.status.nodeName});
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        const auto* provider =
            pool ? world_.view.find<NodeSmithProvider>({claim.metadata.namespace_, pool->spec.providerRef})
                 : nullptr;
        if (!node || !provider || !api::is_true(provider->status.conditions, api::conditions::kReady) ||
            !is_active())
            return false;
        // The claim itself says so if its machine cannot be started, or if the operator cannot see who wants
        // it off.
        const auto* off = api::find_condition(conditions, api::conditions::kPoweredOff);
        return !off || (off->reason != api::reasons::kWaitingForRoom &&
                        off->message.find("is not visible without") == std::string::npos);
    }

    bool is_active() const {
        return std::ranges::all_of(world_.view.all<NodeSmithControlPlane>(), [](const auto& entry) {
            return entry.second->spec.mode == api::v1alpha1::Mode::Active;
        });
    }

    static std::string describe(const NodeSmithClaim& claim) {
        const auto* off = api::find_condition(claim.status.conditions, api::conditions::kPoweredOff);
        return "the machine of claim " + claim.metadata.name + " (VMID " + claim.status.machineID +
               ") is off although nobody switched it off" +
               (off ? "; it says: " + off->reason + " (" + off->message + ")" : std::string());
    }

    static constexpr const char* kName = "machines run again after a power cut";
    base::TimePoint next_look_{};
    std::map<std::string, base::TimePoint> off_since_;  // time of the first look that found it off, by UID of
                                                        // the claim
};

}  // namespace

std::unique_ptr<Invariant> machines_run_again(const Stage& stage) {
    return std::make_unique<MachinesRunAgain>(stage);
}

}  // namespace simulation
