#include "kube/paths.hpp"

#include "base/url.hpp"

namespace kube {

ListOptions only(const ObjectKey& key) {
    ListOptions options;
    options.namespace_ = key.namespace_;
    options.field_selector = "metadata.name=" + key.name;
    return options;
}

std::string path_of(const api::Resource& resource, const ObjectKey& key, std::string_view subresource) {
    auto path = (resource.group.empty() ? "/api/" : "/apis/") + resource.api_version();
    if (resource.namespaced && !key.namespace_.empty())
        path += "/namespaces/" + base::percent_encode(key.namespace_);
    path += '/';
    path += resource.plural;
    if (!key.name.empty()) path += '/' + base::percent_encode(key.name);
    if (!subresource.empty()) {
        path += '/';
        path += subresource;
    }
    return path;
}

std::string list_target(const api::Resource& resource, const ListOptions& options,
                        std::string_view parameters) {
    base::FormFields selectors;
    if (!options.label_selector.empty()) selectors.emplace_back("labelSelector", options.label_selector);
    if (!options.field_selector.empty()) selectors.emplace_back("fieldSelector", options.field_selector);
    auto query = base::encode_form(selectors);
    if (!query.empty() && !parameters.empty()) query += '&';
    query += parameters;
    auto path = path_of(resource, {options.namespace_, ""});
    return query.empty() ? path : path + '?' + query;
}

}  // namespace kube
