// Tests how requests are read: encodings, limits, envelopes.
#include "test/support/catch.hpp"
#include "test/unit/proxmox_simulator/driver.hpp"

namespace proxmox_simulator::test {
namespace {

struct Fixture : Driver {
    Fixture() { finish(post("/nodes/alfaromeo/qemu", "vmid=100")); }
    Answer change(const std::string& form) { return put("/nodes/alfaromeo/qemu/100/config", form); }
    std::string option(const std::string& name) {
        return std::string(get("/nodes/alfaromeo/qemu/100/config").data().at(name).as_string());
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "an unescaped semicolon separates parameters as an ampersand does") {
    CHECK(change("tags=a;b").errors() == std::vector<std::string>{"b"});
    CHECK(change("tags=a%3Bb").status == 200);
    CHECK(option("tags") == "a;b");
}

TEST_CASE_METHOD(Fixture, "of a value with an unescaped equals sign only the first piece counts") {
    CHECK(change("description=a=b").status == 200);
    CHECK(option("description") == "a");
    CHECK(change("description=a%3Db").status == 200);
    CHECK(option("description") == "a=b");
}

TEST_CASE_METHOD(Fixture, "JSON bodies are read with their types") {
    auto wish = request("PUT", "/nodes/alfaromeo/qemu/100/config", R"({"cores":4,"onboot":true,"tags":"x"})");
    wish.headers.set("Content-Type", "application/json");
    CHECK(send(wish).status == 200);
    CHECK(get("/nodes/alfaromeo/qemu/100/config").data().at("cores") == 4);
    wish.body = "[1]";
    CHECK(send(wish).reason ==
          "Not a HASH reference at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line 978.");
    wish.body = R"({"cores":"many"})";
    CHECK(send(wish).errors() == std::vector<std::string>{"cores"});
}

TEST_CASE_METHOD(Fixture, "wrong parameters are all named, each with its reason") {
    auto answer =
        post("/nodes/alfaromeo/qemu", "vmid=5&name=a_b&cores=x&bogus=1&onboot=true&net0=virtio%2Cbridge%3D");
    CHECK(answer.status == 400);
    CHECK(answer.reason == "Parameter verification failed.");
    CHECK(answer.errors().size() == 6);
}

TEST_CASE_METHOD(Fixture, "a parameter that contradicts the path is refused") {
    CHECK(change("vmid=101").errors() == std::vector<std::string>{"vmid"});
}

TEST_CASE_METHOD(Fixture, "framing that Proxmox does not know is refused") {
    auto wish = request("POST", "/pools", "poolid=x");
    SECTION("chunks") {
        wish.headers.set("Transfer-Encoding", "chunked");
        CHECK(send(wish).reason == "chunked transfer encoding not supported");
    }
    SECTION("long bodies") {
        wish.body += std::string(600'000, 'a');
        CHECK(send(wish).reason == "for data too large");
    }
    SECTION("other content types") {
        wish.headers.set("Content-Type", "text/plain");
        CHECK(send(wish).status == 506);
    }
    SECTION("DELETE with a body") {
        wish.method = "DELETE";
        CHECK(send(wish).reason == "Unexpected content for method 'DELETE'");
    }
    SECTION("other methods") {
        wish.method = "PATCH";
        CHECK(send(wish).status == 501);
    }
}

TEST_CASE_METHOD(Fixture, "an error is in the status line and in the body") {
    auto answer = get("/nodes/alfaromeo/qemu/4711/config");
    CHECK(answer.status == 500);
    CHECK(answer.reason == "Configuration file 'nodes/alfaromeo/qemu-server/4711.conf' does not exist");
    CHECK(answer.body == R"({"data":null,"message":")" + answer.reason + R"(\n"})");
}

TEST_CASE("before 8.3 the reason was in the status line only") {
    World world = default_world();
    world.version = "8.2.4";
    Driver driver(std::move(world));
    auto answer = driver.get("/nodes/alfaromeo/qemu/4711/config");
    CHECK(answer.reason.starts_with("Configuration file"));
    CHECK(answer.body == R"({"data":null})");
}

TEST_CASE_METHOD(Fixture, "uploads take multipart bodies and check the name's extension") {
    const std::string body =
        "--B\r\nContent-Disposition: form-data; name=\"content\"\r\n\r\niso\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"filename\"; "
        "filename=\"a.iso\"\r\n\r\n\x01\r\n--X\x02\r\n--B--\r\n";
    auto wish = request("POST", "/nodes/porsche/storage/local/upload", body);
    wish.headers.set("Content-Type", "multipart/form-data; boundary=B");
    CHECK(finish(send(wish)) == "OK");
    CHECK(world().storages.at("local").volumes.at("porsche").at("iso/a.iso").data == "\x01\r\n--X\x02");
    CHECK(world().storages.at("local").volumes["alfaromeo"].empty());
    wish.body.replace(wish.body.find("a.iso"), 5, "a.txt");
    CHECK(send(wish).errors() == std::vector<std::string>{"filename"});
}

}  // namespace proxmox_simulator::test
