// Paths of objects in the API: https://kubernetes.io/docs/reference/using-api/api-concepts/
#pragma once

#include <string>
#include <string_view>

#include "api/meta.hpp"
#include "api/resource.hpp"

namespace kube {

using api::ObjectKey;

struct ListOptions {
    std::string namespace_;  // empty: all namespaces
    std::string label_selector;
    std::string field_selector;
    bool first_page_only = false;  // for unlimited lists of others, if the beginning suffices
};

// Selects the object alone; an empty namespace: that name in all namespaces. Reading an object by a list
// needs no right that an informer lacks.
ListOptions only(const ObjectKey& key);

// Returns /api/v1/namespaces/x/pods/y or /apis/group/version/...; an empty name gives the collection.
std::string path_of(const api::Resource& resource, const ObjectKey& key, std::string_view subresource = {});
// Returns the path of the collection with its selectors. `parameters` are appended unchanged:
// "limit=500&watch=1".
std::string list_target(const api::Resource& resource, const ListOptions& options,
                        std::string_view parameters);

}  // namespace kube
