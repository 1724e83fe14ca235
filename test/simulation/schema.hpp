// Checks objects against the schemas of crds/, as an API server does: types, required fields, enumerations,
// patterns and bounds. It does not evaluate rules in CEL.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>

namespace simulation {

class Schema {
public:
    // Returns the schema of a custom resource by its plural, such as "nodesmithclaims". The sources are read
    // once.
    static const Schema& of(const std::string& plural);
    ~Schema();

    // Returns the first fault, such as "status.phase: no such value: Gone"; "" if there is none.
    std::string fault_of(const boost::json::object& object) const;

private:
    struct Part;
    explicit Schema(std::unique_ptr<Part> root);

    std::unique_ptr<Part> root_;
};

}  // namespace simulation
