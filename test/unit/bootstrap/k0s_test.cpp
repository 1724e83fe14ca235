#include "bootstrap/k0s.hpp"

#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

namespace {

bootstrap::JoinRequest request() {
    return test::join_request(api::v1alpha1::BootstrapFormat::K0s);
}

}  // namespace

TEST_CASE("A k0s worker is installed with its token in a file, labels, taints and the kubelet's arguments") {
    auto told = request();
    told.kubelet.maxPods = 60;
    const auto plan = bootstrap::plan_join(told);
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].path == "/etc/k0s/kubenodesmith-token");
    CHECK(plan.files[0].permissions == "0600");
    CHECK(plan.files[0].content == bootstrap::k0s_token(told) + "\n");
    CHECK(plan.commands == std::vector<std::vector<std::string>>{
                               {"k0s", "install", "worker", "--token-file", "/etc/k0s/kubenodesmith-token",
                                "--labels=topology.kubenodesmith.io/pool=workers",
                                "--taints=kubenodesmith.io/unregistered=:NoExecute,gpu=yes:NoSchedule",
                                "--kubelet-extra-args=--max-pods=60 --provider-id=proxmox://pve/vms/100"},
                               {"k0s", "start"}});
}

TEST_CASE("An argument that k0s would split is refused by its name") {
    auto told = request();
    told.kubelet.extraArgs = {{"feature-gates", "A=true B"}};
    CHECK_THROWS_WITH(bootstrap::plan_join(told), Catch::Contains("feature-gates"));
}

TEST_CASE("A k0s token needs the cluster's CA") {
    auto blind = request();
    blind.cluster.ca_pem.clear();
    CHECK_THROWS_WITH(bootstrap::plan_join(blind), Catch::Contains("CA"));
}
