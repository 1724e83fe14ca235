// The CRDs and the structs are both written by hand. These tests compare them field by field, default by
// default, and enum by enum.
#include <boost/json/serialize.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/type.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "test/support/catch.hpp"
#include "test/unit/api/manifests.hpp"

namespace json = boost::json;
using namespace api::v1alpha1;
using api::Shape;
using api::Type;

namespace {

// These members are free text in C++ because the operator only passes the value on. Users see an enum.
const std::set<std::string> kTextWithChoices = {
    "taints/effect",
    "startupTaints/effect",
    "template/format",
    "machineTemplate/architecture",
};

// These places accept fewer values than the C++ enum has: Gt and Lt are for Nodes, not for label selectors.
const std::map<std::string, std::set<std::string>> kNarrowed = {
    {"spec/redfish/hostSelector/matchExpressions/operator", {"In", "NotIn", "Exists", "DoesNotExist"}},
};

bool has(const json::object& schema, std::string_view key) {
    return schema.contains(key);
}

std::string text(const json::object& schema, std::string_view key) {
    const json::value* value = schema.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool flag(const json::object& schema, std::string_view key) {
    const json::value* value = schema.if_contains(key);
    return value && value->is_bool() && value->get_bool();
}

std::set<std::string> strings(const json::object& schema, std::string_view key) {
    std::set<std::string> result;
    if (const json::value* list = schema.if_contains(key))
        for (const json::value& each : list->as_array()) result.insert(std::string(each.as_string()));
    return result;
}

// Comparison collects every difference between a described type and a schema.
class Comparison {
public:
    enum class Part { Spec, Status };

    Comparison(Part part, std::vector<std::string>& faults) : part_(part), faults_(faults) {}

    void compare(const Type& type, const json::object& schema, const std::string& path) {
        switch (type.shape) {
            case Shape::Optional:
                return compare(*type.element, schema, path);
            case Shape::Object:
                return compare_object(type, schema, path);
            case Shape::List:
                expect(text(schema, "type") == "array", path, "is not an array");
                expect(has(schema, "maxItems"), path, "has no maxItems");
                expect(has(schema, "x-kubernetes-list-type"), path, "has no x-kubernetes-list-type");
                return compare(*type.element, schema.at("items").as_object(), path);
            case Shape::Map:
                expect(text(schema, "type") == "object", path, "is not an object");
                expect(has(schema, "maxProperties"), path, "has no maxProperties");
                return compare(*type.element, schema.at("additionalProperties").as_object(), path);
            case Shape::Enum:
                return compare_enum(type, schema, path);
            case Shape::Text:
                return compare_text(type, schema, path);
            case Shape::String:
                return compare_string(schema, path);
            case Shape::Boolean:
                return expect(text(schema, "type") == "boolean", path, "is not a boolean");
            case Shape::Integer:
                expect(text(schema, "type") == "integer", path, "is not an integer");
                return expect(text(schema, "format") == (type.max > 0x7fffffff ? "int64" : "int32"), path,
                              "has another integer format");
            case Shape::Any:
                return expect(flag(schema, "x-kubernetes-preserve-unknown-fields"), path, "is not free-form");
        }
    }

private:
    void expect(bool holds, const std::string& path, const std::string& fault) {
        if (!holds) faults_.push_back(path + " " + fault);
    }

    void compare_object(const Type& type, const json::object& schema, const std::string& path) {
        expect(text(schema, "type") == "object", path, "is not an object");
        const json::object& properties = schema.at("properties").as_object();
        for (const auto& [name, property] : properties) {
            expect(api::find_field(type, name) != nullptr, path + "/" + std::string(name),
                   "is missing in C++");
            expect(!text(property.as_object(), "description").empty(), path + "/" + std::string(name),
                   "has no description");
        }
        for (const api::FieldDescriptor& field : type.fields) {
            const std::string place = path + "/" + std::string(field.name);
            const json::value* property = properties.if_contains(field.name);
            if (!property) {
                expect(false, place, "is missing in the CRD");
                continue;
            }
            compare_presence(type, field, schema, property->as_object(), place);
            compare(*field.type, property->as_object(), place);
        }
    }

    // Checks that exactly one of these holds: the member is required, it has a default, or C++ can tell that
    // it is absent.
    void compare_presence(const Type& type, const api::FieldDescriptor& field, const json::object& parent,
                          const json::object& schema, const std::string& place) {
        const bool required = strings(parent, "required").contains(std::string(field.name));
        const bool defaulted = has(schema, "default");
        expect(!(required && defaulted), place, "is required and has a default");
        if (part_ == Part::Status) {
            // A count of 0 is not written, and its column would be blank.
            const bool is_count = defaulted && schema.at("default") == 0;
            expect(!defaulted || is_count, place, "has a default other than 0 although it is status");
            return;
        }
        if (field.type->shape == Shape::Optional)
            return expect(!required && !defaulted, place, "is optional in C++ but required or defaulted");
        if (!field.type->empty)
            return expect(required || defaulted, place, "is neither required nor defaulted");
        if (required && field.type->shape == Shape::String)
            expect(has(schema, "minLength") || has(schema, "enum") || has_rule(schema), place,
                   "is required and may be empty");
        if (!required && !defaulted)
            expect(field.type->empty(api::member(type.defaults, field)), place, "has a default in C++ only");
    }

    static bool has_rule(const json::object& schema) { return has(schema, "x-kubernetes-validations"); }

    void compare_enum(const Type& type, const json::object& schema, const std::string& path) {
        std::set<std::string> names;
        for (const api::Enumerator& each : type.enumerators) names.insert(std::string(each.name));
        const auto narrowed = kNarrowed.find(path);
        if (narrowed != kNarrowed.end()) names = narrowed->second;
        expect(strings(schema, "enum") == names, path, "has other values");
    }

    void compare_text(const Type& type, const json::object& schema, const std::string& path) {
        if (&type == &api::type_of<api::Quantity>() || &type == &api::type_of<api::IntOrString>())
            return expect(flag(schema, "x-kubernetes-int-or-string"), path, "is not int-or-string");
        expect(text(schema, "type") == "string", path, "is not a string");
        if (&type == &api::type_of<api::Time>())
            expect(text(schema, "format") == "date-time", path, "is not a date-time");
        else
            expect(has(schema, "maxLength") && has_rule(schema), path, "has no maxLength or no rule");
    }

    void compare_string(const json::object& schema, const std::string& path) {
        expect(text(schema, "type") == "string", path, "is not a string");
        if (!has(schema, "enum")) return expect(has(schema, "maxLength"), path, "has no maxLength");
        bool known = false;
        for (const std::string& each : kTextWithChoices) known = known || path.ends_with("/" + each);
        expect(known, path, "is an enum in the CRD and text in C++");
    }

    Part part_;
    std::vector<std::string>& faults_;
};

// Fills in the defaults of all existing objects, as the API server does on admission.
void apply_defaults(json::value& value, const json::object& schema) {
    if (json::object* object = value.if_object()) {
        if (const json::value* properties = schema.if_contains("properties")) {
            for (const auto& [name, property] : properties->as_object()) {
                const json::value* fallback = property.as_object().if_contains("default");
                if (fallback && !object->contains(name)) object->emplace(name, *fallback);
                if (json::value* member = object->if_contains(name))
                    apply_defaults(*member, property.as_object());
            }
        }
    } else if (json::array* array = value.if_array()) {
        for (json::value& each : *array) apply_defaults(each, schema.at("items").as_object());
    }
}

// Returns a document with every object and one element in every list of objects, all of them empty.
json::value every_object(const json::object& schema) {
    json::object result;
    const json::value* properties = schema.if_contains("properties");
    if (!properties) return result;
    for (const auto& [name, value] : properties->as_object()) {
        const json::object& property = value.as_object();
        if (has(property, "properties")) result.emplace(name, every_object(property));
        const json::value* items = property.if_contains("items");
        if (items && has(items->as_object(), "properties"))
            result.emplace(name, json::array{every_object(items->as_object())});
    }
    return result;
}

template <class T>
void compare_kind() {
    const json::object crd = test::load_crd(T::kResource.plural);
    const json::object& spec = crd.at("spec").as_object();
    const json::object& version = spec.at("versions").at(0).as_object();
    CHECK(text(spec.at("names").as_object(), "kind") == T::kResource.kind);
    CHECK(text(spec.at("names").as_object(), "plural") == T::kResource.plural);
    CHECK(text(spec, "group") == T::kResource.group);
    CHECK(text(version, "name") == T::kResource.version);
    CHECK((text(spec, "scope") == "Namespaced") == T::kResource.namespaced);

    const json::object& schema = version.at("schema").at("openAPIV3Schema").as_object();
    const Type& type = api::type_of<T>();
    std::vector<std::string> faults;
    Comparison(Comparison::Part::Spec, faults)
        .compare(*api::find_field(type, "spec")->type, schema.at("properties").at("spec").as_object(),
                 "spec");
    Comparison(Comparison::Part::Status, faults)
        .compare(*api::find_field(type, "status")->type, schema.at("properties").at("status").as_object(),
                 "status");
    // Pools share the struct, but this is a setting of the whole cluster: only the ControlPlane's CRD has the
    // field.
    if (std::is_same_v<T, api::v1alpha1::NodeSmithPool>)
        std::erase(faults, "spec/bootstrap/servingNetworks is missing in the CRD");
    CHECK(faults == std::vector<std::string>{});

    // Tools that wait for an object, such as kstatus, must not take one for done that no operator has seen.
    CHECK(schema.at("properties").at("status").at("default") == json::value({{"observedGeneration", -1}}));
    const json::value sparse = {{"spec", json::object()}, {"status", json::object()}};
    for (const json::value& document : {sparse, every_object(schema)}) {
        json::value defaulted = document;
        apply_defaults(defaulted, schema);
        const json::object difference = api::merge_patch(api::decode<T>(document), api::decode<T>(defaulted));
        INFO("the defaults of the CRD and of C++ differ: " << json::serialize(difference));
        CHECK(difference.empty());
    }
}

}  // namespace

TEST_CASE("NodeSmithProvider: struct and CRD agree") {
    compare_kind<NodeSmithProvider>();
}
TEST_CASE("NodeSmithHost: struct and CRD agree") {
    compare_kind<NodeSmithHost>();
}
TEST_CASE("NodeSmithPool: struct and CRD agree") {
    compare_kind<NodeSmithPool>();
}
TEST_CASE("NodeSmithClaim: struct and CRD agree") {
    compare_kind<NodeSmithClaim>();
}
TEST_CASE("NodeSmithControlPlane: struct and CRD agree") {
    compare_kind<NodeSmithControlPlane>();
}

TEST_CASE("every required field of a condition is one that we always write") {
    const json::object crd = test::load_crd("nodesmithclaims");
    const json::object& items =
        crd.at("spec")
            .at("versions")
            .at(0)
            .at_pointer("/schema/openAPIV3Schema/properties/status/properties/conditions/items")
            .as_object();
    api::Conditions conditions;
    set_condition(conditions, {"Ready", api::ConditionStatus::True, "Ready", "", {}}, api::Time());
    const json::value written = api::encode(conditions.front());
    for (const std::string& name : strings(items, "required")) {
        INFO(name);
        CHECK(written.as_object().contains(name));
    }
}
