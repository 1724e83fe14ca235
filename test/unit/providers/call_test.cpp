#include "providers/proxmox/wire/answer.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "providers/proxmox/vm/guest_look.hpp"
#include "test/support/catch.hpp"
#include "test/unit/providers/answer.hpp"

using namespace providers::proxmox;
using Catch::Contains;
using test::answer;

namespace {

ProxmoxError error_of(const base::HttpResponse& response) {
    try {
        data_of(create_vm("pve1", 105, {}), response);
    } catch (const ProxmoxError& error) {
        return error;
    }
    FAIL("no error");
    throw;
}

}  // namespace

TEST_CASE("Only what can be an address of the guest is taken from what its agent says") {
    const auto data = boost::json::parse(R"({"result": [
        {"name": "lo", "ip-addresses": [{"ip-address": "127.0.0.1"}, {"ip-address": "::1"}]},
        {"name": "eth0", "ip-addresses": [{"ip-address": "10.0.0.77"}, {"ip-address": "fe80::1"},
                                          {"ip-address": "2001:db8::77"}, {"ip-address": "10.0.0.77"},
                                          {"ip-address": "<script>"}, {"ip-address": 7}, "x"]},
        {"name": "eth1"}, "x"]})");
    CHECK(guest_addresses(data) == std::vector<std::string>{"10.0.0.77", "2001:db8::77"});
    CHECK(guest_addresses(boost::json::parse("[]")).empty());
    CHECK(guest_addresses(boost::json::parse(R"({"result": {"error": {}}})")).empty());
    boost::json::array many;
    for (int i = 0; i < 40; ++i) many.push_back({{"ip-address", "10.0.0." + std::to_string(i)}});
    CHECK(guest_addresses({{"result", {{{"ip-addresses", many}}}}}).size() == 16);
}

TEST_CASE("Form values are encoded so that Proxmox' splitting at ; and = cannot hurt") {
    const auto request = to_request(create_vm(
        "pve1", 105,
        {{"net0", "virtio,bridge=vmbr0"}, {"tags", "a;b"}, {"description", "100 % & \"x\" + ü\n"}}));
    CHECK(request.method == "POST");
    CHECK(request.target == "/api2/json/nodes/pve1/qemu");
    CHECK(*request.headers.find("Content-Type") == "application/x-www-form-urlencoded");
    CHECK(request.body ==
          "net0=virtio%2Cbridge%3Dvmbr0&tags=a%3Bb&description=100%20%25%20%26%20%22x%22%20%2B%20%C3%BC%0A");
}

TEST_CASE("Reads and deletions carry their parameters in the query and have no body") {
    CHECK(to_request(destroy_vm("pve1", 105)).target == "/api2/json/nodes/pve1/qemu/105?purge=1");
    CHECK(to_request(destroy_vm("pve1", 105)).body.empty());
    CHECK(to_request(get_bridges("pve1")).target == "/api2/json/nodes/pve1/network?type=any_bridge");
    CHECK(to_request(get_version()).target == "/api2/json/version");
}

TEST_CASE("UPIDs, hosts and volumes are encoded within paths") {
    CHECK(to_request(get_task_status("pve1", "UPID:pve1:1:2:3:qmstart:105:a@pve!k:")).target ==
          "/api2/json/nodes/pve1/tasks/UPID%3Apve1%3A1%3A2%3A3%3Aqmstart%3A105%3Aa%40pve%21k%3A/status");
    CHECK(to_request(delete_volume("pve1", "local", "local:iso/a.iso")).target ==
          "/api2/json/nodes/pve1/storage/local/content/local%3Aiso%2Fa.iso");
}

TEST_CASE("An upload is multipart with the file as its last part") {
    const auto request = to_request(upload_iso("pve1", "local", "a.iso", std::string("\0\r\n--x", 6)));
    const std::string type(*request.headers.find("Content-Type"));
    CHECK_THAT(type, Catch::StartsWith("multipart/form-data; boundary="));
    const auto boundary = type.substr(type.find('=') + 1);
    CHECK(request.body == "--" + boundary +
                              "\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\niso\r\n--" +
                              boundary +
                              "\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"a.iso\"\r\n"
                              "Content-Type: application/octet-stream\r\n\r\n" +
                              std::string("\0\r\n--x", 6) + "\r\n--" + boundary + "--\r\n");
}

TEST_CASE("A success is its data, also when that is null") {
    CHECK(data_of(get_version(), answer(200, "OK", R"({"data":{"version":"9.2"}})")).at("version") == "9.2");
    CHECK(data_of(start_vm("pve1", 105), answer(200, "OK", R"({"data":null})")).is_null());
    CHECK_THROWS_WITH(data_of(get_version(), answer(200, "OK", "<html>")),
                      Contains("not from a Proxmox API"));
}

TEST_CASE("What is no list is not read as an empty one, what is no object not as one without fields") {
    for (const auto& call : {get_cluster_resources(), get_cluster_status(), get_active_tasks("pve1", 105),
                             get_last_tasks("pve1", 105), get_bridges("pve1")}) {
        CHECK(data_of(call, answer(200, "OK", R"({"data":[]})")).is_array());
        for (const auto* data : {"null", "{}", "\"\"", "0"})
            CHECK_THROWS_WITH(data_of(call, answer(200, "OK", R"({"data":)" + std::string(data) + "}")),
                              Contains(call.tried) && Contains("the answer has no list as its data"));
    }
    for (const auto& call : {get_version(), get_permissions(), get_vm_config("pve1", 105),
                             get_vm_status("pve1", 105), get_task_status("pve1", "UPID:x")}) {
        CHECK(data_of(call, answer(200, "OK", R"({"data":{}})")).is_object());
        for (const auto* data : {"null", "[]", "\"\"", "0"})
            CHECK_THROWS_WITH(data_of(call, answer(200, "OK", R"({"data":)" + std::string(data) + "}")),
                              Contains(call.tried) && Contains("the answer has no object as its data"));
    }
}

TEST_CASE("An error says what was tried and what came back") {
    const auto error = error_of(answer(
        500, "unable to create VM 105 - VM 105 already exists on node 'pve2'",
        R"({"data":null,"message":"unable to create VM 105 - VM 105 already exists on node 'pve2'\n"})"));
    CHECK(error.kind == ErrorKind::exists);
    CHECK(error.what() ==
          std::string(
              "creating VM 105 on pve1: unable to create VM 105 - VM 105 already exists on node 'pve2'"));
}

TEST_CASE("Servers before PVE 8.3 tell their reason only in the status line") {
    CHECK(error_of(answer(500, "VM is locked (backup)", R"({"data":null})")).kind == ErrorKind::locked);
    auto without_body = answer(500, "VM is locked (backup)", "");
    without_body.headers.set("Server", "pve-api-daemon/3.0");
    CHECK(error_of(without_body).message == "VM is locked (backup)");
}

TEST_CASE("Wrong parameters are named, and an ID that is taken is recognised among them") {
    const auto error = error_of(answer(
        400, "Parameter verification failed.",
        R"({"data":null,"message":"Parameter verification failed.\n","errors":{"ostype":"value 'beos' does not have a value in the enumeration"}})"));
    CHECK(error.kind == ErrorKind::invalid_request);
    CHECK_THAT(error.what(), Contains("ostype: value 'beos'"));
    CHECK(error_of(answer(400, "Parameter verification failed.",
                          R"({"data":null,"errors":{"vmid":"VM 105 already exists"}})"))
              .kind == ErrorKind::exists);
    CHECK(error_of(answer(400, "Parameter verification failed.",
                          R"({"data":null,"errors":{"upid":"no such task"}})"))
              .kind == ErrorKind::no_such_task);
}
