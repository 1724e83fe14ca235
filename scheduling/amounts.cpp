#include "scheduling/amounts.hpp"

#include <algorithm>

namespace scheduling {

std::int64_t Amounts::extra_amount(std::uint32_t resource) const {
    for (const auto& entry : extra)
        if (entry.resource == resource) return entry.amount;
    return 0;
}

void Amounts::add(const Amounts& other, std::int64_t sign) {
    for (std::size_t i = 0; i < kBaseResources; ++i) base[i] += sign * other.base[i];
    for (const auto& entry : other.extra) {
        auto place =
            std::lower_bound(extra.begin(), extra.end(), entry.resource,
                             [](const Extra& a, std::uint32_t number) { return a.resource < number; });
        if (place == extra.end() || place->resource != entry.resource)
            place = extra.insert(place, {entry.resource, 0});
        place->amount += sign * entry.amount;
    }
}

Amounts& Amounts::operator+=(const Amounts& other) {
    add(other, 1);
    return *this;
}

Amounts& Amounts::operator-=(const Amounts& other) {
    add(other, -1);
    return *this;
}

Amounts at_least(const Amounts& a, const Amounts& b) {
    Amounts result = a;
    for (std::size_t i = 0; i < kBaseResources; ++i) result.base[i] = std::max(a.base[i], b.base[i]);
    for (const auto& entry : b.extra) {
        const auto missing = entry.amount - result.extra_amount(entry.resource);
        if (missing <= 0) continue;
        Amounts difference;
        difference.extra.push_back({entry.resource, missing});
        result += difference;
    }
    return result;
}

bool fits(const Amounts& wanted, const Amounts& free) {
    if (free.base[kPods] < wanted.base[kPods]) return false;
    for (const auto i : {kCpu, kMemory, kStorage})
        if (wanted.base[i] > 0 && wanted.base[i] > free.base[i]) return false;
    return std::all_of(wanted.extra.begin(), wanted.extra.end(), [&](const Extra& entry) {
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
            Amounts one;
            one.extra.push_back({names.number_of(name), std::min(quantity.value(), kUnbounded)});
            amounts += one;
        }
    }
    return amounts;
}

namespace {

bool is_sidecar(const api::Container& container) {
    return container.restartPolicy == "Always";
}

// Resources that may be stated for a whole pod.
bool is_pod_level(const std::string& name) {
    return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

Amounts with_initialisation(const api::PodSpec& pod, const Amounts& containers, ResourceNames& names) {
    Amounts sidecars;
    Amounts peak;
    for (const auto& container : pod.initContainers) {
        const auto wanted = amounts_of(container.resources.requests, names);
        if (is_sidecar(container)) {
            sidecars += wanted;
            peak = at_least(peak, sidecars);
        } else {
            auto step = sidecars;
            step += wanted;
            peak = at_least(peak, step);
        }
    }
    auto running = containers;
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
            Amounts difference;
            const auto number = names.number_of(name);
            difference.extra.push_back({number, quantity.value() - amounts.extra_amount(number)});
            amounts += difference;
        }
    }
}

}  // namespace

Amounts requests_of(const api::PodSpec& pod, ResourceNames& names) {
    Amounts amounts;
    for (const auto& container : pod.containers) amounts += amounts_of(container.resources.requests, names);
    if (!pod.initContainers.empty()) amounts = with_initialisation(pod, amounts, names);
    if (pod.resources) replace_pod_level(amounts, pod.resources->requests, names);
    if (!pod.overhead.empty()) amounts += amounts_of(pod.overhead, names);
    amounts.base[kPods] = 1;
    return amounts;
}

}  // namespace scheduling
