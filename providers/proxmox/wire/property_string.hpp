// Proxmox' property strings ("virtio=BC:24:11:00:00:01,bridge=vmbr0"), tags and UPIDs. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace providers::proxmox {

// PropertyString keeps properties in their order. The default key's value may have no "key="; its key is then
// empty.
class PropertyString {
public:
    PropertyString() = default;
    // Accepts any text and drops blanks around parts. A part that begins with '=' has no key and is kept
    // whole.
    static PropertyString parse(std::string_view text);
    std::string str() const;

    std::optional<std::string> find(std::string_view key) const;
    // Returns the value of `key`, or the part without a key.
    std::optional<std::string> find_or_default(std::string_view key) const;
    // Replaces or appends. An empty key sets the part without a key. Throws std::invalid_argument if the
    // value contains a comma, which Proxmox cannot escape.
    void set(std::string_view key, std::string value);

private:
    std::vector<std::pair<std::string, std::string>> parts_;
};

// Tags are compared as sets, as Proxmox lower-cases, sorts and de-duplicates them.
using Tags = std::set<std::string>;
// Accepts ';', ',' and blanks between tags.
Tags parse_tags(std::string_view text);
std::string join_tags(const Tags& tags);

// Upid is UPID:<node>:<pid>:<pstart>:<starttime>:<type>:<id>:<user>: with hexadecimal numbers, as accepted by
// upid_decode() of PVE::Tools.
struct Upid {
    std::string text;
    std::string node;             // the host to ask for the task
    std::int64_t start_time = 0;  // seconds since 1970 on that host's clock
    std::string type;             // qmcreate, qmstart, ...
    std::string id;               // usually the VMID
    std::string user;             // user@realm or user@realm!token
};
std::optional<Upid> parse_upid(std::string_view text);

}  // namespace providers::proxmox
