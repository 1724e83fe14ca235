// The operator understands every member of every manifest that we ship, and of those of the Go project.
#include "test/unit/api/manifests.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/json.hpp"
#include "api/type.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "test/support/catch.hpp"

namespace json = boost::json;
using namespace api::v1alpha1;
using api::Shape;
using api::Type;

namespace {

void find_unknown(const json::value& document, const Type& type, const std::string& path,
                  std::vector<std::string>& unknown) {
    if (type.shape == Shape::Optional) return find_unknown(document, *type.element, path, unknown);
    if (type.shape == Shape::List) {
        for (const json::value& each : document.as_array())
            find_unknown(each, *type.element, path + "/*", unknown);
    } else if (type.shape == Shape::Object) {
        for (const auto& [key, value] : document.as_object()) {
            const std::string place = path + "/" + std::string(key);
            const api::FieldDescriptor* field = api::find_field(type, key);
            if (field)
                find_unknown(value, *field->type, place, unknown);
            else if (place != "/apiVersion" && place != "/kind")
                unknown.push_back(place);
        }
    }
}

template <class T>
void check(const test::Manifest& manifest) {
    std::vector<std::string> unknown;
    find_unknown(manifest.document, api::type_of<T>(), "", unknown);
    CHECK(unknown == std::vector<std::string>{});
    const T object = api::decode<T>(manifest.document);
    CHECK_FALSE(object.metadata.name.empty());
    CHECK(api::decode<T>(api::encode(object)) == object);
}

const std::map<std::string, void (*)(const test::Manifest&)> kChecks = {
    {"NodeSmithProvider", check<NodeSmithProvider>},
    {"NodeSmithHost", check<NodeSmithHost>},
    {"NodeSmithPool", check<NodeSmithPool>},
    {"NodeSmithClaim", check<NodeSmithClaim>},
    {"NodeSmithControlPlane", check<NodeSmithControlPlane>},
};

std::set<std::string> check_folder(const std::string& folder) {
    std::set<std::string> kinds;
    for (const test::Manifest& manifest : test::load_manifests(test::repository() / folder)) {
        const json::value* kind = manifest.document.as_object().if_contains("kind");
        const auto found = kind ? kChecks.find(std::string(kind->as_string())) : kChecks.end();
        if (found == kChecks.end()) continue;
        INFO(manifest.file.string());
        found->second(manifest);
        kinds.insert(found->first);
    }
    return kinds;
}

}  // namespace

TEST_CASE("every sample decodes without an unknown member, and there is one of each kind") {
    CHECK(check_folder("samples").size() == kChecks.size());
}

TEST_CASE("manifests of the Go project decode without an unknown member") {
    CHECK(check_folder("test/component/crds/go_project") ==
          std::set<std::string>{"NodeSmithProvider", "NodeSmithPool", "NodeSmithClaim",
                                "NodeSmithControlPlane"});
}
