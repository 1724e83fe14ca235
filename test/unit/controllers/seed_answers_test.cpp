// Tests which machines get their boot data over HTTP, and until when.
#include "controllers/claim/act/seed_answers.hpp"

#include "api/yaml.hpp"
#include "test/support/catch.hpp"
#include "test/support/cluster_info.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"
#include "test/unit/bootstrap/certificate.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;

class CountSecrets final : public fake::Interference {
public:
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        const bool is_secret = request.target.find("/secrets/") != std::string::npos;
        read += is_secret;
        if (is_secret && fails) throw base::TransportError("the API server does not answer", false);
        if (request.target != "/version" || version.empty()) return std::nullopt;
        base::HttpResponse answer;
        answer.status = 200;
        answer.body = version;
        return answer;
    }
    void after(const base::HttpRequest&, base::HttpResponse&) override {}
    int read = 0;
    bool fails = false;
    std::string version;  // version that the API server reports
};

// Serving has a claim whose machine knows the URL of its boot data, and a process that does not lead.
struct Serving {
    World world;
    CountSecrets secrets;
    base::MetricsRegistry metrics;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(7);
    kube::Client client{world.server.connect(&secrets), world.clock, metrics};
    controllers::Informers informers{client, world.clock, *random, world.context.get_executor()};
    controllers::claim::BootData boot_data{informers, client, world.clock, *random, "http://10.0.0.9:8082"};
    controllers::claim::SeedAnswers answers{informers, boot_data, world.clock, world.context.get_executor()};
    base::TaskGroup tasks{world.context.get_executor()};
    std::string key;

    Serving() {
        world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
            pool.spec.bootstrap.emplace();
            pool.spec.bootstrap->method = api::v1alpha1::BootstrapMethod::CloudInit;
            pool.spec.bootstrap->delivery = api::v1alpha1::BootstrapDelivery::HTTP;
        });
        world.server.put(test::cluster_info(test::kCACertificate));
        const auto claim = world.launch();
        const auto token = bootstrap::make_token(claim.metadata.uid, 1, *random);
        key = bootstrap::seed_key(token);
        world.server.edit<NodeSmithClaim>(kClaim, [&](NodeSmithClaim& edited) {
            edited.status.launchAttempts = 1;
            edited.status.host = "pve1";
            edited.status.bootstrapTokenID = token.id;
        });
        put(token);
        informers.spawn_all(tasks);
        world.run(1s);
    }
    ~Serving() {
        tasks.stop();
        while (tasks.size() > 0) world.run(1ms);
    }
    void put(const bootstrap::Token& token) {
        const auto expiration = api::Time(world.clock.wall_now() + 30min);
        world.server.put(bootstrap::token_secret(token, {"default", "c", "uid"}, "group", expiration));
    }
    std::optional<bootstrap::Seed> ask(const std::string& with) {
        world.run(1s);
        return test::run(world.context, world.clock, answers.seed(with));
    }
    void set_condition(std::string_view type) {
        world.server.edit<NodeSmithClaim>(kClaim, [&](NodeSmithClaim& claim) {
            controllers::claim::set(claim.status, type, api::ConditionStatus::True, "Test", "",
                                    api::Time(world.clock.wall_now()));
        });
    }
};

}  // namespace

TEST_CASE("a machine that has not joined is given its own boot data") {
    Serving serving;
    const auto seed = serving.ask(serving.key);
    REQUIRE(seed);
    CHECK(seed->user_data.find("kubeadm") != std::string::npos);
    CHECK(seed->user_data.find("cloud-init.disabled") != std::string::npos);
    CHECK(seed->meta_data.find("local-hostname") != std::string::npos);
    const auto token_id = serving.world.claim()->status.bootstrapTokenID;
    CHECK(serving.boot_data.fetched(token_id) == api::Time(serving.world.clock.wall_now()));
    CHECK_FALSE(serving.boot_data.fetched("zzzzzz"));
}

TEST_CASE("a machine is given a configuration that kubeadm of the cluster's version reads") {
    Serving serving;
    serving.secrets.version = R"({"major": "1", "minor": "30", "gitVersion": "v1.30.4"})";
    const auto seed = serving.ask(serving.key);
    REQUIRE(seed);
    CHECK(seed->user_data.find("kubeadm.k8s.io/v1beta3") != std::string::npos);
}

TEST_CASE("a Talos machine is given the pool's machine configuration with what makes it this Node") {
    Serving serving;
    serving.world.server.edit<NodeSmithPool>({"default", "p"}, [](NodeSmithPool& pool) {
        pool.spec.bootstrap->format = api::v1alpha1::BootstrapFormat::Talos;
        pool.spec.bootstrap->machineConfigSecretRef = {"talos", "worker.yaml"};
    });
    serving.world.server.edit<NodeSmithClaim>(
        kClaim, [](NodeSmithClaim& claim) { claim.status.providerID = "proxmox://pve/vms/100"; });
    api::Secret secret;
    secret.metadata.namespace_ = "default";
    secret.metadata.name = "talos";
    secret.metadata.labels->emplace(api::labels::kBootData, "true");
    secret.data["worker.yaml"].value = "machine: {type: worker, token: abc.def}\n";
    serving.world.server.put(secret);
    serving.world.run(1s);
    const auto told = [&serving](auto change) {
        serving.world.server.edit<NodeSmithPool>({"default", "p"}, change);
        const auto seed = serving.ask(serving.key);
        REQUIRE(seed);
        return api::parse_yaml(seed->user_data).at("machine");
    };
    auto machine = told([](NodeSmithPool&) {});
    CHECK(machine.at("token") == "abc.def");
    CHECK(machine.at("network").at("hostname") == "c");
    CHECK(machine.at("kubelet").at("extraArgs").at("provider-id") == "proxmox://pve/vms/100");
    // The cloud controller manager then sets the provider ID.
    machine = told(
        [](NodeSmithPool& pool) { pool.spec.bootstrap->kubelet.emplace().cloudProviderExternal = true; });
    const auto& arguments = machine.at("kubelet").at("extraArgs").as_object();
    CHECK_FALSE(arguments.contains("provider-id"));
    CHECK(arguments.at("cloud-provider") == "external");
}

TEST_CASE(
    "boot data ends with the registration, the failure, the deletion of the claim, and with its token") {
    Serving serving;
    REQUIRE(serving.ask(serving.key));
    SECTION("registered") {
        serving.set_condition(api::conditions::kRegistered);
    }
    SECTION("failed") {
        serving.set_condition(api::conditions::kFailed);
    }
    SECTION("deleted") {
        serving.world.server.edit<NodeSmithClaim>(kClaim, [](NodeSmithClaim& claim) {
            claim.metadata.finalizers = {std::string(api::finalizers::kClaim)};
        });
        test::run(serving.world.context, serving.world.clock, serving.client.remove<NodeSmithClaim>(kClaim));
    }
    SECTION("the token has expired") {
        serving.world.run(31min);
    }
    SECTION("the token is another one") {
        serving.put(bootstrap::make_token(serving.world.claim()->metadata.uid, 1, *serving.random));
    }
    CHECK_FALSE(serving.ask(serving.key));
}

TEST_CASE("a guess does not make the API server be asked") {
    Serving serving;
    CHECK_FALSE(serving.ask("zzzzzz-" + std::string(32, '0')));
    CHECK_FALSE(serving.ask(""));
    CHECK(serving.secrets.read == 0);
}

TEST_CASE("wrong keys for a machine that joins cost one request, and the right one is still answered") {
    Serving serving;
    const auto id = bootstrap::token_id_of_key(serving.key);
    const auto guess = [&](int number) {
        auto digits = std::to_string(number);
        return id + "-" + std::string(32 - digits.size(), '0') + digits;
    };
    CHECK(serving.answers.may_be_right(guess(0)));
    for (int i = 0; i < 50; ++i) CHECK_FALSE(serving.ask(guess(i)));
    CHECK(serving.secrets.read == 1);
    CHECK_FALSE(serving.answers.may_be_right(guess(0)));
    CHECK(serving.answers.may_be_right(serving.key));
    CHECK(serving.ask(serving.key));
}

TEST_CASE("wrong keys that come together cost one request") {
    Serving serving;
    const auto guess = bootstrap::token_id_of_key(serving.key) + "-" + std::string(32, '0');
    int refused = 0;
    for (int i = 0; i < 20; ++i) {
        base::asio::co_spawn(
            serving.world.context, serving.answers.seed(guess),
            [&](const std::exception_ptr& failure, const std::optional<bootstrap::Seed>& seed) {
                refused += !failure && !seed;
            });
    }
    serving.world.run(1s);
    CHECK(refused == 20);
    CHECK(serving.secrets.read == 1);
}

TEST_CASE("a token that could not be read is not asked for again with each key") {
    Serving serving;
    serving.secrets.fails = true;
    CHECK_THROWS(serving.ask(serving.key));
    const auto read = serving.secrets.read;
    for (int i = 0; i < 3; ++i) CHECK_THROWS(serving.ask(serving.key));
    CHECK(serving.secrets.read == read);
    serving.secrets.fails = false;
    serving.world.run(5s);
    CHECK(serving.ask(serving.key));
}

TEST_CASE("the key of a token that another replica made anew is known after a minute") {
    Serving serving;
    REQUIRE(serving.ask(serving.key));
    const auto renewed = bootstrap::make_token(serving.world.claim()->metadata.uid, 1, *serving.random);
    serving.put(renewed);
    CHECK_FALSE(serving.ask(bootstrap::seed_key(renewed)));
    serving.world.run(1min);
    CHECK(serving.ask(bootstrap::seed_key(renewed)));
}
