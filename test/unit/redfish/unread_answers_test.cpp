// Tests answers that cannot be read directly: compressed, too long, or not kept.
#include "base/http_client.hpp"
#include "providers/redfish/bmc/gunzip.hpp"
#include "test/support/catch.hpp"
#include "test/unit/redfish/world.hpp"

using namespace redfish_tests;
using providers::redfish::gunzip;
using redfish_simulator::gzip;
using redfish_simulator::requests;
using std::chrono::minutes;

namespace {

std::string gzipped(const std::string& text) {
    base::HttpResponse response;
    response.body = text;
    gzip({}, response);
    return response.body;
}

// This is "hello hello hello" with Huffman codes and the name of the file.
const std::string kByGzip(
    "\x1f\x8b\x08\x08\0\0\0\0\0\x03"
    "a\0"
    "\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\0"
    "\x80\x88\xf9\xe5\x11\0\0\0",
    30);

}  // namespace

TEST_CASE("what BMCs compress is read as it was, within bounds") {
    CHECK(gunzip(kByGzip, 100) == "hello hello hello");
    const std::string long_text(200'000, 'x');
    CHECK(gunzip(gzipped(long_text), long_text.size()) == long_text);
    CHECK(gunzip(gzipped(""), 0) == "");
    CHECK_FALSE(gunzip(gzipped(long_text), long_text.size() - 1));
}

TEST_CASE("what is no gzip, or is damaged anywhere, is not read") {
    CHECK_FALSE(gunzip("", 100));
    CHECK_FALSE(gunzip("{}", 100));
    for (std::size_t size = 0; size < kByGzip.size(); ++size)
        CHECK_FALSE(gunzip(std::string_view(kByGzip).substr(0, size), 100));
    auto damaged = kByGzip;
    damaged[14] = static_cast<char>(damaged[14] ^ 1);
    CHECK_FALSE(gunzip(damaged, 100));
}

TEST_CASE("a BMC that compresses all that it answers is read") {
    World world;
    world.add("a");
    world.odd("a").add({.is_for = requests("", ""), .alter = gzip});
    CHECK(world.examine("a").reason.empty());
    auto claim = world.claim("c");
    CHECK(world.wake(claim));
}

TEST_CASE("an answer that is too long is said to be so, and its BMC to answer") {
    struct Endless final : base::HttpTransport {
        asio::awaitable<base::HttpResponse> send(base::HttpRequest) override {
            throw base::ResponseTooLong("GET /redfish/v1/: the response is longer than allowed", true);
            co_return base::HttpResponse();
        }
        asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override {
            co_return nullptr;
        }
    };
    World world;
    world.add("a");
    world.environment.connect = [](const base::HttpClientOptions&) { return std::make_unique<Endless>(); };
    for (int look = 0; look < 5; ++look) {
        const auto report = world.examine("a");
        CHECK(report.reachable);
        CHECK(report.reason == "UnexpectedAnswer");
        CHECK(report.message.find("longer than allowed") != std::string::npos);
        world.pass(minutes{1});
    }
}

TEST_CASE("a boot target that the BMC accepts and does not keep is named as that") {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = api::v1alpha1::BootMethod::PXE;
    World world(spec);
    world.add("a");
    base::HttpResponse accepted;
    accepted.status = 204;
    world.odd("a").add({.is_for = requests("PATCH", "", "Boot"), .instead = accepted});
    auto claim = world.claim("c");
    CHECK_FALSE(world.wake(claim));
    CHECK(claim.outcome.find("it accepted the change and did not keep it") != std::string::npos);
    CHECK(claim.outcome.find("it offers") == std::string::npos);
}

TEST_CASE(
    "a chassis that is closed to the account keeps a host from use only where it alone could keep the lock") {
    api::v1alpha1::RedfishSpec spec;
    spec.hostLock.field = api::v1alpha1::HostLockField::AssetTag;
    for (const bool has_tag : {true, false}) {
        World world(spec);
        world.add("a", {.system_has_tag = has_tag, .chassis_has_tag = true});
        world.odd("a").add(
            {.is_for = requests("GET", "Chassis/Box"), .instead = redfish_simulator::refusal(403)});
        const auto report = world.examine("a");
        CHECK(report.reason.empty());
        REQUIRE(report.lock);
        CHECK((report.lock->reason == "LockUnsupported") != has_tag);
        auto claim = world.claim("c");
        CHECK(world.wake(claim) == has_tag);
        CHECK((claim.outcome.find("may not read the chassis") == std::string::npos) == has_tag);
    }
}
