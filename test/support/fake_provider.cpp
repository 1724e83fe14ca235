#include "test/support/fake_provider.hpp"

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>

#include "providers/capabilities.hpp"
#include "providers/errors.hpp"

namespace fake {

using providers::MachineState;

Cloud::Cloud(base::Clock& clock) : Cloud(clock, Options{}) {}

Cloud::Cloud(base::Clock& clock, Options options) : clock_(clock), options_(options) {
    hosts["host-a"] = {"zone-a"};
}

CloudMachine& Cloud::plant(CloudMachine machine) {
    auto id = machine.machine_id;
    return machines[id] = std::move(machine);
}

void Cloud::destroy(std::string machine_id) {  // callers pass an ID that belongs to the destroyed machine
    auto found = machines.find(machine_id);
    if (found == machines.end()) return;
    auto machine = std::move(found->second);
    machines.erase(found);
    tasks_.erase(machine_id);
    if (on_gone) on_gone(machine);
}

CloudMachine* Cloud::find(const providers::MachineIdentity& identity) {
    auto same = [&identity](const auto& entry) { return entry.second.identity == identity; };
    auto found = std::find_if(machines.begin(), machines.end(), same);
    return found == machines.end() ? nullptr : &found->second;
}

std::string Cloud::next_id(const std::set<std::string>& taken) const {
    for (int id = 100;; ++id) {
        auto text = std::to_string(id);
        if (!machines.contains(text) && !taken.contains(text)) return text;
    }
}

CloudMachine& Cloud::create(const providers::MachineSpec& spec, std::string boot_image) {
    for (const auto& [id, machine] : machines) {
        if (machine.identity.claim_uid == spec.identity.claim_uid) {
            violations_.push_back("a second machine for claim " + spec.name + ": " + id + " and " +
                                  spec.record.machine_id);
        }
    }
    ++created_;
    CloudMachine machine;
    machine.identity = spec.identity;
    machine.name = spec.name;
    machine.host = spec.record.host;
    machine.machine_id = spec.record.machine_id;
    machine.cpu_cores = spec.cpu_cores;
    machine.memory_mib = spec.memory_mib;
    machine.has_boot_image = spec.boot_image != nullptr;
    machine.boot_image = std::move(boot_image);
    auto& planted = plant(std::move(machine));
    after(planted.machine_id, options_.create_time,
          [](CloudMachine& done) { done.state = MachineState::stopped; });
    return planted;
}

void Cloud::start(CloudMachine& machine) {
    machine.state = MachineState::starting;
    after(machine.machine_id, options_.start_time, [this](CloudMachine& done) {
        done.state = MachineState::running;
        if (on_boot) on_boot(done);
    });
}

void Cloud::remove(CloudMachine& machine) {
    machine.removing = true;
    auto id = machine.machine_id;
    after(id, options_.remove_time, [this, id](CloudMachine&) { destroy(id); });
}

void Cloud::after(const std::string& machine_id, base::Duration wait,
                  std::function<void(CloudMachine&)> then) {
    auto due = clock_.now() + wait;
    machines.at(machine_id).busy_until = due;
    auto end = [this, machine_id, then = std::move(then)] {
        // The action may destroy the alarm that runs this lambda.
        auto action = then;
        action(machines.at(machine_id));
    };
    tasks_[machine_id] = clock_.call_at(due, std::move(end));
}

namespace {

// A task may never end, so no provider trusts its usual duration.
constexpr base::Duration kRarestPoll = std::chrono::minutes{1};
const std::string kIdPrefix = "fake://cloud/";
const std::string kOtherUuid = "4c4c4544-0042-3510-8054-b4c04f4d3131";

class FakeProvider final : public providers::Provider,
                           public providers::LeftoverFinder,
                           public providers::StrayFinder,
                           public providers::GuestObserver,
                           public providers::MachineStarter,
                           public providers::MachineStopper {
public:
    FakeProvider(Cloud& cloud, ProviderCalls* calls) : cloud_(cloud), calls_(calls) {}

    asio::awaitable<providers::EnsureResult> ensure(providers::MachineSpec spec) override {
        co_await begin("ensure");
        auto result = co_await ensure_now(std::move(spec));
        end("ensure");
        co_return result;
    }

    asio::awaitable<providers::RemoveResult> remove(providers::MachineIdentity identity,
                                                    providers::MachineRecord record,
                                                    providers::InUseCheck in_use) override {
        co_await begin("remove");
        const auto* machine = cloud_.find(identity);
        const bool ends_it =
            machine && !machine->removing && machine->state == providers::MachineState::running;
        const bool is_used = ends_it && in_use && co_await in_use();
        providers::RemoveResult result = providers::RemovalInProgress{providers::kInUseAfterAll, "", {}};
        if (!is_used) result = remove_now(identity, record);
        end("remove");
        co_return result;
    }

    asio::awaitable<providers::Leftovers> leftovers() override {
        co_await begin("leftovers");
        co_return providers::Leftovers{cloud_.leftovers, cloud_.unseen};
    }
    asio::awaitable<std::vector<providers::Leftover>> under_way() override {
        co_await begin("under_way");
        std::vector<providers::Leftover> made;
        for (const auto& [id, machine] : cloud_.machines)
            if (is_half_made(machine))
                made.push_back({{machine.host, id, describe(machine).record.task},
                                "VM " + id + ", which a task is still creating"});
        co_return made;
    }
    asio::awaitable<std::vector<providers::Machine>> unfinished(std::string name) override {
        co_await begin("unfinished");
        std::vector<providers::Machine> result;
        for (const auto& [id, machine] : cloud_.machines)
            if (machine.has_only_name && machine.name == name) result.push_back(listed(machine));
        co_return result;
    }
    asio::awaitable<std::vector<providers::Stray>> strays() override { co_return cloud_.strays; }

    asio::awaitable<providers::StopResult> stop(providers::MachineIdentity identity, providers::MachineRecord,
                                                providers::InUseCheck in_use) override {
        using providers::MachineState;
        co_await begin("stop");
        auto* machine = cloud_.find(identity);
        const bool runs = machine && machine->state == MachineState::running;
        const bool is_used = runs && in_use && co_await in_use();
        providers::StopResult result = providers::RemovalInProgress{providers::kInUseAfterAll, "", {}};
        machine = cloud_.find(identity);
        if (!machine) {
            result = providers::Gone{};
        } else if (!is_used && machine->state == MachineState::stopped) {
            result = providers::Stopped{};
        } else if (!is_used) {
            machine->state = MachineState::stopped;
            result = providers::RemovalInProgress{"waiting for the machine to stop", "task-stop",
                                                  std::chrono::seconds{2}};
        }
        end("stop");
        co_return result;
    }

    asio::awaitable<providers::GuestSight> look_at_guest(providers::MachineRecord record) override {
        co_await begin("look_at_guest");
        const auto machine = cloud_.machines.find(record.machine_id);
        auto sight = machine == cloud_.machines.end() ? providers::GuestSight() : machine->second.guest;
        end("look_at_guest");
        co_return sight;
    }

    asio::awaitable<bool> release(providers::MachineIdentity identity, providers::MachineRecord) override {
        co_await begin("release");
        if (auto* machine = cloud_.find(identity)) machine->identity = {};
        end("release");
        co_return true;
    }

    asio::awaitable<std::optional<providers::Machine>> get(providers::MachineIdentity identity,
                                                           providers::MachineRecord record) override {
        co_await begin("get");
        std::optional<providers::Machine> result;
        const auto* machine = cloud_.find(identity);
        if (machine && is_half_made(*machine) && machine->machine_id != record.machine_id) machine = nullptr;
        if (machine && is_half_made(*machine) && cloud_.hides_half_made)
            throw providers::ProviderError("VM " + machine->machine_id + ": the account may not see it");
        if (machine) result = describe(*machine);
        end("get");
        co_return result;
    }

    asio::awaitable<std::vector<providers::Machine>> list() override {
        co_await begin("list");
        std::vector<providers::Machine> result;
        for (const auto& [id, machine] : cloud_.machines) {
            const bool is_shown = !machine.identity.claim_uid.empty() && !machine.has_only_name;
            if (is_shown && !is_half_made(machine)) result.push_back(listed(machine));
        }
        end("list");
        co_return result;
    }

    asio::awaitable<std::vector<providers::HostOffering>> offerings() override {
        co_await begin("offerings");
        std::vector<providers::HostOffering> result;
        result.reserve(cloud_.hosts.size());
        for (const auto& [name, host] : cloud_.hosts) result.push_back(offering(name, host));
        end("offerings");
        co_return result;
    }

    asio::awaitable<providers::Health> check() override {
        co_await begin("check");
        providers::Health health;
        health.credentials_ok = health.reachable = true;
        health.version = "1";
        end("check");
        co_return health;
    }

    asio::awaitable<bool> discard_boot_image(providers::MachineIdentity identity,
                                             providers::MachineRecord) override {
        co_await begin("discard_boot_image");
        if (auto* machine = cloud_.find(identity)) machine->has_boot_image = false;
        end("discard_boot_image");
        co_return true;
    }

    asio::awaitable<bool> switch_power(providers::MachineIdentity identity, providers::MachineRecord,
                                       providers::Power power, providers::InUseCheck in_use) override {
        co_await begin("switch_power");
        const bool is_used = power == providers::Power::off && in_use && co_await in_use();
        auto* machine = cloud_.find(identity);
        if (!machine) throw providers::ProviderError("switching the power: there is no such machine");
        const bool was_so = !is_used && switch_now(*machine, power);
        end("switch_power");
        co_return was_so;
    }

    asio::awaitable<providers::RestartResult> start_again(providers::MachineIdentity identity,
                                                          providers::MachineRecord) override {
        co_await begin("start_again");
        if (!cloud_.restart_error.empty()) throw providers::ProviderError(cloud_.restart_error);
        auto* machine = cloud_.find(identity);
        if (!machine) throw providers::ProviderError("starting again: there is no such machine");
        if (!cloud_.next_restart.empty()) {
            auto result = cloud_.next_restart.front();
            cloud_.next_restart.pop_front();
            co_return result;
        }
        const bool is_off = machine->state == providers::MachineState::stopped;
        if (is_off && !machine->switched_off_by.empty())
            co_return providers::LeftOff{machine->switched_off_by + " switched it off"};
        if (is_off) cloud_.start(*machine);
        end("start_again");
        if (machine->state == providers::MachineState::running) co_return providers::Runs{};
        co_return providers::WaitsForStart{"the machine is being started", std::chrono::seconds{3}};
    }

    providers::Capabilities capabilities() override {
        return {.guest_observer = this,
                .leftover_finder = this,
                .machine_starter = cloud_.starts_again ? this : nullptr,
                .machine_stopper = this,
                .stray_finder = this};
    }

private:
    bool is_half_made(const CloudMachine& machine) const {
        return cloud_.marks_late && machine.state == MachineState::creating;
    }
    bool switch_now(CloudMachine& machine, providers::Power power) {
        using providers::MachineState;
        if (power == providers::Power::on) {
            if (machine.state == MachineState::stopped) cloud_.start(machine);
            return machine.state == MachineState::running;
        }
        const bool was_off = machine.state == MachineState::stopped;
        machine.state = MachineState::stopped;
        return was_off;
    }
    asio::awaitable<void> begin(std::string method) {
        co_await cloud_.clock().sleep_for(cloud_.latency);
        if (calls_) calls_->before(method);
    }
    void end(const std::string& method) {
        if (calls_) calls_->after(method);
    }

    providers::Machine listed(const CloudMachine& machine) const {
        auto result = describe(machine);
        if (machine.is_unread) result.identity = {};
        result.is_unfinished = machine.is_unfinished;
        if (machine.is_unfinished) result.identity.system_uuid = kOtherUuid;
        return result;
    }
    providers::Machine describe(const CloudMachine& machine) const {
        providers::Machine result;
        result.state = machine.state;
        result.identity = machine.identity;
        result.record = {machine.host, machine.machine_id, ""};
        result.name = machine.name;
        result.provider_id = kIdPrefix + machine.machine_id;
        auto host = cloud_.hosts.find(machine.host);
        if (host != cloud_.hosts.end()) result.zone = host->second.zone;
        result.cpu_cores = machine.cpu_cores;
        result.memory_mib = machine.memory_mib;
        bool busy = machine.state == MachineState::creating || machine.state == MachineState::starting;
        if (busy) {
            result.record.task = "task-" + machine.machine_id;
            result.message = "waiting for task of machine " + machine.machine_id + " on host " + machine.host;
            result.retry_after = std::clamp<base::Duration>(machine.busy_until - cloud_.clock().now(),
                                                            std::chrono::milliseconds{100}, kRarestPoll);
        }
        return result;
    }

    providers::HostOffering offering(const std::string& name, const CloudHost& host) const {
        providers::HostOffering result;
        result.name = name;
        result.zone = host.zone;
        result.usable = host.reachable && host.usable;
        if (!result.usable) result.why_not = host.reachable ? "not allowed" : "offline";
        result.cpu_cores = result.free_cpu_cores = host.cpu_cores;
        result.memory_mib = result.free_memory_mib = host.memory_mib;
        for (const auto& [id, machine] : cloud_.machines) {
            if (machine.host != name) continue;
            result.free_cpu_cores -= machine.cpu_cores;
            result.free_memory_mib -= machine.memory_mib;
            result.machines.push_back(id);
        }
        return result;
    }

    asio::awaitable<providers::EnsureResult> ensure_now(providers::MachineSpec spec) {
        if (!cloud_.next_ensure.empty()) {
            auto scripted = std::move(cloud_.next_ensure.front());
            cloud_.next_ensure.pop_front();
            co_return scripted;
        }
        auto* machine = cloud_.find(spec.identity);
        if (machine && is_half_made(*machine) && machine->machine_id != spec.record.machine_id)
            machine = nullptr;
        if (!machine && spec.record.machine_id.empty()) co_return place(spec);
        if (machine && machine->state == MachineState::stopped) cloud_.start(*machine);
        if (machine) co_return describe(*machine);
        if (cloud_.machines.contains(spec.record.machine_id)) co_return taken(spec.record.machine_id);
        std::string image;
        if (spec.boot_image) image = co_await spec.boot_image->iso_image(spec.record);
        co_return describe(cloud_.create(spec, std::move(image)));
    }

    static providers::EnsureResult taken(const std::string& machine_id) {
        return providers::AttemptFailed{"MachineIdTaken", "machine ID " + machine_id + " is taken"};
    }

    providers::EnsureResult place(const providers::MachineSpec& spec) const {
        cloud_.reservations = spec.reservations;
        std::string best;
        std::int64_t most_free = -1;
        for (const auto& [name, host] : cloud_.hosts) {
            auto room = offering(name, host);
            bool avoided =
                std::find(spec.avoid_hosts.begin(), spec.avoid_hosts.end(), name) != spec.avoid_hosts.end();
            bool fits = room.usable && room.free_cpu_cores >= spec.cpu_cores &&
                        room.free_memory_mib >= spec.memory_mib;
            if (!fits || (!spec.zone.empty() && spec.zone != host.zone)) continue;
            auto free = avoided ? 0 : room.free_memory_mib;
            if (free > most_free) {
                best = name;
                most_free = free;
            }
        }
        if (best.empty()) return providers::InsufficientCapacity{"no host has room"};
        std::set<std::string> taken;
        for (const auto& reservation : spec.reservations) taken.insert(reservation.machine_id);
        providers::Machine placed;
        placed.identity = spec.identity;
        placed.record = {best, cloud_.next_id(taken), ""};
        placed.provider_id = kIdPrefix + placed.record.machine_id;
        placed.zone = cloud_.hosts.at(best).zone;
        return placed;
    }

    providers::RemoveResult remove_now(const providers::MachineIdentity& identity,
                                       const providers::MachineRecord& record) {
        if (!cloud_.next_remove.empty()) {
            auto scripted = std::move(cloud_.next_remove.front());
            cloud_.next_remove.pop_front();
            return scripted;
        }
        auto host = cloud_.hosts.find(record.host);
        if (host != cloud_.hosts.end() && !host->second.reachable) {
            return providers::RemovalBlocked{"HostUnreachable", "host " + record.host + " does not answer"};
        }
        auto* machine = cloud_.find(identity);
        if (!machine) return providers::Gone{};
        if (!machine->removing) cloud_.remove(*machine);
        return providers::RemovalInProgress{
            "waiting for the removal of machine " + machine->machine_id, "task-" + machine->machine_id,
            std::max<base::Duration>(machine->busy_until - cloud_.clock().now(),
                                     std::chrono::milliseconds{100})};
    }

    Cloud& cloud_;
    ProviderCalls* calls_;
};

}  // namespace

std::unique_ptr<providers::Provider> make_fake_provider(Cloud& cloud, ProviderCalls* calls) {
    return std::make_unique<FakeProvider>(cloud, calls);
}

}  // namespace fake
