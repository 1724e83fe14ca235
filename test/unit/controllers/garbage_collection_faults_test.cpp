// When one step of a round of garbage collection fails, the others go on.
#include <stdexcept>
#include <utility>

#include "providers/errors.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/orphan_world.hpp"

namespace {

using namespace claims;
using namespace orphans;
using namespace std::chrono_literals;
namespace conditions = api::conditions;

// RefusesFirst refuses the first removal of each round with an unexpected answer.
class RefusesFirst final : public fake::ProviderCalls {
public:
    std::string also;  // another call that always fails

private:
    void before(const std::string& method) override {
        if (method == "list") is_first_ = true;
        if (method == also) throw std::invalid_argument(method + " cannot be answered");
        if (method == "remove" && std::exchange(is_first_, false))
            throw std::runtime_error("501 not implemented");
    }
    bool is_first_ = false;
};

TEST_CASE("an orphan whose removal is refused for good keeps no other from being removed, and is said") {
    World world;
    RefusesFirst calls;
    world.cloud.plant(lost_machine());
    auto second = lost_machine();
    second.identity.claim_name = second.name = "second";
    second.identity.claim_uid = "16fd2706-8baf-433b-82eb-8c7fada847da";
    second.identity.system_uuid = controllers::claim::system_uuid(second.identity.claim_uid, 1);
    second.machine_id = "901";
    world.cloud.plant(second);
    world.launch("c");
    Process process(world, nullptr, &calls);
    REQUIRE(world.run_until([&] { return world.ready("c"); }));
    CHECK(world.run_until([&] { return !world.cloud.machines.contains("901"); }, 20min));
    // The rest of the round also happens: it notices a machine that somebody destroyed.
    world.cloud.destroy(world.claim("c")->status.machineID);
    CHECK(world.run_until([&] { return world.gone("c"); }, 10min));
}

namespace {

// TellsOnce lets the provider report only the first of the machines that are no longer listed.
class TellsOnce final : public fake::ProviderCalls {
    void before(const std::string& method) override {
        if (method == "list") told_ = false;
        if (method == "get" && std::exchange(told_, true)) throw providers::ProviderError("595 no route");
    }
    bool told_ = false;
};

}  // namespace

TEST_CASE("a machine that the provider cannot tell of counts among those that vanished at once") {
    World world;
    TellsOnce calls;
    for (const auto* name : {"c", "d"}) world.launch(name);
    Process process(world, nullptr, &calls);
    REQUIRE(world.run_until([&] { return world.ready("c") && world.ready("d"); }));
    for (const auto* name : {"c", "d"}) world.cloud.destroy(world.claim(name)->status.machineID);
    world.run(20min);
    CHECK_FALSE(world.gone("c"));
    CHECK_FALSE(world.gone("d"));
}

TEST_CASE("a host that could not be looked at for half-made machines is said") {
    World world;
    world.cloud.unseen = {"tasks that failed on host-b (host-b does not answer)"};
    world.cloud.leftovers = {{{"host-a", "4711", ""}, "VM 4711 on host-a is locked", true}};
    Process process(world);
    world.run(8min);
    REQUIRE(orphans_found(world));
    CHECK_THAT(orphans_found(world)->message,
               Catch::Contains("VM 4711 on host-a is locked") &&
                   Catch::Contains("so there may be more: tasks that failed on host-b"));
}

TEST_CASE("a part of the round that fails keeps no other part from its work, and is said") {
    World world;
    RefusesFirst calls;
    calls.also = "leftovers";
    world.launch("c");
    Process process(world, nullptr, &calls);
    REQUIRE(world.run_until([&] { return world.ready("c"); }));
    world.run(8min);
    CHECK_THAT(orphans_found(world)->message,
               Catch::Contains("could not be examined, so there may be more: half-made machines (leftovers "
                               "cannot be answered)"));
    world.cloud.destroy(world.claim("c")->status.machineID);
    CHECK(world.run_until([&] { return world.gone("c"); }, 10min));
}

// KeepsNode refuses deletions of one Node.
class KeepsNode final : public fake::Interference {
public:
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (request.method != "DELETE" || request.target.find("/nodes/a-kept") == std::string::npos)
            return std::nullopt;
        return fake::status_response(403, "Forbidden", "node a-kept is protected");
    }
};

TEST_CASE("a Node that may not be deleted keeps no other from being deleted") {
    World world;
    KeepsNode requests;
    for (const std::string name : {"a-kept", "b-left"})
        world.server.put<api::Node>(objects::a_node(name)
                                        .label("kubenodesmith.io/nodeclaim", name)
                                        .label("kubenodesmith.io/host", "host-a")
                                        .label("topology.kubenodesmith.io/pool", "p")
                                        .unready());
    Process process(world, &requests, nullptr);
    CHECK(world.run_until([&] { return !world.server.get<api::Node>({"", "b-left"}); }, 15min));
    world.run(4min);
    CHECK(world.server.get<api::Node>({"", "a-kept"}));
    CHECK_THAT(orphans_found(world)->message, Catch::Contains("node a-kept is protected"));
}

}  // namespace

namespace {

// Hides refuses to serve the pods while it is set.
struct Hides final : fake::Interference {
    bool is_set = false;
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (!is_set || !request.target.starts_with("/api/v1/pods?")) return std::nullopt;
        return fake::status_response(503, "ServiceUnavailable", "etcd has no leader");
    }
};

}  // namespace

TEST_CASE("nothing is collected while one kind of objects has not been current for ten minutes") {
    World world;
    Hides hides;
    Process process(world, &hides, nullptr);
    world.run(1min);
    hides.is_set = true;
    world.server.cut_watches();
    world.run(20min);
    world.cloud.plant(lost_machine());
    world.run(3h);
    CHECK(world.cloud.machines.size() == 1);
    hides.is_set = false;
    CHECK(world.run_until([&] { return world.cloud.machines.empty(); }, 30min));
}
