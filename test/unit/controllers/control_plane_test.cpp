// Tests the ControlPlane reconciler against an API server in memory.
#include "controllers/control_plane_reconciler.hpp"

#include "test/support/catch.hpp"
#include "test/unit/controllers/cluster.hpp"

using namespace std::chrono_literals;
using objects::NodeSmithControlPlane;

namespace {

struct World : test::Cluster {
    controllers::ControlPlaneReconciler control_planes{{informers, client, clock, events, metrics},
                                                       reservations};

    World() {
        put_basics();
        server.put(objects::pool("small"));
        add("controlplane", control_planes);
        start();
        run_for(1s);
    }
    ~World() { stop(); }

    NodeSmithControlPlane object() { return server.get<NodeSmithControlPlane>({"default", "main"}).value(); }
    std::string reason(const std::string& type) {
        const auto held = object();
        return api::find_condition(held.status.conditions, type)->reason;
    }
};

}  // namespace

TEST_CASE("a pool that a control plane lists and that is not there is told once, with those that are") {
    World world;
    world.server.edit<NodeSmithControlPlane>({"default", "main"}, [](auto& c) { c.spec.pools = {"smal"}; });
    world.run_for(10min);
    CHECK(
        world.events.count("NodeSmithControlPlane main PoolMissing: pool smal is listed but not in namespace "
                           "default: correct spec.pools (there is small)") == 1);
}

TEST_CASE("a control plane counts what its pools have and is quiet when nothing changes") {
    World world;
    CHECK(world.reason("Ready") == "PoolsResolved");
    CHECK(world.reason("ClusterHealthy") == "Healthy");
    world.join(world.server.put(objects::created_claim("a", world.pool(), 1)));
    world.server.put(objects::created_claim("b", world.pool(), 2));
    world.run_for(1s);
    const auto status = world.object().status;
    CHECK(status.pools == 1);
    CHECK(status.nodes == 1);
    CHECK(status.readyNodes == 1);
    CHECK(status.pendingNodes == 1);
    CHECK(status.claims == 2);
    const auto writes = world.writes();
    world.run_for(6h);
    CHECK(world.writes() == writes);
}

TEST_CASE("a control plane follows its pools and providers as they come and go") {
    World world;
    world.server.edit<NodeSmithControlPlane>({"default", "main"},
                                             [](auto& c) { c.spec.pools = {"small", "big"}; });
    world.run_for(1s);
    CHECK(world.reason("Ready") == "PoolMissing");
    world.server.put(objects::pool("big"));
    world.run_for(1s);
    CHECK(world.reason("Ready") == "PoolsResolved");
    world.server.remove<objects::NodeSmithProvider>({"default", "proxmox"});
    world.run_for(1s);
    CHECK(world.reason("Ready") == "ProviderMissing");
}

TEST_CASE("a cluster whose nodes go down is unhealthy until they are back") {
    World world;
    for (int i = 1; i <= 5; ++i)
        world.join(world.server.put(objects::created_claim("n" + std::to_string(i), world.pool(), i)));
    const auto set_all = [&world](bool ready) {
        for (int i = 1; i <= 5; ++i) {
            auto node = world.server.get<api::Node>({"", "n" + std::to_string(i)}).value();
            node.status.conditions = objects::node("x", ready).status.conditions;
            world.server.put(node);
        }
        world.run_for(1s);
    };
    set_all(false);
    CHECK(world.reason("ClusterHealthy") == "TooManyUnready");
    set_all(true);
    CHECK(world.reason("ClusterHealthy") == "Healthy");
}

TEST_CASE("what a limited control plane has reserved follows the claims of its pools") {
    World world;
    world.server.edit<NodeSmithControlPlane>({"default", "main"},
                                             [](auto& c) { c.spec.limits.maxNodes = 5; });
    world.server.put(objects::created_claim("a", world.pool(), 1));
    world.run_for(1s);
    CHECK(world.object().status.reserved.nodes == 1);
    world.server.remove<objects::NodeSmithClaim>({"default", "a"});
    world.run_for(1s);
    CHECK(world.object().status.reserved.nodes == 0);
}

TEST_CASE(
    "a control plane says whether the cluster lets bootstrap tokens in by itself, and asks that seldom") {
    World world;
    CHECK(world.reason("TokensBoundToNodes") == "OperatorApproves");
    std::size_t asked = 0;
    world.requests.on_request = [&asked](const base::HttpRequest& request) {
        asked += request.target.ends_with("/subjectaccessreviews");
    };
    world.server.options().approves_tokens = true;
    world.run_for(65min);
    CHECK(world.reason("TokensBoundToNodes") == "ClusterApprovesTokens");
    CHECK(asked == 6 * 3);
    world.server.options().approves_tokens = false;
    world.run_for(15min);
    CHECK(world.reason("TokensBoundToNodes") == "OperatorApproves");
}

TEST_CASE("a control plane names the pool whose machines' certificates the cluster approves") {
    World world;
    const auto leave = [&world](api::v1alpha1::BootstrapMethod method) {
        world.server.edit<objects::NodeSmithPool>({"default", "small"}, [method](auto& pool) {
            pool.spec.bootstrap.emplace().approval = api::v1alpha1::BootstrapApproval::Cluster;
            pool.spec.bootstrap->method = method;
        });
        world.run_for(2s);
    };
    leave(api::v1alpha1::BootstrapMethod::None);
    CHECK(world.reason("TokensBoundToNodes") == "OperatorApproves");
    leave(api::v1alpha1::BootstrapMethod::CloudInit);
    CHECK(world.reason("TokensBoundToNodes") == "ApprovalLeftToCluster");
}

TEST_CASE("a control plane names the pool whose format takes a token for any Node") {
    using api::v1alpha1::BootstrapFormat;
    for (const auto format : {BootstrapFormat::K3s, BootstrapFormat::RKE2, BootstrapFormat::K0s}) {
        World world;
        world.server.edit<objects::NodeSmithPool>({"default", "small"}, [format](auto& pool) {
            pool.spec.bootstrap.emplace().method = api::v1alpha1::BootstrapMethod::CloudInit;
            pool.spec.bootstrap->format = format;
        });
        world.run_for(2s);
        CHECK(world.reason("TokensBoundToNodes") == "FormatTrustsTokens");
    }
}

TEST_CASE("a control plane says once that its machines' tokens may not join, and soon that they may") {
    World world;
    const auto bootstrap = [&world](api::v1alpha1::BootstrapMethod method,
                                    api::v1alpha1::BootstrapFormat format) {
        world.server.edit<objects::NodeSmithPool>({"default", "small"}, [=](auto& pool) {
            pool.spec.bootstrap.emplace().method = method;
            pool.spec.bootstrap->format = format;
        });
        world.run_for(2s);
    };
    using api::v1alpha1::BootstrapFormat;
    using api::v1alpha1::BootstrapMethod;
    world.server.options().tokens_may_join = false;
    world.run_for(11min);
    bootstrap(BootstrapMethod::None, BootstrapFormat::Kubeadm);
    CHECK(world.reason("Ready") == "PoolsResolved");
    for (const auto format : {BootstrapFormat::K3s, BootstrapFormat::RKE2, BootstrapFormat::K0s}) {
        bootstrap(BootstrapMethod::CloudInit, format);
        CHECK(world.reason("Ready") == "PoolsResolved");
    }
    bootstrap(BootstrapMethod::CloudInit, BootstrapFormat::Talos);
    CHECK(world.reason("Ready") == "TokensMayNotJoin");
    bootstrap(BootstrapMethod::CloudInit, BootstrapFormat::Kubeadm);
    CHECK(world.reason("Ready") == "TokensMayNotJoin");
    CHECK(world.reason("Stalled") == "TokensMayNotJoin");
    world.run_for(1h);
    CHECK(world.events.count(
              "NodeSmithControlPlane main TokensMayNotJoin: machines of pool small cannot join: group "
              "system:bootstrappers:kubenodesmith of their bootstrap tokens may not create "
              "certificatesigningrequests: apply config/rbac/bootstrap.yaml (in the chart: rbac.create)") ==
          1);
    world.server.options().tokens_may_join = true;
    world.run_for(2min);
    CHECK(world.reason("Ready") == "PoolsResolved");
}
