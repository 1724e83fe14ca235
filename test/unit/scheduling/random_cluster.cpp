#include "test/unit/scheduling/random_cluster.hpp"

#include <set>

#include "test/unit/scheduling/random_pods.hpp"

namespace random_cluster {

namespace {

using builders::PodBuilder;
using builders::quantity;

class Maker {
public:
    Maker(std::uint64_t seed, const Options& options)
        : dice_(seed), options_(options), pods_(dice_, options, features_, snapshot_) {
        if (options.features.empty()) {
            for (int i = 0; i < kFeatures; ++i)
                if (dice_.chance(40)) features_.insert(static_cast<Feature>(i));
        } else {
            features_.insert(options.features.begin(), options.features.end());
        }
    }

    std::vector<Feature> features() const { return {features_.begin(), features_.end()}; }

    scheduling::Snapshot make() {
        add_namespaces();
        add_pools();
        if (has(Feature::volumes)) add_storage_class();
        add_nodes();
        if (has(Feature::daemon_sets)) add_daemon_sets();
        const auto templates = pods_.make_templates(1 + dice_.below(5));
        const auto count = 1 + dice_.below(options_.most_pods);
        for (std::size_t i = 0; i < count; ++i)
            snapshot_.pods.push_back(pods_.pod_of(dice_.pick(templates), "pod-" + std::to_string(i)));
        if (!has(Feature::preferences) || dice_.chance(30))
            snapshot_.preferences = scheduling::PreferencePolicy::ignore;
        else if (dice_.chance(50))
            snapshot_.preferences = scheduling::PreferencePolicy::where_free;
        return std::move(snapshot_);
    }

private:
    bool has(Feature feature) const { return features_.contains(feature); }

    void add_namespaces() {
        for (const auto& name : kNamespaces) {
            auto space = std::make_shared<api::Namespace>();
            space->metadata.name = name;
            space->metadata.labels = {{"kubernetes.io/metadata.name", name}};
            snapshot_.namespaces.push_back(space);
        }
    }

    void add_pools() {
        const auto places = 1 + dice_.below(4);
        for (std::size_t i = 0; i < places; ++i) {
            scheduling::Place place = builders::place(options_.prefix + "zone-" + std::to_string(i));
            if (options_.has_limits && dice_.chance(30))
                place.free_cpu_cores = static_cast<std::int64_t>(dice_.below(20));
            if (options_.has_limits && dice_.chance(20))
                place.free_machines = static_cast<std::int64_t>(dice_.below(4));
            if (options_.has_limits && options_.has_bounds && dice_.chance(40))
                place.largest =
                    scheduling::MachineSize{static_cast<std::int64_t>(1 + dice_.below(8)),
                                            static_cast<std::int64_t>(2 + dice_.below(14)) * 1024};
            if (options_.has_limits && options_.has_bounds && dice_.chance(10))
                place.refused.push_back({static_cast<std::int64_t>(2 + dice_.below(4)), 4096});
            snapshot_.places.push_back(place);
        }
        if (options_.has_limits && dice_.chance(30))
            snapshot_.budgets.push_back({"nodes", static_cast<std::int64_t>(dice_.below(6)), {}, {}});
        if (options_.has_limits && dice_.chance(30))
            snapshot_.budgets.push_back({"cpu", {}, static_cast<std::int64_t>(dice_.below(30)), {}});
        const auto pools = 1 + dice_.below(3);
        for (std::size_t i = 0; i < pools; ++i)
            snapshot_.pools.push_back(make_pool("pool-" + std::to_string(i)));
    }

    scheduling::Pool make_pool(const std::string& name) {
        auto pool = builders::pool(name);
        pool.places.clear();
        for (std::size_t i = 0; i < snapshot_.places.size(); ++i)
            if (dice_.chance(80))
                pool.places.push_back({i, snapshot_.places[i].name, {{kZone, snapshot_.places[i].name}}});
        pool.labels["disk"] = dice_.chance(50) ? "ssd" : "hdd";
        pool.labels["generation"] = std::to_string(dice_.below(3));
        pool.labels[std::string(api::labels::kOs)] = "linux";
        pool.labels[std::string(api::labels::kArch)] = "amd64";
        pool.weight = static_cast<std::int32_t>(dice_.below(3));
        pool.reserved = {100, 256};
        pool.pods_per_node = dice_.chance(20) ? 4 : 110;
        if (options_.has_bounds && has(Feature::resources) && dice_.chance(50))
            pool.ephemeral_storage_mib = 17 * 1024;
        pool.flexible.cpuCores = {1, static_cast<std::int64_t>(2 + dice_.below(14)), 1};
        pool.flexible.memoryMiB = {1024, 32768, 512};
        if (dice_.chance(40)) pool.shapes = {{"s", 2, 4096, 110}, {"m", 4, 8192, 110}, {"wide", 8, 6144, 20}};
        if (has(Feature::extended_resources) && dice_.chance(60))
            pool.extended_resources[kGpu] = quantity("2");
        if (has(Feature::taints) && dice_.chance(50))
            pool.taints.push_back(builders::taint("dedicated", effect()));
        for (std::size_t i = 0; i < snapshot_.budgets.size(); ++i)
            if (dice_.chance(70)) pool.budgets.push_back(i);
        return pool;
    }

    std::string_view effect() {
        if (dice_.chance(30)) return api::taints::kPreferNoSchedule;
        return dice_.chance(20) ? api::taints::kNoExecute : api::taints::kNoSchedule;
    }

    void add_nodes() {
        const auto templates = pods_.make_templates(2);
        const auto count = dice_.below(options_.most_nodes + 1);
        for (std::size_t i = 0; i < count; ++i) {
            auto node = builders::node(options_.prefix + "node-" + std::to_string(i),
                                       std::to_string(1 + dice_.below(8)),
                                       std::to_string(2 + dice_.below(16)) + "Gi");
            auto& object = builders::edit(node);
            object.metadata.labels[kZone] = dice_.pick(snapshot_.places).name;
            object.metadata.labels["disk"] = dice_.chance(50) ? "ssd" : "hdd";
            object.metadata.labels["generation"] = std::to_string(dice_.below(3));
            if (has(Feature::taints) && dice_.chance(30))
                object.spec.taints.push_back(builders::taint("dedicated", effect()));
            if (has(Feature::extended_resources) && dice_.chance(40))
                object.status.allocatable[kGpu] = quantity("1");
            if (has(Feature::volumes) && dice_.chance(60)) node.csi = attach_limit(object.metadata.name);
            if (dice_.chance(20)) node.availability = scheduling::Availability::coming;
            if (node.availability == scheduling::Availability::ready)
                for (std::size_t k = dice_.below(4); k > 0; --k)
                    node.pods.push_back(pods_.pod_of(dice_.pick(templates), "old-" + std::to_string(old_++)));
            snapshot_.nodes.push_back(std::move(node));
        }
    }

    void add_storage_class() {
        auto late = std::make_shared<api::StorageClass>();
        late->metadata.name = options_.prefix + "late";
        late->provisioner = kVolumeDriver;
        late->volumeBindingMode = api::VolumeBindingMode::WaitForFirstConsumer;
        if (dice_.chance(50))
            late->allowedTopologies.push_back({{{kZone, {dice_.pick(snapshot_.places).name}}}});
        snapshot_.volumes.classes.push_back(late);
    }

    std::shared_ptr<const api::CSINode> attach_limit(const std::string& node) {
        auto csi = std::make_shared<api::CSINode>();
        csi->metadata.name = node;
        csi->spec.drivers.push_back(
            {kVolumeDriver, "", {}, api::VolumeNodeResources{static_cast<std::int32_t>(1 + dice_.below(3))}});
        return csi;
    }

    void add_daemon_sets() {
        const auto count = 1 + dice_.below(2);
        for (std::size_t i = 0; i < count; ++i) {
            auto set = std::make_shared<api::DaemonSet>();
            set->metadata.name = "agent-" + std::to_string(i);
            set->metadata.namespace_ = "default";
            set->metadata.uid = "uid-agent-" + std::to_string(i);
            auto pod = PodBuilder("agent", "100m", "64Mi").label("daemon", set->metadata.name);
            if (dice_.chance(30)) pod.label("app", dice_.pick(kApps));
            if (dice_.chance(50)) pod.tolerate("dedicated");
            if (dice_.chance(30)) pod.select("disk", "ssd");
            if (has(Feature::host_ports) && dice_.chance(30)) add_port(pod.pod, 8080);
            set->spec.template_.metadata.labels = pod.pod.metadata.labels;
            set->spec.template_.spec = pod.pod.spec;
            set->spec.selector.emplace().matchLabels = {{"daemon", set->metadata.name}};
            snapshot_.daemon_sets.push_back(set);
        }
    }

    Dice dice_;
    const Options& options_;
    std::set<Feature> features_;
    scheduling::Snapshot snapshot_;
    PodMaker pods_;
    std::size_t old_ = 0;
};

}  // namespace

scheduling::Snapshot make(std::uint64_t seed, const Options& options) {
    return Maker(seed, options).make();
}

std::vector<Feature> features_of(std::uint64_t seed, const Options& options) {
    return Maker(seed, options).features();
}

const char* name_of(Feature feature) {
    constexpr const char* kNames[] = {
        "resources",    "node_selector",      "node_affinity", "taints",     "zone_spread", "host_spread",
        "pod_affinity", "pod_anti_affinity",  "preferences",   "host_ports", "priority",    "daemon_sets",
        "node_fields",  "extended_resources", "volumes"};
    return kNames[static_cast<int>(feature)];
}

}  // namespace random_cluster
