#include "controllers/state/acceptance.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "controllers/cache/condition_update.hpp"

namespace controllers {

namespace {

// Converts "/spec/scaleUp/retry" to spec.scaleUp.retry for people.
std::string field_of(const std::string& pointer) {
    auto field = pointer.substr(1);
    std::ranges::replace(field, '/', '.');
    return field;
}

}  // namespace

std::string why_not_understood(const api::ObjectMeta& metadata) {
    if (metadata.isOutdated)
        return "its current version cannot be decoded: an Event names the field to correct";
    std::string fields;
    // The operator will overwrite unknown values in the status.
    for (const auto& unknown : metadata.unknownValues) {
        if (!unknown.pointer.starts_with("/spec/")) continue;
        fields += (fields.empty() ? "" : ", ") + field_of(unknown.pointer) + " has the value \"" +
                  unknown.value + "\"";
    }
    if (fields.empty()) return {};
    return fields +
           ", which this version of KubeNodeSmith does not know: the object and its machines are left alone; "
           "upgrade KubeNodeSmith or change the value";
}

void conclude_acceptance(api::Conditions& conditions, const api::ObjectMeta& metadata, api::Time now) {
    const auto why = why_not_understood(metadata);
    if (why.empty()) {
        api::remove_condition(conditions, conditions::kAccepted);
        return;
    }
    const auto set = [&](std::string_view type, ConditionStatus status) {
        auto next = update(type, status, reasons::kUnknownValue, why);
        next.observedGeneration = metadata.generation;
        api::set_condition(conditions, next, now);
    };
    set(conditions::kAccepted, ConditionStatus::False);
    set(conditions::kReady, ConditionStatus::False);
    set(conditions::kStalled, ConditionStatus::True);
    api::remove_condition(conditions, conditions::kReconciling);
}

}  // namespace controllers
