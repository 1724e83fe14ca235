#include "api/meta.hpp"

#include <algorithm>

#include "api/describe.hpp"
#include "api/quantity.hpp"
#include "base/text.hpp"

namespace api {

BOOST_DESCRIBE_STRUCT(OwnerReference, (), (apiVersion, kind, name, uid, controller, blockOwnerDeletion))
BOOST_DESCRIBE_STRUCT(ObjectMeta, (),
                      (name, namespace_, uid, resourceVersion, generation, creationTimestamp,
                       deletionTimestamp, deletionGracePeriodSeconds, labels, annotations, ownerReferences,
                       finalizers))
BOOST_DESCRIBE_STRUCT(ListMeta, (), (resourceVersion, continue_))
BOOST_DESCRIBE_STRUCT(StatusCause, (), (reason, message, field))
BOOST_DESCRIBE_STRUCT(StatusDetails, (), (name, group, kind, uid, causes, retryAfterSeconds))
BOOST_DESCRIBE_STRUCT(Status, (), (metadata, status, message, reason, details, code))
BOOST_DESCRIBE_STRUCT(Preconditions, (), (uid, resourceVersion))
BOOST_DESCRIBE_STRUCT(DeleteOptions, (), (gracePeriodSeconds, preconditions, propagationPolicy))
BOOST_DESCRIBE_ENUM(ConditionStatus, True, False, Unknown, Unrecognized)
BOOST_DESCRIBE_STRUCT(Condition, (), (type, status, observedGeneration, lastTransitionTime, reason, message))

template const Type& type_of<ObjectMeta>();
template const Type& type_of<OwnerReference>();
template const Type& type_of<ListMeta>();
template const Type& type_of<Status>();
template const Type& type_of<DeleteOptions>();
template const Type& type_of<Condition>();
template const Type& type_of<std::string>();
template const Type& type_of<Time>();
template const Type& type_of<Duration>();
template const Type& type_of<DurationOrNever>();
template const Type& type_of<Quantity>();
template const Type& type_of<IntOrString>();
template const Type& type_of<StringMap>();
template const Type& type_of<std::vector<std::string>>();

const OwnerReference* controller_of(const ObjectMeta& metadata) {
    for (const OwnerReference& owner : metadata.ownerReferences)
        if (owner.controller.value_or(false)) return &owner;
    return nullptr;
}

bool has_finalizer(const ObjectMeta& metadata, std::string_view finalizer) {
    return std::ranges::find(metadata.finalizers, finalizer) != metadata.finalizers.end();
}

const std::string* find(const StringMap& map, std::string_view key) {
    const auto found = map.find(std::string(key));
    return found == map.end() ? nullptr : &found->second;
}

std::string_view to_string(ConditionStatus status) {
    switch (status) {
        case ConditionStatus::True:
            return "True";
        case ConditionStatus::False:
            return "False";
        case ConditionStatus::Unknown:
        case ConditionStatus::Unrecognized:  // neither true nor false
            return "Unknown";
    }
    return "Unknown";
}

const Condition* find_condition(const Conditions& conditions, std::string_view type) {
    for (const Condition& condition : conditions)
        if (condition.type == type) return &condition;
    return nullptr;
}

bool is_true(const Conditions& conditions, std::string_view type) {
    const Condition* condition = find_condition(conditions, type);
    return condition && condition->status == ConditionStatus::True;
}

std::optional<Time> true_since(const Conditions& conditions, std::string_view type) {
    const auto* condition = find_condition(conditions, type);
    return condition && condition->status == ConditionStatus::True ? condition->lastTransitionTime
                                                                   : std::nullopt;
}

bool is_false(const Conditions& conditions, std::string_view type) {
    const Condition* condition = find_condition(conditions, type);
    return condition && condition->status == ConditionStatus::False;
}

bool set_condition(Conditions& conditions, const ConditionUpdate& update, Time now) {
    // The limit is metav1.Condition's. A longer message would make the API server refuse the whole status.
    constexpr std::size_t kLongestMessage = 32'768;
    const auto message = base::shortened(update.message, kLongestMessage);
    auto place =
        std::ranges::find_if(conditions, [&](const Condition& each) { return each.type == update.type; });
    const bool added = place == conditions.end();
    if (added) {
        place = conditions.emplace(conditions.end());
        place->type = update.type;
    }
    const bool transition = added || place->status != update.status;
    const bool changed = transition || place->reason != update.reason || place->message != message;
    if (transition || !place->lastTransitionTime) place->lastTransitionTime = now;
    place->status = update.status;
    place->reason = update.reason;
    place->message = message;
    if (update.observedGeneration) place->observedGeneration = update.observedGeneration;
    return changed;
}

bool remove_condition(Conditions& conditions, std::string_view type) {
    return std::erase_if(conditions, [&](const Condition& each) { return each.type == type; }) > 0;
}

}  // namespace api
