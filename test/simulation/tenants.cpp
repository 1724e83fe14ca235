#include "test/simulation/tenants.hpp"

#include <chrono>

namespace simulation {
namespace {

constexpr std::uint64_t kOneOf = 3;
constexpr std::uint64_t kLongestPause = 900;  // s

// Copies an object of the managed namespace as a person could who may read it: without the fields that the
// API server sets.
template <api::Kind T>
T copied(const T& object) {
    auto copy = object;
    copy.metadata.uid.clear();
    copy.metadata.resourceVersion.clear();
    copy.metadata.creationTimestamp.reset();
    copy.metadata.deletionTimestamp.reset();
    copy.metadata.namespace_ = kTenants;
    return copy;
}

}  // namespace

bool has_tenants(const World& world) {
    return !world.faults.is_calm() && world.random_for("tenants")->below(kOneOf) == 0;
}

Tenants::Tenants(World& world) : world_(world), random_(world.random_for("what tenants do")) {}

void Tenants::begin() {
    if (has_tenants(world_)) arm();
}

void Tenants::make_peace() {
    next_.reset();
}

void Tenants::arm() {
    const auto pause = std::chrono::seconds{1 + static_cast<std::int64_t>(random_->below(kLongestPause))};
    next_ = world_.clock.call_at(world_.now() + pause, [this] {
        act();
        arm();
    });
}

void Tenants::act() {
    switch (random_->below(6)) {
        case 0:
            return make_provider();
        case 1:
            return make_pool();
        case 2:
            return make_control_plane();
        case 3:
            return make_claim();
        case 4:
            return make_host();
        default:
            return remove_one();
    }
}

template <api::Kind T>
void Tenants::write(T object) {
    if (random_->below(2) == 0) object.metadata.name = "mine-" + std::to_string(++made_);
    world_.happenings.count("tenant: wrote a " + std::string(T::kResource.kind) +
                            " where nothing is managed");
    world_.trace.line("tenant", "writes ", T::kResource.kind, " ", object.metadata.name);
    world_.server.put(object);
}

// Makes a provider, with or without the credentials' Secret beside it.
void Tenants::make_provider() {
    const auto* ours = world_.view.any<NodeSmithProvider>(*random_);
    if (!ours) return;
    if (random_->below(2) == 0) {
        auto secret = copied(world_.scenario.credentials);
        world_.server.put(secret);
    }
    write(copied(*ours));
}

void Tenants::make_pool() {
    const auto* ours = world_.view.any<NodeSmithPool>(*random_);
    if (!ours) return;
    auto pool = copied(*ours);
    pool.spec.limits.minNodes = static_cast<std::int64_t>(random_->below(4));
    pool.spec.limits.maxNodes = 100;
    write(std::move(pool));
}

void Tenants::make_control_plane() {
    auto control_plane = copied(world_.scenario.control_plane);
    control_plane.spec.pools = {"*"};
    write(std::move(control_plane));
}

// Makes a claim. Some are already being deleted, with a finalizer that asks for the removal of their machine.
void Tenants::make_claim() {
    const auto* ours = world_.view.any<NodeSmithClaim>(*random_);
    if (!ours) return;
    auto claim = copied(*ours);
    if (random_->below(2) == 0) claim.status = {};
    const auto key = api::key_of(claim);
    write(std::move(claim));
    if (random_->below(3) == 0 && world_.server.get<NodeSmithClaim>(key))
        world_.server.remove<NodeSmithClaim>(key);
}

void Tenants::make_host() {
    const auto* ours = world_.view.any<NodeSmithHost>(*random_);
    if (ours) write(copied(*ours));
}

void Tenants::remove_one() {
    for (const auto& pool : world_.server.list<NodeSmithPool>())
        if (pool.metadata.namespace_ == kTenants)
            return world_.server.remove<NodeSmithPool>(api::key_of(pool));
}

}  // namespace simulation
