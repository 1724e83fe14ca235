#include "scheduling/pods/tolerations.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/names.hpp"

namespace scheduling {

bool tolerates(const api::Toleration& toleration, const api::Taint& taint) {
    if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
    if (!toleration.key.empty() && toleration.key != taint.key) return false;
    switch (toleration.operator_) {
        case api::TolerationOperator::Exists:
            return true;
        case api::TolerationOperator::Equal:
            return toleration.value == taint.value;
        case api::TolerationOperator::Unrecognized:
            return false;
    }
    return false;
}

namespace {

bool is_tolerated(const api::Taint& taint, const std::vector<api::Toleration>& tolerations) {
    return std::ranges::any_of(
        tolerations, [&](const api::Toleration& toleration) { return tolerates(toleration, taint); });
}

}  // namespace

const api::Taint* untolerated(const std::vector<api::Taint>& taints,
                              const std::vector<api::Toleration>& tolerations) {
    for (const auto& taint : taints)
        if (taint.effect != api::taints::kPreferNoSchedule && !is_tolerated(taint, tolerations))
            return &taint;
    return nullptr;
}

bool is_asked_away(const std::vector<api::Taint>& taints, const std::vector<api::Toleration>& tolerations) {
    return std::ranges::any_of(taints, [&](const api::Taint& taint) {
        return taint.effect == api::taints::kPreferNoSchedule && !is_tolerated(taint, tolerations);
    });
}

std::string describe(const api::Taint& taint) {
    return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

bool passes_by_itself(const api::Taint& taint) {
    constexpr std::array kKeys = {api::taints::kNotReady, api::taints::kUnreachable,
                                  api::taints::kUninitialized, api::taints::kUnregistered,
                                  std::string_view("node.kubernetes.io/network-unavailable")};
    return std::ranges::find(kKeys, taint.key) != kKeys.end() || taint.key.starts_with("readiness.k8s.io/");
}

}  // namespace scheduling
