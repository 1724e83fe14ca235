#include "test/unit/scheduling/random_pods.hpp"

namespace random_cluster {

using builders::PodBuilder;
using builders::quantity;

namespace {

void add_init_containers(api::Pod& pod) {
    auto& first = pod.spec.initContainers->emplace_back();
    first.name = "sidecar";
    first.restartPolicy = "Always";
    first.resources.requests["cpu"] = quantity("100m");
    auto& second = pod.spec.initContainers->emplace_back();
    second.name = "init";
    second.resources.requests["cpu"] = quantity("1");
    second.resources.requests["memory"] = quantity("256Mi");
}

void add_pod_level_resources(api::Pod& pod) {
    auto& stated = pod.spec.resources.emplace();
    stated.requests["cpu"] = quantity("3");
    stated.requests["memory"] = quantity("4Gi");
}

}  // namespace

void add_port(api::Pod& pod, std::int32_t port) {
    auto& added = pod.spec.containers->at(0).ports.emplace_back();
    added.containerPort = port;
    added.hostPort = port;
}

// Adds a volume with a separate claim for the pod.
void PodMaker::add_volume(api::Pod& pod, Storage storage) {
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->metadata.name = "data-" + pod.metadata.name;
    claim->metadata.namespace_ = pod.metadata.namespace_;
    claim->metadata.uid = "uid-" + claim->metadata.name;
    claim->spec.accessModes = {"ReadWriteOnce"};
    claim->spec.storageClassName = options_.prefix + "late";
    claim->spec.resources.requests["storage"] = quantity("1Gi");
    claim->status.phase = "Pending";
    if (storage == Storage::bound) bind(*claim);
    auto& volume = pod.spec.volumes->emplace_back();
    volume.name = "data";
    volume.persistentVolumeClaim.emplace().claimName = claim->metadata.name;
    snapshot_.volumes.claims.push_back(std::move(claim));
}

void PodMaker::bind(api::PersistentVolumeClaim& claim) {
    auto volume = std::make_shared<api::PersistentVolume>();
    volume->metadata.name = "volume-of-" + claim.metadata.name;
    volume->spec.accessModes = claim.spec.accessModes;
    volume->spec.capacity = claim.spec.resources.requests;
    volume->spec.storageClassName = *claim.spec.storageClassName;
    volume->spec.csi.emplace().driver = kVolumeDriver;
    auto& owner = volume->spec.claimRef.emplace();
    owner.namespace_ = claim.metadata.namespace_;
    owner.name = claim.metadata.name;
    if (dice_.chance(70)) {
        auto& required = volume->spec.nodeAffinity.emplace().required.emplace();
        required.nodeSelectorTerms.emplace_back().matchExpressions.push_back(
            builders::in(kZone, {dice_.pick(snapshot_.places).name}));
    }
    claim.spec.volumeName = volume->metadata.name;
    claim.status.phase = "Bound";
    snapshot_.volumes.volumes.push_back(std::move(volume));
}

PodBuilder PodMaker::make_template() {
    PodBuilder pod("template", dice_.pick<std::string>({"0", "100m", "500m", "1", "2"}),
                   dice_.pick<std::string>({"0", "128Mi", "1Gi", "3Gi"}));
    pod.pod.metadata.namespace_ = dice_.chance(75) ? kNamespaces[0] : kNamespaces[1];
    pod.label("app", dice_.pick(kApps)).label("tier", dice_.pick(kApps));
    if (has(Feature::resources) && dice_.chance(50)) add_init_containers(pod.pod);
    if (options_.has_bounds && has(Feature::resources) && dice_.chance(30))
        pod.requests({{"ephemeral-storage", dice_.pick<std::string>({"50Mi", "6Gi", "20Gi"})}});
    if (has(Feature::resources) && dice_.chance(25)) add_pod_level_resources(pod.pod);
    if (has(Feature::extended_resources) && dice_.chance(40)) request_gpu(pod.pod);
    if (has(Feature::node_fields) && dice_.chance(50)) add_node_field(pod);
    if (has(Feature::node_selector) && dice_.chance(40))
        dice_.chance(50) ? pod.select("disk", "ssd") : pod.select(kZone, dice_.pick(snapshot_.places).name);
    if (has(Feature::node_affinity) && dice_.chance(50)) add_node_affinity(pod);
    if (has(Feature::taints) && dice_.chance(50)) pod.tolerate("dedicated");
    if (has(Feature::zone_spread) && dice_.chance(60)) add_spread(pod, kZone);
    if (has(Feature::host_spread) && dice_.chance(60)) add_spread(pod, kHostname);
    if (has(Feature::pod_affinity) && dice_.chance(50)) add_affinity(pod);
    if (has(Feature::pod_anti_affinity) && dice_.chance(50)) add_anti_affinity(pod);
    if (has(Feature::preferences)) add_preferences(pod);
    if (has(Feature::host_ports) && dice_.chance(40)) add_port(pod.pod, dice_.chance(50) ? 8080 : 9090);
    return pod;
}

void PodMaker::request_gpu(api::Pod& pod) {
    auto& resources = pod.spec.containers->at(0).resources;
    resources.requests[kGpu] = resources.limits[kGpu] = quantity(dice_.chance(80) ? "1" : "2");
}

void PodMaker::add_node_field(PodBuilder& pod) {
    const auto relation = dice_.chance(30) ? api::SelectorOperator::In : api::SelectorOperator::NotIn;
    auto& term = pod.require({})
                     .affinity()
                     .nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution->nodeSelectorTerms.back();
    term.matchFields.push_back(
        {"metadata.name", relation, {options_.prefix + "node-" + std::to_string(dice_.below(3))}});
}

api::SelectorRequirement PodMaker::node_requirement() {
    switch (dice_.below(7)) {
        case 5:
            return {"generation", api::SelectorOperator::Lt, {"2"}};
        case 6:
            return {"disk", api::SelectorOperator::DoesNotExist, {}};
        case 0:
            return builders::in(kZone,
                                {dice_.pick(snapshot_.places).name, dice_.pick(snapshot_.places).name});
        case 1:
            return builders::not_in(kZone, {dice_.pick(snapshot_.places).name});
        case 2:
            return {"generation", api::SelectorOperator::Gt, {"0"}};
        case 3:
            return {"disk", api::SelectorOperator::Exists, {}};
        default:
            return builders::in("disk", {"ssd"});
    }
}

void PodMaker::add_node_affinity(PodBuilder& pod) {
    const auto terms = 1 + dice_.below(2);
    for (std::size_t i = 0; i < terms; ++i)
        dice_.chance(30) ? pod.require({node_requirement(), node_requirement()})
                         : pod.require({node_requirement()});
}

void PodMaker::add_spread(PodBuilder& pod, const std::string& key, bool is_soft) {
    auto& constraint = pod.pod.spec.topologySpreadConstraints->emplace_back();
    constraint.topologyKey = key;
    constraint.maxSkew = static_cast<std::int32_t>(1 + dice_.below(2));
    constraint.labelSelector = selector(pod.pod);
    if (is_soft) {
        constraint.whenUnsatisfiable = api::UnsatisfiableConstraintAction::ScheduleAnyway;
        return;
    }
    if (dice_.chance(20)) constraint.minDomains = static_cast<std::int32_t>(1 + dice_.below(3));
    if (dice_.chance(30)) constraint.nodeAffinityPolicy = api::NodeInclusionPolicy::Ignore;
    if (dice_.chance(30)) constraint.nodeTaintsPolicy = api::NodeInclusionPolicy::Honor;
    if (dice_.chance(20)) constraint.matchLabelKeys = {"tier"};
}

// Returns a selector, mostly of the pod's own kind.
api::LabelSelector PodMaker::selector(const api::Pod& pod) {
    api::LabelSelector selector;
    if (dice_.chance(15)) {
        selector.matchExpressions.push_back(builders::not_in("app", {dice_.pick(kApps)}));
    } else {
        selector.matchLabels["app"] = dice_.chance(75) ? pod.metadata.labels->at("app") : dice_.pick(kApps);
    }
    return selector;
}

api::PodAffinityTerm PodMaker::term(const api::Pod& pod) {
    api::PodAffinityTerm term;
    term.labelSelector = selector(pod);
    term.topologyKey = dice_.chance(50) ? kZone : kHostname;
    if (dice_.chance(20)) term.namespaces = {dice_.pick(kNamespaces)};
    if (dice_.chance(15)) term.namespaceSelector.emplace();
    if (dice_.chance(15))
        term.namespaceSelector.emplace().matchLabels["kubernetes.io/metadata.name"] = dice_.pick(kNamespaces);
    if (dice_.chance(15)) term.matchLabelKeys = {"tier"};
    return term;
}

void PodMaker::add_affinity(PodBuilder& pod) {
    auto& affinity = pod.affinity().podAffinity.emplace();
    const auto terms = 1 + dice_.below(2);
    for (std::size_t i = 0; i < terms; ++i)
        affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term(pod.pod));
}

void PodMaker::add_anti_affinity(PodBuilder& pod) {
    auto& affinity = pod.affinity().podAntiAffinity.emplace();
    affinity.requiredDuringSchedulingIgnoredDuringExecution.push_back(term(pod.pod));
}

void PodMaker::add_preferences(PodBuilder& pod) {
    if (dice_.chance(30)) add_spread(pod, dice_.chance(50) ? kZone : kHostname, true);
    auto& affinity = pod.affinity();
    if (dice_.chance(40)) {
        if (!affinity.nodeAffinity) affinity.nodeAffinity.emplace();
        auto& preferred =
            affinity.nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution.emplace_back();
        preferred.weight = static_cast<std::int32_t>(1 + dice_.below(100));
        preferred.preference.matchExpressions.push_back(node_requirement());
    }
    const auto weight = [&] { return static_cast<std::int32_t>(1 + dice_.below(100)); };
    if (dice_.chance(40)) {
        if (!affinity.podAntiAffinity) affinity.podAntiAffinity.emplace();
        affinity.podAntiAffinity->preferredDuringSchedulingIgnoredDuringExecution.push_back(
            {weight(), term(pod.pod)});
    }
    if (dice_.chance(40)) {
        if (!affinity.podAffinity) affinity.podAffinity.emplace();
        affinity.podAffinity->preferredDuringSchedulingIgnoredDuringExecution.push_back(
            {weight(), term(pod.pod)});
    }
}

std::vector<Template> PodMaker::make_templates(std::size_t count) {
    std::vector<Template> templates;
    while (templates.size() < count) {
        auto& added = templates.emplace_back(Template{make_template()});
        if (has(Feature::volumes) && dice_.chance(50))
            added.storage = dice_.chance(50) ? Storage::bound : Storage::bound_late;
    }
    return templates;
}

std::shared_ptr<const api::Pod> PodMaker::pod_of(const Template& kind, const std::string& name) {
    auto pod = kind.pod;
    pod.pod.metadata.name = name;
    if (kind.storage != Storage::none) add_volume(pod.pod, kind.storage);
    pod.pod.metadata.uid = "uid-" + name;
    pod.owner("ReplicaSet", "some");
    if (has(Feature::priority)) pod.priority(static_cast<std::int32_t>(dice_.below(3)));
    return pod;
}

}  // namespace random_cluster
