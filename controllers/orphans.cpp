#include "controllers/orphans.hpp"

#include <algorithm>

#include "controllers/claim/decide/keeping.hpp"
#include "controllers/claim/facts/identity.hpp"
#include "controllers/claim/facts/local_volumes.hpp"

namespace controllers {

using claim::is_proven;
using providers::Machine;

bool runs_on(const api::Node& node, const Machine& machine) {
    if (claim::same_uuid(node.status.nodeInfo.systemUUID, machine.identity.system_uuid)) return true;
    return !machine.provider_id.empty() && node.spec.providerID == machine.provider_id;
}

namespace {

bool has_machine(const api::Node& node, const std::vector<Machine>& machines) {
    return std::ranges::any_of(machines, [&node](const Machine& m) { return runs_on(node, m); });
}

bool is_listed(const std::vector<Machine>& machines, const NodeSmithClaim& claim) {
    return std::ranges::any_of(machines, [&claim](const Machine& m) { return belongs_to(m, claim); });
}

bool is_of_provider(const api::Node& node, const kube::ObjectKey& provider, const Informers& informers) {
    for (const auto& pool : informers.pools.store().by_index(kPoolsByProvider, provider.str())) {
        const auto* label = api::find(node.metadata.labels, pool->spec.poolLabelKey);
        if (label && *label == pool->metadata.name) return true;
    }
    return false;
}

bool host_is_in_service(const api::Node& node, const std::vector<providers::HostOffering>& hosts) {
    const auto* name = api::find(node.metadata.labels, api::labels::kHost);
    return name && std::ranges::any_of(hosts, [name](const providers::HostOffering& host) {
               return host.name == *name && host.usable;
           });
}

}  // namespace

bool belongs_to(const Machine& machine, const NodeSmithClaim& claim) {
    const auto& identity = machine.identity;
    if (api::is_true(claim.status.conditions, conditions::kMachineDeleted)) return false;
    if (machine.is_bare_metal)
        return identity.claim_uid == claim.metadata.uid && claim.status.host == machine.record.host;
    const auto& recorded = claim.status.machineID;
    return identity.claim_uid == claim.metadata.uid &&
           claim::same_uuid(identity.system_uuid, claim.status.systemUUID) &&
           (recorded.empty() || recorded == machine.record.machine_id);
}

std::string why_left_to_people(const Machine& machine, const Informers& informers) {
    const auto& identity = machine.identity;
    const auto claim = informers.claims.store().get({identity.claim_namespace, identity.claim_name});
    const bool has_its_mark = claim && !machine.is_bare_metal && identity.claim_uid == claim->metadata.uid &&
                              !api::is_true(claim->status.conditions, conditions::kMachineDeleted);
    if (!has_its_mark) return {};
    const auto& status = claim->status;
    const auto name = "claim " + identity.claim_namespace + "/" + identity.claim_name;
    if (status.launchAttempts == 0) return "which has the mark of " + name + ", whose status is lost";
    const bool is_copy = claim::same_uuid(identity.system_uuid, status.systemUUID) &&
                         !status.machineID.empty() && status.machineID != machine.record.machine_id;
    if (!is_copy) return {};
    return "which has the mark and the system UUID of machine " + status.machineID + " of " + name +
           ", so one of them is a copy: first see which of them is in use and whose it is (Proxmox: qm "
           "config), then remove the mark from the other one, or the machine if nobody needs it";
}

std::vector<Machine> unclaimed(const std::vector<Machine>& machines, const Informers& informers) {
    std::vector<Machine> result;
    for (const auto& machine : machines) {
        if (!is_proven(machine)) continue;
        const auto& identity = machine.identity;
        const auto claim = informers.claims.store().get({identity.claim_namespace, identity.claim_name});
        if (!claim || !belongs_to(machine, *claim)) result.push_back(machine);
    }
    return result;
}

std::string described(const Machine& machine) {
    return machine.name + " (" + machine.record.machine_id + " on " + machine.record.host + ")";
}

std::vector<Machine> never_finished(const std::vector<Machine>& machines, const Informers& informers) {
    std::vector<Machine> result;
    for (const auto& machine : machines) {
        const auto& identity = machine.identity;
        const bool looks_so = !identity.claim_uid.empty() && !is_proven(machine) &&
                              machine.name == identity.claim_name &&
                              machine.state == providers::MachineState::stopped;
        const auto claim = informers.claims.store().get({identity.claim_namespace, identity.claim_name});
        if (looks_so && (!claim || claim->metadata.uid != identity.claim_uid)) result.push_back(machine);
    }
    return result;
}

bool may_serve(const api::Node& node, const Machine& machine) {
    const bool is_dead = machine.state == providers::MachineState::stopped &&
                         !api::is_true(node.status.conditions, conditions::kReady);
    return runs_on(node, machine) && !is_dead;
}

bool is_in_use(const Machine& machine, const Informers& informers) {
    const auto& nodes = informers.nodes.store().all();
    return std::ranges::any_of(nodes,
                               [&machine](const auto& entry) { return may_serve(*entry.second, machine); });
}

std::string volumes_on(const Machine& machine, const Informers& informers) {
    api::Node gone;
    gone.metadata.name = machine.identity.claim_name;
    if (gone.metadata.name.empty()) return {};
    return named(held_among(local_volumes_on(informers, gone), nullptr, {}));
}

std::vector<ClaimPointer> waiting_for_nothing(const std::vector<Machine>& machines,
                                              const kube::ObjectKey& provider, const Informers& informers) {
    std::vector<ClaimPointer> result;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        const bool is_its =
            key.namespace_ == provider.namespace_ && claim->status.providerRef == provider.name;
        const bool keeps = claim::is_kept(*claim) && !claim->metadata.deletionTimestamp;
        if (is_its && (keeps || claim::waits_for_owner_of_node(*claim)) && !is_listed(machines, *claim))
            result.push_back(claim);
    }
    return result;
}

std::vector<ClaimPointer> in_service(const kube::ObjectKey& provider, const Informers& informers) {
    std::vector<ClaimPointer> result;
    for (const auto& [key, claim] : informers.claims.store().all()) {
        const auto& status = claim->status;
        const bool lives = !claim->metadata.deletionTimestamp &&
                           api::is_true(status.conditions, conditions::kLaunched) &&
                           !api::find_condition(status.conditions, conditions::kMachineDeleted);
        if (lives && key.namespace_ == provider.namespace_ && status.providerRef == provider.name)
            result.push_back(claim);
    }
    return result;
}

bool are_many(std::size_t vanished, std::size_t in_service) {
    constexpr std::size_t kBelievedOneIn = 10;
    return vanished > 1 && vanished * kBelievedOneIn > in_service;
}

std::vector<ClaimPointer> bereft(const std::vector<Machine>& machines, const kube::ObjectKey& provider,
                                 const Informers& informers) {
    auto claims = in_service(provider, informers);
    std::erase_if(claims, [&machines](const ClaimPointer& claim) {
        return is_listed(machines, *claim) || claim->status.systemUUID.empty();
    });
    return claims;
}

std::vector<NodePointer> ghosts(const std::vector<Machine>& machines,
                                const std::vector<providers::HostOffering>& hosts,
                                const kube::ObjectKey& provider, const Informers& informers) {
    std::vector<NodePointer> result;
    for (const auto& [key, node] : informers.nodes.store().all()) {
        const auto* label = api::find(node->metadata.labels, api::labels::kClaim);
        if (!label || node->metadata.deletionTimestamp || !is_of_provider(*node, provider, informers))
            continue;
        if (!informers.claims.store().by_index(kClaimsByName, *label).empty()) continue;
        const bool alive =
            api::is_true(node->status.conditions, conditions::kReady) || has_machine(*node, machines);
        if (!alive && host_is_in_service(*node, hosts)) result.push_back(node);
    }
    return result;
}

}  // namespace controllers
