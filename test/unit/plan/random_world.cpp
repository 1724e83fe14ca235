#include "test/unit/plan/random_world.hpp"

#include <random>

#include "controllers/provisioning/past_launches.hpp"

namespace random_world {

namespace {

using namespace objects;
using std::chrono::minutes;

class Maker {
public:
    Maker(test::Cluster& cluster, std::uint64_t seed) : cluster_(cluster), random_(seed) {}

    void put() {
        put_managers();
        const auto providers = 1 + below(2);
        for (std::size_t i = 0; i < providers; ++i) put_provider("provider-" + std::to_string(i));
        const auto pods = below(14);
        for (std::size_t i = 0; i < pods; ++i) put_waiting_pod("wait-" + std::to_string(i));
        const auto pools = 1 + below(3);
        for (std::size_t i = 0; i < pools; ++i) {
            auto made = make_pool("pool-" + std::to_string(i), providers);
            for (std::size_t k = below(4); k > 0; --k) put_claim(made);
            add_past(made);
            cluster_.server.put(made);
        }
        if (chance(30)) put_daemon_set();
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    // Returns a time some minutes and seconds ago, so that it is never exactly when a rule changes its
    // result.
    api::Time ago(std::size_t most_minutes) {
        return api::Time(kStart.at - minutes{below(most_minutes)} - std::chrono::seconds{17});
    }
    api::Time soon() { return api::Time(kStart.at + minutes{below(20)} + std::chrono::seconds{17}); }

    void put_managers() {
        auto main = control_plane("main", {"*"});
        if (chance(10)) main.spec.pools = {"pool-1"};
        decorate(main);
        cluster_.server.put(main);
        if (!chance(30)) return;
        auto other = control_plane("other", {"pool-0"});
        decorate(other);
        cluster_.server.put(other);
    }

    void decorate(NodeSmithControlPlane& manager) {
        using api::v1alpha1::Mode;
        if (chance(15)) manager.spec.mode = chance(50) ? Mode::Observe : Mode::Paused;
        if (chance(20)) manager.spec.limits.maxNodes = static_cast<std::int64_t>(1 + below(6));
        if (chance(15)) manager.spec.limits.cpuCores = static_cast<std::int64_t>(4 + below(30));
        if (chance(15)) manager.spec.rateLimits.maxCreationsPerHour = static_cast<std::int32_t>(1 + below(5));
        if (chance(10)) manager.spec.health = {10, 0};
    }

    void put_provider(const std::string& name) {
        auto made = provider(name, chance(93) ? api::ConditionStatus::True : api::ConditionStatus::False);
        const auto hosts = chance(5) ? 0 : 1 + below(3);
        for (std::size_t i = 0; i < hosts; ++i) {
            api::v1alpha1::ProviderHost host;
            host.name = name + "-host-" + std::to_string(i);
            host.online = chance(90);
            host.cpuCores = host.freeCPUCores = static_cast<std::int64_t>(2 + below(30));
            host.memoryMiB = host.freeMemoryMiB = static_cast<std::int64_t>(4096 * (1 + below(16)));
            made.status.hosts.push_back(host);
        }
        cluster_.server.put(made);
    }

    NodeSmithPool make_pool(const std::string& name, std::size_t providers) {
        auto made = pool(name);
        made.metadata.creationTimestamp = api::Time(kStart.at - std::chrono::hours{30});
        made.spec.providerRef = "provider-" + std::to_string(below(providers + (chance(5) ? 1 : 0)));
        made.spec.weight = static_cast<std::int32_t>(below(2));
        auto& machine = made.spec.machineTemplate;
        if (chance(50)) machine.sizes = {{"s", 2, 4096}, {"m", 4, 8192}};
        if (chance(20)) machine.labels = {{"disk", "ssd"}};
        if (chance(15)) machine.taints.push_back({"dedicated", "", "NoSchedule", std::nullopt});
        if (chance(25)) made.spec.limits.maxNodes = static_cast<std::int64_t>(1 + below(5));
        if (chance(15)) made.spec.limits.cpuCores = static_cast<std::int64_t>(2 + below(20));
        if (chance(15)) made.spec.limits.minNodes = 1;
        auto& scale_up = made.spec.scaleUp;
        if (chance(10)) scale_up.headroom.cpuCores = 2;
        if (chance(10)) scale_up.headroom.nodes = 1;
        if (chance(20)) scale_up.batchSize = static_cast<std::int32_t>(1 + below(3));
        if (chance(20)) scale_up.maxConcurrent = static_cast<std::int32_t>(1 + below(3));
        if (chance(20)) scale_up.stabilizationWindow = minutes{5};
        add_status(made);
        return made;
    }

    void add_status(NodeSmithPool& made) {
        auto& status = made.status;
        if (chance(50)) status.lastScaleUpTime = ago(20);
        if (chance(10)) {
            status.consecutiveFailures = 3;
            status.nextRetryTime = chance(60) ? soon() : ago(20);
        }
        if (chance(8)) status.reserved = {static_cast<std::int64_t>(below(4)), 0, 0, ago(3)};
        for (const auto& waiting : waiting_)
            if (chance(3))
                status.mispredictions.push_back({waiting.metadata.uid, api::key_of(waiting).str(), "",
                                                 static_cast<std::int32_t>(1 + below(3)),
                                                 chance(70) ? soon() : ago(20)});
    }

    // Adds past launches as the operator records them for claims that are gone.
    void add_past(NodeSmithPool& made) {
        std::string list;
        for (std::size_t i = below(5); i > 0; --i) {
            if (waiting_.empty() || chance(50)) continue;
            list += std::string(list.empty() ? "" : ",") + R"({"claim":"gone-)" + std::to_string(claims_++) +
                    R"(","time":")" + ago(70).str() + R"(","pods":[")" + some_pods("\",\"") + R"("]})";
        }
        if (!list.empty())
            made.metadata.annotations[std::string(controllers::provisioning::kPastLaunches)] =
                "[" + list + "]";
    }

    // Returns UIDs of pods that wait or run.
    std::string some_pods(const std::string& separator) {
        std::string text;
        for (const auto* list : {&waiting_, &running_})
            for (const auto& one : *list)
                if (chance(12)) text += (text.empty() ? "" : separator) + one.metadata.uid;
        return text.empty() ? "nobody" : text;
    }

    void put_claim(const NodeSmithPool& of) {
        const auto name = of.metadata.name + "-" + std::to_string(claims_++);
        auto made = created_claim(name, of, 1000 + static_cast<std::int64_t>(claims_),
                                  static_cast<std::int64_t>(2 + below(3)), 8192);
        made.metadata.creationTimestamp = ago(90);
        if (chance(80))
            made.metadata.annotations[std::string(api::annotations::kLaunchedFor)] = some_pods(",");
        const auto kind = below(6);
        if (kind < 3) {
            put_node(made);
            made = in_service(made, ago(30));
            made.status.host = "provider-0-host-0";
            if (kind == 2) leave(made);
        } else if (kind == 3) {
            set_condition(made.status.conditions, api::conditions::kLaunched, api::ConditionStatus::False,
                          ago(5), chance(25) ? "InsufficientCapacity" : "Launching");
        } else if (kind == 4) {
            set_condition(made.status.conditions, api::conditions::kFailed, api::ConditionStatus::True,
                          ago(5));
            set_condition(made.status.conditions, api::conditions::kMachineDeleted,
                          api::ConditionStatus::True, ago(5));
        }
        cluster_.server.put(made);
    }

    void leave(NodeSmithClaim& claim) {
        if (chance(50)) {
            claim.metadata.finalizers->emplace_back(api::finalizers::kClaim);
            claim.metadata.deletionTimestamp = ago(5);
        } else {
            set_condition(claim.status.conditions, api::conditions::kDisrupted, api::ConditionStatus::True,
                          ago(5), "Unhealthy");
        }
    }

    void put_node(const NodeSmithClaim& claim) {
        auto made =
            node(claim.metadata.name, chance(85), std::to_string(claim.spec.requirements.cpuCores), "8Gi");
        made.metadata.labels = {{"kubenodesmith.io/nodeclaim", claim.metadata.name},
                                {"topology.kubenodesmith.io/pool", claim.spec.poolRef},
                                {"kubernetes.io/hostname", claim.metadata.name}};
        cluster_.server.put(made);
        for (std::size_t i = below(3); i > 0; --i) {
            auto pod = make_pod("run-" + std::to_string(running_.size())).on(claim.metadata.name);
            running_.push_back(cluster_.server.put<api::Pod>(pod));
        }
    }

    builders::PodBuilder make_pod(const std::string& name) {
        auto pod = test::a_pod(name).label("app", std::to_string(below(3)));
        pod.owner(chance(5) ? "DaemonSet" : "ReplicaSet");
        const auto cpu = std::to_string(100 * (1 + below(25))) + "m";
        const auto memory = std::to_string(64 * (1 + below(30))) + "Mi";
        pod.requesting(cpu, memory);
        if (chance(3)) pod.requests({{"cpu", "200"}});
        if (chance(15)) pod.select("disk", chance(80) ? "ssd" : "none");
        if (chance(30)) pod.tolerate("dedicated");
        if (chance(20)) pod.priority(static_cast<std::int32_t>(below(100)));
        return pod;
    }

    void put_waiting_pod(const std::string& name) {
        auto pod = make_pod(name).unschedulable(kStart).pod;
        if (chance(5)) pod.status.nominatedNodeName = "pool-0-0";
        waiting_.push_back(cluster_.server.put(pod));
    }

    void put_daemon_set() {
        api::DaemonSet agent;
        agent.metadata.name = "agent";
        agent.metadata.namespace_ = "kube-system";
        agent.spec.template_.spec = test::a_pod("agent").requests({{"cpu", "200m"}}).pod.spec;
        cluster_.server.put(agent);
    }

    test::Cluster& cluster_;
    std::mt19937_64 random_;
    std::vector<api::Pod> waiting_;
    std::vector<api::Pod> running_;
    std::size_t claims_ = 0;
};

}  // namespace

void put(test::Cluster& cluster, std::uint64_t seed) {
    Maker(cluster, seed).put();
}

}  // namespace random_world
