// Boot data over HTTP: who may read what, and what is never told.
#include "bootstrap/seed_server.hpp"

#include <boost/asio/io_context.hpp>

#include "base/log.hpp"
#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"

using namespace bootstrap;

namespace {

const Token kToken{"abc123", "0123456789abcdef"};

class Source final : public SeedSource {
public:
    boost::asio::awaitable<std::optional<Seed>> seed(std::string key) override {
        if (fails) throw std::runtime_error("the API server does not answer");
        if (!is_seed_key_of(key, kToken)) co_return std::nullopt;
        co_return content;
    }
    Seed content{"#cloud-config\n{}\n", "instance-id: a\n", ""};
    bool fails = false;
};

base::HttpResponse get(SeedSource& source, const std::string& target, const std::string& method = "GET") {
    base::HttpRequest request;
    request.method = method;
    request.target = target;
    const auto handler = make_seed_handler(source);
    boost::asio::io_context context;
    base::VirtualClock clock;
    return test::run(context, clock, handler(std::move(request)));
}

}  // namespace

TEST_CASE("A machine that has its address reads the files of NoCloud") {
    Source source;
    const auto place = "/" + seed_key(kToken) + "/";
    CHECK(get(source, place + "user-data").body == "#cloud-config\n{}\n");
    CHECK(get(source, place + "meta-data").body == "instance-id: a\n");
    const auto vendor = get(source, place + "vendor-data");
    CHECK((vendor.status == 200 && vendor.body.empty()));
    CHECK(get(source, place + "network-config").status == 404);
    source.content.network_config = "version: 2\n";
    CHECK(get(source, place + "network-config").body == "version: 2\n");
    CHECK(get(source, "/behind/a/balancer" + place + "meta-data?x=1").status == 200);
    CHECK(get(source, place + "meta-data").headers.find("Cache-Control") == "no-store");
}

TEST_CASE("Whoever does not have the address gets nothing") {
    Source source;
    auto other = seed_key(Token{"abc123", "fedcba9876543210"});
    CHECK(other != seed_key(kToken));
    CHECK(token_id_of_key(other) == "abc123");
    auto cut = seed_key(kToken);
    cut.pop_back();
    for (const auto& target : {"/" + other + "/user-data", "/" + cut + "/user-data", std::string("/"),
                               std::string("//user-data"), std::string("/user-data"), std::string("x"),
                               "/" + seed_key(kToken) + "/", "/" + seed_key(kToken) + "/../user-data/x"}) {
        INFO(target);
        CHECK(get(source, target).status == 404);
    }
    CHECK(get(source, "/" + seed_key(kToken) + "/user-data", "POST").status == 405);
}

TEST_CASE("The address does not tell the token's secret") {
    CHECK(seed_key(kToken).find(kToken.secret) == std::string::npos);
    CHECK(seed_key(kToken).size() == 6 + 1 + 32);
}

TEST_CASE("What fails is worth asking again, and the log does not tell the address") {
    Source source;
    source.fails = true;
    std::string log;
    base::log::redirect([&log](base::log::Level, std::string_view line) { log += line; });
    CHECK(get(source, "/" + seed_key(kToken) + "/user-data").status == 503);
    base::log::redirect({});
    CHECK(log.find("the API server does not answer") != std::string::npos);
    CHECK(log.find(seed_key(kToken)) == std::string::npos);
}
