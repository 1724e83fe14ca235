#include "test/simulation/forgers.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "bootstrap/settings.hpp"
#include "controllers/claim/facts/boot_rights.hpp"

namespace simulation {
namespace {

constexpr std::uint64_t kOneInSeeds = 3;
constexpr std::uint64_t kLongestPause = 900;  // s
constexpr int kMostStrangers = 4;
constexpr const char* kStranger = "simulation/stranger";
constexpr const char* kStrangersName = "stranger-";
constexpr const char* kForgedClaim = "said-to-be-";
constexpr const char* kForgedHost = "elsewhere";

std::string uuid_of_stranger(int number) {
    char uuid[40];
    std::snprintf(uuid, sizeof uuid, "4c4c4544-0042-4510-8054-%012d", number);
    return uuid;
}

api::Node stranger(int number) {
    api::Node node;
    node.metadata.name = kStrangersName + std::to_string(number);
    node.metadata.labels[kStranger] = "true";
    if (number % 2 == 0) node.metadata.labels["node-role.kubernetes.io/control-plane"] = "";
    // No program of the simulated cluster runs there, so the Node needs no kubelet.
    node.spec.taints = {{.key = kStranger, .effect = std::string(api::taints::kNoExecute)}};
    node.spec.providerID = "proxmox://elsewhere/vms/" + std::to_string(900 + number);
    node.status.nodeInfo.systemUUID = uuid_of_stranger(number);
    node.status.capacity = {{"cpu", api::Quantity::of(4)}, {"memory", api::Quantity::parse("8Gi")}};
    node.status.allocatable = node.status.capacity;
    api::Condition ready;
    ready.type = api::conditions::kReady;
    ready.status = api::ConditionStatus::True;
    ready.reason = "KubeletReady";
    node.status.conditions = {ready};
    return node;
}

void name_in(api::v1alpha1::ClaimStatus& status, const api::Node& node) {
    status.systemUUID = node.status.nodeInfo.systemUUID;
    status.providerID = node.spec.providerID;
    status.nodeName = node.metadata.name;
}

}  // namespace

bool has_forgers(const World& world) {
    return !world.faults.is_calm() && world.random_for("forgers")->below(kOneInSeeds) == 0;
}

bool is_stranger(const api::Node& node) {
    return node.metadata.labels->contains(kStranger);
}

bool is_forged(const NodeSmithClaim& claim) {
    return claim.metadata.name.starts_with(kForgedClaim) || bears_name_of_stranger(claim);
}

bool bears_name_of_stranger(const NodeSmithClaim& claim) {
    return claim.metadata.name.starts_with(kStrangersName);
}

Forgers::Forgers(World& world) : world_(world), random_(world.random_for("what forgers do")) {}

void Forgers::begin() {
    if (!has_forgers(world_)) return;
    add_stranger();
    add_stranger();
    arm();
}

void Forgers::make_peace() {
    if (!has_forgers(world_)) return;
    next_.reset();
    take_back_lies();
    end_claims();
}

void Forgers::arm() {
    const auto pause = std::chrono::seconds{1 + static_cast<std::int64_t>(random_->below(kLongestPause))};
    next_ = world_.clock.call_at(world_.now() + pause, [this] {
        act();
        arm();
    });
}

void Forgers::act() {
    take_back_lies();
    switch (random_->below(8)) {
        case 0:
            return add_stranger();
        case 1:
            return end_claims();
        case 2:
            return make_claim();
        case 3:
            return claim_name_of_stranger();
        case 4:
            return lie_of_stranger();
        default:
            return forge_claim();
    }
}

// Adds strangers while claims exist too, so that some strangers are younger than claims.
void Forgers::add_stranger() {
    if (strangers_ >= kMostStrangers) return;
    world_.happenings.count("forger: a Node of others came");
    world_.server.put(stranger(++strangers_));
}

const api::Node* Forgers::any_stranger() {
    const auto name =
        kStrangersName + std::to_string(1 + random_->below(static_cast<std::uint64_t>(strangers_)));
    return world_.view.find<api::Node>({"", name});
}

void Forgers::forge_claim() {
    const auto* claim = world_.view.any<NodeSmithClaim>(*random_);
    const auto* node = any_stranger();
    if (!claim || !node || claim->status.systemUUID.empty()) return;
    world_.happenings.count("forger: a claim's status named a Node of others");
    world_.trace.line("forger", "lets claim ", claim->metadata.name, " name ", node->metadata.name);
    const auto what = random_->below(3);
    world_.server.edit<NodeSmithClaim>(api::key_of(*claim), [node, what](NodeSmithClaim& forged) {
        if (what == 0) return name_in(forged.status, *node);
        if (what == 1) forged.status.systemUUID = node->status.nodeInfo.systemUUID;
        if (what == 2 && !forged.status.nodeName.empty()) forged.status.nodeName = node->metadata.name;
    });
}

// Makes a claim that is in service according to its status. Some say that they were adopted, because an
// adopted machine keeps its own UUID.
void Forgers::make_claim() {
    const auto* pool = world_.view.any<NodeSmithPool>(*random_);
    const auto* node = any_stranger();
    if (!pool || !node) return;
    NodeSmithClaim claim;
    claim.metadata.name = kForgedClaim + std::to_string(++made_);
    claim.metadata.namespace_ = pool->metadata.namespace_;
    claim.spec.poolRef = pool->metadata.name;
    claim.spec.requirements = {2, 2048};
    auto& status = claim.status;
    name_in(status, *node);
    status.providerRef = pool->spec.providerRef;
    status.launchAttempts = 1;
    std::vector<std::string_view> reached = {api::conditions::kLaunched, api::conditions::kRegistered,
                                             api::conditions::kInitialized, api::conditions::kReady};
    if (random_->below(2) == 0) {
        reached.push_back(api::conditions::kAdopted);
        status.machineID = std::to_string(900 + made_);
        status.host = kForgedHost;
    }
    for (const auto type : reached) {
        api::ConditionUpdate update;
        update.type = type;
        update.status = api::ConditionStatus::True;
        update.reason = type;
        api::set_condition(status.conditions, update, api::Time(world_.clock.wall_now()));
    }
    world_.happenings.count("forger: made a claim in service by a Node of others");
    world_.trace.line("forger", "makes claim ", claim.metadata.name, " of ", node->metadata.name);
    world_.server.put(claim);
}

// Makes a claim in which only the name is forged.
void Forgers::claim_name_of_stranger() {
    const auto* pool = world_.view.any<NodeSmithPool>(*random_);
    const auto* node = any_stranger();
    if (!pool || !node || world_.view.find<NodeSmithClaim>({pool->metadata.namespace_, node->metadata.name}))
        return;
    NodeSmithClaim claim;
    claim.metadata.name = node->metadata.name;
    claim.metadata.namespace_ = pool->metadata.namespace_;
    claim.spec.poolRef = pool->metadata.name;
    world_.happenings.count("forger: made a claim with the name of a Node of others");
    world_.trace.line("forger", "makes a claim with the name of ", claim.metadata.name);
    world_.server.put(claim);
}

// If no token is bound to a name, only the UUID distinguishes a younger Node from the machine's own. A claim
// whose status somebody forged to name the very Node that lies has two liars at once (docs/security.md).
bool Forgers::is_beyond_proof(const NodeSmithClaim& claim, const api::Node& node) const {
    if (claim.status.nodeName == node.metadata.name) return true;
    const auto* pool = world_.view.find<NodeSmithPool>({claim.metadata.namespace_, claim.spec.poolRef});
    const auto* plane = world_.view.find<NodeSmithControlPlane>(api::key_of(world_.scenario.control_plane));
    const bool is_younger = node.metadata.creationTimestamp && claim.metadata.creationTimestamp &&
                            *claim.metadata.creationTimestamp <= *node.metadata.creationTimestamp;
    if (!is_younger || !claim.status.bootstrapKeySHA256.empty()) return false;
    if (!pool) return true;
    const auto settings = controllers::bootstrap_of(*pool, plane);
    return settings.method == api::v1alpha1::BootstrapMethod::None || !bootstrap::binds_tokens(settings) ||
           !bootstrap::asks_for_certificate(settings.format);
}

// Makes a stranger's Node pretend to be a claim's, with what a kubelet may write on its own Node.
void Forgers::lie_of_stranger() {
    const auto* claim = world_.view.any<NodeSmithClaim>(*random_);
    const auto* node = any_stranger();
    if (!claim || !node || claim->status.systemUUID.empty() || is_forged(*claim)) return;
    if (is_beyond_proof(*claim, *node)) return;
    const auto uuid = claim->status.systemUUID;
    const auto name = claim->metadata.name;
    liar_ = api::key_of(*node);
    world_.happenings.count("hostile kubelet: said that it is a claim's Node");
    world_.trace.line("kubelet", node->metadata.name, " says that it is of claim ", name);
    world_.server.edit<api::Node>(*liar_, [&](api::Node& lying) {
        lying.metadata.labels[std::string(api::labels::kClaim)] = name;
        lying.status.nodeInfo.systemUUID = uuid;
    });
}

void Forgers::take_back_lies() {
    const auto liar = std::exchange(liar_, std::nullopt);
    // The Node may have been deleted.
    if (!liar || !world_.view.find<api::Node>(*liar)) return;
    const auto number = std::stoi(liar->name.substr(std::string_view(kStrangersName).size()));
    world_.server.edit<api::Node>(*liar, [&](api::Node& honest) {
        honest.metadata.labels->erase(std::string(api::labels::kClaim));
        honest.status.nodeInfo.systemUUID = uuid_of_stranger(number);
    });
}

void Forgers::end_claims() {
    std::vector<api::ObjectKey> keys;
    for (const auto& [key, claim] : world_.view.all<NodeSmithClaim>())
        if (is_forged(*claim)) keys.push_back(key);
    for (const auto& key : keys) {
        world_.server.edit<NodeSmithClaim>(key, [](NodeSmithClaim& claim) {
            // The claim gets a machine like any other once the stranger's Node is gone, or once somebody
            // restored the claim without its forged status.
            const auto& status = claim.status;
            const bool has_machine = bears_name_of_stranger(claim)
                                         ? status.launchAttempts > 0
                                         : !status.host.empty() && status.host != kForgedHost;
            if (!has_machine)
                claim.metadata.annotations[std::string(api::annotations::kMachineGone)] = "true";
        });
        if (world_.view.find<NodeSmithClaim>(key)) world_.server.remove<NodeSmithClaim>(key);
    }
}

}  // namespace simulation
