// Tests the authenticating transport against our own server: tokens that rotate, plugins, certificates.
#include <filesystem>
#include <fstream>

#include "base/http_server.hpp"
#include "base/random.hpp"
#include "kube/config.hpp"
#include "kube/transport.hpp"
#include "test/component/base/certificates.hpp"
#include "test/component/base/loop.hpp"

namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Fixture {
    test::Loop loop;
    fs::path directory = fs::temp_directory_path() /
                         ("kubenodesmith-transport-" + base::make_system_random()->text(12, "0123456789"));
    std::string accepted = "Bearer good";  // the header that the server accepts
    std::vector<std::string> seen;         // the headers that the server saw
    std::vector<std::string> targets;
    std::unique_ptr<base::HttpServer> server;

    Fixture() {
        fs::create_directories(directory);
        auto handler = [this](base::HttpRequest request) -> asio::awaitable<base::HttpResponse> {
            seen.emplace_back(request.headers.find("Authorization").value_or("none"));
            targets.push_back(request.target);
            base::HttpResponse response;
            response.status = seen.back() == accepted ? 200 : 401;
            co_return response;
        };
        server = base::make_http_server(loop.context.get_executor(), *loop.clock, {}, handler);
        loop.background.spawn(server->run());
    }
    ~Fixture() { fs::remove_all(directory); }

    kube::ClusterConfig config() const {
        kube::ClusterConfig result;
        result.source = "test";
        result.http.url = "http://127.0.0.1:" + std::to_string(server->port());
        return result;
    }
    std::string write(const std::string& name, const std::string& content) {
        const auto path = directory / name;
        std::ofstream(path) << content;
        return path;
    }
    std::unique_ptr<base::HttpTransport> transport(const kube::ClusterConfig& from) {
        return kube::make_transport(loop.context.get_executor(), *loop.clock, from);
    }
    static asio::awaitable<int> status_of(base::HttpTransport& over) {
        base::HttpRequest request;
        request.method = "POST";
        request.target = "/x";
        auto response = co_await over.send(std::move(request));
        co_return response.status;
    }
    // Returns a configuration with a shell script as credential plugin. Each run adds a line to "runs".
    kube::ClusterConfig with_plugin(const std::string& status) {
        auto script = write("plugin", "#!/bin/sh\necho \"$KUBERNETES_EXEC_INFO\" >> " +
                                          (directory / "runs").string() + "\n" + status + "\n");
        fs::permissions(script, fs::perms::owner_all);
        auto result = config();
        result.exec.emplace();
        result.exec->command = script;
        result.exec->api_version = "client.authentication.k8s.io/v1";
        return result;
    }
    std::size_t runs() const {
        std::ifstream file(directory / "runs");
        std::string line;
        std::size_t count = 0;
        while (std::getline(file, line)) ++count;
        return count;
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the token and the prefix of the server's URL are added to each request") {
    auto from = config();
    from.bearer_token = "good";
    from.path_prefix = "/k8s/clusters/c-1";
    auto over = transport(from);
    loop.run([&]() -> asio::awaitable<void> {
        int status = co_await status_of(*over);
        CHECK(status == 200);
    });
    CHECK(targets == std::vector<std::string>{"/k8s/clusters/c-1/x"});
}

TEST_CASE_METHOD(Fixture, "a token that has rotated is found when the old one is refused") {
    auto from = config();
    from.token_file = write("token", "good\n");
    auto over = transport(from);
    loop.run([&]() -> asio::awaitable<void> {
        int before = co_await status_of(*over);
        CHECK(before == 200);
        accepted = "Bearer new";
        write("token", "new");
        int after = co_await status_of(*over);
        CHECK(after == 200);
        accepted = "Bearer other";
        int refused = co_await status_of(*over);
        CHECK(refused == 401);
    });
    CHECK(seen == std::vector<std::string>{"Bearer good", "Bearer good", "Bearer new", "Bearer new"});
}

TEST_CASE_METHOD(Fixture, "a token file that is gone for a while does no harm") {
    auto from = config();
    from.token_file = write("token", "good");
    auto over = transport(from);
    fs::remove(from.token_file);
    loop.run([&]() -> asio::awaitable<void> {
        int status = co_await status_of(*over);
        CHECK(status == 200);
        accepted = "Bearer new";
        int refused = co_await status_of(*over);
        CHECK(refused == 401);
    });
}

TEST_CASE_METHOD(Fixture,
                 "a plugin is run once for its credential's life, and again when that ends or is refused") {
    auto from = with_plugin(R"(echo '{"kind":"ExecCredential","status":{"token":"good"}}')");
    SECTION("no expiration") {
        auto over = transport(from);
        loop.run([&]() -> asio::awaitable<void> {
            for (int i = 0; i < 3; ++i) co_await status_of(*over);
            CHECK(runs() == 1);
            accepted = "Bearer other";
            int refused = co_await status_of(*over);
            CHECK(refused == 401);
            CHECK(runs() == 2);
        });
    }
    SECTION("expired at once") {
        from =
            with_plugin(R"(echo '{"status":{"token":"good","expirationTimestamp":"2020-01-01T00:00:00Z"}}')");
        auto over = transport(from);
        loop.run([&]() -> asio::awaitable<void> {
            for (int i = 0; i < 3; ++i) co_await status_of(*over);
            CHECK(runs() == 3);
        });
    }
    SECTION("many calls at the start") {
        auto over = transport(from);
        loop.run([&]() -> asio::awaitable<void> {
            base::TaskGroup group(loop.context.get_executor());
            auto call = [&]() -> asio::awaitable<void> { co_await status_of(*over); };
            for (int i = 0; i < 5; ++i) group.spawn(call());
            co_await group.join();
            CHECK(runs() == 1);
        });
        CHECK(seen == std::vector<std::string>(5, "Bearer good"));
    }
}

TEST_CASE_METHOD(Fixture, "a plugin that fails is named, and what it printed is not shown") {
    auto from = with_plugin("echo '{\"status\":{\"secret\":\"s3cret\"}}'");
    std::string expected = "printed neither a token nor a client certificate";
    SECTION("no credential") {}
    SECTION("exit code") {
        from = with_plugin("echo s3cret; exit 7");
        from.exec->install_hint = "log in first";
        expected = "exit code 7 (log in first)";
    }
    SECTION("not there") {
        from.exec->command = "/no/such/plugin";
        expected = "running /no/such/plugin: No such file or directory";
    }
    auto over = transport(from);
    std::string failure;
    loop.run([&]() -> asio::awaitable<void> {
        try {
            co_await status_of(*over);
        } catch (const base::TransportError& error) {
            CHECK_FALSE(error.request_may_have_been_sent);
            failure = error.what();
        }
    });
    CHECK(failure == "getting credentials for the API server: credential plugin " + from.exec->command +
                         ": " + expected);
}

TEST_CASE_METHOD(Fixture,
                 "certificates that cannot be used are refused at the start, naming the configuration") {
    auto from = config();
    from.http.url = "https://127.0.0.1:1";
    from.http.tls.ca_bundle_pem = "nonsense";
    CHECK_THROWS_WITH(transport(from), Catch::StartsWith("test: CA bundle: expected PEM certificates"));
    from.http.tls.ca_bundle_pem.clear();
    test::Authority authority("a");
    from.http.tls.client_certificate_pem = authority.issue({"x", ""}).certificate_pem;
    from.http.tls.client_key_pem = authority.issue({"y", ""}).key_pem;
    CHECK_THROWS_WITH(transport(from), Catch::StartsWith("test: key: "));
    from.http.tls = {};
    from.token_file = "/no/such/token";
    CHECK_THROWS_WITH(transport(from), "test: reading /no/such/token: No such file or directory");
    loop.run([]() -> asio::awaitable<void> { co_return; });
}
