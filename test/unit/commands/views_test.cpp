// Tests the output of status and top for a small cluster from files.
#include "api/json.hpp"
#include "operator/commands/status.hpp"
#include "operator/commands/top.hpp"
#include "report/troubles.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using Catch::Contains;

namespace {

// Adds the condition Ready to the pool and the control plane, which have no conditions.
std::string well(const std::string& cluster) {
    auto text = cluster;
    const std::string status = "status:\n  conditions: [{type: Ready, status: \"True\", reason: Ready}]\n";
    text.insert(text.rfind("---"), status);
    return text + status;
}

std::string with_provider(const std::string& conditions) {
    auto text = well(std::string(kPool));
    const std::string ready = "conditions: [{type: Ready, status: \"True\", reason: Ready}]";
    return text.replace(text.find(ready), ready.size(), conditions);
}

}  // namespace

TEST_CASE("a cluster without troubles is well, and each object has its line") {
    const auto view = picture({well(std::string(kPool)), node_in_service()});
    const auto text = status_text(*view, "");
    CHECK_THAT(text, Catch::StartsWith("All is well.\n"));
    CHECK_THAT(text, Contains("CLAIM") && Contains("ours/tools-aaaaa   tools   Ready"));
    CHECK_THAT(
        text, Contains("ours/shed") && Contains("ours/tools") && Contains("ours/main") && Contains("Active"));
    CHECK_THAT(status_text(*view, "elsewhere"), !Contains("tools"));
    CHECK_THAT(status_text(*view, "ours"), Contains("tools-aaaaa") && !Contains("ours/"));
}

TEST_CASE("what is wrong comes first, each cause once, with pods that wait") {
    const auto bad = with_provider(
        "conditions: [{type: Ready, status: \"False\", reason: MissingPrivileges, message: lacks VM.Audit, "
        "lastTransitionTime: 2026-03-01T11:55:00Z}]");
    auto other = std::string(kPendingPod);
    other.replace(other.find("name: saw"), 9, "name: axe");
    other.replace(other.find("pod-1"), 5, "pod-9");
    const auto view = picture({bad, std::string(kPendingPod), other});
    const auto text = status_text(*view, "");
    CHECK_THAT(text,
               Catch::StartsWith("2 things need attention:\n  provider ours/shed: MissingPrivileges: lacks "
                                 "VM.Audit (since 5 min)\n"));
    CHECK_THAT(text, Contains("pod shop/axe, shop/saw wait: Unschedulable: 0/1 nodes are available"));
    const auto document = status_document(*view, "");
    CHECK(document.at("kind").as_string() == "Status");
    CHECK(document.at("troubles").as_array().size() == 2);
    CHECK(document.at("troubles").as_array()[0].at("reason").as_string() == "MissingPrivileges");
    CHECK(document.at("pools").as_array()[0].at("name").as_string() == "tools");
    CHECK_FALSE(document.at("pools").as_array()[0].as_object().contains(""));
}

TEST_CASE("what goes on, and what a person has paused, is no trouble") {
    const auto coming = with_provider(
        "conditions: [{type: Ready, status: \"False\", reason: ImagePreparing}, {type: Reconciling, status: "
        "\"True\"}]");
    CHECK(report::troubles_of(picture({coming})->report()).empty());
    const auto paused =
        with_provider("conditions: [{type: Ready, status: \"True\", reason: Paused, message: mode Paused}]");
    CHECK(report::troubles_of(picture({paused})->report()).empty());
    CHECK_THAT(status_text(*picture({paused}), ""), Contains("True, Paused"));
    const auto repaired = std::string(
        "apiVersion: kubenodesmith.parawell.cloud/v1alpha1\nkind: NodeSmithHost\nmetadata: {name: r1, "
        "namespace: ours}\nspec: {providerRef: racks, bmc: "
        "{address: \"https://10.0.0.17\"}}\nstatus: {phase: Maintenance, conditions: [{type: Ready, status: "
        "\"True\", reason: Maintenance, message: is in maintenance}]}\n");
    CHECK(report::troubles_of(picture({repaired})->report()).empty());
    CHECK_THAT(status_text(*picture({repaired}), ""), Contains("True, Maintenance"));
    const auto unlisted = with_provider(
        "conditions: [{type: Ready, status: \"True\", reason: NotSelected}, {type: Managed, status: "
        "\"False\", reason: NotSelected, message: listed nowhere}]");
    CHECK(report::troubles_of(picture({unlisted})->report()).size() == 1);
    const auto orphans = with_provider(
        "conditions: [{type: Ready, status: \"True\"}, {type: OrphansFound, status: \"True\", reason: "
        "OrphansFound, "
        "message: one machine}]");
    REQUIRE(report::troubles_of(picture({orphans})->report()).size() == 1);
}

TEST_CASE("rights at guest agents are a trouble only where machines join by them") {
    auto cluster = with_provider(
        "conditions: [{type: Ready, status: \"True\", reason: Ready}, {type: GuestAgentUsable, status: "
        "\"False\", reason: MissingPrivileges, message: lacks VM.GuestAgent.Audit}]");
    CHECK(report::troubles_of(picture({cluster})->report()).empty());
    const std::string pools = "pools: [\"*\"]";
    REQUIRE(cluster.find(pools) != std::string::npos);
    cluster.replace(cluster.find(pools), pools.size(), pools + ", bootstrap: {method: GuestAgent}");
    CHECK(report::troubles_of(picture({cluster})->report()).size() == 1);
}

TEST_CASE("what no operator has looked at is a trouble") {
    const auto troubles = report::troubles_of(picture({std::string(kPool)})->report());
    REQUIRE(troubles.size() == 2);
    CHECK(troubles[0].reason == "NotExamined");
}

TEST_CASE("top says so where a host promises more CPUs than it has") {
    auto cluster = std::string(kPool);
    cluster.replace(cluster.find("freeCPUCores: 12"), 16, "freeCPUCores: 60");
    CHECK_THAT(top_text(*picture({cluster}), ""), Contains("its CPUs are overcommitted"));
    CHECK_THAT(top_text(*picture({std::string(kPool)}), ""), !Contains("overcommitted"));
}

TEST_CASE("top shows use and price of a pool's nodes, and the room of hosts") {
    const auto view = picture({well(std::string(kPool)), node_in_service(), running_pod()});
    const auto pool = top_document(*view, "").at("pools").as_array().at(0).as_object();
    CHECK(pool.at("pool").as_string() == "ours/tools");
    CHECK(pool.at("nodes").as_int64() == 1);
    CHECK(pool.at("cpuRequested").as_double() == 1);
    CHECK(pool.at("cpu").as_double() == 3.9);
    CHECK(pool.at("memoryRequestedMiB").as_int64() == 1024);
    CHECK(pool.at("price").as_double() == 24);            // four CPUs as 4 GiB each, and 8 GiB
    CHECK(pool.at("priceUsedPercent").as_int64() == 21);  // one CPU and 1 GiB of that
    const auto host = top_document(*view, "").at("hosts").as_array().at(0).as_object();
    CHECK(host.at("host").as_string() == "ford");
    CHECK(host.at("memoryFreeMiB").as_int64() == 40960);
    CHECK(host.at("machines").as_int64() == 1);
    CHECK_THAT(top_text(*view, ""), Contains("ford") && Contains("PRICE"));
    CHECK_THAT(top_text(*view, "elsewhere"), Contains("There are no pools"));
}
