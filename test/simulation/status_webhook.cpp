#include "test/simulation/status_webhook.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr double kShareOfCalmSeeds = 0.5;
constexpr double kShareOfSeeds = 0.25;
constexpr double kShareOfNeeded = 0.3;
constexpr std::chrono::seconds kLongestTimeout{30};

// Reports whether the webhook judges a write to the target: any of Secrets, Nodes and Events, the status of
// our kinds, and approvals.
bool is_for(const std::string& resource, const std::string& target) {
    if (resource == "nodes") return target.starts_with("/api/v1/nodes/");
    if (resource == "secrets" || resource == "events")
        return target.starts_with("/api/v1/") && target.find("/" + resource) != std::string::npos;
    const bool is_of_decision =
        target.find("/status") != std::string::npos || target.find("/approval") != std::string::npos;
    return is_of_decision && target.find("/" + resource + "/") != std::string::npos;
}

}  // namespace

StatusWebhook::StatusWebhook(World& world) : world_(world), random_(world.random_for("status webhook")) {}

StatusWebhook::~StatusWebhook() {
    world_.network.admit = nullptr;
}

void StatusWebhook::begin() {
    Dice dice(*random_);
    if (!dice.chance(world_.faults.is_calm() ? kShareOfCalmSeeds : kShareOfSeeds)) return;
    others_ = std::move(world_.network.admit);
    world_.network.admit = [this](const base::HttpRequest& request) { return admit(request); };
    next_ = world_.clock.call_at(world_.now() + dice.seconds(60, 900), [this] { turn(true); });
}

void StatusWebhook::make_peace() {
    next_.reset();
    if (world_.interference.status_hang.is_in_force) turn(false);
    next_.reset();
}

// Machines join only with an approved certificate. Launches need the status of claims and pools, that of a
// control plane with limits, and on bare metal that of hosts. They wait while one of these cannot be written.
std::string StatusWebhook::draw_kind() {
    Dice dice(*random_);
    if (!world_.faults.is_calm() && dice.chance(kShareOfNeeded))
        return dice.one_of<std::string>(
            {"nodesmithclaims", "nodesmithpools", "certificatesigningrequests", "secrets", "nodes"});
    const auto& limits = world_.scenario.control_plane.spec.limits;
    const bool reserves = limits.maxNodes > 0 || limits.cpuCores > 0 || limits.memoryMiB > 0;
    return dice.one_of<std::string>({"nodesmithproviders", "nodesmithproviders",
                                     reserves ? "nodesmithproviders" : "nodesmithcontrolplanes",
                                     "nodesmithhosts", "events"});
}

void StatusWebhook::turn(bool hangs) {
    Dice dice(*random_);
    auto& hang = world_.interference.status_hang;
    if (hangs) hang.resource = draw_kind();
    hang.has_hosts = std::ranges::any_of(world_.scenario.providers, [](const NodeSmithProvider& provider) {
        return provider.spec.redfish.has_value();
    });
    hang.is_in_force = hangs;
    hang.ended = world_.now();
    if (hang.stops_launches()) world_.interference.last = world_.now();
    world_.trace.line("status webhook", hangs ? "answers no write to " : "answers again for ", hang.resource);
    if (hangs) world_.happenings.count("status webhook: hung for " + hang.resource);
    next_ = world_.clock.call_at(world_.now() + (hangs ? dice.seconds(120, 900) : dice.seconds(60, 900)),
                                 [this, hangs] { turn(!hangs); });
}

Admission StatusWebhook::admit(const base::HttpRequest& request) {
    const auto& hang = world_.interference.status_hang;
    const bool is_write =
        hang.is_in_force && request.method != "GET" && is_for(hang.resource, request.target);
    if (!is_write) return others_ ? others_(request) : Admission{};
    world_.happenings.count("status webhook: did not answer a write");
    return {
        kLongestTimeout,
        fake::status_response(500, "InternalError",
                              "Internal error occurred: failed calling webhook \"status.example\": context "
                              "deadline exceeded")};
}

}  // namespace simulation
