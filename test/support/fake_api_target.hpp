// Parses a request to the Kubernetes API: its path, its query and its selectors.
#pragma once
#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fake {

namespace json = boost::json;

struct Target {
    std::string group;  // "" = the core group
    std::string version;
    std::string resource;  // plural, with the group: "pods", "leases.coordination.k8s.io"
    std::string namespace_;
    std::string name;  // "" = the collection
    std::string subresource;
    std::map<std::string, std::string> query;

    std::string get(const std::string& parameter) const;
    bool flag(const std::string& parameter) const;
};

// Returns nullopt if the path is not that of a resource.
std::optional<Target> parse_target(const std::string& target);

// Selector matches objects by labels and by fields. A field is a path of members with '.' between them.
class Selector {
public:
    Selector() = default;
    Selector(const std::string& labels, const std::string& fields);
    bool matches(const json::object& object) const;

private:
    struct Term {
        std::vector<std::string> path;
        std::vector<std::string> values;
        enum class Kind { in, not_in, exists, absent } kind = Kind::in;
    };
    static std::vector<Term> parse_labels(const std::string& text);
    static std::vector<Term> parse_fields(const std::string& text);
    // Parses terms whose path has the key as its only element.
    static std::vector<Term> parse(const std::string& text);
    static bool holds(const Term& term, const std::optional<std::string>& value);

    std::vector<Term> labels_;
    std::vector<Term> fields_;
};

// Returns the string at a path of members, or the text of another scalar. Returns "" for any other value and
// nullopt if nothing is there.
std::optional<std::string> text_at(const json::object& object, std::initializer_list<std::string_view> path);
std::optional<std::string> text_at(const json::object& object, const std::vector<std::string>& path);

}  // namespace fake
