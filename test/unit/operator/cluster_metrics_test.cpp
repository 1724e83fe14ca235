// Tests the metrics that are made from the caches, for a small cluster from files.
#include "operator/cluster_metrics.hpp"

#include "operator/process_metrics.hpp"
#include "test/support/catch.hpp"
#include "test/unit/plan/picture.hpp"

namespace {

using Catch::Contains;

// Exposed is the metrics of a cluster that may change between two scrapes.
struct Exposed {
    std::unique_ptr<kubenodesmith::ClusterSnapshot> view =
        test::picture({std::string(test::kPool), test::node_in_service(), test::running_pod()});
    report::ClusterReport report = view->report();
    base::MetricsRegistry registry;
    kubenodesmith::ClusterMetrics metrics{view->informers().pods, view->clock(), registry,
                                          [this] { return report; }, "a-lease"};

    // Reports whether the next scrape has the line.
    bool has(const std::string& line) const {
        return registry.exposition().find("\n" + line + "\n") != std::string::npos;
    }
};

api::v1alpha1::NodeSmithControlPlane with_mode(const api::v1alpha1::NodeSmithControlPlane& known,
                                               api::v1alpha1::Mode mode) {
    auto changed = known;
    changed.spec.mode = mode;
    return changed;
}

}  // namespace

TEST_CASE("each condition of an object is a series with its status and reason") {
    Exposed exposed;
    CHECK(exposed.has(R"(kubenodesmith_condition{kind="NodeSmithProvider",namespace="ours",name="shed",)"
                      R"(type="Ready",status="True",reason="Ready"} 1)"));
    auto provider = *exposed.report.providers[0];
    provider.status.conditions[0] = {
        "Ready", api::ConditionStatus::False, {}, api::Time::parse("2026-03-01T11:00:00Z"), "Unreachable",
        ""};
    exposed.report.providers = {std::make_shared<const api::v1alpha1::NodeSmithProvider>(provider)};
    CHECK(exposed.has(R"(kubenodesmith_condition{kind="NodeSmithProvider",namespace="ours",name="shed",)"
                      R"(type="Ready",status="False",reason="Unreachable"} 1)"));
    CHECK(exposed.has(R"(kubenodesmith_condition_last_transition_time_seconds{kind="NodeSmithProvider",)"
                      R"(namespace="ours",name="shed",type="Ready"} 1772362800)"));
    CHECK_FALSE(
        exposed.has(R"(kubenodesmith_condition{kind="NodeSmithProvider",namespace="ours",name="shed",)"
                    R"(type="Ready",status="True",reason="Ready"} 1)"));
}

TEST_CASE("claims are counted by condition and phase instead of being named") {
    Exposed exposed;
    CHECK(exposed.has(R"(kubenodesmith_claim_conditions{namespace="ours",pool="tools",type="Launched",)"
                      R"(status="True",reason="Launched"} 1)"));
    CHECK(exposed.has(R"(kubenodesmith_claims{namespace="ours",pool="tools",phase="Ready"} 1)"));
    CHECK(exposed.has(R"(kubenodesmith_claims{namespace="ours",pool="tools",phase="Failed"} 0)"));
    CHECK_THAT(exposed.registry.exposition(), !Contains("tools-aaaaa"));
}

TEST_CASE("the mode of a control plane is 1 and the other modes are 0") {
    Exposed exposed;
    const auto mode = [&](const std::string& name) {
        return exposed.has(
            R"(kubenodesmith_control_plane_mode{namespace="ours",control_plane="main",mode=")" + name +
            "\"} 1");
    };
    CHECK(mode("Active"));
    exposed.report.control_planes = {std::make_shared<const api::v1alpha1::NodeSmithControlPlane>(
        with_mode(*exposed.report.control_planes[0], api::v1alpha1::Mode::Paused))};
    CHECK(mode("Paused"));
    CHECK_FALSE(mode("Active"));
}

TEST_CASE("what nodes have, offer and are asked for is in cores and bytes") {
    Exposed exposed;
    const auto has = [&](const std::string& name, const std::string& resource, const std::string& value) {
        return exposed.has("kubenodesmith_pool_" + name + R"({namespace="ours",pool="tools",resource=")" +
                           resource + "\"} " + value);
    };
    CHECK(has("capacity", "cpu", "4"));
    CHECK(has("allocatable", "cpu", "3.9"));
    CHECK(has("requested", "cpu", "1"));
    CHECK(has("capacity", "memory", "8589934592"));
    CHECK(has("requested", "memory", "1073741824"));
    CHECK(has("requested", "pods", "1"));
    CHECK(has("limit", "nodes", "3"));
    CHECK(exposed.has(R"(kubenodesmith_provider_host_free{namespace="ours",provider="shed",host="ford",)"
                      R"(resource="memory"} 42949672960)"));
}

TEST_CASE("a node that is kept counts for its pool, with the reason of its removal and what blocks it") {
    Exposed exposed;
    exposed.report.stays["tools-aaaaa"] = {controllers::disruption::Kind::Drifted, {"Budget", "", {}}};
    CHECK(exposed.has(R"(kubenodesmith_removals_blocked{namespace="ours",pool="tools",reason="Drifted",)"
                      R"(blocker="Budget"} 1)"));
    exposed.report.stays.clear();
    CHECK_THAT(exposed.registry.exposition(), !Contains("kubenodesmith_removals_blocked{"));
}

TEST_CASE("the series of objects that are gone vanish") {
    Exposed exposed;
    CHECK_THAT(exposed.registry.exposition(), Contains("namespace=\"ours\""));
    exposed.report = {};
    CHECK_THAT(exposed.registry.exposition(), !Contains("namespace=\"ours\""));
}

TEST_CASE("the process shows the seven metrics that Prometheus' client libraries have") {
    base::MetricsRegistry registry;
    const auto hook = kubenodesmith::add_process_metrics(registry, "1.2.3");
    const auto text = registry.exposition();
    for (const auto* name : {"cpu_seconds_total", "open_fds", "max_fds", "virtual_memory_bytes",
                             "virtual_memory_max_bytes", "resident_memory_bytes", "start_time_seconds"})
        CHECK_THAT(text, Contains("\nprocess_" + std::string(name) + " "));
}
