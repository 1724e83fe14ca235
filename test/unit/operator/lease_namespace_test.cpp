#include "operator/lease_namespace.hpp"

#include "api/core.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

using namespace std::chrono_literals;

constexpr auto* kLease = "operator";

class Refusal final : public fake::Interference {
public:
    int left = 0;
    std::optional<base::HttpResponse> before(const base::HttpRequest&) override {
        if (left-- <= 0) return std::nullopt;
        return fake::status_response(403, "Forbidden", "leases is forbidden");
    }
};

struct World {
    boost::asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    base::MetricsRegistry metrics;
    Refusal refusal;
    controllers::ManagedNamespaces managed{{"kubenodesmith", "tools"}};
    kube::Client client{server.connect(&refusal), clock, metrics};

    void put_lease(const std::string& namespace_, base::Duration renewed, const std::string& name = kLease) {
        api::Lease lease;
        lease.metadata.namespace_ = namespace_;
        lease.metadata.name = name;
        lease.spec.renewTime = api::MicroTime(clock.wall_now() + renewed);
        server.put(lease);
    }
    std::string found() {
        return test::run(context, clock, kubenodesmith::find_lease_namespace(client, clock, kLease, managed));
    }
    bool has_namespace() {
        const auto there =
            test::run(context, clock, client.get<api::Namespace>({"", kubenodesmith::kSystemNamespace}));
        return there.has_value();
    }
};

}  // namespace

TEST_CASE("who is started by hand looks where the operator of the cluster has its Lease") {
    World world;
    world.put_lease("tools", 0s);
    world.put_lease("elsewhere", 1h, "of-somebody-else");
    CHECK(world.found() == "tools");
    CHECK_FALSE(world.has_namespace());
}

TEST_CASE("of several Leases the one that was renewed last counts") {
    World world;
    world.put_lease("kubenodesmith", -1h);
    world.put_lease("tools", 0s);
    world.put_lease(kubenodesmith::kSystemNamespace, -2h);
    CHECK(world.found() == "tools");
}

TEST_CASE("a Lease of a tenant decides nothing, however new it is") {
    for (const bool manages_all : {false, true}) {
        World world;
        if (manages_all) world.managed = {};
        world.put_lease("tenant", 10000h);
        world.put_lease(kubenodesmith::kSystemNamespace, -1h);
        CHECK(world.found() == kubenodesmith::kSystemNamespace);
    }
}

TEST_CASE(
    "where there are Leases of tenants only, nobody leads before a person has said where the Lease is") {
    World world;
    world.put_lease("tenant", 0s);
    std::string found;
    boost::asio::co_spawn(
        world.context, kubenodesmith::find_lease_namespace(world.client, world.clock, kLease, world.managed),
        [&found](std::exception_ptr, std::string value) { found = std::move(value); });
    world.clock.run_for(world.context, 1h);
    CHECK(found.empty());
    world.put_lease("tools", 0s);
    world.clock.run_for(world.context, 1min);
    CHECK(found == "tools");
}

TEST_CASE("without a Lease it is put where the manifests put the operator") {
    World world;
    CHECK(world.found() == kubenodesmith::kSystemNamespace);
    CHECK(world.has_namespace());
    CHECK(world.found() == kubenodesmith::kSystemNamespace);
}

TEST_CASE("where the Lease is is asked again until the API server says it") {
    World world;
    world.put_lease("tools", 0s);
    world.refusal.left = 3;
    CHECK(world.found() == "tools");
}
