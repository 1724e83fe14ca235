// Objects against the schemas of crds/, as an API server checks them: types, required fields, enumerations,
// patterns and bounds. Rules in CEL are not evaluated.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>

namespace simulation {

class Schema {
public:
    // Of a custom resource, by its plural: "nodesmithclaims". Read from the sources once.
    static const Schema& of(const std::string& plural);
    ~Schema();

    // The first thing that does not fit: "status.phase: no such value: Gone"; "" if everything does.
    std::string fault_of(const boost::json::object& object) const;

private:
    struct Part;
    explicit Schema(std::unique_ptr<Part> root);

    std::unique_ptr<Part> root_;
};

}  // namespace simulation
