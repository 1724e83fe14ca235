#include "scheduling/input/limit_ranges.hpp"

#include <algorithm>

#include "scheduling/input/limit_checks.hpp"

namespace scheduling {

namespace {

// Adds what is not stated yet.
void add(api::ResourceList& list, const api::ResourceList& more) {
    list.insert(more.begin(), more.end());
}

}  // namespace

LimitRanges::LimitRanges(const std::vector<std::shared_ptr<const api::LimitRange>>& all) {
    auto sorted = all;
    std::ranges::sort(sorted, {}, [](const auto& one) { return api::key_of(*one); });
    for (const auto& limit_range : sorted) {
        ranges_[limit_range->metadata.namespace_].push_back(limit_range);
        auto& defaults = defaults_[limit_range->metadata.namespace_];
        for (const auto& item : limit_range->spec.limits) {
            if (item.type != "Container") continue;
            auto limits = item.default_;
            add(limits, item.max);
            auto requests = item.defaultRequest;
            add(requests, limits);
            add(requests, item.min);
            add(defaults.limits, limits);
            add(defaults.requests, requests);
        }
    }
}

const LimitRanges::Ranges& LimitRanges::ranges_of(const std::string& namespace_) const {
    static const Ranges none;
    const auto found = ranges_.find(namespace_);
    return found == ranges_.end() ? none : found->second;
}

void LimitRanges::apply(const std::string& namespace_, api::PodSpec& pod) const {
    const auto found = defaults_.find(namespace_);
    if (found == defaults_.end()) return;
    for (auto* containers : {&pod.containers, &pod.initContainers}) {
        if (containers->empty()) continue;
        for (auto& container : **containers) {
            add(container.resources.limits, found->second.limits);
            add(container.resources.requests, found->second.requests);
        }
    }
}

std::string LimitRanges::refusal(const std::string& namespace_, const api::PodSpec& pod) const {
    const auto& ranges = ranges_of(namespace_);
    const auto first = ranges.empty() ? std::string() : ranges.front()->metadata.name;
    if (auto text = request_beyond_limit(pod, first); !text.empty()) return text;
    for (const auto& range : ranges)
        if (auto text = refusal_by(*range, pod); !text.empty()) return text;
    return {};
}

std::string LimitRanges::refusal(const std::string& namespace_,
                                 const api::PersistentVolumeClaimSpec& claim) const {
    for (const auto& range : ranges_of(namespace_))
        if (auto text = refusal_by(*range, claim); !text.empty()) return text;
    return {};
}

}  // namespace scheduling
