// Tests boot data over HTTP: who may read which file, and what the server never reveals.
#include "bootstrap/seed_server.hpp"

#include <boost/asio/io_context.hpp>

#include "base/log.hpp"
#include "bootstrap/iso_image.hpp"
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
    bool may_be_right(std::string_view key) const override { return is_seed_key_of(key, kToken); }
    Seed content{"#cloud-config\n{}\n", "instance-id: a\n", ""};
    bool fails = false;
};

base::HttpResponse get(SeedSource& source, const std::string& target, const std::string& method = "GET",
                       const base::HttpHeaders& headers = {}) {
    base::HttpRequest request;
    request.method = method;
    request.target = target;
    request.headers = headers;
    const auto handler = make_seed_handler(source);
    boost::asio::io_context context;
    fake::VirtualClock clock;
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
    const auto nothing = get(source, place + "network-config");
    CHECK((nothing.status == 200 && nothing.body.empty()));
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

TEST_CASE("Who guesses has to connect for each guess, and who has a key comes first") {
    Source source;
    const auto right = "/" + seed_key(kToken) + "/user-data";
    const auto wrong = "/" + seed_key(Token{"abc123", "fedcba9876543210"}) + "/user-data";
    CHECK(get(source, wrong).headers.find("Connection") == "close");
    CHECK_FALSE(get(source, right).headers.find("Connection"));
    const auto comes_first = make_seed_precedence(source);
    base::HttpRequest request;
    request.target = right;
    CHECK(comes_first(request));
    for (const auto& target : {wrong, std::string("/"), std::string("x"), std::string()}) {
        request.target = target;
        CHECK_FALSE(comes_first(request));
    }
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

TEST_CASE("A BMC reads the files as one image, whole or block by block") {
    Source source;
    const auto target = "/" + seed_key(kToken) + "/seed.iso";
    const auto image = nocloud_image(source.content);
    const auto whole = get(source, target);
    CHECK(whole.status == 200);
    CHECK(whole.body == image);
    CHECK(whole.headers.find("Accept-Ranges") == "bytes");
    CHECK(whole.headers.find("Content-Type") == "application/octet-stream");
    std::string read;
    for (std::size_t at = 0; at < image.size(); at += 5000) {
        base::HttpHeaders headers;
        headers.set("Range", "bytes=" + std::to_string(at) + "-" + std::to_string(at + 4999));
        const auto part = get(source, target, "GET", headers);
        CHECK(part.status == 206);
        read += part.body;
    }
    CHECK(read == image);
    base::HttpHeaders headers;
    headers.set("Range", "bytes=0-0");
    // The server leaves the body out; the length in the header is that of the whole image.
    CHECK(get(source, target, "HEAD", headers).body.size() == image.size());
    headers.set("If-Range", "\"another version\"");
    CHECK(get(source, target, "GET", headers).status == 200);
}

TEST_CASE("Parts of an answer as RFC 9110 has them") {
    base::HttpResponse complete;
    complete.status = 200;
    complete.body = "0123456789";
    struct Case {
        std::string range;
        int status;
        std::string body;
        std::string content_range;
    };
    const std::vector<Case> cases{
        {"bytes=0-3", 206, "0123", "bytes 0-3/10"},   {"bytes=7-", 206, "789", "bytes 7-9/10"},
        {"bytes=-2", 206, "89", "bytes 8-9/10"},      {"bytes=-20", 206, "0123456789", "bytes 0-9/10"},
        {"bytes=8-99999", 206, "89", "bytes 8-9/10"}, {"bytes=10-12", 416, "", "bytes */10"},
        {"bytes=-0", 416, "", "bytes */10"},          {"", 200, "0123456789", ""},
        {"bytes=3-1", 200, "0123456789", ""},         {"bytes=-", 200, "0123456789", ""},
        {"bytes=0-1,4-5", 200, "0123456789", ""},     {"bytes=99999999999999999999-", 200, "0123456789", ""},
        {"lines=0-1", 200, "0123456789", ""},
    };
    for (const auto& each : cases) {
        INFO(each.range);
        const auto part = part_of(complete, each.range);
        CHECK(part.status == each.status);
        CHECK(part.body == each.body);
        CHECK(part.headers.find("Content-Range").value_or("") == each.content_range);
    }
    complete.body.clear();
    CHECK(part_of(complete, "bytes=0-3").status == 200);
}
