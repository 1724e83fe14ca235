// Tests an endpoint that leads to another Proxmox cluster. The provider concludes nothing from its answers,
// and changes nothing there.
#include "base/url.hpp"
#include "providers/errors.hpp"
#include "test/component/proxmox/lab.hpp"
#include "test/simulators/proxmox/core/transport.hpp"

namespace {

using namespace test;

const std::string kRight = proxmox_simulator::made_up_fingerprint("the right cluster");
const std::string kOther = proxmox_simulator::made_up_fingerprint("another cluster");

proxmox_simulator::World right_world() {
    auto world = proxmox_simulator::default_world();
    world.authority_fingerprint = kRight;
    return world;
}

// MovedLab plays both clusters with the same simulator. It sets aside the machines that the other cluster
// lacks.
struct MovedLab : Lab {
    MovedLab() : Lab(right_world()) {}

    void move_away(const std::string& name = "other") {
        auto& world = simulator.cluster().world;
        world.authority_fingerprint = kOther;
        world.cluster_name = name;
        aside = std::exchange(world.machines, {});
        wait(30s);
    }
    void move_back() {
        auto& world = simulator.cluster().world;
        world.authority_fingerprint = kRight;
        world.cluster_name = "lab";
        world.machines = std::move(aside);
        wait(2min);
    }
    std::size_t changes() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(log, [](const auto& record) { return record.method != "GET"; }));
    }

    std::map<int, proxmox_simulator::Machine> aside;
};

TEST_CASE_METHOD(MovedLab, "The health check tells which cluster answers") {
    const auto health = run(provider->check());
    CHECK(health.reason.empty());
    CHECK(health.cluster.name == "lab");
    CHECK(health.cluster.id == kRight);
}

TEST_CASE_METHOD(MovedLab, "Machines that another cluster does not have are not gone, and are found again") {
    auto spec = machine(1);
    launch(spec);
    run(provider->list());
    move_away(GENERATE(std::string("other"), std::string("lab")));
    CHECK_THROWS_AS(run(provider->list()), providers::OtherClusterError);
    CHECK_THROWS_AS(run(provider->get(spec.identity, spec.record)), providers::OtherClusterError);
    CHECK_THROWS_AS(remove(spec), providers::OtherClusterError);
    CHECK_THROWS_AS(run(provider->offerings()), providers::OtherClusterError);
    const auto health = run(provider->check());
    CHECK(health.reason == "OtherCluster");
    CHECK_FALSE(health.reachable);
    CHECK(health.cluster.id == kOther);
    CHECK_THAT(health.message, Catch::Contains(kOther) && Catch::Contains(kRight));
    move_back();
    CHECK(run(provider->list()).size() == 1);
    CHECK(run(provider->get(spec.identity, spec.record)));
    CHECK(std::holds_alternative<providers::Gone>(destroy(spec)));
}

TEST_CASE_METHOD(MovedLab, "Nothing is made on another cluster") {
    auto spec = machine(1);
    place(spec);
    move_away();
    const auto before = changes();
    CHECK_THROWS_AS(ensure(spec), providers::OtherClusterError);
    auto next = machine(2);
    CHECK_THROWS_AS(ensure(next), providers::OtherClusterError);
    CHECK(changes() == before);
    move_back();
    launch(spec);
}

TEST_CASE_METHOD(MovedLab, "A recorded cluster is defended from the first answer on, and its name is kept") {
    config.backend_cluster = {"first-name", kRight};
    restart();
    auto spec = machine(1);
    CHECK(launch(spec).provider_id.starts_with("proxmox://first-name/vms/"));
    config.backend_cluster = {"first-name", kOther};
    restart();
    CHECK(run(provider->check()).reason == "OtherCluster");
}

TEST_CASE_METHOD(MovedLab, "A cluster that is renamed, or a host that becomes one, stays what it was") {
    auto spec = machine(1);
    launch(spec);
    simulator.cluster().world.cluster_name = "renamed";
    simulator.cluster().world.standalone = false;
    CHECK(run(provider->check()).reason.empty());
    CHECK(run(provider->get(spec.identity, spec.record)));
}

// MixedLab has one endpoint that leads to another cluster.
struct MixedLab : Lab {
    MixedLab() : Lab(right_world()), other(context.get_executor(), clock, *random, other_world()) {
        environment.connect = [this](const base::HttpClientOptions& options) {
            const auto host = base::parse_url(options.url).host;
            auto& cluster = host == kMisled ? other : simulator;
            return std::make_unique<proxmox_simulator::SimulatorTransport>(cluster, host);
        };
        restart();
    }
    ~MixedLab() { run(end()); }
    asio::awaitable<bool> end() {
        co_await other.shut_down();
        co_return true;
    }
    static proxmox_simulator::World other_world() {
        auto world = proxmox_simulator::default_world();
        world.authority_fingerprint = kOther;
        return world;
    }

    static constexpr const char* kMisled = "porsche";
    proxmox_simulator::Simulator other;
};

TEST_CASE_METHOD(MixedLab, "An endpoint of another cluster is not used, and the health check names it") {
    auto spec = machine(1);
    launch(spec);
    const auto health = run(provider->check());
    CHECK(health.reason.empty());
    CHECK_THAT(health.not_visible,
               Catch::Contains(std::string("https://") + kMisled) && Catch::Contains("not used"));
    SECTION("also when the ones before it do not answer") {
        simulator.cluster().power_off_host("alfaromeo");
        wait(30s);
        CHECK(run(provider->list()).size() == 1);
        CHECK(other.cluster().world.machines.empty());
    }
}

}  // namespace
