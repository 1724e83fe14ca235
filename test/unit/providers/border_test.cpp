// Tests texts of a Proxmox, of guests and of foreign VMs that reach conditions, Events and logs.
#include <boost/json/parse.hpp>

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/vm/guest_agent.hpp"
#include "providers/proxmox/vm/guest_look.hpp"
#include "providers/proxmox/wire/answer.hpp"
#include "providers/proxmox/wire/grammar.hpp"
#include "test/support/catch.hpp"
#include "test/unit/providers/answer.hpp"

using namespace providers;
using namespace providers::proxmox;
using Catch::Contains;
using test::answer;

namespace {

constexpr auto* kUpid = "UPID:pve1:00000684:0004FF9C:6B0138C1:qmcreate:9100:root@pam!kube:";

std::string repeated(const std::string& text, std::size_t count) {
    std::string result;
    while (count-- > 0) result += text;
    return result;
}

json::value resources(const json::object& entry) {
    return json::array{{{"type", "node"}, {"node", "pve1"}, {"status", "online"}}, entry};
}

std::string text_of_answer(const Call& call, const std::string& data) {
    const auto read = data_of(call, answer(200, "OK", "{\"data\":" + data + "}"));
    return read.is_string() ? std::string(read.get_string()) : "";
}

}  // namespace

TEST_CASE("Of a program's output the end is shown, as one line and by whole characters") {
    CHECK(foreign::shown_end("first\n\n  second\t\r\n", 100) == "first second");
    CHECK(foreign::shown_end("\x1b[31merror\x07: \u202eno", 100) == "[31merror: no");
    CHECK(foreign::shown_end(repeated("ä", 700), 600) == "..." + repeated("ä", 600));
    CHECK(foreign::shown_end(std::string(600, 'x'), 600) == std::string(600, 'x'));
    CHECK(foreign::shown_end(repeated("😀", 1'000'000), 3) == "..." + repeated("😀", 3));
    CHECK(foreign::shown_end("", 10).empty());
}

TEST_CASE("What a guest's agent says is one line without control characters and secrets") {
    CHECK(readable_output("one\ntwo \x1b]0;title\x07 key=hush\n", {"hush", ""}) ==
          "one two ]0;title key=***");
    CHECK(readable_output(repeated("é", 700), {}) == "..." + repeated("é", 600));
    CHECK(readable_output("a\xff\xfe"
                          "b",
                          {}) == "ab");
}

TEST_CASE("Why a guest could not be asked is cut between characters") {
    const ProxmoxError error(ErrorKind::other, "asking", repeated("😀", 300));
    CHECK(obstacle_of(error) == repeated("😀", 96) + "..." + repeated("😀", 160));
    CHECK_THAT(obstacle_of(ProxmoxError(ErrorKind::permission, "asking", "no")),
               Contains("VM.GuestAgent.Audit"));
}

TEST_CASE("A host or storage whose name Proxmox would not allow is passed over") {
    const auto wrong = GENERATE("", "a\nb", "pve 1", "-pve", "pve-", "pve/1", "\u202epve", "pve\x1b[31m");
    INFO(wrong);
    const json::object unusual[] = {{{"type", "node"}, {"node", wrong}},
                                    {{"type", "storage"}, {"storage", wrong}, {"node", "pve1"}},
                                    {{"type", "storage"}, {"storage", "local"}, {"node", wrong}}};
    for (const auto& entry : unusual) {
        const auto state = parse_cluster_state(resources(entry));
        CHECK(state.hosts.size() == 1);  // only the valid one
        CHECK(state.storages.empty());
        REQUIRE(state.passed_over.size() == 1);
        CHECK_THAT(state.passed_over.front(),
                   Contains("reading hosts and guests") && Contains("not one that Proxmox allows"));
    }
    // A guest must not be overlooked: its ID is in use, and it may be ours.
    const json::object guest{{"type", "qemu"}, {"vmid", 100}, {"node", wrong}, {"tags", "ours"}};
    const auto state = parse_cluster_state(resources(guest));
    CHECK(state.hosts.size() == 1);
    CHECK(state.guests.empty());
    REQUIRE(state.odd_guests.size() == 1);
    CHECK(state.odd_guests.front().vmid == 100);
    CHECK(state.odd_guests.front().tags.contains("ours"));
    CHECK(state.passed_over.size() == 1);
}

TEST_CASE("Names are those of Proxmox' own grammar") {
    for (const auto* name : {"pve1", "A", "pve-01-b", "0"}) CHECK(is_host_name(name));
    CHECK(is_host_name(std::string(63, 'x')));
    CHECK_FALSE(is_host_name(std::string(64, 'x')));
    CHECK_FALSE(is_host_name("pve.1"));
    for (const auto* id : {"local", "local-lvm", "Ceph_1.x", "ab"}) CHECK(is_storage_id(id));
    for (const auto* id : {"a", "1a", "a-", "a:b", "a b", "a/b"}) CHECK_FALSE(is_storage_id(id));
    CHECK_FALSE(is_storage_id(std::string(256, 'x')));
    for (const auto* version : {"9.1.4", "8.2.2~rc1", "7.4-16"}) CHECK(is_version(version));
    for (const auto* version : {"", "9.1\n", "9 1", "<9>"}) CHECK_FALSE(is_version(version));
}

TEST_CASE("A call that begins a task is answered with its UPID or with nothing") {
    const auto call = GENERATE(create_vm("pve1", 105, {}), clone_vm("pve1", 105, {}), start_vm("pve1", 105),
                               shut_down_vm("pve1", 105), stop_vm("pve1", 105), destroy_vm("pve1", 105),
                               resize_disk("pve1", 105, "scsi0", 10), delete_volume("pve1", "local", "v"),
                               upload_iso("pve1", "local", "a.iso", ""));
    CHECK(text_of_answer(call, std::string("\"") + kUpid + "\"") == kUpid);
    CHECK(text_of_answer(call, "null").empty());
    for (const auto* other : {"\"\"", "\"done\"", "7", "{}", "[]", "\"UPID:pve1:\\u001b:\""}) {
        INFO(other);
        CHECK_THROWS_WITH(text_of_answer(call, other), Contains(call.tried) && Contains("has no task"));
    }
}

TEST_CASE("An image of ours is on a storage that can be one") {
    const auto drive_in = [](const std::string& volume) {
        return drive_with_file(parse_vm_config(json::object{{"ide2", volume + ",media=cdrom"}}), "a.iso");
    };
    REQUIRE(drive_in("local:iso/a.iso"));
    CHECK(drive_in("local:iso/a.iso")->volume == "local:iso/a.iso");
    for (const auto* volume :
         {"lo\x1b[1mcal:iso/a.iso", ":iso/a.iso", "local:b:iso/a.iso", "local:iso/b.iso"})
        CHECK_FALSE(drive_in(volume));
}

TEST_CASE("A VM's lock, its UUID and the mark in its description are fit to be shown") {
    const auto config = parse_vm_config(json::object{{"lock", "back\nup"}, {"smbios1", "uuid=AB\x1b\ncd"}});
    CHECK(config.lock() == "back");
    CHECK(config.system_uuid() == "ab");
    const auto mark =
        parse_mark(R"({"kubenodesmith":{"claim":"ours/a\u001b\u202eb","cluster":"c\nd","uid":"u",)"
                   R"("provider":"p\u0007","attempt":1}})");
    REQUIRE(mark);
    CHECK(mark->claim_name == "ab");
    CHECK(mark->cluster_id == "c");
    CHECK(mark->provider_uid == "p");
}
