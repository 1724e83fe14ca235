#include "test/simulation/odd_objects.hpp"

#include <boost/json/parse.hpp>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr double kShare = 0.25;

struct Oddity {
    const char* resource;
    bool is_namespaced;
    const char* rest;  // the object without its metadata
};

// An API server of another version may store values that the operator's types do not allow. Each entry has
// one.
constexpr Oddity kOddities[] = {
    {"daemonsets.apps", true, R"({"spec": {"template": {"spec": {"containers": 7}}}})"},
    {"pods", true, R"({"spec": {"containers": [{"resources": {"requests": {"cpu": "plenty"}}}]}})"},
    {"poddisruptionbudgets.policy", true, R"({"status": {"disruptionsAllowed": "many"}})"},
    {"persistentvolumeclaims", true, R"({"spec": {"resources": {"requests": {"storage": "plenty"}}}})"},
    {"nodes", false, R"({"status": {"conditions": [{"type": "Disk", "status": true}]}})"},
    {"persistentvolumes", false, R"({"spec": {"capacity": {"storage": "plenty"}}})"},
};

}  // namespace

OddObjects::OddObjects(World& world) : world_(world), random_(world.random_for("odd objects")) {}

void OddObjects::begin() {
    if (world_.faults.is_calm() || !Dice(*random_).chance(kShare)) return;
    is_at_work_ = true;
    // Some objects exist before the operator lists.
    if (Dice(*random_).chance(0.5)) write_one();
    arm();
}

void OddObjects::make_peace() {
    is_at_work_ = false;
    next_.reset();
    ends_.clear();
    for (const auto& key : std::set(present_)) remove(key);
    for (const auto& [key, before] : std::map(strange_)) restore(key);
}

void OddObjects::arm() {
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(1, 300), [this] {
        if (Dice(*random_).chance(0.2)) make_strange();
        write_one();
        arm();
    });
}

void OddObjects::write_one() {
    Dice dice(*random_);
    const auto& oddity = kOddities[random_->below(std::size(kOddities))];
    const fake::Key key{oddity.resource, oddity.is_namespaced ? kTenants : "",
                        "odd-" + std::to_string(++made_)};
    auto object = boost::json::parse(oddity.rest).get_object();
    object["metadata"] = {{"name", key.name}};
    if (oddity.is_namespaced) object["metadata"].get_object()["namespace"] = key.namespace_;
    world_.trace.line("odd objects", "writes ", oddity.resource, " ", key.name);
    world_.happenings.count("odd objects: one that cannot be decoded");
    world_.server.store().create(key, std::move(object));
    present_.insert(key);
    const auto stay = dice.chance(0.5) ? dice.seconds(1, 5) : dice.seconds(5, 900);
    ends_.push_back(world_.clock.call_at(world_.now() + stay, [this, key] { remove(key); }));
}

// Gives a pool a value of a newer version, as after a downgrade of the operator.
void OddObjects::make_strange() {
    const auto* pool = world_.view.any<NodeSmithPool>(*random_);
    if (!pool) return;
    const auto key = fake::ApiServer::key<NodeSmithPool>(api::key_of(*pool));
    if (strange_.contains(key)) return;
    world_.trace.line("odd objects", "gives pool ", key.name, " a value of a newer version");
    world_.happenings.count("odd objects: a value of a newer version");
    world_.server.store().update(key, [&](boost::json::object& object) {
        auto& disruption = fake::member(fake::member(object, "spec"), "disruption");
        strange_[key] = disruption;
        disruption["drift"] = "Rebase";
    });
    ends_.push_back(
        world_.clock.call_at(world_.now() + Dice(*random_).seconds(1, 300), [this, key] { restore(key); }));
}

void OddObjects::restore(const fake::Key& pool) {
    const auto known = strange_.extract(pool);
    if (known.empty() || !world_.server.store().find(pool)) return;
    world_.server.store().update(pool, [&](boost::json::object& object) {
        auto& disruption = fake::member(fake::member(object, "spec"), "disruption");
        disruption.erase("drift");
        if (const auto* drift = known.mapped().if_contains("drift")) disruption["drift"] = *drift;
    });
}

void OddObjects::remove(const fake::Key& key) {
    if (present_.erase(key) == 0) return;
    world_.trace.line("odd objects", "removes ", key.resource, " ", key.name);
    fake::DeleteRequest at_once;
    at_once.grace_seconds = 0;
    if (world_.server.store().find(key)) world_.server.store().remove(key, at_once);
}

}  // namespace simulation
