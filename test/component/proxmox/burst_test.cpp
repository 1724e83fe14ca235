// Tests a hundred machines at the same time, each from the template of its own host.
#include <chrono>
#include <set>

#include "base/task_group.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace test;

namespace {

constexpr int kHosts = 10;
constexpr int kMachines = 100;

std::string name_of_host(int number) {
    return "pve" + std::to_string(number);
}

// Returns ten hosts, each with a template on its own local storage. A clone takes 20 s.
proxmox_simulator::World ten_hosts() {
    boost::json::array hosts, machines;
    for (int i = 0; i < kHosts; ++i) {
        hosts.push_back({{"name", name_of_host(i)}, {"cpus", 32}, {"memoryMiB", 131072}});
        machines.push_back({{"vmid", 9000 + i},
                            {"node", name_of_host(i)},
                            {"config", {{"name", "debian"}, {"template", "1"}, {"scsi0", "local:8"}}}});
    }
    return proxmox_simulator::world_from_json(
        {{"hosts", hosts}, {"machines", machines}, {"durations", {{"tasks", {{"qmclone", 20}}}}}});
}

struct Outcome {
    std::size_t running = 0;
    std::string failure;
    base::TimePoint last_created, last_running;
};

// Makes a machine as the controllers do: calls ensure, keeps the record, waits for the given time.
asio::awaitable<void> make(Lab& lab, MachineSpec spec, Outcome& outcome) {
    bool was_created = false;
    while (true) {
        const auto result = co_await lab.provider->ensure(spec);
        base::Duration wait = 1s;
        if (const auto* machine = std::get_if<Machine>(&result)) {
            spec.record = machine->record;
            wait = machine->retry_after;
            const bool is_created =
                !spec.record.task.empty() && spec.record.task.find("qmclone") == std::string::npos;
            if (is_created && !was_created) outcome.last_created = lab.clock.now();
            was_created = was_created || is_created;
            if (machine->state == MachineState::running) break;
        } else if (const auto* busy = std::get_if<NotReady>(&result)) {
            outcome.failure = busy->message;
            wait = busy->retry_after;
        } else {
            outcome.failure = "the attempt failed";
            co_return;
        }
        co_await lab.clock.sleep_for(wait);
    }
    ++outcome.running;
    outcome.last_running = lab.clock.now();
}

}  // namespace

TEST_CASE("A hundred machines on ten hosts are cloned within a tenth over what two slots per host allow") {
    Lab lab(ten_hosts());
    auto wish = named("debian");
    wish.localStorage = true;
    lab.config.spec.proxmox->endpoint = "https://pve0:8006/api2/json";
    lab.config.spec.proxmox->endpoints.clear();
    use_template(lab, wish);
    const auto begun = lab.clock.now();
    std::vector<MachineSpec> specs;
    std::vector<CapacityReservation> reservations;
    std::set<std::string> ids;
    for (int i = 1; i <= kMachines; ++i) {
        auto spec = lab.machine(i);
        spec.reservations = reservations;
        lab.place(spec);
        reservations.push_back({spec.record.host, spec.record.machine_id, spec.cpu_cores, spec.memory_mib});
        ids.insert(spec.record.machine_id);
        specs.push_back(spec);
    }
    CHECK(ids.size() == kMachines);
    lab.requests();

    Outcome outcome;
    base::TaskGroup group(lab.context.get_executor());
    for (const auto& spec : specs) group.spawn(make(lab, spec, outcome));
    for (int second = 0; second < 300 && outcome.running < kMachines; ++second) lab.wait(1s);
    INFO("failure: " << outcome.failure);
    CHECK(outcome.failure.empty());  // there was no lock and no collision
    REQUIRE(outcome.running == kMachines);
    const auto created = std::chrono::duration<double>(outcome.last_created - begun).count();
    const auto running = std::chrono::duration<double>(outcome.last_running - begun).count();
    const auto requests = lab.requests().size();
    INFO("last created after " << created << " s, running after " << running << " s, " << requests
                               << " requests");
    CHECK(created <= 110);
    CHECK(requests <= 8 * kMachines);
    CHECK(lab.simulator.cluster().world.machines.size() == kMachines + kHosts);
    for (int host = 0; host < kHosts; ++host) {
        CHECK(std::ranges::count_if(specs, [&](const auto& spec) {
                  return spec.record.host == name_of_host(host);
              }) == kMachines / kHosts);
    }
}
