#include "test/simulation/provider_hanger.hpp"

#include "test/simulation/dice.hpp"

namespace simulation {

ProviderHanger::ProviderHanger(World& world, std::string provider, std::string token_id)
    : world_(world),
      provider_(std::move(provider)),
      token_id_(std::move(token_id)),
      random_(world.random_for("provider hanger")) {}

ProviderHanger::~ProviderHanger() {
    world_.network.provider_hangs = nullptr;
}

void ProviderHanger::begin() {
    world_.network.provider_hangs = [this](const base::HttpRequest& request) {
        const auto authorization = request.headers.find("Authorization");
        return world_.interference.hang.is_in_force && authorization &&
               authorization->find(token_id_ + "=") != std::string_view::npos;
    };
    wait();
}

void ProviderHanger::make_peace() {
    next_.reset();
    end();
}

void ProviderHanger::wait() {
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(1800, 6 * 3600), [this] { hang(); });
}

void ProviderHanger::hang() {
    world_.trace.line("provider hanger", provider_, " answers no more");
    world_.happenings.count("provider hanger: a provider answered nothing");
    world_.interference.hang = {provider_, true, world_.now(), {}};
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(300, 4 * 3600), [this] {
        end();
        wait();
    });
}

void ProviderHanger::end() {
    auto& hang = world_.interference.hang;
    if (!hang.is_in_force) return;
    world_.trace.line("provider hanger", provider_, " answers again");
    hang.is_in_force = false;
    hang.ended = world_.now();
}

}  // namespace simulation
