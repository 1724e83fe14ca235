#include "controllers/services/api_server_hosts.hpp"

#include <boost/beast/core/string.hpp>
#include <string_view>

#include "base/text.hpp"
#include "controllers/services/address_ranges.hpp"

namespace controllers {

namespace {

// Accepts "[fd00::1]:6443" and "k8s.example.org:6443".
std::string host_of(const std::string& endpoint) {
    const auto host = endpoint.starts_with('[') ? endpoint.substr(1, endpoint.find(']') - 1)
                                                : endpoint.substr(0, endpoint.rfind(':'));
    return base::lower_case(host);
}

template <class Object>
std::string stated_host(const Object& object) {
    return object.spec.bootstrap ? host_of(object.spec.bootstrap->apiServerEndpoint) : std::string();
}

std::string host_for(const NodeSmithClaim& claim) {
    return claim.status.boot ? host_of(claim.status.boot->apiServer) : std::string();
}

// Compares without a copy, because every look at a claim compares its name with all endpoints.
bool leads_to(const std::string& endpoint, std::string_view name) {
    if (endpoint.size() < name.size()) return false;
    const bool ends_there = endpoint.size() == name.size() || endpoint[name.size()] == ':';
    return ends_there && boost::beast::iequals(std::string_view(endpoint).substr(0, name.size()), name);
}

template <class Object>
bool is_stated_by(const Object& object, std::string_view name) {
    return object.spec.bootstrap && leads_to(object.spec.bootstrap->apiServerEndpoint, name);
}

bool is_domain_or_below(const std::string& name, const std::string& domain) {
    return name == domain || name.starts_with(domain + ".");
}

}  // namespace

std::map<std::string, std::set<std::string>> api_server_hosts(const Informers& informers) {
    std::map<std::string, std::set<std::string>> hosts;
    const auto add = [&hosts](const std::string& namespace_, std::string host) {
        if (!host.empty()) hosts[namespace_].insert(std::move(host));
    };
    for (const auto& [key, claim] : informers.claims.store().all()) add(key.namespace_, host_for(*claim));
    for (const auto& [key, pool] : informers.pools.store().all()) add(key.namespace_, stated_host(*pool));
    for (const auto& [key, manager] : informers.control_planes.store().all())
        add(key.namespace_, stated_host(*manager));
    return hosts;
}

bool is_name_of_api_server(const Informers& informers, const NodeSmithClaim& claim, const std::string& name) {
    if (name == "localhost" || name.ends_with(".localhost") || name == "kubernetes" ||
        is_domain_or_below(name, "kubernetes.default") || name.ends_with(".svc") ||
        name.find(".svc.") != std::string::npos || is_address(name) ||
        (claim.status.boot && leads_to(claim.status.boot->apiServer, name)))
        return true;
    for (const auto& [key, pool] : informers.pools.store().all())
        if (is_stated_by(*pool, name)) return true;
    for (const auto& [key, manager] : informers.control_planes.store().all())
        if (is_stated_by(*manager, name)) return true;
    return false;
}

}  // namespace controllers
