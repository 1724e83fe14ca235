// A machine that never joined and is kept for inspection is off. A pool has at most one of them, if it asks
// for one.
#include <algorithm>
#include <map>

#include "test/simulation/invariants/invariant.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace simulation {
namespace {

constexpr const char* kName = "kept machines rest";

class KeptMachinesRest final : public Invariant {
public:
    using Invariant::Invariant;

    void after_change() override {
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>()) {
            if (!keeps(*claim)) continue;
            if (!api::is_true(claim->status.conditions, api::conditions::kFailed))
                stage_.violate(kName, "claim " + key.name + " keeps its machine, but has not failed");
            const auto* machine = machine_of(*claim);
            if (machine && machine->running && !claim->metadata.deletionTimestamp)
                stage_.violate(kName, "machine " + claim->status.machineID + " of claim " + key.name +
                                          " is kept, but runs");
        }
    }

    Findings at_rest() const override {
        Findings findings;
        std::map<std::string, std::vector<const NodeSmithClaim*>> kept;  // by pool
        for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
            if (keeps(*claim) && !claim->metadata.deletionTimestamp)
                kept[claim->spec.poolRef].push_back(claim.get());
        for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) {
            const auto& named = pool->status.keptMachine;
            const auto& claims = kept[key.name];
            const auto most = static_cast<std::size_t>(pool->spec.scaleUp.keepFailed);
            if (claims.size() > most)
                findings.push_back({kName, "pool " + key.name + " keeps " + std::to_string(claims.size()) +
                                               " machines, and may keep " + std::to_string(most)});
            const auto wanted = claims.empty() ? std::string() : claims.back()->metadata.name;
            const auto name = named ? named->claim : std::string();
            if (name != wanted && claims.size() <= 1)
                findings.push_back({kName, "pool " + key.name + " names claim \"" + name +
                                               "\" as the one that keeps its machine, instead of \"" +
                                               wanted + "\""});
            for (const auto* claim : claims) look_at(*claim, findings);
        }
        return findings;
    }

private:
    static bool keeps(const NodeSmithClaim& claim) {
        return claim.status.keptSince &&
               !api::is_true(claim.status.conditions, api::conditions::kMachineDeleted);
    }

    // Returns the machine that is provably the claim's, of its present attempt.
    const proxmox::Machine* machine_of(const NodeSmithClaim& claim) const {
        for (const auto vmid : world_.administrators.marked()) {
            const auto& machine = world_.proxmox.cluster().world.machines.at(vmid);
            if (uuid_of(machine) == claim.status.systemUUID) return &machine;
        }
        return nullptr;
    }

    void look_at(const NodeSmithClaim& claim, Findings& findings) const {
        const auto* machine = machine_of(claim);
        // A machine whose mark an administrator changed is no longer ours, so the claim cannot be right about
        // it.
        const bool is_tampered =
            world_.administrators.untouchable().contains(std::atoi(claim.status.machineID.c_str()));
        if (is_tampered) return;
        if (!machine) {
            findings.push_back(
                {kName, "claim " + claim.metadata.name + " keeps a machine that does not exist"});
            return;
        }
        const auto tags = proxmox::split(proxmox::config_text(machine->config, "tags"), ';');
        if (std::ranges::find(tags, kKeptTag) == tags.end())
            findings.push_back(
                {kName, "machine " + claim.status.machineID + " is kept without the tag that says so"});
    }
};

// A machine that served under deletionPolicy Retain is not destroyed, whatever the status of its claim says.
class RetainedMachinesStay final : public Invariant {
public:
    explicit RetainedMachinesStay(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>([this](const NodeSmithClaim*, const NodeSmithClaim* claim) {
            if (claim && api::is_true(claim->status.conditions, api::conditions::kInitialized))
                served_[claim->metadata.uid] = claim->status.systemUUID;
        });
        world_.observe([this](const proxmox::RequestRecord& request) {
            const auto vmid = vmid_of(request.path);
            if (request.method != "DELETE" || request.status != 200 || !vmid) return;
            const auto& machines = world_.proxmox.cluster().world.machines;
            const auto machine = machines.find(*vmid);
            if (machine == machines.end()) return;
            const auto mark = world_.administrators.mark_of(machine->second);
            const auto* claim = mark ? world_.view.claim_by_uid(mark->claim_uid) : nullptr;
            if (!claim || claim->spec.deletionPolicy != api::v1alpha1::DeletionPolicy::Retain) return;
            const auto served = served_.find(claim->metadata.uid);
            if (served == served_.end() || served->second != uuid_of(machine->second)) return;
            if (stage_.deeds.stated_gone.contains(claim->metadata.uid)) return;
            stage_.violate("retained machines stay", "machine " + std::to_string(*vmid) + " of claim " +
                                                         claim->metadata.name + " is destroyed");
        });
    }

private:
    std::map<std::string, std::string>
        served_;  // system UUID of the machine that was in service, by claim UID
};

}  // namespace

std::unique_ptr<Invariant> kept_machines_rest(const Stage& stage) {
    return std::make_unique<KeptMachinesRest>(stage);
}

std::unique_ptr<Invariant> retained_machines_stay(const Stage& stage) {
    return std::make_unique<RetainedMachinesStay>(stage);
}

}  // namespace simulation
