#include "test/simulation/authorization.hpp"

#include "api/yaml.hpp"
#include "base/file.hpp"
#include "test/simulation/scenario.hpp"
#include "test/support/fake_api_server.hpp"

namespace simulation {
namespace {

fake::Rights shipped_rights() {
    boost::json::array manifests;
    for (const char* file : {"role.yaml", "managed_namespaces.yaml", "bindings.yaml"}) {
        const auto text = base::read_file(std::string(KUBENODESMITH_SOURCE) + "/config/rbac/" + file);
        for (auto& document : api::parse_yaml_documents(text)) manifests.push_back(std::move(document));
    }
    fake::Rights rights(manifests);
    // docs/operations.md asks for this binding in each further namespace.
    rights.bind("kubenodesmith-credentials", kNodesNamespace);
    return rights;
}

}  // namespace

Authorization::Authorization(const fake::Store& store) : store_(store), rights_(shipped_rights()) {}

std::optional<base::HttpResponse> Authorization::refuse(const base::HttpRequest& request) {
    std::optional<base::HttpResponse> refusal;
    for (auto& right : fake::needed_rights(request, store_)) {
        auto of_any = right;
        of_any.name.clear();
        const bool is_allowed = rights_.allow(right);
        needed_.insert(rights_.allow(of_any) ? std::move(of_any) : right);
        if (is_allowed) continue;
        missing_.insert(right);
        refusal =
            fake::status_response(403, "Forbidden", "the operator's role does not grant: " + right.text());
    }
    return refusal;
}

}  // namespace simulation
