#include "scheduling/pods/pod_class.hpp"

#include "scheduling/pods/features.hpp"

namespace scheduling {

namespace {

constexpr std::string_view kAllAddresses = "0.0.0.0";

void add_ports(std::vector<HostPort>& ports, const api::Container& container) {
    for (const auto& port : container.ports)
        if (port.hostPort > 0)
            ports.push_back(
                {port.hostIP.empty() ? kAllAddresses : std::string_view(port.hostIP),
                 port.protocol.empty() ? std::string_view("TCP") : std::string_view(port.protocol),
                 port.hostPort});
}

bool refers_to_claims(const api::PodSpec& pod) {
    for (const auto& volume : pod.volumes)
        if (volume.persistentVolumeClaim || volume.ephemeral) return true;
    return false;
}

bool has_topology(const api::PodSpec& pod) {
    if (!pod.topologySpreadConstraints.empty()) return true;
    if (!pod.affinity) return false;
    const auto& node = pod.affinity->nodeAffinity;
    return pod.affinity->podAffinity || pod.affinity->podAntiAffinity ||
           (node && !node->preferredDuringSchedulingIgnoredDuringExecution.empty());
}

}  // namespace

std::vector<HostPort> host_ports_of(const api::PodSpec& pod) {
    std::vector<HostPort> ports;
    for (const auto& container : pod.containers) add_ports(ports, container);
    for (const auto& container : pod.initContainers)
        if (container.restartPolicy == "Always") add_ports(ports, container);
    return ports;
}

bool conflicts(const HostPort& a, const HostPort& b) {
    if (a.port != b.port || a.protocol != b.protocol) return false;
    return a.address == b.address || a.address == kAllAddresses || b.address == kAllAddresses;
}

LabelSetId LabelSets::number_of(const std::shared_ptr<const api::Pod>& pod) {
    key_.clear();
    key_.put(pod->metadata.namespace_);
    key_.put(pod->metadata.labels);
    const auto number = keys_.number_of(key_.text());
    if (number == samples_.size()) samples_.push_back(pod);
    return number;
}

std::uint32_t PodClasses::requests_number(const api::Pod& pod) {
    auto requests = requests_of(pod.spec, resource_names_);
    key_.clear();
    for (const auto amount : requests.base) key_.put(amount);
    for (const auto& entry : requests.extra) {
        key_.put(std::int64_t{entry.resource});
        key_.put(entry.amount);
    }
    const auto number = request_keys_.number_of(key_.text());
    if (number == requests_.size()) requests_.push_back(std::move(requests));
    return number;
}

void PodClasses::put_demands_on_nodes(const api::PodSpec& pod) {
    key_.put(pod.nodeSelector);
    key_.put(pod.tolerations);
    if (pod.affinity && pod.affinity->nodeAffinity)
        key_.put(pod.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution);
    else
        key_.put(std::int64_t{0});
}

std::uint32_t PodClasses::filter_number(const api::Pod& pod, const Amounts& requests) {
    key_.clear();
    put_demands_on_nodes(pod.spec);
    for (const auto& entry : requests.extra)
        if (entry.amount > 0) key_.put(std::int64_t{entry.resource});
    for (const auto& claim : pod.spec.resourceClaims) {
        key_.put(std::string_view("device"));
        key_.put(claim.resourceClaimName);
        key_.put(claim.resourceClaimTemplateName);
    }
    for (const auto feature : required_features(pod.spec)) key_.put(feature);
    if (refers_to_claims(pod.spec)) {
        key_.put(pod.metadata.namespace_);
        key_.put(pod.metadata.name);
    }
    return filter_keys_.number_of(key_.text());
}

std::uint32_t PodClasses::topology_number(const api::Pod& pod, std::uint32_t labels) {
    if (topology_keys_.size() == 0) topology_keys_.number_of({});  // no topology is number 0
    if (!has_topology(pod.spec)) return 0;
    key_.clear();
    key_.put(std::int64_t{labels});
    key_.put(pod.spec.topologySpreadConstraints);
    // A spread covers the nodes where the pod could be.
    if (!pod.spec.topologySpreadConstraints.empty()) put_demands_on_nodes(pod.spec);
    const auto& affinity = pod.spec.affinity;
    if (affinity) {
        key_.put(affinity->podAffinity);
        key_.put(affinity->podAntiAffinity);
    }
    if (affinity && affinity->nodeAffinity)
        key_.put(affinity->nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution);
    return topology_keys_.number_of(key_.text());
}

ClassId PodClasses::class_of(const std::shared_ptr<const api::Pod>& shared) {
    const auto& pod = *shared;
    PodClass found;
    found.sample = &pod;
    found.requests = requests_number(pod);
    found.labels = label_sets_.number_of(shared);
    found.filter = filter_number(pod, requests_[found.requests]);
    found.topology = topology_number(pod, found.labels);
    const auto ports = host_ports_of(pod.spec);
    found.has_ports = !ports.empty();
    found.has_devices = !pod.spec.resourceClaims.empty();
    found.has_volumes = refers_to_claims(pod.spec);

    key_.clear();
    for (const auto number : {found.requests, found.labels, found.filter, found.topology})
        key_.put(std::int64_t{number});
    for (const auto& port : ports) {
        key_.put(port.address);
        key_.put(port.protocol);
        key_.put(std::int64_t{port.port});
    }
    const auto number = class_keys_.number_of(key_.text());
    if (number == classes_.size()) classes_.push_back(found);
    return number;
}

}  // namespace scheduling
