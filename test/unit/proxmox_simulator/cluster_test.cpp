// Tests hosts that die, late statistics, trouble on demand, and repeatable runs.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/url.hpp"
#include "test/support/catch.hpp"
#include "test/unit/proxmox_simulator/driver.hpp"

namespace proxmox_simulator::test {
namespace {

json::value resource(Driver& driver, const std::string& id) {
    const auto list = driver.get("/cluster/resources").data();
    for (const auto& entry : list.as_array()) {
        if (entry.at("id").as_string() == id) return entry;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("the resource list shows a new machine's state only after the next broadcast") {
    Driver driver;
    driver.wait(11s);
    driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100&name=w&tags=x"));
    auto early = resource(driver, "qemu/100");
    CHECK(early.at("status") == "unknown");
    CHECK_FALSE(early.as_object().contains("name"));
    CHECK(early.at("tags") == "x");
    driver.wait(10s);
    CHECK(resource(driver, "qemu/100").at("name") == "w");
}

TEST_CASE(
    "a dead host is missed after seconds, its machines stay listed as running, calls to it end in 595") {
    Driver driver;
    driver.finish(driver.post("/nodes/zagato/qemu", "vmid=100"));
    driver.finish(driver.post("/nodes/zagato/qemu/100/status/start"));
    driver.wait(11s);
    driver.cluster().power_off_host("zagato");
    CHECK(resource(driver, "node/zagato").at("status") == "online");
    driver.wait(8s);
    CHECK(resource(driver, "node/zagato").at("status") == "offline");
    CHECK(resource(driver, "qemu/100").at("status") == "running");
    auto first = driver.get("/nodes/zagato/qemu/100/status/current");
    CHECK(first.status == 595);
    CHECK(first.took == 14s);
    CHECK(driver.get("/nodes/zagato/status").took == 3s);
    CHECK(driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=101")) == "OK");
}

TEST_CASE("a host whose pvestatd hangs is shown as unknown after five minutes, and answers as before") {
    Driver driver;
    driver.finish(driver.post("/nodes/zagato/qemu", "vmid=100&name=w"));
    driver.wait(11s);
    driver.cluster().host("zagato").sends_statistics = false;
    driver.wait(4min);
    CHECK(resource(driver, "node/zagato").at("status") == "online");
    driver.wait(2min);
    CHECK(resource(driver, "node/zagato").at("status") == "unknown");
    CHECK_FALSE(resource(driver, "node/zagato").as_object().contains("maxmem"));
    CHECK(resource(driver, "qemu/100").at("status") == "unknown");
    CHECK_FALSE(resource(driver, "qemu/100").as_object().contains("name"));
    CHECK(driver.get("/nodes/zagato/qemu/100/config").status == 200);
    driver.cluster().host("zagato").sends_statistics = true;
    driver.wait(11s);
    CHECK(resource(driver, "node/zagato").at("status") == "online");
}

TEST_CASE("without quorum one can read but not write") {
    Driver driver;
    driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100"));
    driver.cluster().power_off_host("porsche");
    driver.cluster().power_off_host("zagato");
    driver.wait(8s);
    CHECK(driver.get("/nodes/alfaromeo/qemu/100/config").status == 200);
    CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=101").reason == "cluster not ready - no quorum?");
    CHECK(driver.put("/nodes/alfaromeo/qemu/100/config", "description=z")
              .reason.ends_with("Permission denied"));
}

TEST_CASE("a host that is cut off has no quorum, and shows the cluster as it was") {
    Driver driver;
    driver.finish(driver.post("/nodes/porsche/qemu", "vmid=100"));
    const auto made = driver.world().machines.at(100);
    driver.world().machines.erase(100);
    driver.cluster().isolate("alfaromeo");
    driver.world().machines[100] = made;
    CHECK(resource(driver, "qemu/100").is_null());
    CHECK(resource(driver, "node/alfaromeo").at("status") == "online");
    CHECK(resource(driver, "node/porsche").at("status") == "offline");
    CHECK(driver.get("/cluster/nextid?vmid=100").status == 200);
    CHECK(driver.get("/cluster/status").data().as_array().front().at("quorate") == 0);
    CHECK(driver.get("/nodes/porsche/qemu/100/config").status == 595);
    CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=101").reason == "cluster not ready - no quorum?");
    CHECK(driver.cluster().has_quorum());
    driver.cluster().rejoin("alfaromeo");
    CHECK(driver.get("/cluster/nextid?vmid=100").status == 400);
    CHECK(driver.get("/nodes/porsche/qemu/100/config").status == 200);
}

TEST_CASE("a worker on a host that loses power is gone and its machine's lock stays") {
    Driver driver;
    auto answer = driver.post("/nodes/zagato/qemu", "vmid=100");
    driver.wait(50ms);
    driver.cluster().power_off_host("zagato");
    driver.wait(1s);
    driver.cluster().power_on_host("zagato");
    CHECK(driver.finish(answer) == "unexpected status");
    CHECK(driver.get("/nodes/zagato/qemu/100/config").data().at("lock") == "create");
}

TEST_CASE("machines that start on boot come back with their host") {
    Driver driver;
    driver.finish(driver.post("/nodes/zagato/qemu", "vmid=100&onboot=1"));
    driver.finish(driver.post("/nodes/zagato/qemu", "vmid=101"));
    for (const char* vmid : {"100", "101"})
        driver.finish(driver.post("/nodes/zagato/qemu/" + std::string(vmid) + "/status/start"));
    driver.cluster().power_off_host("zagato");
    driver.cluster().power_on_host("zagato");
    CHECK(driver.world().machines.at(100).running);
    CHECK_FALSE(driver.world().machines.at(101).running);
}

TEST_CASE("a lost connection is told from a request that never arrived") {
    Driver driver;
    RequestFault fault;
    fault.lose_connection = true;
    SECTION("before the effect") {
        driver.simulator.faults().add("POST", ".*", fault);
        CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=100").lost);
        CHECK_FALSE(driver.world().machines.contains(100));
    }
    SECTION("after the effect") {
        fault.moment = Moment::after_effect;
        driver.simulator.faults().add("POST", ".*", fault);
        CHECK(driver.post("/nodes/alfaromeo/qemu", "vmid=100").lost);
        CHECK(driver.world().machines.contains(100));
    }
}

TEST_CASE("work goes on when the client has hung up or the proxy has given up") {
    Driver driver;
    driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100"));
    driver.world().durations.request = 40s;
    auto answer = driver.post("/nodes/alfaromeo/qemu", "vmid=101");
    CHECK(answer.status == 596);
    CHECK(answer.took == 30s);
    driver.wait(15s);
    CHECK(driver.world().machines.contains(101));
}

TEST_CASE("a hanging task ends when it is aborted") {
    Driver driver;
    driver.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::hang, ""});
    auto answer = driver.post("/nodes/alfaromeo/qemu", "vmid=100");
    driver.wait(1h);
    auto& task = *driver.cluster().tasks.all().back();
    CHECK(task.is_running());
    driver.cluster().tasks.interrupt(task);
    CHECK(driver.finish(answer) == "received interrupt");
}

TEST_CASE("a task that is stopped cleans up, unless it heeds nothing but SIGKILL") {
    const auto [trouble, end, machines] =
        GENERATE(std::tuple(TaskTrouble::hang, "received interrupt", 0),
                 std::tuple(TaskTrouble::hang_deaf, "unexpected status", 1));
    Driver driver;
    driver.simulator.faults().add_task("qmcreate", ".*", {trouble, ""});
    const auto answer = driver.post("/nodes/alfaromeo/qemu", "vmid=100&scsi0=shared%3A1");
    driver.wait(1h);
    const auto& task = *driver.cluster().tasks.all().back();
    CHECK(task.is_running());
    CHECK(driver.world().machines.at(100).config.at("lock") == "create");
    const auto stopped = driver.remove("/nodes/alfaromeo/tasks/" + base::percent_encode(task.upid));
    CHECK(stopped.status == 200);
    CHECK(stopped.took <= 6s);
    CHECK(driver.finish(answer) == end);
    CHECK(driver.world().machines.size() == static_cast<std::size_t>(machines));
    // Stopping a finished task also succeeds.
    CHECK(driver.remove("/nodes/alfaromeo/tasks/" + base::percent_encode(task.upid)).status == 200);
}

TEST_CASE("a task that waits in the kernel outlives being stopped, and ends with its host") {
    Driver driver;
    driver.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::hang_in_kernel, ""});
    driver.post("/nodes/alfaromeo/qemu", "vmid=100");
    driver.wait(1min);
    const auto& task = *driver.cluster().tasks.all().back();
    CHECK(driver.remove("/nodes/alfaromeo/tasks/" + base::percent_encode(task.upid)).status == 200);
    driver.wait(1h);
    CHECK(task.is_running());
    driver.cluster().power_off_host("alfaromeo");
    driver.wait(1s);
    CHECK(task.exit_status == "unexpected status");
}

TEST_CASE("others' tasks are stopped by who may modify the host") {
    Driver driver;
    driver.simulator.faults().add_task("qmcreate", ".*", {TaskTrouble::hang, ""});
    driver.post("/nodes/alfaromeo/qemu", "vmid=100");
    driver.wait(1s);
    auto& task = *driver.cluster().tasks.all().back();
    task.user = "somebody@pve";
    const auto refused = driver.remove("/nodes/alfaromeo/tasks/" + base::percent_encode(task.upid));
    CHECK(refused.status == 403);
    CHECK(task.is_running());
}

TEST_CASE("a full storage refuses uploads and disks") {
    Driver driver;
    auto& storage = driver.world().storages.at("shared");
    storage.foreign_used[""] = storage.total;
    auto end = driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100&scsi0=shared%3A1"));
    // Only the log says why the task failed.
    CHECK(end.ends_with("failed: exit code 1"));
    const auto& log = driver.cluster().tasks.all().back()->log;
    CHECK(log[log.size() - 2].ends_with("No space left on device"));
}

TEST_CASE("the same seed gives the same run") {
    auto run = [](std::uint64_t seed) {
        Driver driver(default_world(), seed);
        driver.finish(driver.post("/nodes/alfaromeo/qemu", "vmid=100&net0=virtio%2Cbridge%3Dvmbr0"));
        driver.finish(driver.post("/nodes/alfaromeo/qemu/100/status/start"));
        driver.wait(15s);
        return json::serialize(driver.get("/nodes/alfaromeo/qemu/100/config").data()) +
               json::serialize(driver.get("/cluster/resources").data()) +
               json::serialize(driver.get("/nodes/alfaromeo/tasks").data());
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
}

}  // namespace proxmox_simulator::test
