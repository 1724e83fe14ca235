#include "test/simulation/endpoint_mover.hpp"

#include <algorithm>

#include "test/simulation/dice.hpp"

namespace simulation {

namespace {

constexpr double kSeedsWithMover = 0.2;

// Returns a cluster with the same hosts and the same token, and in every second seed with the same name. Only
// properties that no two clusters share tell them apart.
proxmox::World other_world(const World& world, Dice& dice) {
    auto other = world.scenario.proxmox;
    if (dice.chance(0.5)) other.cluster_name = "other";
    other.authority_fingerprint = proxmox::made_up_fingerprint("the authority of another cluster");
    std::erase_if(other.machines, [&dice](const auto&) { return dice.chance(0.5); });
    return other;
}

class EndpointMover final : public Outsider {
public:
    explicit EndpointMover(World& world) : world_(world), random_(world.random_for("endpoint mover")) {}

    void begin() override {
        Dice dice(*random_);
        if (world_.faults.is_calm() || world_.scenario.providers.empty() || !dice.chance(kSeedsWithMover))
            return;
        world_.other_proxmox_random = world_.random_for("other proxmox");
        world_.other_proxmox =
            std::make_unique<proxmox::Simulator>(world_.context.get_executor(), world_.clock,
                                                 *world_.other_proxmox_random, other_world(world_, dice));
        arm(dice.seconds(60, 2400));
    }

    void make_peace() override {
        next_.reset();
        if (world_.host_apis.leads_elsewhere()) lead_back();
    }

private:
    void arm(base::Duration wait) {
        next_ = world_.clock.call_at(world_.now() + wait, [this] { act(); });
    }

    // Reports whether the operator has recorded the cluster of each provider. For each provider it trusts the
    // first cluster that it sees. It never looks at providers of tenants.
    bool is_recorded() const {
        return std::ranges::all_of(world_.view.all<NodeSmithProvider>(), [](const auto& entry) {
            const auto& [key, provider] = entry;
            const bool is_used = key.namespace_ == kNodesNamespace && provider->spec.proxmox;
            return !is_used || provider->status.cluster;
        });
    }

    // Moves the endpoint or moves it back. A change is sometimes undone within seconds, as when two answers
    // of a DNS alternate.
    void act() {
        Dice dice(*random_);
        if (world_.host_apis.leads_elsewhere()) {
            lead_back();
            return arm(dice.chance(0.3) ? dice.seconds(1, 30) : dice.seconds(600, 2400));
        }
        if (!is_recorded()) return arm(dice.seconds(600, 2400));
        world_.trace.line("endpoint mover", "the endpoint leads to another cluster");
        world_.happenings.count("endpoint mover: led the endpoint to another cluster");
        world_.host_apis.lead_to(world_.other_proxmox.get());
        arm(dice.chance(0.3) ? dice.seconds(1, 30) : dice.seconds(60, 900));
    }

    void lead_back() {
        world_.trace.line("endpoint mover", "the endpoint leads to the right cluster again");
        world_.host_apis.lead_to(nullptr);
    }

    World& world_;
    std::unique_ptr<base::Random> random_;
    std::unique_ptr<base::Alarm> next_;
};

}  // namespace

std::unique_ptr<Outsider> make_endpoint_mover(World& world) {
    return std::make_unique<EndpointMover>(world);
}

}  // namespace simulation
