#include "test/simulation/machine_refuser.hpp"

#include "test/simulation/dice.hpp"

namespace simulation {
namespace {

constexpr const char* kWords = "unable to create VM - the storage backend is offline";

bool creates_machine(const base::HttpRequest& request) {
    return request.method == "POST" &&
           (request.target.ends_with("/qemu") || request.target.ends_with("/clone"));
}

}  // namespace

MachineRefuser::MachineRefuser(World& world, std::string provider, std::string token_id)
    : world_(world),
      provider_(std::move(provider)),
      token_id_(std::move(token_id)),
      random_(world.random_for("machine refuser")) {}

MachineRefuser::~MachineRefuser() {
    world_.network.provider_refuses = nullptr;
}

void MachineRefuser::begin() {
    world_.view.subscribe<NodeSmithClaim>(
        [&world = world_](const NodeSmithClaim* before, const NodeSmithClaim* after) {
            const auto has_failed = [](const NodeSmithClaim* claim) {
                return claim && claim->status.lastFailure &&
                       api::is_true(claim->status.conditions, api::conditions::kFailed);
            };
            if (!has_failed(after)) return;
            const bool is_known =
                has_failed(before) && before->status.lastFailure->time == after->status.lastFailure->time;
            if (!is_known)
                world.interference.last_failures[after->spec.poolRef] = after->status.lastFailure->message;
        });
    world_.network.provider_refuses =
        [this](const base::HttpRequest& request) -> std::optional<base::HttpResponse> {
        const auto authorization = request.headers.find("Authorization");
        const bool is_of_provider =
            authorization && authorization->find(token_id_ + "=") != std::string_view::npos;
        if (!world_.interference.machine_refusal.is_in_force || !is_of_provider || !creates_machine(request))
            return std::nullopt;
        world_.happenings.count("machine refuser: refused a machine");
        return base::HttpResponse{500, kWords, {}, R"({"data":null})"};
    };
    wait();
}

void MachineRefuser::make_peace() {
    next_.reset();
    end();
}

void MachineRefuser::wait() {
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(1800, 4 * 3600), [this] { refuse(); });
}

void MachineRefuser::refuse() {
    world_.trace.line("machine refuser", provider_, " creates no more machines");
    world_.happenings.count("machine refuser: a provider refused machines");
    world_.interference.machine_refusal = {provider_, kWords, true};
    next_ = world_.clock.call_at(world_.now() + Dice(*random_).seconds(600, 3 * 3600), [this] {
        end();
        wait();
    });
}

void MachineRefuser::end() {
    auto& refusal = world_.interference.machine_refusal;
    if (!refusal.is_in_force) return;
    world_.trace.line("machine refuser", provider_, " creates machines again");
    refusal.is_in_force = false;
}

}  // namespace simulation
