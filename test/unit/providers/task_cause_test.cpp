// Tests why a task failed. Where the exit status only names the command, the cause is in the log.
#include <boost/json/array.hpp>

#include "providers/proxmox/wire/task_status.hpp"
#include "test/support/catch.hpp"

using namespace providers::proxmox;

namespace {

boost::json::value log_of(const std::vector<std::string>& lines) {
    boost::json::array log;
    for (const auto& line : lines) log.push_back({{"n", log.size() + 1}, {"t", line}});
    return log;
}

constexpr const char* kConvert =
    "clone failed: copy failed: command '/usr/bin/qemu-img convert' failed: exit code 1";

}  // namespace

TEST_CASE("Of a clone's log the line counts that complains") {
    const auto log = log_of({"create full clone of drive scsi0 (local:9000/base-9000-disk-0.raw)",
                             "transferred 0.0 B of 8.0 GiB (0.00%)",
                             "qemu-img: error while writing at byte 2097152: No space left on device",
                             std::string("TASK ERROR: ") + kConvert});
    CHECK(cause_in(log, kConvert) ==
          "qemu-img: error while writing at byte 2097152: No space left on device");
}

TEST_CASE("What the exit status says already is not said again") {
    const std::string exit = "unable to create image: No space left on device";
    CHECK(cause_in(log_of({exit, "TASK ERROR: " + exit}), exit).empty());
    CHECK(cause_in(log_of({}), exit).empty());
    CHECK(cause_in("no list", exit).empty());
}

TEST_CASE("A cause is short, without control characters, and shows no address of boot data") {
    const std::string exit = "start failed: QEMU exited with code 1";
    const auto log =
        log_of({"kvm: -smbios type=1,serial=ds=nocloud;s=http://10.0.0.9:8082/1310-0123/: bad\x1b[31m",
                "kvm: " + std::string(3000, 'x'), "TASK ERROR: " + exit});
    const auto cause = cause_in(log, exit);
    CHECK(cause.find("0123") == std::string::npos);
    CHECK(cause.find('\x1b') == std::string::npos);
    CHECK(cause.find("kvm: -smbios type=1") == 0);
    CHECK(cause.size() < 600);
}

TEST_CASE("No more than the last two complaints are shown, and none of long ago") {
    std::vector<std::string> lines{"error 1", "error 2", "error 3"};
    CHECK(cause_in(log_of(lines), "exit code 1") == "error 2; error 3");
    lines.insert(lines.end(), 40, "transferred");
    CHECK(cause_in(log_of(lines), "exit code 1").empty());
}

TEST_CASE("A failure means what its cause means where its exit status means nothing") {
    TaskStatus status;
    status.exit_status = "start failed: QEMU exited with code 1";
    CHECK(status.failure() == ErrorKind::other);
    CHECK(status.complaint() == status.exit_status);
    status.cause = "kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory";
    CHECK(status.failure() == ErrorKind::no_room);
    CHECK(status.complaint() == status.exit_status + ": " + status.cause);
    status.cause = "can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout";
    CHECK(status.failure() == ErrorKind::lock_timeout);
    status.exit_status = "VM 105 already running";
    CHECK(status.failure() == ErrorKind::running);
}

TEST_CASE("What fails in the same way again is said in the same words") {
    const std::string begin = "unable to open file '/etc/pve/nodes/pve1/qemu-server/101.conf.tmp.";
    CHECK(steady(begin + "116' - Permission denied") == steady(begin + "20117' - Permission denied"));
    CHECK(steady("x.tmp.7") == "x.tmp.N");
    CHECK(steady("nothing of it") == "nothing of it");
}
