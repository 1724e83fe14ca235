#include "test/simulators/proxmox/server/describe.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/validate.hpp"

namespace proxmox_simulator {

int describe_endpoints(std::ostream& out) {
    static constexpr std::string_view kAccess[] = {"world", "user", "privilege"};
    json::array all;
    for (const auto& endpoint : routes().all()) {
        all.push_back({{"method", endpoint.method},
                       {"path", endpoint.path},
                       {"parameters", endpoint.schema.to_json()},
                       {"node", endpoint.place == Place::node},
                       {"daemon", endpoint.daemon},
                       {"tokens", endpoint.for_tokens},
                       {"access", kAccess[static_cast<int>(endpoint.access)]},
                       {"permissionPath", endpoint.permission_path},
                       {"privileges", json::array(endpoint.privileges.begin(), endpoint.privileges.end())}});
    }
    out << json::serialize(all) << '\n';
    return 0;
}

namespace {

json::value errors_of(const json::object& request) {
    auto match = routes().find(std::string(request.at("method").as_string()),
                               std::string(request.at("path").as_string()));
    if (!match.endpoint) return nullptr;
    json::object parameters = request.at("params").as_object();
    for (const auto& [name, value] : match.parameters) parameters[name] = value;
    try {
        validate(match.endpoint->schema, parameters);
    } catch (const ApiError& error) {
        return error.errors();
    }
    return json::object{};
}

}  // namespace

int check_requests(std::istream& in, std::ostream& out) {
    std::string line;
    while (std::getline(in, line)) {
        auto request = json::parse(line).as_object();
        out << json::serialize(json::object{{"errors", errors_of(request)}}) << '\n';
    }
    return 0;
}

}  // namespace proxmox_simulator
