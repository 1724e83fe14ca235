// A host is launched again and again. Each of its Nodes belongs to the claim that has the host at that time.
#include "controllers/claim/decide/observation.hpp"
#include "test/support/catch.hpp"
#include "test/support/redfish_objects.hpp"
#include "test/unit/controllers/cluster.hpp"

TEST_CASE("a failed claim does not take the Node of the claim that has its host now") {
    test::Cluster cluster;
    cluster.put_basics();
    cluster.server.put(test::rack_provider());
    auto host = test::rack_host("metal-1");
    host.status.claimRef.emplace().uid = "uid-of-the-next";
    host.status.systemUUID = "4c4c4544-0042-3510-8054-b4c04f4d3131";
    cluster.server.put(host);
    api::Node node;
    node.metadata.name = "metal-1";
    node.status.nodeInfo.systemUUID = host.status.systemUUID;
    cluster.server.put(node);
    cluster.start();
    cluster.run_for(std::chrono::seconds{1});
    api::v1alpha1::NodeSmithClaim claim;
    claim.metadata.name = "failed";
    claim.metadata.namespace_ = "default";
    claim.metadata.uid = "uid-of-the-failed";
    claim.status.providerRef = "rack";
    claim.status.host = "metal-1";
    claim.status.systemUUID = node.status.nodeInfo.systemUUID;
    const auto node_for = [&](const std::string& uid) {
        claim.metadata.uid = uid;
        return controllers::claim::observe(cluster.informers,
                                           std::make_shared<const api::v1alpha1::NodeSmithClaim>(claim),
                                           api::Time(cluster.clock.wall_now()))
            .node;
    };
    CHECK_FALSE(node_for("uid-of-the-failed"));
    CHECK(node_for("uid-of-the-next"));
}
