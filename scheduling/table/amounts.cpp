#include "scheduling/table/amounts.hpp"

#include <algorithm>

#include "api/names.hpp"

namespace scheduling {

base::Saturating Amounts::extra_amount(std::uint32_t resource) const {
    for (const auto& entry : extra)
        if (entry.resource == resource) return entry.amount;
    return 0;
}

base::Saturating& Amounts::extra_place(std::uint32_t resource) {
    auto place = std::ranges::lower_bound(extra, resource, {}, &Extra::resource);
    if (place == extra.end() || place->resource != resource) place = extra.insert(place, {resource, 0});
    return place->amount;
}

void Amounts::set_extra(std::uint32_t resource, base::Saturating amount) {
    extra_place(resource) = amount;
}

Amounts& Amounts::operator+=(const Amounts& other) {
    for (std::size_t i = 0; i < kBaseResources; ++i) base[i] += other.base[i];
    for (const auto& entry : other.extra) extra_place(entry.resource) += entry.amount;
    return *this;
}

Amounts& Amounts::operator-=(const Amounts& other) {
    for (std::size_t i = 0; i < kBaseResources; ++i) base[i] -= other.base[i];
    for (const auto& entry : other.extra) extra_place(entry.resource) -= entry.amount;
    return *this;
}

Amounts at_least(const Amounts& a, const Amounts& b) {
    Amounts result = a;
    for (std::size_t i = 0; i < kBaseResources; ++i) result.base[i] = std::max(a.base[i], b.base[i]);
    for (const auto& entry : b.extra) {
        if (entry.amount > result.extra_amount(entry.resource))
            result.set_extra(entry.resource, entry.amount);
    }
    return result;
}

bool fits(const Amounts& wanted, const Amounts& free) {
    if (free.base[kPods] < wanted.base[kPods]) return false;
    for (const auto i : {kCpu, kMemory, kStorage})
        if (wanted.base[i] > 0 && wanted.base[i] > free.base[i]) return false;
    return std::ranges::all_of(wanted.extra, [&](const Extra& entry) {
        return entry.amount <= 0 || entry.amount <= free.extra_amount(entry.resource);
    });
}

std::uint32_t ResourceNames::number_of(const std::string& name) {
    const auto [entry, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return entry->second;
}

Amounts amounts_of(const api::ResourceList& list, ResourceNames& names) {
    Amounts amounts;
    for (const auto& [name, quantity] : list) {
        if (name == "cpu") {
            amounts.base[kCpu] = std::min(quantity.milli(), kUnbounded);
        } else if (name == "memory") {
            amounts.base[kMemory] = std::min(quantity.value(), kUnbounded);
        } else if (name == "ephemeral-storage") {
            amounts.base[kStorage] = std::min(quantity.value(), kUnbounded);
        } else if (name == "pods") {
            amounts.base[kPods] = std::min(quantity.value(), kUnbounded);
        } else {
            amounts.set_extra(names.number_of(name), std::min(quantity.value(), kUnbounded));
        }
    }
    return amounts;
}

namespace {

bool is_sidecar(const api::Container& container) {
    return container.restartPolicy == "Always";
}

// Reports whether the resource may be stated for a whole pod.
bool is_pod_level(const std::string& name) {
    return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

// `requests` returns the requests of a container as Amounts.
template <class Requests>
Amounts of_containers(const api::PodSpec& pod, const Requests& requests) {
    Amounts running;
    for (const auto& container : pod.containers) running += requests(container);
    if (pod.initContainers.empty()) return running;
    Amounts sidecars;
    Amounts peak;
    for (const auto& container : pod.initContainers) {
        auto step = sidecars;
        step += requests(container);
        peak = at_least(peak, step);
        if (is_sidecar(container)) sidecars = std::move(step);
    }
    running += sidecars;
    return at_least(running, peak);
}

void replace_pod_level(Amounts& amounts, const api::ResourceList& stated, ResourceNames& names) {
    for (const auto& [name, quantity] : stated) {
        if (!is_pod_level(name)) continue;
        if (name == "cpu") {
            amounts.base[kCpu] = quantity.milli();
        } else if (name == "memory") {
            amounts.base[kMemory] = quantity.value();
        } else {
            amounts.set_extra(names.number_of(name), quantity.value());
        }
    }
}

void raise(api::ResourceList& list, const api::ResourceList& other) {
    for (const auto& [name, quantity] : other) {
        auto& amount = list[name];
        amount = std::max(amount, quantity);
    }
}

// Resizes computes resources during an in-place resize. Requested, granted and used amounts
// may differ then: the largest counts.
class Resizes {
public:
    explicit Resizes(const api::Pod& pod) : status_(pod.status), infeasible_(is_infeasible(pod)) {}

    // Counts the sidecars alone among the init containers, because the others release their resources.
    api::ResourceList of(const api::Container& container) const {
        const auto* status = find(status_.containerStatuses, container.name);
        if (!status && is_sidecar(container)) status = find(status_.initContainerStatuses, container.name);
        const auto& wanted = container.resources.requests;
        if (!status || !status->resources) return wanted;
        return largest(wanted, *status->resources, status->allocatedResources);
    }
    api::ResourceList of_whole_pod(const api::ResourceList& stated) const {
        if (!status_.resources) return stated;
        auto all = largest(stated, *status_.resources, status_.allocatedResources);
        api::ResourceList effective;
        for (const auto& [name, quantity] : stated) effective[name] = all[name];
        return effective;
    }

private:
    static const api::ContainerStatus* find(const std::vector<api::ContainerStatus>& statuses,
                                            const std::string& name) {
        const auto found =
            std::ranges::find_if(statuses, [&name](const auto& status) { return status.name == name; });
        return found == statuses.end() ? nullptr : &*found;
    }
    api::ResourceList largest(const api::ResourceList& wanted, const api::ResourceRequirements& actual,
                              const api::ResourceList& allocated) const {
        auto list = infeasible_ ? api::ResourceList() : wanted;
        raise(list, actual.requests);
        raise(list, allocated);
        return list;
    }

    const api::PodStatus& status_;
    bool infeasible_;
};

// Adds the overhead last, so that the pod's sum is bounded here.
Amounts with_overhead(Amounts amounts, const api::PodSpec& pod, ResourceNames& names) {
    if (!pod.overhead.empty()) amounts += amounts_of(pod.overhead, names);
    for (auto& amount : amounts.base) amount = std::min(amount, kUnbounded);
    for (auto& entry : amounts.extra) entry.amount = std::min(entry.amount, kUnbounded);
    amounts.base[kPods] = 1;
    return amounts;
}

}  // namespace

bool is_infeasible(const api::Pod& pod) {
    const auto* pending = api::find_condition(pod.status.conditions, api::conditions::kPodResizePending);
    return pending && pending->reason == "Infeasible";
}

Amounts requests_of(const api::PodSpec& pod, ResourceNames& names) {
    auto amounts = of_containers(pod, [&names](const api::Container& container) {
        return amounts_of(container.resources.requests, names);
    });
    if (pod.resources) replace_pod_level(amounts, pod.resources->requests, names);
    return with_overhead(std::move(amounts), pod, names);
}

Amounts taken_by(const api::Pod& pod, ResourceNames& names) {
    const auto& status = pod.status;
    if (status.containerStatuses.empty() && status.initContainerStatuses.empty() && !status.resources)
        return requests_of(pod.spec, names);
    const Resizes resizes(pod);
    auto amounts = of_containers(
        pod.spec, [&](const api::Container& container) { return amounts_of(resizes.of(container), names); });
    if (pod.spec.resources)
        replace_pod_level(amounts, resizes.of_whole_pod(pod.spec.resources->requests), names);
    return with_overhead(std::move(amounts), pod.spec, names);
}

}  // namespace scheduling
