#include "test/simulation/node_deleter.hpp"

#include <chrono>

#include "test/simulation/dice.hpp"

namespace simulation {

using namespace std::chrono_literals;

namespace {

constexpr double kDeleterShare = 0.2;

bool is_managed(const api::Node& node) {
    return node.metadata.labels->contains(std::string(api::labels::kClaim));
}

const NodeSmithClaim* owner_of_node(const World& world, const api::Node& node) {
    for (const auto& [key, claim] : world.view.all<NodeSmithClaim>())
        if (claim->status.nodeName == node.metadata.name) return claim.get();
    return nullptr;
}

}  // namespace

NodeDeleter::NodeDeleter(World& world) : world_(world), random_(world.random_for("node deleter")) {}

void NodeDeleter::begin() {
    Dice dice(*random_);
    if (world_.faults.is_calm() || !dice.chance(kDeleterShare)) return;
    way_ = dice.chance(0.6) ? Way::each_new_node : Way::now_and_then;
    says_so_ = dice.chance(0.5);
    const auto begins = world_.now() + dice.seconds(60, 1200);
    ends_ = dice.chance(0.5) ? base::TimePoint::max() : begins + dice.seconds(300, 1800);
    next_ = world_.clock.call_at(begins, [this] {
        is_at_work_ = true;
        arm();
    });
    world_.view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
        const bool is_new = after && is_managed(*after) && (!before || !is_managed(*before));
        if (!is_new || !is_at_work_ || way_ != Way::each_new_node || world_.now() > ends_) return;
        const auto name = after->metadata.name, uid = after->metadata.uid;
        pending_.push_back(world_.clock.call_at(world_.now() + Dice(*random_).seconds(1, 20),
                                                [this, name, uid] { remove(name, uid); }));
    });
}

void NodeDeleter::make_peace() {
    is_at_work_ = false;
    next_.reset();
    pending_.clear();
}

void NodeDeleter::arm() {
    if (way_ != Way::now_and_then || world_.now() > ends_) return;
    if (const auto* node = world_.view.any<api::Node>(*random_); node && is_managed(*node)) {
        const auto name = node->metadata.name, uid = node->metadata.uid;
        remove(name, uid);
    }
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(20, 300), [this] { arm(); });
}

void NodeDeleter::remove(const std::string& name, const std::string& uid) {
    const auto* node = world_.view.find<api::Node>({"", name});
    if (!is_at_work_ || !node || node->metadata.uid != uid) return;
    world_.trace.line("node deleter", "deletes Node ", name);
    world_.happenings.count("node deleter: deleted a Node");
    if (says_so_) say_so(*node);
    world_.interference.deleted_nodes.insert(name);
    world_.interference.last = world_.now();
    if (const auto* claim = owner_of_node(world_, *node)) world_.note_taking(*claim);
    world_.server.remove<api::Node>({"", name});
}

// Writes the Event that k8s.io/cloud-provider writes.
void NodeDeleter::say_so(const api::Node& node) {
    api::Event event;
    event.metadata.name = node.metadata.name + "." + std::to_string(random_->below(1'000'000'000));
    event.metadata.namespace_ = "default";
    event.involvedObject.kind = "Node";
    event.involvedObject.name = node.metadata.name;
    event.involvedObject.uid = node.metadata.uid;
    event.type = "Normal";
    event.reason = "DeletingNode";
    event.message =
        "Deleting node " + node.metadata.name + " because it does not exist in the cloud provider";
    event.source.component = "cloud-node-lifecycle-controller";
    event.lastTimestamp = event.firstTimestamp = api::Time(world_.clock.wall_now());
    event.count = 1;
    world_.server.put(event);
}

}  // namespace simulation
