// Tests machines, their tasks and locks, images, and hosts that fail.
#include <algorithm>
#include <boost/json/array.hpp>

#include "base/url.hpp"
#include "test/simulation/contract/proxmox/driver.hpp"
#include "test/support/catch.hpp"

using namespace contract::proxmox;
using namespace std::chrono_literals;

namespace {

const std::string kHost = "/nodes/alfaromeo";

std::string create(const std::string& more = "") {
    auto vmid = fresh_vmid();
    REQUIRE(finish("POST", kHost + "/qemu", "vmid=" + vmid + more) == "OK");
    return vmid;
}

std::string path_of(const std::string& vmid) {
    return kHost + "/qemu/" + vmid;
}

std::string upload(const std::string& name, const std::string& content) {
    auto wish = request("POST", kHost + "/storage/local/upload",
                        "--B\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\niso\r\n"
                        "--B\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"" +
                            name + "\"\r\n\r\n" + content + "\r\n--B--\r\n");
    wish.headers.set("Content-Type", "multipart/form-data; boundary=B");
    auto answer = server().send(wish);
    return answer.status == 200 ? server().finish(std::string(answer.data().as_string())) : answer.reason;
}

// Returns the entry of a list whose member has the value, or null if there is none.
json::value entry(const std::string& path, const char* member, const json::value& value) {
    auto list = call("GET", path).data();
    for (const auto& one : list.as_array()) {
        const auto* found = one.as_object().if_contains(member);
        if (found && *found == value) return one;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("a machine with a boot image lives and goes") {
    CHECK(upload("seed.iso", std::string(100'000, '\0') + "\r\n--X\r\n") == "OK");
    auto vmid = create(
        "&name=worker&cores=2&memory=4096&tags=kubenodesmith&scsi0=local%3A8&ide2=local%3Aiso%2Fseed.iso%2C"
        "media%3Dcdrom&boot=order%3Dscsi0%3Bide2&smbios1=uuid%3D11111111-2222-4333-8444-555555555555");
    auto config = call("GET", path_of(vmid) + "/config").data();
    CHECK(config.at("memory") == "4096");
    CHECK(config.at("smbios1") == "uuid=11111111-2222-4333-8444-555555555555");
    CHECK(finish("POST", path_of(vmid) + "/status/start") == "OK");
    CHECK(call("GET", path_of(vmid) + "/status/current").data().at("status") == "running");
    CHECK(finish("POST", path_of(vmid) + "/status/start") == "VM " + vmid + " already running");
    CHECK(call("DELETE", path_of(vmid)).reason == "VM " + vmid + " is running - destroy failed");
    CHECK(finish("POST", path_of(vmid) + "/status/stop") == "OK");
    CHECK(finish("DELETE", path_of(vmid) + "?purge=1&destroy-unreferenced-disks=1") == "OK");
    CHECK(call("GET", path_of(vmid) + "/config").status == 500);
    auto content = kHost + "/storage/local/content";
    CHECK(entry(content, "volid", "local:iso/seed.iso").is_object());
    CHECK(finish("DELETE", content + "/" + base::percent_encode("local:iso/seed.iso")) == "OK");
    CHECK(entry(content, "volid", "local:iso/seed.iso").is_null());
}

TEST_CASE("an upload of another kind is refused before it is stored") {
    CHECK(upload("seed.txt", "x") == "Parameter verification failed.");
}

TEST_CASE("an ID is given once in the cluster") {
    auto vmid = create();
    auto again = call("POST", "/nodes/porsche/qemu", "vmid=" + vmid);
    CHECK(again.status == 500);
    CHECK(again.reason ==
          "unable to create VM " + vmid + " - VM " + vmid + " already exists on node 'alfaromeo'");
    auto next = call("GET", "/cluster/nextid?vmid=" + vmid);
    CHECK(next.status == 400);
    CHECK(next.errors() == std::vector<std::string>{"vmid"});
    CHECK(finish("DELETE", path_of(vmid)) == "OK");
}

TEST_CASE("a machine is locked while it is cloned, and a change of an old state is refused") {
    auto source = create("&name=image&scsi0=shared%3A8");
    CHECK(finish("POST", path_of(source) + "/template") == "OK");
    server().control("POST", "/durations", {{"tasks", {{"qmclone", 30}}}});
    auto vmid = fresh_vmid();
    auto clone =
        call("POST", path_of(source) + "/clone", "newid=" + vmid + "&target=alfaromeo&description=mine");
    CHECK(clone.status == 200);
    server().pause(2s);
    CHECK(call("GET", path_of(vmid) + "/config").data().at("lock") == "clone");
    CHECK(call("PUT", path_of(vmid) + "/config", "cores=2").reason == "VM is locked (clone)");
    CHECK(server().finish(std::string(clone.data().as_string())) == "OK");
    server().control("POST", "/durations", {{"tasks", {{"qmclone", 1}}}});
    auto config = call("GET", path_of(vmid) + "/config").data();
    CHECK(config.at("description") == "mine");
    auto digest = "&digest=" + std::string(config.at("digest").as_string());
    CHECK(call("PUT", path_of(vmid) + "/config", "tags=a" + digest).status == 200);
    CHECK(call("PUT", path_of(vmid) + "/config", "tags=b" + digest).reason ==
          "checksum mismatch (file change by other user?)");
    CHECK(finish("DELETE", path_of(source)).ends_with("is still in use by linked cloned"));
    CHECK(finish("DELETE", path_of(vmid)) == "OK");
    CHECK(finish("DELETE", path_of(source)) == "OK");
}

TEST_CASE("a task that fails says why, in its status and its log") {
    auto start = call("POST", path_of("4711") + "/status/start");
    CHECK(start.status == 200);
    std::string upid(start.data().as_string());
    const auto why = "Configuration file 'nodes/alfaromeo/qemu-server/4711.conf' does not exist";
    CHECK(server().finish(upid) == why);
    auto task = kHost + "/tasks/" + base::percent_encode(upid);
    CHECK(call("GET", task + "/status").data().at("exitstatus") == why);
    auto log = call("GET", task + "/log").data();
    CHECK(std::string(log.as_array().back().at("t").as_string()) == std::string("TASK ERROR: ") + why);
    CHECK(call("GET", kHost + "/tasks/UPID%3Anonsense/status").status == 400);
}

TEST_CASE("what was injected strikes once") {
    auto vmid = create();
    server().control("POST", "/task-faults",
                     {{"type", "qmstart"}, {"trouble", "fail"}, {"text", "bad luck"}});
    CHECK(finish("POST", path_of(vmid) + "/status/start") == "bad luck");
    server().control("POST", "/faults",
                     {{"method", "POST"}, {"status", 599}, {"reason", "Too many redirections"}});
    auto refused = call("POST", path_of(vmid) + "/status/start");
    CHECK(refused.status == 599);
    CHECK(refused.text.empty());
    CHECK(finish("POST", path_of(vmid) + "/status/start") == "OK");
    CHECK(finish("POST", path_of(vmid) + "/status/stop") == "OK");
    CHECK(finish("DELETE", path_of(vmid)) == "OK");
}

TEST_CASE("a connection that is lost tells nothing about the effect") {
    auto vmid = fresh_vmid();
    server().control("POST", "/faults", {{"method", "POST"}, {"loseConnection", true}});
    CHECK(call("POST", kHost + "/qemu", "vmid=" + vmid).status == 0);
    CHECK(call("GET", path_of(vmid) + "/config").status == 500);
    server().control("POST", "/faults", {{"method", "POST"}, {"loseConnection", true}, {"moment", "after"}});
    CHECK(call("POST", kHost + "/qemu", "vmid=" + vmid).status == 0);
    server().pause(5s);
    CHECK(call("GET", path_of(vmid) + "/config").status == 200);
    CHECK(finish("DELETE", path_of(vmid)) == "OK");
}

TEST_CASE("a storage that is full refuses disks") {
    server().control("POST", "/storages/shared/fill", {{"availGiB", 0}});
    auto end = finish("POST", kHost + "/qemu", "vmid=" + fresh_vmid() + "&scsi0=shared%3A8");
    CHECK(end.ends_with("failed: exit code 1"));
    server().control("POST", "/storages/shared/fill", {{"availGiB", 400}});
    CHECK(finish("DELETE", path_of(create("&scsi0=shared%3A8"))) == "OK");
}

TEST_CASE("the cluster is listed as of the last statistics") {
    auto vmid = create("&name=listed&cores=3&memory=2048&tags=seen");
    server().control("POST", "/statistics/refresh", json::object{});
    auto listed = entry("/cluster/resources?type=vm", "vmid", std::stoi(vmid));
    REQUIRE(listed.is_object());
    CHECK(listed.at("name") == "listed");
    CHECK(listed.at("maxcpu") == 3);
    CHECK(listed.at("maxmem") == 2048LL * 1024 * 1024);
    CHECK(listed.at("tags") == "seen");
    CHECK(listed.at("node") == "alfaromeo");
    CHECK(call("GET", "/nodes").data().as_array().size() == 3);
    CHECK(finish("DELETE", path_of(vmid)) == "OK");
}

TEST_CASE("a host that lost its power is not reached, and comes back") {
    server().control("POST", "/hosts/zagato/power-off", json::object{});
    auto dead = call("GET", "/nodes/zagato/qemu");
    CHECK(dead.status == 595);
    CHECK(dead.reason == "No route to host");
    CHECK(call("GET", kHost + "/qemu").status == 200);
    server().control("POST", "/hosts/zagato/power-on", json::object{});
    CHECK(call("GET", "/nodes/zagato/qemu").status == 200);
}
