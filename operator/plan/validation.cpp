#include "operator/plan/validation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "api/json.hpp"
#include "api/selector.hpp"
#include "operator/plan/written_objects.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

bool is_huge_pages(std::string_view resource) {
    return resource.starts_with("hugepages-");
}

bool is_extended(std::string_view resource) {
    return resource.find('/') != std::string_view::npos &&
           resource.find("kubernetes.io/") == std::string_view::npos;
}

bool is_whole(const api::Quantity& amount) {
    const auto value = amount.as_double();
    return value == std::floor(value);
}

// Checks resources that no node can promise more than once.
std::string undividable_fault(const api::Container& container) {
    const auto what = "container " + container.name + " requests ";
    const auto& limits = container.resources.limits;
    for (const auto& [resource, request] : container.resources.requests) {
        if (!is_extended(resource) && !is_huge_pages(resource)) continue;
        const auto limit = limits.find(resource);
        if (limit == limits.end())
            return what + resource + " without a limit for it: state the same amount as its limit";
        if (limit->second != request)
            return what + request.str() + " of " + resource + ", which is not its limit of " +
                   limit->second.str() + ": the two must be equal";
        if (is_extended(resource) && !is_whole(request))
            return what + request.str() + " of " + resource + ", which must be a whole number";
    }
    return {};
}

bool has_huge_pages_alone(const api::Container& container) {
    const auto& requests = container.resources.requests;
    return std::ranges::any_of(requests, [](const auto& each) { return is_huge_pages(each.first); }) &&
           !requests.contains("cpu") && !requests.contains("memory");
}

void add_to(api::ResourceList& sum, const api::ResourceList& more) {
    for (const auto& [name, amount] : more) sum[name] += amount;
}

// Checks the resources of the pod as a whole, which bound those of its containers.
std::string pod_level_fault(const api::PodSpec& pod) {
    if (!pod.resources) return {};
    for (const auto* amounts : {&pod.resources->requests, &pod.resources->limits})
        for (const auto& [resource, amount] : *amounts)
            if (resource != "cpu" && resource != "memory" && !is_huge_pages(resource))
                return "spec.resources may not state " + resource + ": state it for the containers";
    api::ResourceList sum;
    for (const auto& container : pod.containers) add_to(sum, container.resources.requests);
    for (const auto& container : pod.initContainers)
        if (container.restartPolicy == "Always") add_to(sum, container.resources.requests);
    for (const auto& [resource, request] : pod.resources->requests)
        if (const auto found = sum.find(resource); found != sum.end() && request < found->second)
            return "its containers request " + found->second.str() + " of " + resource + ", more than the " +
                   request.str() + " of the pod as a whole (spec.resources)";
    for (const auto& container : pod.containers)
        for (const auto& [resource, limit] : pod.resources->limits)
            if (const auto found = container.resources.limits.find(resource);
                found != container.resources.limits.end() && limit < found->second)
                return "container " + container.name + " has a limit of " + found->second.str() + " of " +
                       resource + ", more than the " + limit.str() +
                       " of the pod as a whole (spec.resources)";
    return {};
}

std::string port_fault(const api::Container& container) {
    for (const auto& port : container.ports)
        if (port.hostPort != 0 && port.hostPort != port.containerPort)
            return "container " + container.name + " has hostPort " + std::to_string(port.hostPort) +
                   " for its port " + std::to_string(port.containerPort) +
                   ", but in the host's network (hostNetwork) both are the same";
    return {};
}

}  // namespace

std::string why_invalid(const api::PodSpec& pod) {
    for (const auto* containers : {&pod.containers, &pod.initContainers})
        for (const auto& container : **containers) {
            if (auto fault = undividable_fault(container); !fault.empty()) return fault;
            if (!pod.resources && has_huge_pages_alone(container))
                return "container " + container.name + " requests huge pages, but neither CPU nor memory";
            if (!pod.hostNetwork) continue;
            if (auto fault = port_fault(container); !fault.empty()) return fault;
        }
    for (const auto& constraint : *pod.topologySpreadConstraints)
        if (constraint.minDomains &&
            constraint.whenUnsatisfiable == api::UnsatisfiableConstraintAction::ScheduleAnyway)
            return "its topology spread constraint over " + constraint.topologyKey +
                   " has minDomains, which needs whenUnsatisfiable: DoNotSchedule";
    return pod_level_fault(pod);
}

std::string why_invalid(const json::object& workload) {
    const auto* spec = workload.if_contains("spec");
    if (!spec || !spec->is_object() || !text_in(workload, "apiVersion").starts_with("apps/")) return {};
    const auto* selector = spec->get_object().if_contains("selector");
    const auto* pod_template = spec->get_object().if_contains("template");
    if (!selector || !pod_template || !pod_template->is_object()) return {};
    const auto* metadata = pod_template->get_object().if_contains("metadata");
    const auto of_pods = metadata ? api::decode<api::ObjectMeta>(*metadata) : api::ObjectMeta();
    const bool is_met = api::matches(api::decode<api::LabelSelector>(*selector), of_pods.labels);
    return is_met ? "" : "spec.selector does not match the labels of spec.template";
}

}  // namespace kubenodesmith
