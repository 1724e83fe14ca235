#include "scheduling/input/limit_checks.hpp"

#include <algorithm>

namespace scheduling {

namespace {

using api::Quantity;
using api::ResourceList;
using Pick = const ResourceList& (*)(const api::ResourceRequirements&);

const ResourceList& requests_in(const api::ResourceRequirements& resources) {
    return resources.requests;
}
const ResourceList& limits_in(const api::ResourceRequirements& resources) {
    return resources.limits;
}

const Quantity* amount_in(const ResourceList& list, const std::string& resource) {
    const auto found = list.find(resource);
    return found == list.end() ? nullptr : &found->second;
}

void add_to(ResourceList& sum, const ResourceList& more) {
    for (const auto& [name, quantity] : more) sum[name] += quantity;
}

void raise(ResourceList& most, const ResourceList& other) {
    for (const auto& [name, quantity] : other) {
        const auto [entry, is_new] = most.try_emplace(name, quantity);
        if (!is_new && entry->second < quantity) entry->second = quantity;
    }
}

// Adds up the pod as a whole, without its overhead, as the admission plugin does.
ResourceList of_pod(const api::PodSpec& pod, Pick pick) {
    ResourceList running, sidecars, peak;
    for (const auto& container : pod.containers) add_to(running, pick(container.resources));
    for (const auto& container : pod.initContainers) {
        auto step = sidecars;
        add_to(step, pick(container.resources));
        raise(peak, step);
        if (container.restartPolicy == "Always") sidecars = std::move(step);
    }
    add_to(running, sidecars);
    raise(running, peak);
    if (pod.resources)
        for (const auto& [name, quantity] : pick(*pod.resources)) running[name] = quantity;
    return running;
}

// Bounded is an object that a LimitRange bounds.
struct Bounded {
    std::string what;  // "container app"
    ResourceList requests;
    ResourceList limits;
};

class Bounds {
public:
    Bounds(const api::LimitRange& range, const api::LimitRangeItem& item) : range_(range), item_(item) {}

    std::string refusal(const Bounded& bounded) const {
        for (const auto& [resource, least] : item_.min)
            if (auto text = below(bounded, resource, least); !text.empty()) return text;
        for (const auto& [resource, most] : item_.max)
            if (auto text = above(bounded, resource, most); !text.empty()) return text;
        for (const auto& [resource, ratio] : item_.maxLimitRequestRatio)
            if (auto text = beyond_ratio(bounded, resource, ratio); !text.empty()) return text;
        return {};
    }

private:
    std::string say(const std::string& rule, const Bounded& bounded, const std::string& fault) const {
        return "LimitRange " + range_.metadata.name + " " + rule + ", and " + bounded.what + " " + fault;
    }

    std::string below(const Bounded& bounded, const std::string& resource, const Quantity& least) const {
        const auto rule = "demands at least " + least.str() + " of " + resource;
        const auto* request = amount_in(bounded.requests, resource);
        const auto* limit = amount_in(bounded.limits, resource);
        if (!request) return say(rule, bounded, "requests none");
        if (*request < least) return say(rule, bounded, "requests " + request->str());
        return limit && *limit < least ? say(rule, bounded, "is limited to " + limit->str()) : "";
    }

    // A volume claim has no limits.
    std::string above(const Bounded& bounded, const std::string& resource, const Quantity& most) const {
        const auto rule = "allows at most " + most.str() + " of " + resource;
        const auto* request = amount_in(bounded.requests, resource);
        const auto* limit = amount_in(bounded.limits, resource);
        if (!limit && item_.type != "PersistentVolumeClaim") return say(rule, bounded, "states no limit");
        if (limit && *limit > most) return say(rule, bounded, "has a limit of " + limit->str());
        return request && *request > most ? say(rule, bounded, "requests " + request->str()) : "";
    }

    std::string beyond_ratio(const Bounded& bounded, const std::string& resource,
                             const Quantity& ratio) const {
        const auto rule = "allows a limit of at most " + ratio.str() + " times the request of " + resource;
        const auto* request = amount_in(bounded.requests, resource);
        const auto* limit = amount_in(bounded.limits, resource);
        if (!request || request->is_zero()) return say(rule, bounded, "requests none");
        if (!limit || limit->is_zero()) return say(rule, bounded, "states no limit");
        return limit->as_double() > ratio.as_double() * request->as_double()
                   ? say(rule, bounded, "requests " + request->str() + " with a limit of " + limit->str())
                   : "";
    }

    const api::LimitRange& range_;
    const api::LimitRangeItem& item_;
};

}  // namespace

std::string refusal_by(const api::LimitRange& range, const api::PodSpec& pod) {
    for (const auto& item : range.spec.limits) {
        const Bounds bounds(range, item);
        if (item.type == "Pod") {
            auto text = bounds.refusal({"the pod", of_pod(pod, requests_in), of_pod(pod, limits_in)});
            if (!text.empty()) return text;
        }
        if (item.type != "Container") continue;
        for (const auto* containers : {&pod.containers, &pod.initContainers})
            for (const auto& container : **containers) {
                const auto& resources = container.resources;
                auto text =
                    bounds.refusal({"container " + container.name, resources.requests, resources.limits});
                if (!text.empty()) return text;
            }
    }
    return {};
}

std::string refusal_by(const api::LimitRange& range, const api::PersistentVolumeClaimSpec& claim) {
    for (const auto& item : range.spec.limits) {
        if (item.type != "PersistentVolumeClaim") continue;
        auto text = Bounds(range, item).refusal({"the volume claim", claim.resources.requests, {}});
        if (!text.empty()) return text;
    }
    return {};
}

std::string request_beyond_limit(const api::PodSpec& pod, const std::string& range) {
    for (const auto* containers : {&pod.containers, &pod.initContainers})
        for (const auto& container : **containers)
            for (const auto& [resource, request] : container.resources.requests)
                if (const auto* limit = amount_in(container.resources.limits, resource);
                    limit && request > *limit)
                    return "container " + container.name + " requests " + request.str() + " of " + resource +
                           ", more than its limit of " + limit->str() +
                           (range.empty() ? "" : ", which may be the default of LimitRange " + range);
    return {};
}

}  // namespace scheduling
