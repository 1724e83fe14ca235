#include "scheduling/input/runtime_classes.hpp"

#include <algorithm>

namespace scheduling {

namespace {

std::string add_overhead(const api::RuntimeClass& runtime_class, api::PodSpec& pod) {
    const auto& fixed = runtime_class.overhead ? runtime_class.overhead->podFixed : api::ResourceList();
    if (pod.overhead.has_value() && *std::as_const(pod.overhead) != fixed)
        return "its overhead is not that of RuntimeClass " + runtime_class.metadata.name;
    if (!fixed.empty()) pod.overhead = fixed;
    return {};
}

std::string add_scheduling(const api::RuntimeClass& runtime_class, api::PodSpec& pod) {
    if (!runtime_class.scheduling) return {};
    for (const auto& [key, value] : runtime_class.scheduling->nodeSelector) {
        const auto [entry, is_new] = pod.nodeSelector->try_emplace(key, value);
        if (!is_new && entry->second != value)
            return "RuntimeClass " + runtime_class.metadata.name + " asks for nodes with " + key + "=" +
                   value + ", and the pod's nodeSelector for " + key + "=" + entry->second;
    }
    for (const auto& toleration : runtime_class.scheduling->tolerations)
        pod.tolerations->push_back(toleration);
    return {};
}

}  // namespace

RuntimeClasses::RuntimeClasses(const std::vector<std::shared_ptr<const api::RuntimeClass>>& all) {
    for (const auto& runtime_class : all) classes_.emplace(runtime_class->metadata.name, runtime_class);
}

std::string RuntimeClasses::apply(api::PodSpec& pod) const {
    if (pod.runtimeClassName.empty())
        return pod.overhead.has_value() ? "it has an overhead, and no RuntimeClass that states it"
                                        : std::string();
    const auto found = classes_.find(pod.runtimeClassName);
    if (found == classes_.end()) return "RuntimeClass " + pod.runtimeClassName + " does not exist";
    auto refusal = add_overhead(*found->second, pod);
    return refusal.empty() ? add_scheduling(*found->second, pod) : refusal;
}

}  // namespace scheduling
