// Users of the cluster who delete and edit objects.
#include "controllers/claim/facts/identity.hpp"
#include "test/simulation/adversary.hpp"
#include "test/simulation/forgers.hpp"
#include "test/simulation/images.hpp"

namespace simulation {

using namespace std::chrono_literals;

void Adversary::user_deletes() {
    switch (random_->below(8)) {
        case 0:
            return delete_claim();
        case 1:
            return delete_node();
        case 5:
            return delete_pool();
        case 6:
            return delete_credentials();
        case 2:
        case 3:
            if (const auto* pod = any<api::Pod>()) {
                auto key = api::key_of(*pod);
                world_.trace.line("user", "deletes pod ", key.str());
                world_.server.remove<api::Pod>(key);
            }
            return;
        default:
            for (const auto& [key, secret] : world_.view.all<api::Secret>()) {
                if (secret->type != "bootstrap.kubernetes.io/token") continue;
                world_.trace.line("user", "deletes Secret ", key.str());
                auto copy = key;
                return world_.server.remove<api::Secret>(copy);
            }
    }
}

void Adversary::delete_claim() {
    const auto* claim = any<NodeSmithClaim>();
    if (!claim) return;
    auto key = api::key_of(*claim);
    world_.trace.line("user", "deletes claim ", key.str());
    deeds_.deleted_claims.insert(claim->metadata.uid);
    world_.server.remove<NodeSmithClaim>(key);
}

void Adversary::delete_node() {
    const auto* node = any<api::Node>();
    if (!node) return;
    auto name = node->metadata.name;
    world_.trace.line("user", "deletes Node ", name);
    deeds_.deleted_nodes.insert(name);
    world_.server.remove<api::Node>({"", name});
}

void Adversary::user_edits() {
    switch (random_->below(11)) {
        case 10:
            return lose_status();
        case 6:
        case 7:
            return edit_template();
        case 8:
            return edit_pod_budget();
        case 9:
            return evacuate_host();
        case 0:
            return edit_limits();
        case 1:
            return edit_mode();
        case 2:
        case 3:
            return edit_node();
        case 4:
            return apply_claim_by_hand();
        default:
            return take_finalizer();
    }
}

void Adversary::edit_limits() {
    const auto* pool = any<NodeSmithPool>();
    if (!pool) return;
    auto key = api::key_of(*pool);
    auto nodes = static_cast<std::int64_t>(random_->below(5));
    world_.trace.line("user", "sets maxNodes of ", key.str(), " to ", nodes);
    deeds_.limits_lowered[key.name] = world_.now();
    world_.server.edit<NodeSmithPool>(
        key, [nodes](NodeSmithPool& edited) { edited.spec.limits.maxNodes = nodes; });
}

void Adversary::edit_mode() {
    using api::v1alpha1::Mode;
    auto key = api::key_of(world_.scenario.control_plane);
    if (world_.is_demolished) return;
    auto set = [this, key](Mode mode) {
        if (!world_.view.find<NodeSmithControlPlane>(key)) return;
        world_.server.edit<NodeSmithControlPlane>(key, [mode](auto& edited) { edited.spec.mode = mode; });
    };
    auto mode = random_->below(2) == 0 ? Mode::Paused : Mode::Observe;
    world_.trace.line("user", "sets the mode to ", mode == Mode::Paused ? "Paused" : "Observe");
    set(mode);
    later(world_.faults.duration(10s, 20min), [set] { set(Mode::Active); });
}

void Adversary::edit_node() {
    const auto* node = any<api::Node>();
    if (!node) return;
    api::ObjectKey key{"", node->metadata.name};
    auto uid = node->metadata.uid;
    auto choice = random_->below(3);
    world_.trace.line("user", "edits Node ", key.name, ", kind ", choice);
    world_.server.edit<api::Node>(key, [choice](api::Node& edited) {
        if (choice == 0) edited.spec.unschedulable = true;
        if (choice == 1) edited.metadata.labels->erase(std::string(api::labels::kClaim));
        if (choice == 2) edited.metadata.annotations[std::string(api::annotations::kDoNotDisrupt)] = "true";
    });
    later(world_.faults.duration(1min, 20min), [this, key, uid] {
        const auto* now = world_.view.find<api::Node>(key);
        if (!now || now->metadata.uid != uid) return;
        world_.server.edit<api::Node>(key, [](api::Node& edited) {
            edited.spec.unschedulable = false;
            edited.metadata.annotations->erase(std::string(api::annotations::kDoNotDisrupt));
        });
    });
}

// Returns the Node that really runs on the claim's machine, as its console would show; null: none does.
const api::Node* Adversary::node_on_machine_of(const NodeSmithClaim& claim) const {
    const auto& id = claim.status.machineID;
    // On bare metal such a Node has the name of its host.
    const auto& host = claim.status.host;
    if (world_.bmcs.has(host)) {
        const auto* node = world_.view.find<api::Node>({"", host});
        return node && node->status.nodeInfo.systemUUID == world_.bmcs.uuid(host) ? node : nullptr;
    }
    const auto& machines = world_.proxmox.cluster().world.machines;
    const auto machine = machines.find(std::atoi(id.c_str()));
    if (machine == machines.end()) return nullptr;
    const auto& mark = world_.administrators.mark_of(machine->second);
    if (!mark || mark->claim_uid != claim.metadata.uid) return nullptr;
    const auto* node = world_.view.node_of_machine(uuid_of(machine->second));
    return node && !is_stranger(*node) ? node : nullptr;
}

// A host that somebody switched on may join by itself and be off again when a claim gets it. Its Node is then
// older than the claim. So is the Node of a VM if the API server's clock went back before it joined, and a
// claim that lost its status no longer knows of its certificate. A person who knows the machine has to
// confirm that the Node is the claim's.
void Adversary::label_nodes_as_told() {
    const std::string label(api::labels::kStatedClaim);
    for (const auto& [key, claim] : std::map(world_.view.all<NodeSmithClaim>())) {
        // The operator reports this reason when the machine should join, or when it should be removed.
        const bool is_told =
            std::ranges::any_of(claim->status.conditions, [](const api::Condition& condition) {
                return condition.reason == api::reasons::kNodeIdentityMismatch;
            });
        const auto* node = is_told ? node_on_machine_of(*claim) : nullptr;
        const auto* stated = node ? api::find(node->metadata.labels, label) : nullptr;
        if (!node || (stated && *stated == key.name)) continue;
        world_.trace.line("admin", "labels Node ", node->metadata.name, " as claim ", key.name, " asks for");
        world_.happenings.count("person: stated whose a Node is");
        world_.server.edit<api::Node>(api::key_of(*node),
                                      [&](api::Node& edited) { edited.metadata.labels[label] = key.name; });
    }
}

// A claim that lost its host has no machine. If a forged status names another Node, the operator cannot know
// that.
bool Adversary::has_lost_its_host(const NodeSmithClaim& claim) const {
    const auto* drained = api::find_condition(claim.status.conditions, api::conditions::kDrained);
    const bool is_told = drained && drained->reason == api::reasons::kNodeIdentityMismatch;
    if (!is_told || !world_.bmcs.has(claim.status.host)) return false;
    const auto names = [&claim](const auto& entry) {
        return is_stranger(*entry.second) &&
               entry.second->status.nodeInfo.systemUUID == claim.status.systemUUID;
    };
    const auto is_given = [&claim](const auto& entry) {
        const auto& owner = entry.second->status.claimRef;
        return owner && owner->uid == claim.metadata.uid;
    };
    return std::ranges::any_of(world_.view.all<api::Node>(), names) &&
           !std::ranges::any_of(world_.view.all<NodeSmithHost>(), is_given);
}

// A claim that lost its status may have an adopted machine with a system UUID of its own. The operator cannot
// know that a machine with its mark is a copy that somebody made of another one.
bool Adversary::has_only_copies(const NodeSmithClaim& claim) const {
    const auto* launched = api::find_condition(claim.status.conditions, api::conditions::kLaunched);
    const bool is_told = launched && launched->reason == "MarkOfOtherMachine";
    if (!is_told || !claim.metadata.deletionTimestamp) return false;
    // The person knows the machine by its system UUID, even if somebody spoiled its mark.
    constexpr std::int64_t kMostAttempts = 8;
    std::set<std::string> own;
    for (std::int64_t attempt = 1; attempt <= kMostAttempts; ++attempt)
        own.insert(controllers::claim::system_uuid(claim.metadata.uid, attempt));
    return std::ranges::none_of(world_.proxmox.cluster().world.machines,
                                [&own](const auto& entry) { return own.contains(uuid_of(entry.second)); });
}

// A person states that the machine is gone where the operator cannot find that out.
void Adversary::state_gone_as_told() {
    for (const auto& [key, claim] : std::map(world_.view.all<NodeSmithClaim>())) {
        if (!has_lost_its_host(*claim) && !has_only_copies(*claim)) continue;
        if (claim->metadata.annotations->contains(std::string(api::annotations::kMachineGone))) continue;
        world_.trace.line("admin", "states that the machine of claim ", key.name, " is gone");
        world_.happenings.count("person: stated that a machine is gone");
        world_.server.edit<NodeSmithClaim>(key, [](NodeSmithClaim& edited) {
            edited.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
        });
    }
}

void Adversary::apply_claim_by_hand() {
    const auto* pool = any<NodeSmithPool>();
    if (!pool || world_.is_demolished) return;
    NodeSmithClaim claim;
    claim.metadata.name = "by-hand-" + std::to_string(++made_by_hand_);
    claim.metadata.namespace_ = pool->metadata.namespace_;
    claim.spec.poolRef = pool->metadata.name;
    claim.spec.requirements = {2, 2048};
    world_.trace.line("user", "applies claim ", claim.metadata.name, " of ", claim.spec.poolRef);
    world_.server.put(claim);
}

// Clears the status of a claim, as a restored backup without status does.
void Adversary::lose_status() {
    const auto* claim = any<NodeSmithClaim>();
    if (!claim || !api::is_true(claim->status.conditions, api::conditions::kLaunched)) return;
    world_.trace.line("user", "restores claim ", claim->metadata.name, " without its status");
    // What others wrote into a status says nothing about a machine.
    if (!is_forged(*claim)) deeds_.restored_claims.insert(claim->metadata.uid);
    world_.server.edit<NodeSmithClaim>(api::key_of(*claim),
                                       [](NodeSmithClaim& edited) { edited.status = {}; });
}

// Half of the users then delete the claim, and no object owns its machine afterwards.
void Adversary::take_finalizer() {
    const auto* claim = any<NodeSmithClaim>();
    if (!claim) return;
    auto key = api::key_of(*claim);
    const bool deletes = random_->below(2) == 0;
    world_.trace.line("user", "takes the finalizers of claim ", key.str(), deletes ? " and deletes it" : "");
    deeds_.claims_without_finalizer.insert(claim->metadata.uid);
    world_.server.edit<NodeSmithClaim>(key,
                                       [](NodeSmithClaim& edited) { edited.metadata.finalizers->clear(); });
    if (deletes && world_.view.find<NodeSmithClaim>(key)) world_.server.remove<NodeSmithClaim>(key);
}

// Edits the template, so that the nodes of the pool drift.
void Adversary::edit_template() {
    const auto* pool = any<NodeSmithPool>();
    if (!pool) return;
    const auto* provider =
        world_.view.find<NodeSmithProvider>({pool->metadata.namespace_, pool->spec.providerRef});
    const bool has_image = provider && provider->spec.proxmox && provider->spec.proxmox->template_ &&
                           provider->spec.proxmox->template_->image;
    if (has_image && random_->below(3) > 0) return renew_image(*provider);
    auto revision = std::to_string(++revisions_);
    world_.trace.line("user", "sets label revision=", revision, " of ", pool->metadata.name, "'s nodes");
    world_.server.edit<NodeSmithPool>(api::key_of(*pool), [&revision](NodeSmithPool& edited) {
        edited.spec.machineTemplate.labels["revision"] = revision;
    });
}

void Adversary::renew_image(const NodeSmithProvider& provider) {
    const int number = ++revisions_;
    world_.trace.line("user", "has provider ", provider.metadata.name, " use image ", number);
    publish_image(world_.proxmox.cluster().world, number);
    world_.server.edit<NodeSmithProvider>(api::key_of(provider), [number](NodeSmithProvider& edited) {
        use_image(*edited.spec.proxmox->template_, number);
    });
}

void Adversary::edit_pod_budget() {
    const auto* budget = any<api::PodDisruptionBudget>();
    if (!budget) return;
    auto most = static_cast<std::int64_t>(random_->below(3));
    world_.trace.line("user", "sets maxUnavailable of ", budget->metadata.name, " to ", most);
    world_.server.edit<api::PodDisruptionBudget>(api::key_of(*budget), [most](auto& edited) {
        edited.spec.minAvailable.reset();
        edited.spec.maxUnavailable = api::IntOrString(most);
    });
}

void Adversary::evacuate_host() {
    const auto* provider = any<NodeSmithProvider>();
    if (!provider) return;
    if (!provider->spec.proxmox) return maintain_bare_metal();
    const auto& hosts = world_.scenario.proxmox.hosts;
    auto key = api::key_of(*provider);
    auto set = [this, key](std::vector<std::string> names) {
        if (!world_.view.find<NodeSmithProvider>(key)) return;
        world_.server.edit<NodeSmithProvider>(key, [&names](NodeSmithProvider& edited) {
            edited.spec.proxmox->placement.evacuateNodes = names;
        });
    };
    auto name = hosts[random_->below(hosts.size())].name;
    world_.trace.line("user", "evacuates host ", name, " for ", key.name);
    set({name});
    later(world_.faults.duration(5min, 40min), [set] { set({}); });
}

void Adversary::maintain_bare_metal() {
    const auto* host = any<NodeSmithHost>();
    if (!host) return;
    auto key = api::key_of(*host);
    auto set = [this, key](bool maintenance) {
        if (!world_.view.find<NodeSmithHost>(key)) return;
        world_.server.edit<NodeSmithHost>(
            key, [maintenance](NodeSmithHost& edited) { edited.spec.maintenance = maintenance; });
    };
    world_.trace.line("user", "begins maintenance of host ", key.name);
    set(true);
    later(world_.faults.duration(5min, 40min), [set] { set(false); });
}

void Adversary::delete_pool() {
    const auto* pool = any<NodeSmithPool>();
    if (!pool || world_.view.all<NodeSmithPool>().size() < 2) return;
    auto key = api::key_of(*pool);
    world_.trace.line("user", "deletes pool ", key.str());
    deeds_.deleted_pools.insert(key.name);
    for (const auto& [name, claim] : world_.view.all<NodeSmithClaim>())
        if (claim->spec.poolRef == key.name) deeds_.deleted_claims.insert(claim->metadata.uid);
    world_.server.remove<NodeSmithPool>(key);
}

void Adversary::delete_credentials() {
    auto key = api::key_of(world_.scenario.credentials);
    if (!world_.view.find<api::Secret>(key)) return;
    world_.trace.line("user", "deletes Secret ", key.str());
    world_.server.remove<api::Secret>(key);
    later(world_.faults.duration(10s, 20min), [this] { restore_credentials(); });
}

// Kubernetes keeps the deleted Secret while machines need it, so it is gone only after the last of them.
void Adversary::restore_credentials() {
    const auto key = api::key_of(world_.scenario.credentials);
    if (world_.is_demolished || world_.view.find<api::Secret>(key)) return;
    world_.trace.line("user", "makes Secret ", key.str(), " again");
    world_.server.put(world_.scenario.credentials);
}

}  // namespace simulation
