#include "operator/plan/strictness.hpp"

#include <array>
#include <string>
#include <string_view>

#include "api/type.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "base/text.hpp"
#include "operator/plan/cluster_snapshot.hpp"
#include "operator/plan/written_objects.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

struct Kind {
    std::string_view name;
    std::string api_version;
    const api::Type* spec;
};

template <class T>
Kind kind_of() {
    return {T::kResource.kind, T::kResource.api_version(), api::find_field(api::type_of<T>(), "spec")->type};
}

const auto& our_kinds() {
    static const std::array kinds{
        kind_of<api::v1alpha1::NodeSmithPool>(), kind_of<api::v1alpha1::NodeSmithProvider>(),
        kind_of<api::v1alpha1::NodeSmithControlPlane>(), kind_of<api::v1alpha1::NodeSmithHost>(),
        kind_of<api::v1alpha1::NodeSmithClaim>()};
    return kinds;
}

// Returns the first field that the type lacks, and the fields that it has; empty if it has all fields.
std::string unknown_field(const api::Type& type, const json::value& value, const std::string& path) {
    std::string found;
    if (type.shape == api::Shape::Optional) return unknown_field(*type.element, value, path);
    if (type.shape == api::Shape::List && value.is_array()) {
        for (std::size_t i = 0; i < value.get_array().size() && found.empty(); ++i)
            found = unknown_field(*type.element, value.get_array()[i], path + "[" + std::to_string(i) + "]");
    }
    if (type.shape == api::Shape::Map && value.is_object()) {
        for (const auto& [key, element] : value.get_object())
            if (found.empty()) found = unknown_field(*type.element, element, path + "." + std::string(key));
    }
    if (type.shape == api::Shape::Object && value.is_object()) {
        for (const auto& [key, element] : value.get_object()) {
            if (!found.empty()) break;
            const auto* field = api::find_field(type, key);
            found = field ? unknown_field(*field->type, element, path + "." + std::string(key))
                          : path + "." + std::string(key) + "; there are " +
                                base::joined(type.fields, ", ", &api::FieldDescriptor::name);
        }
    }
    return found;
}

}  // namespace

void refuse_misspelt(const json::object& document) {
    const auto kind = text_in(document, "kind");
    const auto api_version = text_in(document, "apiVersion");
    if (kind.empty() || api_version.empty())
        throw ViewError("a document is no Kubernetes object: it has no apiVersion or no kind");
    if (!is_written(document) || !api_version.starts_with(std::string(api::kGroup) + "/")) return;
    for (const auto& known : our_kinds()) {
        if (known.name != kind || known.api_version != api_version) continue;
        const auto* spec = document.if_contains("spec");
        const auto found = spec ? unknown_field(*known.spec, *spec, "spec") : std::string();
        if (!found.empty()) throw ViewError(title_of(document) + ": unknown field " + found);
        return;
    }
    throw ViewError(title_of(document) + ": there is no kind " + kind + " in " + api_version +
                    "; there are " + base::joined(our_kinds(), ", ", &Kind::name) + " in " +
                    our_kinds().front().api_version);
}

}  // namespace kubenodesmith
