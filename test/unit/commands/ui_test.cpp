#include "operator/commands/ui.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "test/support/catch.hpp"

using namespace kubenodesmith;
using Catch::Contains;

namespace {

base::HttpResponse asked(const UiSite& site, const std::string& target, const std::string& host,
                         const std::string& method = "GET") {
    base::HttpRequest request;
    request.method = method;
    request.target = target;
    if (!host.empty()) request.headers.set("Host", host);
    boost::asio::io_context loop;
    base::HttpResponse got;
    boost::asio::co_spawn(
        loop, make_ui_handler(site)(request),
        [&got](const std::exception_ptr&, base::HttpResponse response) { got = std::move(response); });
    loop.run();
    return got;
}

const UiSite kSite{"/secret/", 4711, [] { return std::string("{}"); }};

}  // namespace

TEST_CASE("ui answers under its own name only, so no website can lead its visitors there") {
    CHECK(asked(kSite, "/secret/", "127.0.0.1:4711").status == 200);
    CHECK(asked(kSite, "/secret/", "localhost:4711").status == 200);
    for (const auto* host : {"", "evil.example", "evil.example:4711", "127.0.0.1", "127.0.0.1:80",
                             "127.0.0.1:4711.evil.example"}) {
        INFO(host);
        CHECK(asked(kSite, "/secret/", host).status == 403);
    }
}

TEST_CASE("ui answers only who knows its path") {
    for (const auto* target :
         {"/", "/?format=json", "/secret", "/guess/", "/guess/?format=json", "/secret/more"}) {
        INFO(target);
        CHECK(asked(kSite, target, "127.0.0.1:4711").status == 404);
    }
    CHECK(asked(kSite, "/secret/?format=json", "127.0.0.1:4711").body == "{}");
    CHECK(asked(kSite, "/secret/", "127.0.0.1:4711", "POST").status == 405);
}

TEST_CASE("ui says why the cluster cannot be read") {
    const UiSite site{"/secret/", 4711,
                      []() -> std::string { throw std::runtime_error("the API server does not answer"); }};
    const auto got = asked(site, "/secret/?format=json", "127.0.0.1:4711");
    CHECK(got.status == 502);
    CHECK_THAT(got.body, Contains("the API server does not answer"));
    CHECK(asked(site, "/secret/", "127.0.0.1:4711").status == 200);
}
