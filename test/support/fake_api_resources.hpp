// What the in-memory Kubernetes API knows of the kinds that it serves.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fake {

inline constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
inline constexpr const char* kOwnAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
inline constexpr const char* kOwnReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
// Reviews are questions: they change nothing.
bool is_review(const std::string& target);

struct ResourceKind {
    std::string resource;  // plural, with the group: "pods", "leases.coordination.k8s.io"
    std::string kind;
    bool has_status = false;      // a status subresource
    bool has_generation = false;  // counts changes of the spec
    // By which lists and watches may select, besides metadata.name and metadata.namespace.
    std::vector<std::string> selectable_fields;
};

// One of Kubernetes' own; nullptr: none of those that are served.
const ResourceKind* find_builtin(const std::string& resource);
const ResourceKind* find_builtin_kind(const std::string& api_version, const std::string& kind);

// Whether a group is Kubernetes' own, so that no custom resource can be in it.
bool is_builtin_group(const std::string& group);

}  // namespace fake
