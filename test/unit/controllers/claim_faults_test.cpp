// Tests claims while the API server and the provider fail from time to time, before and after requests took
// effect.
#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/support/pods.hpp"
#include "test/support/seeded_random.hpp"
#include "test/unit/controllers/claim_world.hpp"

namespace {

using namespace claims;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

// Faults fails a share of all outside calls, drawn from a seed, until the test switches it off.
class Faults final : public fake::Interference, public fake::ProviderCalls {
public:
    explicit Faults(std::uint64_t seed) : random_(fake::make_seeded_random(seed)) {}

    base::Duration delay(const base::HttpRequest&) override {
        return std::chrono::milliseconds{on ? random_->below(200) : 0};
    }
    std::optional<base::HttpResponse> before(const base::HttpRequest&) override {
        if (!strikes()) return std::nullopt;
        switch (random_->below(3)) {
            case 0:
                return fake::status_response(500, "InternalError", "etcdserver: request timed out");
            case 1:
                return fake::status_response(409, "Conflict", "the object has been modified");
            default:
                throw base::TransportError("connection refused", false);
        }
    }
    void after(const base::HttpRequest&, base::HttpResponse& response) override {
        if (!strikes()) return;
        if (random_->below(2) == 0) throw base::TransportError("connection reset", true);
        response = fake::status_response(504, "Timeout", "the request timed out");
    }
    void before(const std::string& method) override { fail(method); }
    void after(const std::string& method) override { fail(method); }

    bool on = true;

private:
    bool strikes() { return on && random_->below(8) == 0; }
    void fail(const std::string& method) {
        if (strikes()) throw providers::ProviderError(method + ": 595 no route to host");
    }

    std::unique_ptr<base::Random> random_;
};

TEST_CASE("whatever fails, there is never a second machine, and when faults end claims are Ready or gone") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        INFO("seed " << seed);
        World world;
        Faults faults(seed);
        Process process(world, &faults, &faults);
        for (const char* name : {"a", "b", "c"}) world.launch(name);
        world.run(2min);
        world.server.remove<NodeSmithClaim>({"default", "a"});
        world.run(2min);
        faults.on = false;
        // The API server's own retries take up to half a minute, the controller's take longer.
        REQUIRE(
            world.run_until([&] { return world.gone("a") && world.ready("b") && world.ready("c"); }, 30min));
        CHECK(world.cloud.machines.size() == 2);
        CHECK(world.cloud.violations().empty());
        for (const char* name : {"b", "c"}) {
            CHECK(world.claim(name)->status.launchAttempts == 1);
            world.server.remove<NodeSmithClaim>({"default", name});
        }
        REQUIRE(world.run_until([&] { return world.clean(); }, 30min));
    }
}

// Broken fails every call of one method.
class Broken final : public fake::ProviderCalls {
public:
    explicit Broken(std::string method) : method_(std::move(method)) {}
    void before(const std::string& method) override {
        if (!on || method != method_) return;
        ++calls;
        if (fenced) throw providers::FencedError("not the leader any more");
        throw providers::ProviderError("DELETE /nodes/pve1/qemu/100: 500 got no worker upid");
    }
    bool on = true;
    bool fenced = false;
    int calls = 0;

private:
    std::string method_;
};

TEST_CASE("R3: errors of the provider during the removal are shown and never let the machine leak") {
    World world;
    Broken broken("remove");
    Process process(world, nullptr, &broken);
    world.launch();
    REQUIRE(world.run_until([&] { return world.ready(); }));
    world.server.remove<NodeSmithClaim>(kClaim);
    world.run(1h);
    CHECK(world.reason(conditions::kMachineDeleted) == "ProviderError");
    CHECK(world.condition(conditions::kMachineDeleted)->message.find("got no worker upid") !=
          std::string::npos);
    CHECK(world.cloud.machines.size() == 1);
    CHECK(world.server.get<api::Node>({"", "c"}));
    CHECK(broken.calls < 100);  // the pauses grow
    broken.on = false;
    CHECK(world.run_until([&] { return world.gone(); }, 20min));
    CHECK(world.clean());
}

TEST_CASE("R4: errors of the provider during the launch are shown and burn no attempt") {
    World world;
    Broken broken("ensure");
    Process process(world, nullptr, &broken);
    world.launch();
    world.run(10min);
    CHECK(world.reason(conditions::kLaunched) == "ProviderError");
    CHECK(world.claim()->status.launchAttempts == 0);
    CHECK(broken.calls < 50);
    broken.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 20min));
}

// Forbidden makes the API server refuse every change of a Node.
class Forbidden final : public fake::Interference {
public:
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (!on || request.method != "PATCH" || !request.target.starts_with("/api/v1/nodes/"))
            return std::nullopt;
        return fake::status_response(code, "Forbidden", message);
    }
    bool on = true;
    int code = 403;
    std::string message = "nodes \"c\" is forbidden: cannot patch resource \"nodes\"";
};

TEST_CASE("what the API server refuses is shown where the claim stands, and forgotten when it is allowed") {
    World world;
    Forbidden forbidden;
    Process process(world, &forbidden, nullptr);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kRegistered) == "RequestRefused"; }, 1min));
    CHECK(world.condition(conditions::kRegistered)->message.find("cannot patch resource") !=
          std::string::npos);
    forbidden.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 20min));
}

TEST_CASE("a webhook for Nodes that is down is named where the claim stands, within a minute") {
    World world;
    Forbidden webhook;
    webhook.code = 500;
    webhook.message = "Internal error occurred: failed calling webhook \"nodes.example.org\": EOF";
    Process process(world, &webhook, nullptr);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kRegistered) == "RequestRefused"; }, 1min));
    CHECK(world.condition(conditions::kRegistered)->message.find(webhook.message) != std::string::npos);
    webhook.on = false;
    CHECK(world.run_until([&] { return world.ready(); }, 2min));
}

TEST_CASE("a process that leads no more writes nothing about it") {
    World world;
    Broken broken("ensure");
    broken.fenced = true;
    Process process(world, nullptr, &broken);
    world.launch();
    REQUIRE(world.run_until([&] { return broken.calls > 0; }, 1min));
    world.run(1min);
    CHECK_FALSE(world.condition(conditions::kLaunched));
}

void joins_with_a_pod(World& world) {
    const auto& machine = world.cloud.machines.begin()->second;
    world.kubelet_joins(machine);
    world.server.put<api::Pod>(builders::a_pod("web").on(machine.name));
}

// Deletes a claim before its machine is known to have joined, and lets the machine join late.
void check_that_its_pod_is_drained(World& world, fake::Interference* requests, fake::ProviderCalls* calls) {
    world.machines_join = false;
    bool killed = false;
    world.cloud.on_gone = [&](const fake::CloudMachine&) {
        killed = world.server.get<api::Pod>({"default", "web"}).has_value();
    };
    Process process(world, requests, calls);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kRegistered) == "NodeNotFound"; }));
    world.server.remove<NodeSmithClaim>(kClaim);
    REQUIRE(world.run_until([&] { return world.reason(conditions::kDrained) == "Drained"; }, 1min));
    REQUIRE(world.run_until([&] { return world.gone(); }, 1min));
    CHECK_FALSE(killed);
    CHECK(world.clean());
}

// JoinsUnheard lets the machine join at the moment when the operator lists the Nodes. The watch reports it
// later.
class JoinsUnheard final : public fake::Interference {
public:
    explicit JoinsUnheard(World& world) : world_(world) {}
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        const bool lists_nodes =
            request.target.starts_with("/api/v1/nodes") && request.target.find("watch=") == std::string::npos;
        if (!lists_nodes || world_.cloud.machines.empty() || joined_) return std::nullopt;
        joined_ = true;
        joins_with_a_pod(world_);
        return std::nullopt;
    }

private:
    World& world_;
    bool joined_ = false;
};

TEST_CASE("a machine that nobody has heard join yet is not removed under its pods") {
    World world;
    JoinsUnheard late(world);
    check_that_its_pod_is_drained(world, &late, nullptr);
}

// JoinsMeanwhile lets the machine join and take a pod while the operator waits for the provider.
class JoinsMeanwhile final : public fake::ProviderCalls {
public:
    explicit JoinsMeanwhile(World& world) : world_(world) {}
    void before(const std::string& method) override {
        if (method == "remove" && !std::exchange(joined_, true)) joins_with_a_pod(world_);
    }

private:
    World& world_;
    bool joined_ = false;
};

TEST_CASE("a machine that joins while its provider is slow is not removed under its pods") {
    World world;
    JoinsMeanwhile late(world);
    check_that_its_pod_is_drained(world, nullptr, &late);
}

}  // namespace

TEST_CASE("a claim goes on as soon as no stranger's Node shows its machine's UUID any more") {
    World world;
    world.machines_join = false;
    auto stranger = objects::node("stranger");
    stranger.status.nodeInfo.systemUUID = "4c4c4544-0042-3510-8054-b4c04f4d3131";
    world.server.put(stranger);
    world.run(1min);
    Process process(world);
    world.launch();
    REQUIRE(world.run_until([&] { return world.reason(conditions::kLaunched) == "Launched"; }));
    const auto say = [&world](const std::string& uuid) {
        world.server.edit<api::Node>({"", "stranger"},
                                     [&uuid](api::Node& node) { node.status.nodeInfo.systemUUID = uuid; });
    };
    say(world.claim()->status.systemUUID);
    REQUIRE(
        world.run_until([&] { return world.reason(conditions::kDrained) == "NodeIdentityMismatch"; }, 2h));
    CHECK(world.claim()->status.launchAttempts == 1);
    SECTION("as the stranger says otherwise") {
        say(stranger.status.nodeInfo.systemUUID);
        CHECK(world.run_until([&] { return world.claim()->status.launchAttempts == 2; }, 5min));
    }
    SECTION("or ends when its machine is gone") {
        world.server.remove<NodeSmithClaim>(kClaim);
        world.cloud.machines.clear();
        CHECK(world.run_until([&] { return world.gone(); }, 10min));
        CHECK(world.server.get<api::Node>({"", "stranger"}));
    }
}
