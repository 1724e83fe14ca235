// Proxmox' property strings ("virtio=BC:24:11:00:00:01,bridge=vmbr0"), tags and UPIDs. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace providers::proxmox {

// Properties in their order; the default key's value may stand without "key=", then the key is empty.
class PropertyString {
public:
    PropertyString() = default;
    // Accepts anything; blanks around parts are dropped. A part that begins with '=' has no key and is kept
    // whole.
    static PropertyString parse(std::string_view text);
    std::string str() const;

    std::optional<std::string> find(std::string_view key) const;
    // The value of `key`, or the part without a key.
    std::optional<std::string> find_or_default(std::string_view key) const;
    // Replaces or appends. An empty key sets the part without one. Throws std::invalid_argument if the value
    // holds a comma, which Proxmox cannot escape.
    void set(std::string_view key, std::string value);

private:
    std::vector<std::pair<std::string, std::string>> parts_;
};

// Tags compare as sets: Proxmox lower-cases, sorts and de-duplicates them.
using Tags = std::set<std::string>;
// Accepts ';', ',' and blanks between tags.
Tags parse_tags(std::string_view text);
std::string join_tags(const Tags& tags);

// UPID:<node>:<pid>:<pstart>:<starttime>:<type>:<id>:<user>: with hexadecimal numbers, as upid_decode() of
// PVE::Tools takes it.
struct Upid {
    std::string text;
    std::string node;             // ask there for the task
    std::int64_t start_time = 0;  // seconds since 1970 on that host's clock
    std::string type;             // qmcreate, qmstart, ...
    std::string id;               // mostly the VMID
    std::string user;             // user@realm or user@realm!token
};
std::optional<Upid> parse_upid(std::string_view text);

}  // namespace providers::proxmox
