// Describes the kinds that the in-memory Kubernetes API serves.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fake {

inline constexpr const char* kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
inline constexpr const char* kOwnAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
inline constexpr const char* kOwnReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
// Reports whether requests for the target are reviews. A review is a question and changes nothing.
bool is_review(const std::string& target);

struct ResourceKind {
    std::string resource;  // plural, with the group: "pods", "leases.coordination.k8s.io"
    std::string kind;
    bool has_status = false;      // the kind has a status subresource
    bool has_generation = false;  // the server counts changes of the spec in metadata.generation
    // Lists and watches may select by these fields, besides metadata.name and metadata.namespace.
    std::vector<std::string> selectable_fields;
};

// Returns the built-in kind, or nullptr if the server serves no such built-in kind.
const ResourceKind* find_builtin(const std::string& resource);
const ResourceKind* find_builtin_kind(const std::string& api_version, const std::string& kind);

// Reports whether a group is built into Kubernetes, so that no custom resource can be in it.
bool is_builtin_group(const std::string& group);

}  // namespace fake
