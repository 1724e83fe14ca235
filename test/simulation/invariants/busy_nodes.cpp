// Invariant 3: no machine goes off while pods run on its Node that were not asked to leave.
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

bool tells_to_stop(const proxmox::RequestRecord& request) {
    return request.method == "POST" && request.status == 200 &&
           (request.path.ends_with("/status/stop") || request.path.ends_with("/status/shutdown"));
}

class BusyNodesLive final : public Invariant {
public:
    explicit BusyNodesLive(const Stage& stage) : Invariant(stage) {
        world_.observe([this](const proxmox::RequestRecord& request) {
            const auto vmid = tells_to_stop(request) ? vmid_of(request) : std::nullopt;
            const auto& machines = world_.proxmox.cluster().world.machines;
            const auto machine = vmid ? machines.find(*vmid) : machines.end();
            if (machine == machines.end()) return;
            const auto uuid = uuid_of(machine->second);
            const auto* node = world_.view.node_of_machine(uuid);
            remember_request(uuid, node && (!is_ready(*node) || joined_meanwhile(*node)));
        });
        world_.guests.subscribe([this](PowerEvent event, const proxmox::MachineView& machine) {
            if (event == PowerEvent::stopped) check_machine(machine);
        });
        world_.bmcs.subscribe([this](const std::string& host, const std::string& type) {
            if (type.ends_with("On")) return;
            const auto& uuid = world_.bmcs.uuid(host);
            const auto* node = world_.view.node_of_machine(uuid);
            // Hosts may join without a token too.
            remember_request(uuid, !node || !is_ready(*node) || became_ready_just_now(*node));
        });
        world_.bmcs.subscribe([this](const std::string& host, Power power) {
            if (power == Power::off) check_host(host);
        });
    }

private:
    // A Node that becomes Ready while its machine goes off is nobody's fault.
    void remember_request(const std::string& uuid, bool was_broken) {
        if (was_broken) {
            told_while_broken_.insert(uuid);
        } else {
            told_while_broken_.erase(uuid);
        }
    }

    // What needs no token of ours to join may while the request is on its way, and nothing calls that back.
    bool joined_meanwhile(const api::Node& node) const {
        return joins_by_itself(node) && became_ready_just_now(node);
    }

    bool became_ready_just_now(const api::Node& node) const {
        const auto* ready = api::find_condition(node.status.conditions, api::conditions::kReady);
        const auto longest = longest_way_to_provider(world_.faults);
        return ready && ready->lastTransitionTime &&
               world_.clock.wall_now() - ready->lastTransitionTime->at <= longest;
    }

    void check_machine(const proxmox::MachineView& machine) {
        if (!world_.proxmox.cluster().host(machine.node).powered_on) return;
        if (world_.administrators.meddled_with(machine.uuid)) return;
        const auto& machines = world_.proxmox.cluster().world.machines;
        const auto found = machines.find(machine.vmid);
        const auto mark =
            found == machines.end() ? std::nullopt : world_.administrators.mark_of(found->second);
        const auto* claim = mark ? world_.view.claim_by_uid(mark->claim_uid) : nullptr;
        check(machine.uuid, claim, "machine " + std::to_string(machine.vmid));
    }

    void check_host(const std::string& name) {
        if (world_.bmcs.meddled_with(world_.bmcs.uuid(name))) return;
        const auto* host = world_.view.find<NodeSmithHost>({kNodesNamespace, name});
        check(world_.bmcs.uuid(name), world_.view.claim_by_uid(claim_uid_of(host)), "host " + name);
    }

    void check(const std::string& uuid, const NodeSmithClaim* claim, const std::string& what) {
        const auto* node = world_.view.node_of_machine(uuid);
        if (!node || !is_ready(*node) || told_while_broken_.contains(uuid)) return;
        if (claim && may_be_forced(*claim)) return;
        for (const auto* pod : world_.view.pods_on(node->metadata.name)) {
            if (belongs_to_node(*pod) || has_ended(*pod)) continue;
            stage_.violate("busy nodes live",
                           what + " is stopped while pod " + api::key_of(*pod).str() + " runs on its Node " +
                               node->metadata.name +
                               (pod->metadata.deletionTimestamp ? " (it was ending)" : ""));
        }
    }

    // The pool's user wishes that the drain ends at a deadline, whatever runs.
    bool may_be_forced(const NodeSmithClaim& claim) const {
        if (is_repaired(claim)) return true;
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        return pool && pool->spec.scaleDown.drainTimeoutAction == api::v1alpha1::DrainTimeoutAction::Force;
    }

    std::set<std::string> told_while_broken_;  // machines, by UUID
};

}  // namespace

std::unique_ptr<Invariant> busy_nodes_live(const Stage& stage) {
    return std::make_unique<BusyNodesLive>(stage);
}

}  // namespace simulation
