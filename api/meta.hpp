// What every Kubernetes object carries (metav1), and conditions.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource.hpp"
#include "api/shared.hpp"
#include "api/time.hpp"
#include "api/unknown_value.hpp"

namespace api {

using StringMap = std::map<std::string, std::string>;

struct OwnerReference {
    std::string apiVersion;
    std::string kind;
    std::string name;
    std::string uid;
    std::optional<bool> controller;
    std::optional<bool> blockOwnerDeletion;
    bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
    std::string name;
    std::string namespace_;
    std::string uid;
    std::string resourceVersion;
    std::optional<std::int64_t> generation;
    std::optional<Time> creationTimestamp;
    std::optional<Time> deletionTimestamp;
    std::optional<std::int64_t> deletionGracePeriodSeconds;
    Shared<StringMap> labels;
    Shared<StringMap> annotations;
    Shared<std::vector<OwnerReference>> ownerReferences;
    Shared<std::vector<std::string>> finalizers;
    // The first values of the object's enums that this version does not know. Decoding sets them; they are
    // no part of the object's JSON.
    Shared<std::vector<UnknownValue>> unknownValues;
    // The API server has a newer version that cannot be decoded: nothing may be destroyed on the word of this
    // one. Informers set it; it is no part of the object's JSON.
    bool isOutdated = false;
    bool operator==(const ObjectMeta&) const = default;
};

struct ListMeta {
    std::string resourceVersion;
    std::string continue_;
    bool operator==(const ListMeta&) const = default;
};

// One entry of Status.details.causes.
struct StatusCause {
    std::string reason;
    std::string message;
    std::string field;
    bool operator==(const StatusCause&) const = default;
};

struct StatusDetails {
    std::string name;
    std::string group;
    std::string kind;
    std::string uid;
    std::vector<StatusCause> causes;
    std::optional<std::int32_t> retryAfterSeconds;
    bool operator==(const StatusDetails&) const = default;
};

// What the API server answers instead of an object (metav1.Status), also as a watch's ERROR event.
struct Status {
    ListMeta metadata;
    std::string status;
    std::string message;
    std::string reason;
    std::optional<StatusDetails> details;
    std::int32_t code = 0;
    bool operator==(const Status&) const = default;
};

struct Preconditions {
    std::string uid;
    std::string resourceVersion;
    bool operator==(const Preconditions&) const = default;
};

struct DeleteOptions {
    std::optional<std::int64_t> gracePeriodSeconds;
    std::optional<Preconditions> preconditions;
    std::string propagationPolicy;
    bool operator==(const DeleteOptions&) const = default;
};

template <Kind T>
ObjectKey key_of(const T& object) {
    return {object.metadata.namespace_, object.metadata.name};
}

const OwnerReference* controller_of(const ObjectMeta& metadata);
bool has_finalizer(const ObjectMeta& metadata, std::string_view finalizer);
// nullptr when there is none; points into the map.
const std::string* find(const StringMap& map, std::string_view key);

enum class ConditionStatus { True, False, Unknown, Unrecognized };
std::string_view to_string(ConditionStatus status);

// metav1.Condition, and the conditions of Pods and Nodes, which are a subset of it.
struct Condition {
    std::string type;
    ConditionStatus status = ConditionStatus::Unknown;
    std::optional<std::int64_t> observedGeneration;
    std::optional<Time> lastTransitionTime;
    std::string reason;
    std::string message;
    bool operator==(const Condition&) const = default;
};

using Conditions = std::vector<Condition>;

// nullptr when there is none; points into the list.
const Condition* find_condition(const Conditions& conditions, std::string_view type);
bool is_true(const Conditions& conditions, std::string_view type);
// Since when it is true; nullopt: it is not.
std::optional<Time> true_since(const Conditions& conditions, std::string_view type);
// False also means that the condition is there: absent is neither true nor false.
bool is_false(const Conditions& conditions, std::string_view type);

// What a controller wants to say; times are kept by set_condition.
struct ConditionUpdate {
    std::string type;
    ConditionStatus status = ConditionStatus::Unknown;
    std::string reason;
    std::string message;
    std::optional<std::int64_t> observedGeneration;
};

// Adds or updates the condition; lastTransitionTime changes only with the status. Returns true if
// the status, reason or message changed (so that an Event is worth writing), false if at most
// observedGeneration did.
bool set_condition(Conditions& conditions, const ConditionUpdate& update, Time now);
// Returns true if there was one.
bool remove_condition(Conditions& conditions, std::string_view type);

}  // namespace api
