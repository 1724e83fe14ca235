#include "controllers/services/drain.hpp"

#include "test/support/catch.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/unit/controllers/cluster.hpp"

namespace {

using namespace controllers;
using namespace std::chrono_literals;
using objects::at;

builders::PodBuilder pod(const std::string& name) {
    return builders::PodBuilder(name).on("n");
}

std::string names(const std::vector<std::shared_ptr<const api::Pod>>& pods) {
    std::string text;
    for (const auto& pod : pods) text += (text.empty() ? "" : " ") + pod->metadata.name;
    return text;
}

DrainPlan plan(const std::vector<api::Pod>& pods, DrainRequest request = {}, api::Time now = at(0s)) {
    std::vector<std::shared_ptr<const api::Pod>> pointers;
    pointers.reserve(pods.size());
    for (const auto& pod : pods) pointers.push_back(std::make_shared<const api::Pod>(pod));
    return plan_drain(pointers, request, now);
}

TEST_CASE("pods that belong to the node or have ended are left alone") {
    auto ended = pod("ended").pod;
    ended.status.phase = api::PodPhase::Succeeded;
    CHECK_FALSE(is_drainable(pod("mirror").annotate("kubernetes.io/config.mirror", "hash")));
    CHECK_FALSE(is_drainable(ended));
    CHECK_FALSE(is_drainable(pod("daemon").owner("DaemonSet")));
    CHECK_FALSE(is_drainable(pod("static").owner("Node")));
    CHECK(is_drainable(pod("web").owner("ReplicaSet")));
    CHECK(is_drainable(pod("bare")));
}

TEST_CASE("a pod that tolerates the taint and came back during the drain ends with the machine") {
    const auto old = pod("old").owner("ReplicaSet").tolerate("");
    auto next = pod("next").owner("ReplicaSet").tolerate("");
    auto bare = pod("bare").tolerate("");
    auto other = pod("other").owner("ReplicaSet");
    for (auto* made : {&next, &bare, &other}) made->pod.metadata.creationTimestamp = at(10s);
    DrainRequest request;
    CHECK(names(plan({old, next, bare, other}, request, at(20s)).evict) == "bare next old other");
    request.began = at(10s);
    CHECK(names(plan({old, next, bare, other}, request, at(20s)).evict) == "bare old other");
    CHECK(names(plan({old, next, bare, other}, request, at(20s)).came_back) == "next");
    // A deadline ends it no earlier, as the one after it would come back too.
    request.deadline = at(25s);
    CHECK(names(plan({next}, request, at(20s)).kill).empty());
    request.deadline.reset();
    next.annotate("kubenodesmith.io/do-not-disrupt", "true");
    CHECK(names(plan({next}, request, at(20s)).protected_) == "next");
    next.ending(at(50s));
    CHECK(names(plan({next}, request, at(20s)).ending) == "next");
}

TEST_CASE("less important pods go first, critical ones when the others have ended") {
    const auto low = pod("low").priority(-5);
    auto high = pod("high").priority(1000);
    const auto critical = pod("critical").priority(2'000'001'000);
    CHECK(names(plan({critical, high, low}).evict) == "low high");
    CHECK(names(plan({critical, high, low}).later) == "critical");
    high.ending(at(30s));
    CHECK(names(plan({critical, high}).later) == "critical");
    CHECK(names(plan({critical, high}).ending) == "high");
    CHECK(names(plan({critical}).evict) == "critical");
}

TEST_CASE("do-not-disrupt protects from what we chose, not from a user's deletion") {
    const auto guarded = pod("guarded").annotate("kubenodesmith.io/do-not-disrupt", "true");
    const auto unsafe = pod("unsafe").annotate("cluster-autoscaler.kubernetes.io/safe-to-evict", "false");
    DrainRequest request;
    CHECK(names(plan({guarded, unsafe}, request).protected_) == "guarded unsafe");
    CHECK(plan({guarded, unsafe}, request).evict.empty());
    request.kind = DrainRequest::Kind::forced_by_user;
    CHECK(names(plan({guarded, unsafe}, request).evict) == "guarded unsafe");
}

TEST_CASE("a do-not-disrupt duration counts from the pod's start") {
    auto guarded = pod("guarded").annotate("karpenter.sh/do-not-disrupt", "1h").pod;
    guarded.status.startTime = at(0s);
    CHECK(is_protected(guarded, at(3599s)));
    CHECK_FALSE(is_protected(guarded, at(3600s)));
    guarded.metadata.annotations["karpenter.sh/do-not-disrupt"] = "nonsense";
    CHECK_FALSE(is_protected(guarded, at(0s)));
}

TEST_CASE(
    "near the deadline pods are deleted so early that their grace period fits, after it nothing is waited "
    "for") {
    const auto quick = pod("quick").grace_period(10);
    auto slow = pod("slow").grace_period(100);
    DrainRequest request;
    request.deadline = at(60s);
    CHECK(names(plan({quick, slow}, request).kill) == "slow");
    CHECK(names(plan({quick, slow}, request).evict) == "quick");
    CHECK(names(plan({quick}, request, at(50s)).kill) == "quick");
    slow.ending(at(90s));  // its grace period is not shortened yet
    CHECK(names(plan({slow}, request).kill) == "slow");
    slow.ending(at(60s));
    CHECK(names(plan({slow}, request).ending) == "slow");
    auto late = plan({quick, slow}, request, at(60s));
    CHECK(late.kill.empty());
    CHECK(late.ending.empty());
    CHECK(late.evict.empty());
}

TEST_CASE("a pod that a dead kubelet does not end is not waited for any longer") {
    test::Cluster cluster;
    Drainer drainer(cluster.informers, cluster.client, cluster.clock);
    auto stuck = pod("stuck").grace_period(20).pod;
    stuck.metadata.finalizers = {"example.org/stays"};
    cluster.server.put(stuck);
    cluster.start();
    const auto is_done = [&] {
        DrainRequest request;
        request.node = "n";
        return test::run(cluster.context, cluster.clock, drainer.step(request)).done;
    };
    CHECK_FALSE(is_done());  // the pod is evicted
    cluster.run_for(1s);
    // The calendar says that it should have ended long ago.
    cluster.clock.shift_wall(10min);
    CHECK_FALSE(is_done());
    cluster.run_for(70s);
    CHECK_FALSE(is_done());
    cluster.run_for(11s);
    CHECK(is_done());
    cluster.stop();
}

TEST_CASE("a pod is waited for as long as its kubelet is heard of, and ten minutes longer") {
    test::Cluster cluster;
    Drainer drainer(cluster.informers, cluster.client, cluster.clock);
    auto slow = pod("slow").grace_period(9'999'999'999).pod;
    slow.metadata.finalizers = {"example.org/stays"};
    cluster.server.put(slow);
    cluster.server.put(objects::node("n"));
    cluster.start();
    const auto is_done = [&] {
        DrainRequest request;
        request.node = "n";
        return test::run(cluster.context, cluster.clock, drainer.step(request)).done;
    };
    const auto says = [&](bool is_ready) {
        cluster.server.put(objects::node("n", is_ready));
        cluster.run_for(1s);
    };
    CHECK_FALSE(is_done());  // the pod is evicted
    cluster.run_for(5min);
    for (int i = 0; i < 40; ++i) {
        CHECK_FALSE(is_done());
        cluster.run_for(3min);
    }
    says(false);
    CHECK_FALSE(is_done());
    cluster.run_for(9min);
    CHECK_FALSE(is_done());
    says(true);
    CHECK_FALSE(is_done());
    says(false);
    CHECK_FALSE(is_done());
    cluster.run_for(9min);
    CHECK_FALSE(is_done());
    cluster.run_for(61s);
    CHECK(is_done());
    cluster.stop();
}

TEST_CASE("the message names a few pods and why they stay") {
    DrainProgress progress;
    progress.waiting = {"a/1", "a/2", "a/3", "a/4", "a/5"};
    CHECK(progress.message() == "waiting for 5 pods: a/1, a/2, a/3 and 2 more");
    progress.waiting = {"a/1"};
    progress.blocked = {"a/2: budget web"};
    CHECK(progress.message() == "waiting for 2 pods: blocked a/2: budget web; ending a/1");
}

}  // namespace
