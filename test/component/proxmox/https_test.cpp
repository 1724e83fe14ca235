// Tests the same provider over real sockets and TLS, in real time.
#include "base/http_server.hpp"
#include "providers/boot_sources.hpp"
#include "providers/environment.hpp"
#include "providers/machine.hpp"
#include "providers/registry/registry.hpp"
#include "test/component/base/certificates.hpp"
#include "test/component/base/loop.hpp"
#include "test/simulators/proxmox/core/simulator.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/support/seeded_random.hpp"

using namespace providers;
using Catch::Contains;

namespace {

namespace asio = boost::asio;

class ImageOfNoughts final : public BootImageSource {
public:
    asio::awaitable<std::string> iso_image(MachineRecord) override { co_return std::string(200'000, '\0'); }
};

struct Fixture {
    test::Loop loop;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    proxmox_simulator::Simulator simulator{loop.context.get_executor(), *loop.clock, *random,
                                           proxmox_simulator::default_world()};
    test::Authority authority{"Proxmox Virtual Environment"};
    test::KeyPair pair = authority.issue({"alfaromeo", "IP:127.0.0.1"});
    std::unique_ptr<base::HttpServer> server;
    base::MetricsRegistry metrics;
    ProviderEnvironment environment;
    ProviderConfig config;
    std::optional<base::HttpResponse> instead;  // the answer that replaces the simulator's

    Fixture()
        : environment{loop.context.get_executor(),
                      *loop.clock,
                      *random,
                      metrics,
                      [this](base::HttpClientOptions options) {
                          return base::make_http_client(loop.context.get_executor(), *loop.clock,
                                                        std::move(options));
                      },
                      [] { return true; }} {
        base::HttpServerOptions options;
        options.key_pair = [this] { return pair; };
        server =
            base::make_http_server(loop.context.get_executor(), *loop.clock, options,
                                   [this](base::HttpRequest request) { return answer(std::move(request)); });
        loop.background.spawn(server->run());
        config.namespace_ = "default";
        config.name = "lab";
        config.uid = "provider";
        config.cluster_id = "cluster";
        config.spec.proxmox.emplace();
        config.spec.proxmox->endpoint = "https://127.0.0.1:" + std::to_string(server->port()) + "/api2/json";
        config.credentials = {{"PROXMOX_TOKEN_ID", "automation@pve!kubenodesmith"},
                              {"PROXMOX_SECRET", proxmox_simulator::kDefaultTokenSecret}};
    }

    asio::awaitable<base::HttpResponse> answer(base::HttpRequest request) {
        if (instead) co_return *instead;
        co_return co_await simulator.handle(std::move(request));
    }
    asio::awaitable<Health> check() {
        auto provider = make_provider(config, environment);
        co_return co_await provider->check();
    }
    // Runs `body`, then ends the simulator.
    void run(std::function<asio::awaitable<void>()> body) {
        auto all = [&]() -> asio::awaitable<void> {
            co_await body();
            co_await simulator.shut_down();
        };
        loop.run(all);
    }
};

}  // namespace

TEST_CASE("The server is trusted by its CA, by its fingerprint or not at all, as configured") {
    Fixture fixture;
    fixture.run([&]() -> asio::awaitable<void> {
        const auto untrusted = co_await fixture.check();
        CHECK_FALSE(untrusted.reachable);
        CHECK(untrusted.reason == "TLSVerificationFailed");
        CHECK_THAT(untrusted.message,
                   Contains("certificate") && Contains("set spec.proxmox.tls.fingerprintSHA256 to " +
                                                           fixture.pair.fingerprint_sha256,
                                                       Catch::CaseSensitive::No));

        fixture.config.spec.proxmox->tls.caBundle = fixture.authority.certificate_pem();
        const auto by_ca = co_await fixture.check();
        CHECK(by_ca.reachable);

        fixture.config.spec.proxmox->tls = {};
        fixture.config.spec.proxmox->tls.fingerprintSHA256 = fixture.pair.fingerprint_sha256;
        const auto by_fingerprint = co_await fixture.check();
        CHECK(by_fingerprint.reachable);

        fixture.config.spec.proxmox->tls.fingerprintSHA256 = std::string(64, '0');
        const auto wrong_fingerprint = co_await fixture.check();
        CHECK(wrong_fingerprint.reason == "TLSVerificationFailed");
        CHECK_THAT(wrong_fingerprint.message,
                   Contains("set spec.proxmox.tls.fingerprintSHA256 to " + fixture.pair.fingerprint_sha256,
                            Catch::CaseSensitive::No));

        fixture.config.spec.proxmox->tls = {};
        fixture.config.credentials["PROXMOX_SKIP_TLS_VERIFY"] = "true";
        const auto unverified = co_await fixture.check();
        CHECK(unverified.reachable);
    });
}

TEST_CASE("An endpoint that answers too much, or is no Proxmox, is told of without its words") {
    Fixture fixture;
    fixture.config.credentials["PROXMOX_SKIP_TLS_VERIFY"] = "true";
    fixture.run([&]() -> asio::awaitable<void> {
        fixture.instead.emplace();
        fixture.instead->status = 200;
        fixture.instead->body = std::string(8 * 1024 * 1024 + 1, '[');
        const auto too_long = co_await fixture.check();
        CHECK(too_long.reason == "Unreachable");
        CHECK_THAT(too_long.message, Contains("longer than the 8388608 bytes allowed"));

        std::string many = R"({"data":[{})";
        while (many.size() < 7 * 1024 * 1024) many += ",{}";
        fixture.instead->body = many + "]}";
        const auto too_large = co_await fixture.check();
        CHECK(too_large.reason == "Unreachable");
        CHECK_THAT(too_large.message, Contains("more than the 32 MiB of memory"));

        fixture.instead->status = 401;
        fixture.instead->reason = "router of the tenth floor";
        fixture.instead->body = "<html><title>router of the tenth floor</title></html>";
        const auto foreign = co_await fixture.check();
        CHECK_FALSE(foreign.message.empty());
        CHECK_THAT(foreign.message, !Contains("router"));
        CHECK_THAT(foreign.message, Contains("does not answer like a Proxmox API"));
    });
}

TEST_CASE("A machine with a boot image lives and dies over HTTPS") {
    Fixture fixture;
    fixture.config.credentials["PROXMOX_SKIP_TLS_VERIFY"] = "true";
    fixture.simulator.cluster().world.durations.tasks.clear();
    ImageOfNoughts image;
    fixture.run([&]() -> asio::awaitable<void> {
        auto provider = make_provider(fixture.config, fixture.environment);
        MachineSpec spec;
        spec.identity = {"cluster",
                         "provider",
                         "default",
                         "workers-1",
                         "claim",
                         1,
                         "bbbbbbbb-0000-5000-8000-000000000001"};
        spec.name = "workers-1";
        spec.cpu_cores = 1;
        spec.memory_mib = 1024;
        spec.boot_image = &image;
        auto state = MachineState::placed;
        while (state != MachineState::running) {
            auto result = co_await provider->ensure(spec);
            const auto& machine = std::get<Machine>(result);
            spec.record = machine.record;
            state = machine.state;
            co_await fixture.loop.clock->sleep_for(machine.retry_after);
        }
        const auto& vm = fixture.simulator.cluster().world.machines.at(std::stoi(spec.record.machine_id));
        CHECK(fixture.simulator.cluster().view(vm).cdrom == std::string(200'000, '\0'));
        while (true) {
            auto result = co_await provider->remove(spec.identity, spec.record, nullptr);
            if (std::holds_alternative<Gone>(result)) break;
            const auto& busy = std::get<RemovalInProgress>(result);
            spec.record.task = busy.task;
            co_await fixture.loop.clock->sleep_for(busy.retry_after);
        }
        CHECK(fixture.simulator.cluster().world.machines.empty());
    });
}
