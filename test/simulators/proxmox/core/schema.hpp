// Declares which values a request parameter may have, in a compact notation.
//
// One declaration per line: `name[!] type [constraint...]`, `!` marks a required one. Types are boolean,
// integer, number, string, array, and these short forms:
//     vmid            integer format=pve-vmid min=100 max=999999999
//     enum=a|b|c      string with exactly these values
//     format=F        string checked by the named format F (formats.hpp); F-list and F-opt work as in Proxmox
//     pattern=RE      string that matches RE wholly
//     props=G         comma-separated key=value text; the group G declares its keys
//     alias=K         (in groups) another name for key K; keyalias=M also stores the name used in M
// Constraints: min max minlen maxlen requires=P default (in groups: the key whose name may be left out).
// `net[0..31]` declares net0 to net31.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxmox_simulator {

namespace json = boost::json;

enum class Type { boolean, integer, number, string, array };

class Schema;

struct Property {
    Type type = Type::string;
    bool required = false;
    bool default_key = false;
    std::string format;
    std::string pattern;
    std::vector<std::string> values;  // values of an enumeration
    const Schema* group = nullptr;    // group of a property string
    std::string alias;
    std::string key_alias;
    std::string requires_;
    std::optional<double> minimum, maximum;
    std::optional<std::size_t> min_length, max_length;
    std::optional<std::pair<int, int>> index;  // range of n in name[n]
};

class Schema {
public:
    Schema() = default;
    // Throws std::invalid_argument that names the wrong line.
    explicit Schema(std::string_view declarations);
    // Returns a schema without declarations that takes any property (additionalProperties).
    static Schema open() {
        Schema schema;
        schema.is_open_ = true;
        return schema;
    }
    bool is_open() const { return is_open_; }

    // Returns the declaration of `name`; "net3" finds net[0..31].
    const Property* find(std::string_view name) const;
    void add(const Schema& other);
    void add(std::string_view declarations) { add(Schema(declarations)); }
    // Returns the declarations by name; indexed names look like "net[n]".
    const std::map<std::string, Property, std::less<>>& properties() const { return properties_; }
    // Returns the schema as JSON, for the comparison with Proxmox' own definition.
    json::value to_json() const;

private:
    std::map<std::string, Property, std::less<>> properties_;
    bool is_open_ = false;
};

// Returns a group of keys of property strings, such as "net" or "disk-scsi".
const Schema& property_group(std::string_view name);

}  // namespace proxmox_simulator
