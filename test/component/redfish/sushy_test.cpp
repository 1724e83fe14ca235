// Tests a provider with real time and real TLS connections, against the emulator that test_sushy.py has
// started.
#include <cstdlib>

#include "base/http_server.hpp"
#include "base/task_group.hpp"
#include "bootstrap/iso_image.hpp"
#include "bootstrap/seed_server.hpp"
#include "providers/boot_sources.hpp"
#include "providers/capabilities.hpp"
#include "providers/environment.hpp"
#include "providers/provider.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"
#include "test/unit/redfish/world.hpp"

using providers::HostStage;
using redfish_tests::Inventory;
using std::chrono::seconds;

namespace {

namespace asio = boost::asio;

std::string setting(const char* name) {
    const char* value = std::getenv(name);
    if (!value) throw std::runtime_error(std::string(name) + " is not set: run test_sushy.py");
    return value;
}

std::string uuid_of(int index) {
    return "4c4c4544-0000-4000-8000-00000000000" + std::to_string(index);
}

struct Lab {
    explicit Lab(api::v1alpha1::RedfishSpec spec = {},
                 const std::string& password = setting("REDFISH_PASSWORD"))
        : environment{context.get_executor(),
                      *clock,
                      *random,
                      metrics,
                      [this](base::HttpClientOptions options) {
                          return base::make_http_client(context.get_executor(), *clock, std::move(options));
                      },
                      [] { return true; },
                      &inventory} {
        config.namespace_ = "default";
        config.name = "rack";
        config.uid = "uid-of-the-provider";
        config.spec.type = api::v1alpha1::ProviderType::redfish;
        config.spec.redfish = std::move(spec);
        config.spec.credentialsSecretRef = api::v1alpha1::SecretReference{"bmc", ""};
        config.credentials = {{"username", setting("REDFISH_USER")}, {"password", password}};
        provider = providers::redfish::make_redfish_provider(config, environment);
    }

    providers::Host& add(int index) {
        providers::Host host;
        host.name = "host-" + std::to_string(index);
        host.bmc.url = setting("REDFISH_URL");
        host.bmc.system_id = uuid_of(index);
        host.bmc.ca_bundle_pem = setting("REDFISH_CA");
        host.power_state = "Off";
        host.system_uuid = uuid_of(index);
        host.capacity = providers::Capacity{8, 16384};
        host.readiness = providers::HostReadiness{true, ""};
        return inventory.objects[host.name] = host;
    }

    providers::HostExaminer& examiner() { return *provider->capabilities().host_examiner; }
    template <class T>
    T run(asio::awaitable<T> work) {
        std::optional<T> result;
        std::exception_ptr failure;
        asio::co_spawn(context, std::move(work), [&](std::exception_ptr error, T value) {
            failure = error;
            result = std::move(value);
        });
        context.restart();
        while (!result && !failure) context.run_one();
        if (failure) std::rethrow_exception(failure);
        return std::move(*result);
    }
    void pass(base::Duration duration) { run(slept(duration)); }
    asio::awaitable<bool> slept(base::Duration duration) {
        co_await clock->sleep_for(duration);
        co_return true;
    }

    // Makes one step. Returns false if the host neither runs nor has failed.
    bool wake(providers::MachineIdentity& identity, providers::MachineRecord& record) {
        providers::MachineSpec spec;
        spec.identity = identity;
        spec.cpu_cores = 4;
        spec.memory_mib = 1024;
        spec.record = record;
        spec.boot_image = boot_image;
        auto result = run(provider->ensure(std::move(spec)));
        if (auto* failed = std::get_if<providers::AttemptFailed>(&result)) FAIL(failed->message);
        if (auto* busy = std::get_if<providers::NotReady>(&result)) pass(busy->retry_after);
        auto* machine = std::get_if<providers::Machine>(&result);
        if (!machine) return false;
        record = machine->record;
        if (machine->state != providers::MachineState::placed)
            identity.system_uuid = machine->identity.system_uuid;
        if (machine->state == providers::MachineState::running) return true;
        pass(machine->retry_after);
        return false;
    }
    bool is_gone(const providers::MachineIdentity& identity, const providers::MachineRecord& record) {
        auto result = run(provider->remove(identity, record, nullptr));
        if (std::holds_alternative<providers::Gone>(result)) return true;
        if (auto* blocked = std::get_if<providers::RemovalBlocked>(&result)) FAIL(blocked->message);
        pass(std::get<providers::RemovalInProgress>(result).retry_after);
        return false;
    }

    asio::io_context context;
    std::unique_ptr<base::Clock> clock = base::make_steady_clock(context.get_executor());
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    base::MetricsRegistry metrics;
    Inventory inventory;
    providers::ProviderEnvironment environment;
    providers::ProviderConfig config;
    std::unique_ptr<providers::Provider> provider;
    providers::BootImageSource* boot_image = nullptr;
};

// Served provides the operator's boot data, and beside it the image that the host boots.
class Served final : public providers::ServedBootData, public bootstrap::SeedSource {
public:
    explicit Served(Lab& lab) : lab_(lab), tasks_(lab.context.get_executor()) {
        auto handler = [this, seeds = bootstrap::make_seed_handler(*this)](
                           base::HttpRequest request) -> asio::awaitable<base::HttpResponse> {
            requests.push_back(request);
            if (request.target != "/live.iso") co_return co_await seeds(std::move(request));
            base::HttpResponse image;
            image.status = 200;
            image.body = std::string(4096, '\0');
            co_return image;
        };
        server_ = base::make_http_server(lab.context.get_executor(), *lab.clock, {}, std::move(handler));
        tasks_.spawn(server_->run());
    }
    ~Served() override {
        tasks_.stop();
        while (tasks_.size() > 0) lab_.context.run_one();
    }
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    std::string origin() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
    std::string image() const { return "/" + bootstrap::seed_key(token_) + "/seed.iso"; }
    asio::awaitable<std::string> iso_image(providers::MachineRecord) override { co_return ""; }
    asio::awaitable<std::string> url(providers::MachineRecord) override {
        co_return origin() + "/" + bootstrap::seed_key(token_) + "/";
    }
    asio::awaitable<std::optional<bootstrap::Seed>> seed(std::string key) override {
        if (!bootstrap::is_seed_key_of(key, token_)) co_return std::nullopt;
        co_return content;
    }
    bool may_be_right(std::string_view) const override { return true; }

    const bootstrap::Seed content{"#cloud-config\n{}\n", "instance-id: a\n", ""};
    std::vector<base::HttpRequest> requests;

private:
    const bootstrap::Token token_{"abc123", "0123456789abcdef"};
    Lab& lab_;
    std::unique_ptr<base::HttpServer> server_;
    base::TaskGroup tasks_;
};

providers::MachineIdentity identity_of(const std::string& claim) {
    providers::MachineIdentity identity;
    identity.claim_name = claim;
    identity.claim_uid = "uid-of-" + claim;
    identity.system_uuid = "11111111-2222-5333-8444-555555555555";
    return identity;
}

std::string power_of(Lab& lab, const std::string& host) {
    return lab.run(lab.examiner().examine_host(host)).power_state;
}

}  // namespace

TEST_CASE("a host behind sushy is examined with Basic, because there are no sessions") {
    Lab lab;
    lab.add(1);
    const auto report = lab.run(lab.examiner().examine_host("host-1"));
    INFO(report.message);
    CHECK(report.reason.empty());
    CHECK(report.system_uuid == uuid_of(1));
    CHECK(report.macs == std::vector<std::string>{"52:54:00:00:00:01"});
}

TEST_CASE("a host behind sushy is woken by PXE and shut down again") {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = api::v1alpha1::BootMethod::PXE;
    Lab lab(spec);
    lab.add(1);
    auto identity = identity_of("c");
    providers::MachineRecord record;
    while (!lab.wake(identity, record)) continue;
    CHECK(power_of(lab, "host-1") == "On");
    lab.inventory.objects["host-1"].use.stage = HostStage::in_use;
    while (!lab.is_gone(identity, record)) continue;
    CHECK(power_of(lab, "host-1") == "Off");
    CHECK_FALSE(lab.inventory.objects["host-1"].use.owner);
}

TEST_CASE("a host behind sushy is off although ForceOff came while On was under way") {
    // The emulator drops the second request and answers 204 to it.
    Lab lab;
    lab.add(2);
    auto identity = identity_of("c");
    providers::MachineRecord record;
    for (int i = 0; i < 3; ++i) lab.wake(identity, record);
    while (!lab.is_gone(identity, record)) continue;
    CHECK(power_of(lab, "host-2") == "Off");
}

TEST_CASE("a host behind sushy is not trusted without its certificate authority") {
    Lab lab;
    lab.add(3).bmc.ca_bundle_pem.clear();
    const auto report = lab.run(lab.examiner().examine_host("host-3"));
    CHECK_FALSE(report.reachable);
    CHECK(report.message.find("certificate") != std::string::npos);
}

TEST_CASE("a host behind sushy is refused with a wrong password, which stays unsaid") {
    Lab lab({}, "a-wrong-password");
    lab.add(3);
    const auto report = lab.run(lab.examiner().examine_host("host-3"));
    CHECK(report.reason == "Unauthorized");
    CHECK(report.message.find("a-wrong-password") == std::string::npos);
}

TEST_CASE("a host behind sushy takes and gives back its boot override") {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = api::v1alpha1::BootMethod::PXE;
    Lab lab(spec);
    auto& host = lab.add(3);
    auto identity = identity_of("c");
    providers::MachineRecord record;
    while (!lab.wake(identity, record)) continue;
    lab.inventory.objects["host-3"].use.stage = HostStage::in_use;
    // After the host has served, the override is cancelled as far as the BMC permits.
    const auto report = lab.run(lab.examiner().examine_host(host.name));
    INFO(report.message);
    CHECK(report.reason.empty());
    while (!lab.is_gone(identity, record)) continue;
}

// The test ends with the host on, and the medium where test_sushy.py reads it.
TEST_CASE("a host behind sushy has its boot data beside the image that it boots") {
    api::v1alpha1::RedfishSpec spec;
    spec.boot.method = api::v1alpha1::BootMethod::VirtualMedia;
    spec.boot.imageURL = "http://127.0.0.1/not-yet-known";
    Lab lab(spec);
    Served served(lab);
    lab.config.spec.redfish->boot.imageURL = served.origin() + "/live.iso";
    lab.provider = providers::redfish::make_redfish_provider(lab.config, lab.environment);
    lab.boot_image = &served;
    lab.add(4);
    auto identity = identity_of("c");
    providers::MachineRecord record;
    while (!lab.wake(identity, record)) continue;
    CHECK(power_of(lab, "host-4") == "On");
    CHECK(std::any_of(served.requests.begin(), served.requests.end(),
                      [&](const base::HttpRequest& each) { return each.target == served.image(); }));
}

TEST_CASE("boot data are read block by block over HTTP") {
    Lab lab;
    Served served(lab);
    base::HttpClientOptions options;
    options.url = served.origin();
    const auto client = base::make_http_client(lab.context.get_executor(), *lab.clock, options);
    const auto ask = [&](const std::string& method, const std::string& range) {
        base::HttpRequest request;
        request.method = method;
        request.target = served.image();
        if (!range.empty()) request.headers.set("Range", range);
        return lab.run(client->send(std::move(request)));
    };
    const auto image = bootstrap::nocloud_image(served.content);
    const auto head = ask("HEAD", "");
    CHECK(head.status == 200);
    CHECK(head.headers.find("Content-Length") == std::to_string(image.size()));
    CHECK(head.headers.find("Accept-Ranges") == "bytes");
    CHECK(head.body.empty());
    std::string read;
    for (std::size_t at = 0; at < image.size(); at += 2048) {
        const auto block = ask("GET", "bytes=" + std::to_string(at) + "-" + std::to_string(at + 2047));
        CHECK(block.status == 206);
        read += block.body;
    }
    CHECK(read == image);
    CHECK(ask("GET", "bytes=9999999-").status == 416);
}
