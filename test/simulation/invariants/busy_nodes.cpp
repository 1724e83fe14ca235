// Invariant 3: no machine is switched off while pods run on its Node that were not asked to leave.
#include <algorithm>
#include <set>

#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

// Conditions have whole seconds, and the operator knows the API server's clock to about one.
constexpr std::chrono::seconds kClocksDiffer{2};

bool tells_to_stop(const std::string& method, const std::string& path) {
    return method == "POST" && (path.ends_with("/status/stop") || path.ends_with("/status/shutdown"));
}

class BusyNodesLive final : public Invariant {
public:
    explicit BusyNodesLive(const Stage& stage) : Invariant(stage) {
        world_.network.on_departure.push_back([this](const base::HttpRequest& request) {
            if (tells_to_stop(request.method, request.target)) note_departure(uuid_at(request.target));
        });
        world_.observe([this](const proxmox::RequestRecord& request) {
            if (request.status == 200 && tells_to_stop(request.method, request.path))
                note_arrival(uuid_at(request.path));
        });
        world_.guests.subscribe([this](PowerEvent event, const proxmox::MachineView& machine) {
            if (event == PowerEvent::stopped) check_machine(machine);
        });
        world_.bmcs.subscribe([this](const std::string& host, const std::string& type) {
            if (type.ends_with("On")) return;
            const auto& uuid = world_.bmcs.uuid(host);
            const auto* node = world_.view.node_of_machine(uuid);
            // A host may also join without a token.
            remember(told_while_broken_, uuid, !node || !is_ready(*node) || became_ready_just_now(*node));
        });
        // two_clusters_share_a_rack judges what the other cluster turns off.
        world_.bmcs.subscribe([this](Cluster cluster, const std::string& host, const std::string& type) {
            if (!type.ends_with("On")) remember(told_by_others_, host, cluster == Cluster::theirs);
        });
        world_.bmcs.subscribe([this](const std::string& host, Power power) {
            if (power == Power::off && !told_by_others_.contains(host)) check_host(host);
        });
    }

private:
    static void remember(std::set<std::string>& machines, const std::string& uuid, bool is_one) {
        if (is_one) {
            machines.insert(uuid);
        } else {
            machines.erase(uuid);
        }
    }

    // Returns "" if Proxmox has no such machine.
    std::string uuid_at(const std::string& path) const {
        const auto vmid = vmid_of(path);
        const auto& machines = world_.proxmox.cluster().world.machines;
        const auto machine = vmid ? machines.find(*vmid) : machines.end();
        return machine == machines.end() ? "" : uuid_of(machine->second);
    }

    // Excuses a Node that becomes Ready while the request is under way or the machine is going off. The
    // request cannot be called back.
    void note_departure(const std::string& uuid) {
        const auto* node = world_.view.node_of_machine(uuid);
        remember(told_before_joined_, uuid, !node);
        remember(told_while_broken_, uuid, node && !is_ready(*node));
    }
    void note_arrival(const std::string& uuid) {
        const auto* node = world_.view.node_of_machine(uuid);
        if (node && !is_ready(*node)) told_while_broken_.insert(uuid);
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

    // Reports whether the pod tolerates the Node's taint, and either the claim says that it came back and
    // ends with the machine, or the scheduler placed it there after the drain had ended.
    static bool may_end(const api::Pod& pod, const NodeSmithClaim* claim) {
        const auto* drained =
            claim ? api::find_condition(claim->status.conditions, api::conditions::kDrained) : nullptr;
        const api::Taint taint{std::string(api::taints::kDisrupted), "",
                               std::string(api::taints::kNoSchedule), std::nullopt};
        if (!drained || !tolerates(pod, taint)) return false;
        const auto placed = api::true_since(pod.status.conditions, api::conditions::kPodScheduled);
        const bool is_late = drained->status == api::ConditionStatus::True && placed &&
                             drained->lastTransitionTime &&
                             placed->at + kClocksDiffer >= drained->lastTransitionTime->at;
        const auto says = [drained](const std::string& words) {
            return drained->message.find(words) != std::string::npos;
        };
        // The condition names three pods and counts the others.
        return is_late || (says("came back") && (says(api::key_of(pod).str()) || says(" more")));
    }

    void check(const std::string& uuid, const NodeSmithClaim* claim, const std::string& what) {
        const auto* node = world_.view.node_of_machine(uuid);
        if (!node || !is_ready(*node) || told_while_broken_.contains(uuid)) return;
        // Other Nodes need one of our tokens to join, and the operator revokes it before.
        if (told_before_joined_.contains(uuid) && joins_by_itself(*node)) return;
        if (claim && may_be_forced(*claim)) return;
        for (const auto* pod : world_.view.pods_on(node->metadata.name)) {
            if (belongs_to_node(*pod) || has_ended(*pod) || may_end(*pod, claim)) continue;
            stage_.violate("busy nodes live",
                           what + " is stopped while pod " + api::key_of(*pod).str() + " runs on its Node " +
                               node->metadata.name +
                               (pod->metadata.deletionTimestamp ? " (it was ending)" : ""));
        }
    }

    // Reports whether the pool's user wants the drain to end at a deadline, whatever runs there.
    bool may_be_forced(const NodeSmithClaim& claim) const {
        if (is_repaired(claim)) return true;
        const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
        return pool && pool->spec.scaleDown.drainTimeoutAction == api::v1alpha1::DrainTimeoutAction::Force;
    }

    std::set<std::string> told_by_others_;  // names of hosts
    // These sets hold machines by UUID.
    std::set<std::string> told_while_broken_;
    std::set<std::string> told_before_joined_;
};

}  // namespace

std::unique_ptr<Invariant> busy_nodes_live(const Stage& stage) {
    return std::make_unique<BusyNodesLive>(stage);
}

}  // namespace simulation
