#include "test/simulation/taint_keeper.hpp"

#include <algorithm>
#include <chrono>

#include "test/simulation/dice.hpp"

namespace simulation {

using namespace std::chrono_literals;

namespace {

constexpr double kKeeperShare = 0.25;
constexpr double kNeverReadyShare = 0.15;

}  // namespace

TaintKeeper::TaintKeeper(World& world) : world_(world), random_(world.random_for("taint keeper")) {}

void TaintKeeper::begin() {
    Dice dice(*random_);
    if (world_.faults.is_calm() || !dice.chance(kKeeperShare)) return;
    moment_ = dice.one_of(std::vector{Moment::at_registration, Moment::late, Moment::when_ready});
    taint_.key =
        dice.one_of(std::vector<std::string>{"net.example/agent-not-ready", "node.cilium.io/agent-not-ready",
                                             "readiness.k8s.io/network", "storage.example/starting"});
    taint_.value = dice.chance(0.5) ? "true" : "";
    taint_.effect = dice.chance(0.7) ? api::taints::kNoSchedule : api::taints::kNoExecute;
    never_ready_ = dice.chance(kNeverReadyShare);
    is_at_work_ = true;
    world_.interference.taint_keys.insert(taint_.key);
    world_.view.subscribe<api::Node>([this](const api::Node* before, const api::Node* after) {
        if (after && is_at_work_) follow(before, *after);
    });
}

void TaintKeeper::make_peace() {
    if (!is_at_work_) return;
    is_at_work_ = false;
    pending_.clear();
    world_.interference.last = world_.now();
    for (const auto& [key, node] : Objects<api::Node>(world_.view.all<api::Node>())) take_off(key.name);
}

void TaintKeeper::follow(const api::Node* before, const api::Node& after) {
    if (!world_.kubelets.runs(after.metadata.name) && before) return;
    const bool is_due = moment_ == Moment::when_ready ? is_ready(after) : !before;
    if (!is_due || !known_.insert(after.metadata.uid).second) return;
    const auto name = after.metadata.name, uid = after.metadata.uid;
    const base::Duration wait = moment_ == Moment::late ? base::Duration(Dice(*random_).seconds(1, 15)) : 1ms;
    later(wait, [this, name, uid] { put_on(name, uid); });
}

void TaintKeeper::put_on(const std::string& name, const std::string& uid) {
    const auto* node = world_.view.find<api::Node>({"", name});
    if (!is_at_work_ || !node || node->metadata.uid != uid || !world_.kubelets.runs(name)) return;
    world_.trace.line("taint keeper", "taints Node ", name, " with ", taint_.key);
    world_.happenings.count(never_ready_ ? "taint keeper: a taint that stays"
                                         : "taint keeper: a taint for a while");
    world_.server.edit<api::Node>({"", name}, [this](api::Node& edited) {
        if (!api::find_taint(edited.spec.taints, taint_.key, taint_.effect))
            edited.spec.taints.push_back(taint_);
    });
    if (!never_ready_) later(Dice(*random_).seconds(20, 60), [this, name] { take_off(name); });
}

void TaintKeeper::take_off(const std::string& name) {
    const auto* node = world_.view.find<api::Node>({"", name});
    if (!node || !api::find_taint(node->spec.taints, taint_.key, taint_.effect)) return;
    world_.trace.line("taint keeper", "takes ", taint_.key, " off Node ", name);
    world_.server.edit<api::Node>({"", name}, [this](api::Node& edited) {
        std::erase_if(edited.spec.taints,
                      [this](const api::Taint& taint) { return api::same_taint(taint, taint_); });
    });
}

void TaintKeeper::later(base::Duration wait, std::function<void()> action) {
    pending_.push_back(world_.clock.call_at(world_.now() + wait, std::move(action)));
}

}  // namespace simulation
