// Tests who may send requests, how the server reads them, and how refusals look. The contract is what the
// simulation assumes about Proxmox. The same cases run against the simulator's core and against its program
// over HTTPS.
#include <boost/json/array.hpp>

#include "base/url.hpp"
#include "test/simulation/contract/proxmox/driver.hpp"
#include "test/support/catch.hpp"

using namespace contract::proxmox;

TEST_CASE("strangers are refused in the status line") {
    auto wish = request("GET", "/version");
    CHECK(server().send(wish).data().at("release").as_string().starts_with("9."));
    wish.headers.set("Authorization",
                     "PVEAPIToken=automation@pve!kubenodesmith=00000000-0000-4000-8000-000000000000");
    auto wrong = server().send(wish);
    CHECK(wrong.status == 401);
    CHECK(wrong.reason == "Authentication failed!");
    CHECK(wrong.text.empty());
    base::HttpRequest nobody;
    nobody.target = "/api2/json/version";
    auto unknown = server().send(nobody);
    CHECK(unknown.status == 401);
    CHECK(unknown.reason == "No ticket");
}

TEST_CASE("a ticket serves as a token does, and writing needs its CSRF token") {
    base::HttpRequest login;
    login.method = "POST";
    login.target = "/api2/json/access/ticket";
    login.body = "username=automation%40pve&password=automation";
    auto ticket = server().send(login).data();
    base::HttpRequest wish;
    wish.method = "POST";
    wish.target = "/api2/json/nodes/alfaromeo/qemu/1/status/start";
    auto cookie = "PVEAuthCookie=" + base::percent_encode(std::string(ticket.at("ticket").as_string()));
    wish.headers.set("Cookie", cookie);
    CHECK(server().send(wish).reason == "Permission denied - invalid csrf token");
    wish.headers.set("CSRFPreventionToken", std::string(ticket.at("CSRFPreventionToken").as_string()));
    auto parameters = server().send(wish);
    CHECK(parameters.status == 400);
    CHECK(parameters.errors() == std::vector<std::string>{"vmid"});
    login.body = "username=automation%40pve&password=wrong";
    CHECK(server().send(login).status == 401);
}

TEST_CASE("a right that is missing is named") {
    auto refused = call("POST", "/pools", "poolid=mine");
    CHECK(refused.status == 403);
    CHECK(refused.reason == "Permission check failed (/pool/mine, Pool.Allocate)");
}

TEST_CASE("a token that is revoked is refused until it is restored") {
    server().control("POST", "/tokens/automation@pve!kubenodesmith/revoke", json::object{});
    CHECK(call("GET", "/nodes").status == 401);
    server().control("POST", "/tokens/automation@pve!kubenodesmith/restore", json::object{});
    CHECK(call("GET", "/nodes").status == 200);
}

TEST_CASE("parameters that are wrong are all named, each with its reason") {
    auto refused = call("POST", "/nodes/alfaromeo/qemu",
                        "vmid=5&name=a_b&cores=x&bogus=1&onboot=true&net0=virtio%2Cbridge%3D");
    CHECK(refused.status == 400);
    CHECK(refused.reason == "Parameter verification failed.");
    CHECK(refused.errors().size() == 6);
}

TEST_CASE("the reason of a refusal is in the status line and in the body") {
    auto refused = call("GET", "/nodes/alfaromeo/qemu/4711/config");
    CHECK(refused.status == 500);
    CHECK(refused.reason == "Configuration file 'nodes/alfaromeo/qemu-server/4711.conf' does not exist");
    CHECK(refused.text == R"({"data":null,"message":")" + refused.reason + R"(\n"})");
    CHECK(refused.content_type == "application/json;charset=UTF-8");
    auto extjs = request("GET", "");
    extjs.target = "/api2/extjs/nodes/alfaromeo/qemu/4711/config";
    auto wrapped = server().send(extjs);
    CHECK(wrapped.status == 200);
    CHECK(wrapped.body().at("success") == 0);
}

TEST_CASE("what is not there is not implemented") {
    CHECK(call("GET", "/nodes/alfaromeo/gadgets").status == 501);
    CHECK(call("GET", "/nodes/alfaromeo/gadgets").reason ==
          "Method 'GET /nodes/alfaromeo/gadgets' not implemented");
    CHECK(call("PATCH", "/pools").status == 501);
}

TEST_CASE("framing that Proxmox does not know is refused") {
    auto wish = request("POST", "/pools", "poolid=x");
    SECTION("long bodies") {
        wish.body += std::string(600'000, 'a');
        CHECK(server().send(wish).reason == "for data too large");
    }
    SECTION("other content types") {
        wish.headers.set("Content-Type", "text/plain");
        CHECK(server().send(wish).status == 506);
    }
    SECTION("DELETE with a body") {
        wish.method = "DELETE";
        CHECK(server().send(wish).reason == "Unexpected content for method 'DELETE'");
    }
    SECTION("a JSON body that is no object") {
        wish.headers.set("Content-Type", "application/json");
        wish.body = "[1]";
        CHECK(server().send(wish).reason.starts_with("Not a HASH reference"));
    }
}

TEST_CASE("every text arrives as it was sent") {
    auto vmid = fresh_vmid();
    const std::string machine = "/nodes/alfaromeo/qemu/" + vmid;
    CHECK(finish("POST", "/nodes/alfaromeo/qemu", "vmid=" + vmid) == "OK");
    for (const std::string text :
         {"plain", "a=b&c;d+e %41", "{\"claim\": \"ä\"}", "two\nlines", "日本 / \\ ' \""}) {
        CHECK(call("PUT", machine + "/config", base::encode_form({{"description", text}})).status == 200);
        auto config = call("GET", machine + "/config").data();
        auto read = std::string(config.at("description").as_string());
        while (read.ends_with('\n')) read.pop_back();
        CHECK(read == text);
    }
    auto json = request("PUT", machine + "/config", R"({"cores":4,"onboot":true,"tags":"a;b"})");
    json.headers.set("Content-Type", "application/json");
    CHECK(server().send(json).status == 200);
    CHECK(call("GET", machine + "/config").data().at("cores") == 4);
    CHECK(finish("DELETE", machine) == "OK");
}
