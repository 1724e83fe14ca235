// Reads optional fields of a JSON object, with error messages that name the field.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

namespace proxmox_simulator {

namespace json = boost::json;

// Every function throws std::invalid_argument "CONTEXT.field: ..." for a value of the wrong type or a missing
// required one.
class Fields {
public:
    // `value` must outlive this object.
    Fields(const json::value& value, std::string context);

    bool has(std::string_view name) const { return object_->contains(name); }
    const json::object& object() const { return *object_; }
    std::string text(std::string_view name) const;
    std::string text(std::string_view name, std::string otherwise) const;
    double number(std::string_view name, double otherwise) const;
    bool flag(std::string_view name, bool otherwise) const;
    // Returns a string, number or boolean as Proxmox writes it, with booleans as 0 and 1.
    std::string scalar(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    std::vector<std::int64_t> integers(std::string_view name) const;
    std::optional<Fields> find_object(std::string_view name) const;
    std::optional<std::vector<Fields>> find_list(std::string_view name) const;

private:
    [[noreturn]] void complain(std::string_view name, const char* expected) const;
    const json::array* find_array(std::string_view name) const;

    const json::object* object_;
    std::string context_;
};

}  // namespace proxmox_simulator
