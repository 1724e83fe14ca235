#include "test/unit/scheduling/random_cluster.hpp"

#include <algorithm>
#include <set>

#include "test/unit/scheduling/builders.hpp"

namespace random_cluster {

namespace {

using builders::PodBuilder;
using builders::quantity;

const std::string kZone(api::labels::kZone);
const std::string kHostname(api::labels::kHostname);
const std::vector<std::string> kApps = {"a", "b", "c"};
const std::vector<std::string> kNamespaces = {"default", "other"};

class Maker {
public:
    Maker(std::uint64_t seed, const Options& options) : random_(seed), options_(options) {
        if (options.features.empty()) {
            for (int i = 0; i < kFeatures; ++i)
                if (chance(40)) features_.insert(static_cast<Feature>(i));
        } else {
            features_.insert(options.features.begin(), options.features.end());
        }
    }

    scheduling::Snapshot make() {
        add_namespaces();
        add_pools();
        add_nodes();
        if (has(Feature::daemon_sets)) add_daemon_sets();
        const auto templates = make_templates(1 + below(5));
        const auto count = 1 + below(options_.most_pods);
        for (std::size_t i = 0; i < count; ++i)
            snapshot_.pods.push_back(pod_of(pick(templates), "pod-" + std::to_string(i)));
        if (!has(Feature::preferences) || chance(30)) snapshot_.preferences = scheduling::Preferences::ignore;
        return std::move(snapshot_);
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    bool has(Feature feature) const { return features_.contains(feature); }
    template <class T>
    const T& pick(const std::vector<T>& list) {
        return list[below(list.size())];
    }

    void add_namespaces() {
        for (const auto& name : kNamespaces) {
            auto space = std::make_shared<api::Namespace>();
            space->metadata.name = name;
            space->metadata.labels = {{"kubernetes.io/metadata.name", name}};
            snapshot_.namespaces.push_back(space);
        }
    }

    void add_pools() {
        const auto places = 1 + below(4);
        for (std::size_t i = 0; i < places; ++i) {
            scheduling::Place place = builders::place("zone-" + std::to_string(i));
            if (options_.has_limits && chance(30))
                place.free_cpu_cores = static_cast<std::int64_t>(below(20));
            if (options_.has_limits && chance(20)) place.free_machines = static_cast<std::int64_t>(below(4));
            snapshot_.places.push_back(place);
        }
        if (options_.has_limits && chance(30))
            snapshot_.budgets.push_back({"nodes", static_cast<std::int64_t>(below(6)), {}, {}});
        if (options_.has_limits && chance(30))
            snapshot_.budgets.push_back({"cpu", {}, static_cast<std::int64_t>(below(30)), {}});
        const auto pools = 1 + below(3);
        for (std::size_t i = 0; i < pools; ++i)
            snapshot_.pools.push_back(make_pool("pool-" + std::to_string(i)));
    }

    scheduling::Pool make_pool(const std::string& name) {
        auto pool = builders::pool(name);
        pool.places.clear();
        for (std::size_t i = 0; i < snapshot_.places.size(); ++i)
            if (chance(80))
                pool.places.push_back({i, snapshot_.places[i].name, {{kZone, snapshot_.places[i].name}}});
        pool.labels["disk"] = chance(50) ? "ssd" : "hdd";
        pool.labels["generation"] = std::to_string(below(3));
        pool.labels[std::string(api::labels::kOs)] = "linux";
        pool.labels[std::string(api::labels::kArch)] = "amd64";
        pool.weight = static_cast<std::int32_t>(below(3));
        pool.reserved = {100, 256};
        pool.pods_per_node = chance(20) ? 4 : 110;
        pool.flexible.cpuCores = {1, static_cast<std::int64_t>(2 + below(14)), 1};
        pool.flexible.memoryMiB = {1024, 32768, 512};
        if (chance(40)) pool.shapes = {{"s", 2, 4096, 110}, {"m", 4, 8192, 110}, {"wide", 8, 6144, 20}};
        if (has(Feature::taints) && chance(50)) pool.taints.push_back(builders::taint("dedicated", effect()));
        for (std::size_t i = 0; i < snapshot_.budgets.size(); ++i)
            if (chance(70)) pool.budgets.push_back(i);
        return pool;
    }

    std::string_view effect() {
        if (chance(30)) return api::taints::kPreferNoSchedule;
        return chance(20) ? api::taints::kNoExecute : api::taints::kNoSchedule;
    }

    void add_nodes() {
        const auto templates = make_templates(2);
        const auto count = below(options_.most_nodes + 1);
        for (std::size_t i = 0; i < count; ++i) {
            auto node = builders::node("node-" + std::to_string(i), std::to_string(1 + below(8)),
                                       std::to_string(2 + below(16)) + "Gi");
            auto& object = builders::edit(node);
            object.metadata.labels[kZone] = pick(snapshot_.places).name;
            object.metadata.labels["disk"] = chance(50) ? "ssd" : "hdd";
            object.metadata.labels["generation"] = std::to_string(below(3));
            if (has(Feature::taints) && chance(30))
                object.spec.taints.push_back(builders::taint("dedicated", effect()));
            if (chance(20)) node.availability = scheduling::Availability::coming;
            if (node.availability == scheduling::Availability::ready)
                for (std::size_t k = below(4); k > 0; --k)
                    node.pods.push_back(pod_of(pick(templates), "old-" + std::to_string(old_++)));
            snapshot_.nodes.push_back(std::move(node));
        }
    }

    void add_daemon_sets() {
        const auto count = 1 + below(2);
        for (std::size_t i = 0; i < count; ++i) {
            auto set = std::make_shared<api::DaemonSet>();
            set->metadata.name = "agent-" + std::to_string(i);
            set->metadata.namespace_ = "default";
            set->metadata.uid = "uid-agent-" + std::to_string(i);
            auto pod = PodBuilder("agent", "100m", "64Mi").label("daemon", set->metadata.name);
            if (chance(30)) pod.label("app", pick(kApps));
            if (chance(50)) pod.tolerate("dedicated");
            if (chance(30)) pod.select("disk", "ssd");
            if (has(Feature::host_ports) && chance(30)) add_port(pod.pod, 8080);
            set->spec.template_.metadata.labels = pod.pod.metadata.labels;
            set->spec.template_.spec = pod.pod.spec;
            set->spec.selector.emplace().matchLabels = {{"daemon", set->metadata.name}};
            snapshot_.daemon_sets.push_back(set);
        }
    }

    // Pods come in groups, as Deployments make them.
    std::vector<PodBuilder> make_templates(std::size_t count) {
        std::vector<PodBuilder> templates;
        while (templates.size() < count) templates.push_back(make_template());
        return templates;
    }

    PodBuilder make_template() {
        PodBuilder pod("template", pick<std::string>({"0", "100m", "500m", "1", "2"}),
                       pick<std::string>({"0", "128Mi", "1Gi", "3Gi"}));
        pod.pod.metadata.namespace_ = chance(75) ? kNamespaces[0] : kNamespaces[1];
        pod.label("app", pick(kApps)).label("tier", pick(kApps));
        if (has(Feature::resources) && chance(50)) add_init_containers(pod.pod);
        if (has(Feature::node_selector) && chance(40))
            chance(50) ? pod.select("disk", "ssd") : pod.select(kZone, pick(snapshot_.places).name);
        if (has(Feature::node_affinity) && chance(50)) add_node_affinity(pod);
        if (has(Feature::taints) && chance(50)) pod.tolerate("dedicated");
        if (has(Feature::zone_spread) && chance(60)) add_spread(pod, kZone);
        if (has(Feature::host_spread) && chance(60)) add_spread(pod, kHostname);
        if (has(Feature::pod_affinity) && chance(50)) add_affinity(pod);
        if (has(Feature::pod_anti_affinity) && chance(50)) add_anti_affinity(pod);
        if (has(Feature::preferences)) add_preferences(pod);
        if (has(Feature::host_ports) && chance(40)) add_port(pod.pod, chance(50) ? 8080 : 9090);
        return pod;
    }

    static void add_init_containers(api::Pod& pod) {
        auto& first = pod.spec.initContainers.emplace_back();
        first.name = "sidecar";
        first.image = "registry.k8s.io/pause:3.10";
        first.restartPolicy = "Always";
        first.resources.requests["cpu"] = quantity("100m");
        auto& second = pod.spec.initContainers.emplace_back();
        second.name = "init";
        second.image = "registry.k8s.io/pause:3.10";
        second.resources.requests["cpu"] = quantity("1");
        second.resources.requests["memory"] = quantity("256Mi");
    }

    api::SelectorRequirement node_requirement() {
        switch (below(5)) {
            case 0:
                return builders::in(kZone, {pick(snapshot_.places).name, pick(snapshot_.places).name});
            case 1:
                return builders::not_in(kZone, {pick(snapshot_.places).name});
            case 2:
                return {"generation", api::SelectorOperator::Gt, {"0"}};
            case 3:
                return {"disk", api::SelectorOperator::Exists, {}};
            default:
                return builders::in("disk", {"ssd"});
        }
    }

    void add_node_affinity(PodBuilder& pod) {
        const auto terms = 1 + below(2);
        for (std::size_t i = 0; i < terms; ++i)
            chance(30) ? pod.require({node_requirement(), node_requirement()})
                       : pod.require({node_requirement()});
    }

    void add_spread(PodBuilder& pod, const std::string& key, bool is_soft = false) {
        auto& constraint = pod.pod.spec.topologySpreadConstraints.emplace_back();
        constraint.topologyKey = key;
        constraint.maxSkew = static_cast<std::int32_t>(1 + below(2));
        constraint.labelSelector = selector(pod.pod);
        if (is_soft) {
            constraint.whenUnsatisfiable = api::UnsatisfiableConstraintAction::ScheduleAnyway;
            return;
        }
        if (chance(20)) constraint.minDomains = static_cast<std::int32_t>(1 + below(3));
        if (chance(30)) constraint.nodeAffinityPolicy = api::NodeInclusionPolicy::Ignore;
        if (chance(30)) constraint.nodeTaintsPolicy = api::NodeInclusionPolicy::Honor;
        if (chance(20)) constraint.matchLabelKeys = {"tier"};
    }

    // Mostly the pod's own kind.
    api::LabelSelector selector(const api::Pod& pod) {
        api::LabelSelector selector;
        if (chance(15)) {
            selector.matchExpressions.push_back(builders::not_in("app", {pick(kApps)}));
        } else {
            selector.matchLabels["app"] = chance(75) ? pod.metadata.labels.at("app") : pick(kApps);
        }
        return selector;
    }

    api::PodAffinityTerm term(const api::Pod& pod) {
        api::PodAffinityTerm term;
        term.labelSelector = selector(pod);
        term.topologyKey = chance(50) ? kZone : kHostname;
        if (chance(20)) term.namespaces = {pick(kNamespaces)};
        if (chance(15)) term.namespaceSelector.emplace();
        if (chance(15))
            term.namespaceSelector.emplace().matchLabels["kubernetes.io/metadata.name"] = pick(kNamespaces);
        if (chance(15)) term.matchLabelKeys = {"tier"};
        return term;
    }

    void add_affinity(PodBuilder& pod) {
        auto& affinity = pod.affinity().podAffinity.emplace();
        const auto terms = 1 + below(2);
        for (std::size_t i = 0; i < terms; ++i)
            affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term(pod.pod));
    }

    void add_anti_affinity(PodBuilder& pod) {
        auto& affinity = pod.affinity().podAntiAffinity.emplace();
        affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term(pod.pod));
    }

    void add_preferences(PodBuilder& pod) {
        if (chance(30)) add_spread(pod, chance(50) ? kZone : kHostname, true);
        auto& affinity = pod.affinity();
        if (chance(40)) {
            if (!affinity.nodeAffinity) affinity.nodeAffinity.emplace();
            auto& preferred =
                affinity.nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
            preferred.weight = static_cast<std::int32_t>(1 + below(100));
            preferred.preference.matchExpressions.push_back(node_requirement());
        }
        const auto weight = [&] { return static_cast<std::int32_t>(1 + below(100)); };
        if (chance(40)) {
            if (!affinity.podAntiAffinity) affinity.podAntiAffinity.emplace();
            affinity.podAntiAffinity->preferredDuringSchedulingIgnoredDuringExecution.push_back(
                {weight(), term(pod.pod)});
        }
        if (chance(40)) {
            if (!affinity.podAffinity) affinity.podAffinity.emplace();
            affinity.podAffinity->preferredDuringSchedulingIgnoredDuringExecution.push_back(
                {weight(), term(pod.pod)});
        }
    }

    static void add_port(api::Pod& pod, std::int32_t port) {
        auto& added = pod.spec.containers[0].ports.emplace_back();
        added.containerPort = port;
        added.hostPort = port;
    }

    std::shared_ptr<const api::Pod> pod_of(PodBuilder pod, const std::string& name) {
        pod.pod.metadata.name = name;
        pod.pod.metadata.uid = "uid-" + name;
        pod.owner("ReplicaSet", "some");
        if (has(Feature::priority)) pod.priority(static_cast<std::int32_t>(below(3)));
        return pod;
    }

    std::mt19937_64 random_;
    const Options& options_;
    std::set<Feature> features_;
    scheduling::Snapshot snapshot_;
    std::size_t old_ = 0;
};

}  // namespace

scheduling::Snapshot make(std::uint64_t seed, const Options& options) {
    return Maker(seed, options).make();
}

const char* name_of(Feature feature) {
    constexpr const char* kNames[] = {"resources",   "node_selector", "node_affinity", "taints",
                                      "zone_spread", "host_spread",   "pod_affinity",  "pod_anti_affinity",
                                      "preferences", "host_ports",    "priority",      "daemon_sets"};
    return kNames[static_cast<int>(feature)];
}

}  // namespace random_cluster
