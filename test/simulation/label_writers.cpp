#include "test/simulation/label_writers.hpp"

#include <array>
#include <chrono>
#include <vector>

namespace simulation {
namespace {

constexpr std::uint64_t kOneWriterInSeeds = 4;
constexpr std::uint64_t kSlowestWriter = 5;  // s; longest time until it sees a change
constexpr std::uint64_t kLatestBegin = 40;   // min; latest begin
constexpr std::uint64_t kLongestSpell = 30;  // min; longest time if it ends by itself
constexpr const char* kInstanceType = "node.kubernetes.io/instance-type";
constexpr const char* kOwn = "example.org/room";

}  // namespace

LabelWriters::LabelWriters(World& world) : world_(world), random_(world.random_for("label writers")) {}

void LabelWriters::begin() {
    if (world_.faults.is_calm() || random_->below(kOneWriterInSeeds) != 0) return;
    label_templates();
    const std::array<std::string, 5> keys{kInstanceType, kInstanceType, kOwn, std::string(api::labels::kHost),
                                          std::string(api::labels::kPool)};
    key_ = keys[random_->below(keys.size())];
    if (random_->below(3) > 0) value_ = "theirs";
    const auto minutes = [this](std::uint64_t most) {
        return std::chrono::minutes{static_cast<std::int64_t>(random_->below(most))};
    };
    begins_ = world_.now() + (random_->below(2) == 0 ? std::chrono::minutes{0} : minutes(kLatestBegin));
    ends_ = random_->below(2) == 0 ? base::TimePoint::max() : begins_ + minutes(kLongestSpell);
    world_.happenings.count("label writer: there is one");
    arm();
}

void LabelWriters::make_peace() {
    next_.reset();
}

// Lets pools set labels on their Nodes that another writer also sets.
void LabelWriters::label_templates() {
    std::vector<api::ObjectKey> pools;
    for (const auto& [key, pool] : world_.view.all<NodeSmithPool>()) pools.push_back(key);
    for (const auto& key : pools) {
        const bool has_zone = random_->below(2) == 0;
        world_.server.edit<NodeSmithPool>(key, [has_zone](NodeSmithPool& pool) {
            auto& labels = pool.spec.machineTemplate.labels;
            labels[kInstanceType] = "small";
            labels[kOwn] = "a";
            if (has_zone) labels[std::string(api::labels::kZone)] = "rack1";
        });
    }
}

void LabelWriters::arm() {
    const auto pause = std::chrono::seconds{1 + static_cast<std::int64_t>(random_->below(kSlowestWriter))};
    next_ = world_.clock.call_at(world_.now() + pause, [this] {
        if (world_.now() >= ends_) return;
        if (world_.now() >= begins_) act();
        arm();
    });
}

void LabelWriters::act() {
    std::vector<api::Node> others;
    for (const auto& [key, node] : world_.view.all<api::Node>()) {
        const bool is_managed = api::find(node->metadata.labels, api::labels::kClaim) != nullptr;
        const auto* found = api::find(node->metadata.labels, key_);
        const bool is_theirs = value_ ? found && *found == *value_ : !found;
        if (is_managed && !is_theirs) others.push_back(*node);
    }
    for (const auto& node : others) write(node);
}

void LabelWriters::write(const api::Node& node) {
    world_.trace.line("label writer", (value_ ? "overwrites " : "takes off ") + key_, " of Node ",
                      node.metadata.name);
    world_.happenings.count(value_ ? "label writer: overwrote a label" : "label writer: took a label off");
    world_.server.edit<api::Node>({"", node.metadata.name}, [this](api::Node& edited) {
        if (value_)
            edited.metadata.labels[key_] = *value_;
        else
            edited.metadata.labels->erase(key_);
    });
}

}  // namespace simulation
