// Tests evictions and budgets, as a real kube-apiserver and disruption controller judge them.
#include "api/core.hpp"
#include "test/component/kube/cluster.hpp"
#include "test/support/catch.hpp"

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct Workload : test::Cluster {
    std::string app = fresh_name("app");
    kube::ObjectKey pod{"default", app};
    kube::ObjectKey budget{"default", app};

    // Creates a pod that reports itself as ready, because there is no kubelet.
    asio::awaitable<api::Pod> create_ready_pod() {
        std::optional<json::value> body = json::value{
            {"metadata", {{"name", app}, {"labels", {{"app", app}}}}},
            {"spec",
             {{"nodeName", "nowhere"}, {"containers", {{{"name", "c"}, {"image", "example.invalid/c"}}}}}}};
        co_await client.call("POST", "/api/v1/namespaces/default/pods", body);
        kube::Patch ready;
        ready.body = {
            {"status", {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
        co_return co_await client.patch_status<api::Pod>(pod, ready);
    }
    asio::awaitable<void> create_budget(std::string name, int minimum) {
        api::PodDisruptionBudget object;
        object.metadata.namespace_ = "default";
        object.metadata.name = std::move(name);
        object.spec.minAvailable = api::IntOrString::from_integer(minimum);
        object.spec.selector.emplace().matchLabels["app"] = app;
        co_await client.create(object);
    }
    asio::awaitable<void> wait_for_allowed(int allowed) {
        for (int i = 0; i < 200; ++i) {
            auto seen = co_await client.get<api::PodDisruptionBudget>(budget);
            const auto& status = seen->status;
            const bool current =
                status.observedGeneration == seen->metadata.generation && status.expectedPods == 1;
            if (current && status.disruptionsAllowed == allowed) co_return;
            co_await loop.clock->sleep_for(std::chrono::milliseconds(50));
        }
        FAIL("the budget's status did not come");
    }
};

}  // namespace

TEST_CASE_METHOD(Workload, "a budget blocks an eviction until it allows one") {
    loop.run([&]() -> asio::awaitable<void> {
        auto ready = co_await create_ready_pod();
        const auto uid = ready.metadata.uid;
        co_await create_budget(app, 1);
        co_await wait_for_allowed(0);
        auto first = co_await client.evict(pod, uid, std::nullopt);
        REQUIRE(std::holds_alternative<kube::BlockedByBudget>(first));
        CHECK(std::get<kube::BlockedByBudget>(first).message.find("disruption budget") != std::string::npos);

        kube::Patch relax;
        relax.body = {{"spec", {{"minAvailable", 0}}}};
        co_await client.patch<api::PodDisruptionBudget>(budget, relax);
        co_await wait_for_allowed(1);
        auto second = co_await client.evict(pod, uid, std::chrono::seconds(0));
        CHECK(std::holds_alternative<kube::Evicted>(second));
    });
}

TEST_CASE_METHOD(Workload, "a pod that is gone, or another of its name, is not found") {
    loop.run([&]() -> asio::awaitable<void> {
        auto absent = co_await client.evict(pod, "", std::nullopt);
        CHECK(std::holds_alternative<kube::PodNotFound>(absent));
        co_await create_ready_pod();
        auto another = co_await client.evict(pod, "00000000-0000-0000-0000-000000000000", std::nullopt);
        CHECK(std::holds_alternative<kube::PodNotFound>(another));
        auto there = co_await client.get<api::Pod>(pod);
        CHECK(there);
        co_await client.remove<api::Pod>(pod);
    });
}

TEST_CASE_METHOD(Workload, "two budgets for one pod block it, with the server's explanation") {
    loop.run([&]() -> asio::awaitable<void> {
        auto ready = co_await create_ready_pod();
        co_await create_budget(app, 0);
        co_await create_budget(app + "-2", 0);
        auto result = co_await client.evict(pod, ready.metadata.uid, std::nullopt);
        REQUIRE(std::holds_alternative<kube::BlockedByBudget>(result));
        CHECK(std::get<kube::BlockedByBudget>(result).message.find("more than one PodDisruptionBudget") !=
              std::string::npos);
        co_await client.remove<api::Pod>(pod);
    });
}
