// Addresses of objects in the Kubernetes API.
#pragma once
#include <compare>
#include <concepts>
#include <string>
#include <string_view>

namespace api {

// Resource is the API server's address of a kind. The core group is "".
struct Resource {
    std::string_view group;
    std::string_view version;
    std::string_view plural;
    std::string_view kind;
    bool namespaced = true;

    // Returns "v1" or "apps/v1".
    std::string api_version() const {
        return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
    }
    bool operator==(const Resource&) const = default;
};

// ObjectKey identifies an object of a known kind; namespace_ is empty for cluster-scoped kinds.
struct ObjectKey {
    std::string namespace_;
    std::string name;

    auto operator<=>(const ObjectKey&) const = default;
    // Returns "namespace/name", or "name" for cluster-scoped kinds.
    std::string str() const { return namespace_.empty() ? name : namespace_ + "/" + name; }
};

template <class T>
concept Kind = requires(const T& object) {
    { T::kResource } -> std::convertible_to<Resource>;
    object.metadata;
};

}  // namespace api
