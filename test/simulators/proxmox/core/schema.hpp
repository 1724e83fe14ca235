// What a request parameter may look like, and a compact notation for it.
//
// One declaration per line: `name[!] type [constraint...]`, `!` marks a required one. Types are boolean,
// integer, number, string, array, and these short forms:
//     vmid            integer format=pve-vmid min=100 max=999999999
//     enum=a|b|c      string with exactly these values
//     format=F        string checked by the named format F (formats.hpp); F-list and F-opt work as in Proxmox
//     pattern=RE      string that matches RE wholly
//     props=G         comma-separated key=value text whose keys are declared by the group G
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
    std::vector<std::string> values;  // of an enumeration
    const Schema* group = nullptr;    // of a property string
    std::string alias;
    std::string key_alias;
    std::string requires_;
    std::optional<double> minimum, maximum;
    std::optional<std::size_t> min_length, max_length;
    std::optional<std::pair<int, int>> index;  // of name[n]
};

class Schema {
public:
    Schema() = default;
    // Throws std::invalid_argument naming the line that is wrong.
    explicit Schema(std::string_view declarations);

    // The declaration for `name`; "net3" finds net[0..31].
    const Property* find(std::string_view name) const;
    void add(const Schema& other);
    void add(std::string_view declarations) { add(Schema(declarations)); }
    // Declared names, indexed ones as "net[n]".
    const std::map<std::string, Property, std::less<>>& properties() const { return properties_; }
    // For the comparison with Proxmox' own definition.
    json::value to_json() const;

private:
    std::map<std::string, Property, std::less<>> properties_;
};

// The groups of keys that property strings are made of: "net", "disk-scsi", ...
const Schema& property_group(std::string_view name);

}  // namespace proxmox_simulator
