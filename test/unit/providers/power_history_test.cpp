// Tests who had a VM switched off, as its host's task log shows.
#include "providers/proxmox/vm/power_history.hpp"

#include <boost/json/array.hpp>
#include <cstdio>

#include "providers/proxmox/vm/restarter.hpp"
#include "test/support/catch.hpp"

using namespace providers::proxmox;

namespace {

constexpr const char* kOurs = "automation@pve!kubenodesmith";
const Boots kBoots{{"pve1", 5000}};

struct Entry {
    const char* type;
    const char* user;
    int at;
    const char* status = "OK";
    int end = 0;
};

boost::json::value log(const std::vector<Entry>& entries) {
    boost::json::array tasks;
    for (const auto& entry : entries) {
        char start[9];
        std::snprintf(start, sizeof start, "%08X", static_cast<unsigned>(entry.at));
        const auto upid = "UPID:pve1:00001000:00002000:" + std::string(start) + ":" + entry.type +
                          ":105:" + entry.user + ":";
        boost::json::object task{{"upid", upid}, {"status", entry.status}};
        if (entry.end > 0) task["endtime"] = entry.end;
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace

TEST_CASE("Whoever switched a VM off last is found, unless it was switched on since") {
    CHECK(switched_off_by(log({}), log({}), kOurs, kBoots).empty());
    CHECK(switched_off_by(log({{"qmstop", "root@pam", 200}, {"qmstart", kOurs, 100}}), log({}), kOurs,
                          kBoots) == "root@pam");
    CHECK(switched_off_by(log({{"qmstart", kOurs, 100}, {"qmshutdown", "eve@pve", 200}}), log({}), kOurs,
                          kBoots) == "eve@pve");
    CHECK(switched_off_by(log({{"qmstart", "root@pam", 300}, {"qmstop", "root@pam", 200}}), log({}), kOurs,
                          kBoots)
              .empty());
    CHECK(switched_off_by(log({{"qmstop", kOurs, 200}}), log({}), kOurs, kBoots).empty());
    // Failed tasks switched nothing off, and tasks that do not concern power prove nothing.
    CHECK(switched_off_by(log({{"qmshutdown", "root@pam", 200, "VM quit/powerdown failed - got timeout"}}),
                          log({}), kOurs, kBoots)
              .empty());
    CHECK(
        switched_off_by(log({{"qmconfig", "root@pam", 300}, {"qmstart", kOurs, 100}}), log({}), kOurs, kBoots)
            .empty());
}

TEST_CASE("A host that ends its guests before it goes down is no person") {
    const auto tasks = log({{"qmshutdown", "root@pam", 210}, {"qmstart", kOurs, 100}});
    CHECK(switched_off_by(tasks, log({{"stopall", "root@pam", 200, "OK", 260}}), kOurs, kBoots).empty());
    CHECK(switched_off_by(tasks, log({{"stopall", "root@pam", 200, "unexpected status"}}), kOurs, kBoots)
              .empty());
    CHECK(switched_off_by(tasks, log({{"stopall", "root@pam", 220, "OK", 260}}), kOurs, kBoots) ==
          "root@pam");
    CHECK(switched_off_by(tasks, log({{"stopall", "root@pam", 100, "OK", 150}}), kOurs, kBoots) ==
          "root@pam");
}

TEST_CASE("A backup that stops the machine and starts it again without a task is no person") {
    const auto tasks = log({{"qmshutdown", "root@pam", 210}, {"qmstart", kOurs, 100}});
    for (const auto* status : {"OK", "job errors"})
        CHECK(switched_off_by(tasks, log({{"vzdump", "root@pam", 200, status, 400}}), kOurs, kBoots).empty());
    // A person who starts a backup has its guests shut down by root, too.
    CHECK(switched_off_by(tasks, log({{"vzdump", "eve@pve", 200, "OK", 400}}), kOurs, kBoots).empty());
    // It still runs.
    CHECK(switched_off_by(tasks, log({{"vzdump", "root@pam", 200, "RUNNING"}}), kOurs, kBoots).empty());
    for (const auto& [start, end] : {std::pair{100, 200}, {220, 400}})
        CHECK(switched_off_by(tasks, log({{"vzdump", "root@pam", start, "OK", end}}), kOurs, kBoots) ==
              "root@pam");
    // A backup shuts guests down as root, and stops none.
    const auto backup = log({{"vzdump", "root@pam", 200, "OK", 400}});
    CHECK(switched_off_by(log({{"qmstop", "root@pam", 210}}), backup, kOurs, kBoots) == "root@pam");
    CHECK(switched_off_by(log({{"qmshutdown", "eve@pve", 210}}), backup, kOurs, kBoots) == "eve@pve");
}

TEST_CASE("Whoever ends all guests of a host that does not go down is a person") {
    const auto tasks = log({{"qmshutdown", "root@pam", 5410}, {"qmstart", kOurs, 100}});
    const auto shutdowns = log({{"stopall", "root@pam", 5400, "OK", 5460}});
    CHECK(switched_off_by(tasks, shutdowns, kOurs, kBoots) == "root@pam");
    CHECK(switched_off_by(tasks, shutdowns, kOurs, {}) == "root@pam");
    CHECK(switched_off_by(tasks, shutdowns, kOurs, {{"pve2", 6000}}) == "root@pam");
    CHECK(switched_off_by(tasks, shutdowns, kOurs, {{"pve1", 5500}}).empty());
    // The host's clock is some minutes ahead of ours.
    CHECK(switched_off_by(tasks, shutdowns, kOurs, {{"pve1", 5200}}).empty());
}

TEST_CASE("A VM is started where memory is left beside all that runs and what the host keeps") {
    Settings settings;
    ClusterState state;
    HostState host;
    host.name = "pve1";
    host.is_online = true;
    host.memory_mib = 16384;
    state.hosts = {host};
    const auto add = [&state](std::int64_t vmid, bool runs) {
        Guest guest;
        guest.vmid = vmid;
        guest.node = "pve1";
        guest.memory_mib = 6144;
        guest.is_running = runs;
        state.guests.push_back(guest);
    };
    add(1, true);
    add(2, false);
    CHECK(has_room_to_start(settings, state, "pve1", 8192));
    CHECK_FALSE(has_room_to_start(settings, state, "pve1", 8193));
    state.hosts[0].is_online = false;
    CHECK_FALSE(has_room_to_start(settings, state, "pve1", 1));
    CHECK_FALSE(has_room_to_start(settings, state, "pve2", 1));
}
