// Parts common to all Kubernetes objects (metav1), and conditions.
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
    // The first unknown values of the object's enums. Decoding sets them; they are not in the object's JSON.
    Shared<std::vector<UnknownValue>> unknownValues;
    // True if the API server has a newer version that cannot be decoded. Nothing may then be removed because
    // of this version. Informers set it; it is not in the object's JSON.
    bool isOutdated = false;
    bool operator==(const ObjectMeta&) const = default;
};

struct ListMeta {
    std::string resourceVersion;
    std::string continue_;
    bool operator==(const ListMeta&) const = default;
};

// StatusCause is one entry of Status.details.causes.
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

// Status is the API server's answer instead of an object (metav1.Status), also in a watch's ERROR event.
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
// Returns a pointer into the map; nullptr if the key is absent.
const std::string* find(const StringMap& map, std::string_view key);

enum class ConditionStatus { True, False, Unknown, Unrecognized };
std::string_view to_string(ConditionStatus status);

// Condition is metav1.Condition. The conditions of Pods and Nodes are a subset of it.
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

// Returns a pointer into the list; nullptr if the type is absent.
const Condition* find_condition(const Conditions& conditions, std::string_view type);
bool is_true(const Conditions& conditions, std::string_view type);
// Returns since when it is true; nullopt: it is not.
std::optional<Time> true_since(const Conditions& conditions, std::string_view type);
// Reports whether the condition exists and is False. An absent condition is neither true nor false.
bool is_false(const Conditions& conditions, std::string_view type);

// ConditionUpdate is a controller's new value of a condition; set_condition manages the times.
struct ConditionUpdate {
    std::string type;
    ConditionStatus status = ConditionStatus::Unknown;
    std::string reason;
    std::string message;
    std::optional<std::int64_t> observedGeneration;
};

// Adds or updates the condition; lastTransitionTime changes only with the status. Returns true if the status,
// reason or message changed, so that an Event is useful. Returns false if at most observedGeneration changed.
bool set_condition(Conditions& conditions, const ConditionUpdate& update, Time now);
// Returns true if it existed.
bool remove_condition(Conditions& conditions, std::string_view type);

}  // namespace api
