// `plan` reports what the operator does: both get the same random clusters.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <set>

#include "controllers/provisioning/facts/claim_factory.hpp"
#include "controllers/provisioning/provisioning_reconciler.hpp"
#include "operator/plan/plan.hpp"
#include "test/support/catch.hpp"
#include "test/support/samples.hpp"
#include "test/unit/plan/random_world.hpp"

using namespace kubenodesmith;
using namespace std::chrono_literals;

namespace {

// Outcome holds everything that a pod or user would notice, as sentences.
using Outcome = std::multiset<std::string>;

std::string machine(const std::string& pool, std::int64_t cpu, std::int64_t memory, const std::string& zone,
                    std::vector<std::string> pods) {
    std::sort(pods.begin(), pods.end());
    auto text = pool + " launches " + std::to_string(cpu) + "c/" + std::to_string(memory) + "Mi in '" + zone +
                "' for";
    for (const auto& pod : pods) text += " " + pod;
    return text;
}

std::string joined(const std::vector<std::string>& reasons) {
    std::string text;
    for (const auto& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    return text;
}

// Returns the objects as `kubectl get -o json` prints them.
std::string picture_of(test::Cluster& cluster) {
    boost::json::array items;
    const auto add = [&]<class T>(const T*) {
        for (const auto& object : cluster.server.list<T>()) items.push_back(api::encode(object));
    };
    add(static_cast<api::Pod*>(nullptr));
    add(static_cast<api::Node*>(nullptr));
    add(static_cast<api::Namespace*>(nullptr));
    add(static_cast<api::DaemonSet*>(nullptr));
    add(static_cast<objects::NodeSmithProvider*>(nullptr));
    add(static_cast<objects::NodeSmithPool*>(nullptr));
    add(static_cast<objects::NodeSmithClaim*>(nullptr));
    add(static_cast<objects::NodeSmithControlPlane*>(nullptr));
    return boost::json::serialize(boost::json::object{{"kind", "List"}, {"items", std::move(items)}});
}

Outcome planned(const std::string& picture, api::Time now) {
    const auto plan = make_plan(*ClusterSnapshot::from_files({{"picture", picture}}, now));
    Outcome outcome;
    std::map<std::string, std::size_t> observed;
    for (const auto& planned_machine : plan.planned_machines) {
        if (!planned_machine.observed_by.empty()) {
            ++observed[planned_machine.pool.name];
            continue;
        }
        std::vector<std::string> pods;
        for (const auto& pod : planned_machine.pods) pods.push_back(pod.name);
        outcome.insert(machine(planned_machine.pool.name, planned_machine.cpuCores, planned_machine.memoryMiB,
                               planned_machine.zone, pods));
    }
    for (const auto& [pool, count] : observed)
        outcome.insert(pool + " would launch " + std::to_string(count));
    for (const auto& pod : plan.pods)
        if (pod.outlook == WaitingPod::Outlook::nothing)
            outcome.insert(pod.pod.name + ": " + joined(pod.reasons).substr(0, 500));
    return outcome;
}

// Returns what the operator does after its first look at the cluster, one second after its start.
Outcome done(test::Cluster& cluster) {
    controllers::ProvisioningReconciler provisioning{
        {cluster.informers, cluster.client, cluster.clock, cluster.events, cluster.metrics},
        cluster.reservations,
        [] { return true; }};
    std::set<std::string> before;
    for (const auto& claim : cluster.server.list<objects::NodeSmithClaim>())
        before.insert(claim.metadata.name);
    std::map<std::string, std::string> names;
    for (const auto& pod : cluster.server.list<api::Pod>()) names[pod.metadata.uid] = pod.metadata.name;
    cluster.add("provisioning", provisioning);
    cluster.start();
    cluster.run_for(1500ms - 100ms);
    cluster.stop();

    Outcome outcome;
    for (const auto& claim : cluster.server.list<objects::NodeSmithClaim>()) {
        if (before.contains(claim.metadata.name)) continue;
        std::vector<std::string> pods;
        for (const auto& uid : controllers::provisioning::launched_for(claim)) pods.push_back(names.at(uid));
        const auto& size = claim.spec.requirements;
        outcome.insert(machine(claim.spec.poolRef, size.cpuCores, size.memoryMiB, claim.spec.zone, pods));
    }
    const std::string refusal = " NoNodeForPod: no node can be created for the pod: ";
    const std::string wish = " WouldCreate: would create ";
    for (const auto& line : cluster.events.lines) {
        if (const auto at = line.find(refusal); at != std::string::npos)
            outcome.insert(line.substr(4, at - 4) + ": " + line.substr(at + refusal.size(), 500));
        if (const auto at = line.find(wish); at != std::string::npos) {
            const auto pool = line.substr(line.find(' ') + 1, at - line.find(' ') - 1);
            const auto count = line.substr(at + wish.size());
            outcome.insert(pool + " would launch " + count.substr(0, count.find(' ')));
        }
    }
    return outcome;
}

}  // namespace

TEST_CASE("plan says what the operator does, and why it does no more, in random clusters") {
    std::size_t planned_machines = 0;
    std::size_t refusals = 0;
    const auto clusters = test::sample_of<std::size_t>(2000, 400);
    for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
        test::Cluster cluster;
        random_world::put(cluster, seed);
        const auto picture = picture_of(cluster);
        const auto actual = done(cluster);
        const auto expected = planned(picture, objects::at(1s));
        for (const auto& line : actual)
            ++(line.find(" launches ") != std::string::npos ? planned_machines : refusals);
        INFO("seed " << seed);
        REQUIRE(expected == actual);
    }
    // The clusters lead to launches and to refusals.
    CHECK(planned_machines > clusters / 2);
    CHECK(refusals > clusters);
}
