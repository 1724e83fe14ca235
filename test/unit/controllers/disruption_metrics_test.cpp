// Tests the metrics of the decisions about a pool's nodes.
#include "controllers/disruption/disruption_reconciler.hpp"
#include "test/support/catch.hpp"
#include "test/unit/controllers/objects.hpp"

namespace {

using namespace controllers::disruption;
using objects::NodeSmithControlPlane;
using objects::NodeSmithPool;

// Decision is one about a pool with four nodes, of which one is leaving and two are empty.
struct Decision {
    base::MetricsRegistry registry;
    DisruptionMetrics metrics{registry};
    NodeSmithControlPlane manager = objects::control_plane("main", {"*"});
    NodeSmithPool pool = objects::pool("small");

    Decision() {
        pool.spec.disruption.budgets.clear();
        pool.spec.scaleDown.maxConcurrent = 0;
    }
    void note() {
        PoolView view(std::make_shared<const NodeSmithPool>(pool));
        view.facts.manager = &manager;
        view.facts.in_service = 4;
        view.facts.leaving = 1;
        view.now = objects::kStart;
        std::vector<std::vector<Candidate>> found(methods().size());
        found[rank(Kind::Empty)].resize(2);
        metrics.note(view, found);
    }
    // Returns the value of the series for empty nodes; "" if there is none.
    std::string value(const std::string& name) {
        const auto text = registry.exposition();
        const auto series = "kubenodesmith_disruption_" + name +
                            R"(_nodes{namespace="default",pool="small",reason="Empty"} )";
        const auto at = text.find(series);
        if (at == std::string::npos) return "";
        const auto begin = at + series.size();
        return text.substr(begin, text.find('\n', begin) - begin);
    }
    std::string allowed() {
        note();
        return value("allowed");
    }
};

}  // namespace

TEST_CASE("metrics say how many nodes could be removed, and how many budgets and maxConcurrent allow") {
    Decision decision;
    CHECK(decision.allowed() == "4");
    CHECK(decision.value("eligible") == "2");
    decision.pool.spec.disruption.budgets = {{"75%", {}, "", {}}};
    CHECK(decision.allowed() == "2");
    decision.pool.spec.scaleDown.maxConcurrent = 2;
    CHECK(decision.allowed() == "1");
    decision.pool.spec.disruption.budgets = {{std::int64_t{0}, {}, "", {}}};
    CHECK(decision.allowed() == "0");
    CHECK(decision.value("eligible") == "2");
}

TEST_CASE("no disruption is allowed while the pool is paused, nor by a budget that cannot be understood") {
    Decision decision;
    decision.manager.spec.mode = api::v1alpha1::Mode::Paused;
    CHECK(decision.allowed() == "0");
    decision.manager.spec.mode = api::v1alpha1::Mode::Active;
    decision.pool.spec.disruption.budgets = {
        {"100%", {}, "0 25 * * *", api::Duration(std::chrono::hours{8})}};
    CHECK(decision.allowed() == "0");
}

TEST_CASE("the metrics of a pool's decisions vanish with the pool") {
    Decision decision;
    decision.note();
    decision.metrics.forget({"default", "small"});
    CHECK(decision.value("eligible").empty());
    CHECK(decision.value("allowed").empty());
}
