// Tests hosts that come back without their machines after a power cut. The machines are started again unless
// a person wants them off.
#include "providers/capabilities.hpp"
#include "providers/errors.hpp"
#include "test/component/proxmox/lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using test::Lab;

namespace {

RestartResult start_again(Lab& lab, const MachineSpec& spec) {
    return lab.run(lab.provider->capabilities().machine_starter->start_again(spec.identity, spec.record));
}

// Calls until the machine runs. Returns the number of calls.
int until_running(Lab& lab, const MachineSpec& spec) {
    for (int calls = 1; calls <= 50; ++calls) {
        const auto result = start_again(lab, spec);
        if (std::holds_alternative<Runs>(result)) return calls;
        const auto* waits = std::get_if<WaitsForStart>(&result);
        REQUIRE(waits);
        lab.wait(waits->retry_after);
    }
    FAIL("the machine never ran");
    return 0;
}

void cut_power(Lab& lab) {
    for (auto& [vmid, machine] : lab.simulator.cluster().world.machines)
        if (machine.running) lab.simulator.cluster().stop_machine(machine);
    lab.wait(15s);
}

// Adds a task of somebody to the host's log.
void begin_task(Lab& lab, const std::string& host, const char* type, const std::string& id, const char* user,
                base::Duration duration) {
    auto& cluster = lab.simulator.cluster();
    auto& task = cluster.create_task(host, type, id, user);
    cluster.run_task(
        task, [](proxmox_simulator::Task& at_work, base::Duration takes) -> boost::asio::awaitable<void> {
            co_await at_work.spend(takes);
        }(task, duration));
}

// Runs such a task for the machine on its host, and waits for its end.
void log_task(Lab& lab, const MachineSpec& spec, const char* type, const char* user) {
    begin_task(lab, spec.record.host, type, spec.record.machine_id, user, 1s);
    lab.wait(2s);
}

void end_all_guests(Lab& lab, const MachineSpec& spec) {
    begin_task(lab, spec.record.host, "stopall", "", "root@pam", 10s);
    lab.wait(1s);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    log_task(lab, spec, "qmshutdown", "root@pam");
    lab.wait(15s);
}

proxmox_simulator::Host& host_of(Lab& lab, const MachineSpec& spec) {
    auto& hosts = lab.simulator.cluster().world.hosts;
    return *std::ranges::find(hosts, spec.record.host, &proxmox_simulator::Host::name);
}

// Launches both on one host and cuts its power. Afterwards another guest leaves memory for one of them.
void leave_room_for_one(Lab& lab, MachineSpec& first, MachineSpec& second) {
    lab.launch(first);
    lab.launch(second);
    REQUIRE(first.record.host == second.record.host);
    cut_power(lab);
    const auto host_mib = static_cast<std::int64_t>(host_of(lab, first).memory >> 20U);
    constexpr std::int64_t each_mib = 4096;
    auto& other = lab.plant(500, first.record.host,
                            {{"name", "large"}, {"memory", std::to_string(host_mib - each_mib * 3 / 2)}});
    lab.simulator.cluster().start_machine(other);
    lab.wait(15s);
}

std::vector<MachineSpec> machines_on_all_hosts(Lab& lab, int count) {
    std::vector<MachineSpec> specs;
    for (int number = 1; number <= count; ++number) {
        specs.push_back(lab.machine(number));
        lab.launch(specs.back());
    }
    return specs;
}

}  // namespace

TEST_CASE("Machines that lost their power run again, and keep their identity and onboot: 0") {
    Lab lab;
    auto specs = machines_on_all_hosts(lab, 3);
    cut_power(lab);
    for (const auto& spec : specs) {
        until_running(lab, spec);
        CHECK(lab.vm(spec)->running.has_value());
        CHECK_FALSE(lab.vm(spec)->config.contains("onboot"));
    }
    CHECK(lab.count("POST", "/nodes/[a-z]+/qemu/[0-9]+/status/start") == 6);
}

TEST_CASE("A machine that a person switched off is left off, and he is named") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    log_task(lab, spec, "qmstop", "root@pam");
    const auto result = start_again(lab, spec);
    const auto* left = std::get_if<LeftOff>(&result);
    REQUIRE(left);
    CHECK_THAT(left->message, Contains("root@pam switched it off"));
    CHECK_FALSE(lab.vm(spec)->running.has_value());
    // The person starts the machine again, and then its host loses its power.
    log_task(lab, spec, "qmstart", "root@pam");
    until_running(lab, spec);
}

TEST_CASE("A machine that a person suspended to disk is left off, and is removed without a command") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    lab.vm(spec)->config["lock"] = "suspended";
    const bool is_logged = GENERATE(false, true);
    if (is_logged) log_task(lab, spec, "qmsuspend", "alice@pam");
    const auto result = start_again(lab, spec);
    const auto* left = std::get_if<LeftOff>(&result);
    REQUIRE(left);
    CHECK_THAT(left->message,
               Contains("is suspended to disk") && Contains("start it") && !Contains("unlock"));
    if (is_logged) CHECK_THAT(left->message, Contains("alice@pam"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK_FALSE(lab.vm(spec));
}

TEST_CASE("A host that went down ended its guests itself, and a person who ended them all is named") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    end_all_guests(lab, spec);
    // A person may have done it until the host has gone down. If the host is going down, it is too late.
    const auto result = start_again(lab, spec);
    const auto* left = std::get_if<LeftOff>(&result);
    REQUIRE(left);
    CHECK_THAT(left->message, Contains("root@pam switched it off"));
    host_of(lab, spec).booted_at = lab.clock.now();
    lab.wait(15s);
    until_running(lab, spec);
}

TEST_CASE("A host whose clock is wrong ended its guests before its boot by its own clock") {
    Lab lab;
    const auto ahead = GENERATE(20min, 0min, -20min);
    INFO("the clocks are " << ahead.count() << " min ahead");
    for (auto& each : lab.simulator.cluster().world.hosts) each.clock_ahead = ahead;
    auto spec = lab.machine(1);
    lab.launch(spec);
    auto& host = host_of(lab, spec);
    SECTION("it went down") {
        end_all_guests(lab, spec);
        host.booted_at = lab.clock.now();
        lab.wait(15s);
        until_running(lab, spec);
    }
    SECTION("a person ended them a while after the last boot") {
        host.booted_at = lab.clock.now();
        lab.wait(10min);
        end_all_guests(lab, spec);
        const auto result = start_again(lab, spec);
        const auto* left = std::get_if<LeftOff>(&result);
        REQUIRE(left);
        CHECK_THAT(left->message, Contains("root@pam switched it off"));
    }
}

TEST_CASE("A host that cannot tell its time is believed to have the right one") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    end_all_guests(lab, spec);
    host_of(lab, spec).booted_at = lab.clock.now();
    lab.wait(15s);
    // A host without systemd's timedated answers so.
    lab.simulator.faults().add(
        "GET", "/nodes/[^/]+/time",
        {.status = 500,
         .reason = "command 'timedatectl show '--property=Timezone' --value' failed: exit code 1"},
        100);
    until_running(lab, spec);
    CHECK(lab.count("GET", "/nodes/[^/]+/time") > 0);
}

TEST_CASE("A machine that a backup shut down and started again runs after the next power cut") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    // A job for several guests has no VMID, and its start of the machine has no task.
    const auto* id = GENERATE("", "the machine's");
    begin_task(lab, spec.record.host, "vzdump", *id ? spec.record.machine_id : "", "root@pam", 1min);
    lab.wait(2s);
    log_task(lab, spec, "qmshutdown", "root@pam");
    lab.wait(2min);
    cut_power(lab);
    until_running(lab, spec);
}

TEST_CASE("A machine that a person switched off and moved to another host is left off, and he is named") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    log_task(lab, spec, "qmshutdown", "eve@pve");
    const auto old = spec.record.host;
    spec.record.host = old == "porsche" ? "zagato" : "porsche";
    lab.vm(spec)->node = spec.record.host;
    lab.wait(15s);
    SECTION("and the other host's log can be read") {
        const auto result = start_again(lab, spec);
        const auto* left = std::get_if<LeftOff>(&result);
        REQUIRE(left);
        CHECK_THAT(left->message, Contains("eve@pve switched it off"));
        CHECK_FALSE(lab.vm(spec)->running.has_value());
    }
    SECTION("and the other host is down") {
        auto& hosts = lab.simulator.cluster().world.hosts;
        std::ranges::find(hosts, old, &proxmox_simulator::Host::name)->powered_on = false;
        lab.wait(2min);
        const auto result = start_again(lab, spec);
        CHECK(std::holds_alternative<WaitsForStart>(result));
    }
}

TEST_CASE("Without the right to read the task log of a host its machines are left off") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    cut_power(lab);
    lab.simulator.cluster().world.custom_roles["KubeNodeSmith"].erase("Sys.Audit");
    lab.restart();
    const auto result = start_again(lab, spec);
    const auto* left = std::get_if<LeftOff>(&result);
    REQUIRE(left);
    CHECK_THAT(left->message, Contains("Sys.Audit on /nodes/" + spec.record.host));
}

TEST_CASE("A start that fails again and again is tried with growing pauses, and says why") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    cut_power(lab);
    for (int i = 0; i < 3; ++i)
        lab.simulator.faults().add_task(
            "qmstart", ".*", {proxmox_simulator::TaskTrouble::fail_at_once, "storage 'nas' is not online"});
    std::optional<StartFails> failed;
    for (int calls = 0; calls < 60 && !failed; ++calls) {
        const auto result = start_again(lab, spec);
        if (const auto* fails = std::get_if<StartFails>(&result)) failed = *fails;
        if (const auto* waits = std::get_if<WaitsForStart>(&result)) lab.wait(waits->retry_after);
    }
    REQUIRE(failed);
    CHECK_THAT(failed->message, Contains("storage 'nas' is not online"));
    CHECK(failed->retry_after > 1min);
    lab.wait(failed->retry_after);
    until_running(lab, spec);
}

TEST_CASE("A start that hangs is ended by the next process, and the machine runs") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    cut_power(lab);
    lab.simulator.faults().add_task("qmstart", ".*", {proxmox_simulator::TaskTrouble::hang, ""});
    start_again(lab, spec);
    lab.wait(1min);
    lab.restart();
    const auto result = start_again(lab, spec);
    const auto* waits = std::get_if<WaitsForStart>(&result);
    REQUIRE(waits);
    CHECK_THAT(waits->message, Contains("once an earlier task is done with it"));
    const auto begin = lab.clock.now();
    while (!lab.vm(spec)->running && lab.clock.now() < begin + 20min) {
        start_again(lab, spec);
        lab.wait(5s);
    }
    CHECK(lab.vm(spec)->running);
    CHECK(lab.count("POST", "/nodes/[^/]+/qemu/[0-9]+/status/start") <= 4);
}

TEST_CASE("A host that has no memory left for a machine keeps it waiting") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    cut_power(lab);
    auto& other = lab.plant(500, spec.record.host, {{"name", "large"}, {"memory", "1000000"}});
    lab.simulator.cluster().start_machine(other);
    lab.wait(15s);
    const auto result = start_again(lab, spec);
    const auto* none = std::get_if<NoRoomToStart>(&result);
    REQUIRE(none);
    CHECK_THAT(none->message, Contains("no memory left"));
    lab.simulator.cluster().stop_machine(*lab.vm("500"));
    lab.wait(15s);
    until_running(lab, spec);
}

TEST_CASE("Machines that are started together do not take more memory than their host has") {
    Lab lab;
    auto first = lab.machine(1);
    auto second = lab.machine(2);
    leave_room_for_one(lab, first, second);
    while (!lab.vm(first)->running) {
        const auto result = start_again(lab, first);
        REQUIRE(std::holds_alternative<WaitsForStart>(result));
        lab.wait(1s);
    }
    const auto result = start_again(lab, second);
    CHECK(std::holds_alternative<NoRoomToStart>(result));
    CHECK_FALSE(lab.vm(second)->running);
}

TEST_CASE("A machine whose start takes long keeps its memory from the others") {
    Lab lab;
    auto first = lab.machine(1);
    auto second = lab.machine(2);
    leave_room_for_one(lab, first, second);
    lab.simulator.faults().add_task("qmstart", ".*", {proxmox_simulator::TaskTrouble::hang, ""});
    start_again(lab, first);
    lab.wait(30s);
    CHECK(std::holds_alternative<NoRoomToStart>(start_again(lab, second)));
    CHECK(lab.count("POST", "/nodes/[a-z]+/qemu/[0-9]+/status/start") == 3);
}

TEST_CASE("A machine on a host that is down waits for that, and is started when it is back") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    auto& host = host_of(lab, spec);
    lab.simulator.cluster().stop_machine(*lab.vm(spec));
    host.powered_on = false;
    host.powered_off_at = lab.clock.now();
    lab.wait(2min);
    const auto result = start_again(lab, spec);
    CHECK(std::holds_alternative<HostIsDown>(result));
    host.powered_on = true;
    host.booted_at = lab.clock.now();
    lab.wait(1min);
    until_running(lab, spec);
}

TEST_CASE("What is not provably ours is not started") {
    Lab lab;
    auto spec = lab.machine(1);
    lab.launch(spec);
    cut_power(lab);
    lab.vm(spec)->config["smbios1"] = "uuid=99999999-0000-4000-8000-000000000000";
    CHECK_THROWS_AS(start_again(lab, spec), ProviderError);
    CHECK_FALSE(lab.vm(spec)->running.has_value());
}
