#include "providers/proxmox/config/template_revision.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/hex.hpp"
#include "base/sha256.hpp"

namespace providers::proxmox {

namespace {

// Options that describe the template itself, or that each clone sets anew. `meta` is not among them: its
// creation time identifies a template that was made anew with the same VMID.
constexpr std::array<std::string_view, 16> kNotInherited = {
    "name",    "description", "tags",    "digest", "lock",    "parent",     "template", "smbios1",
    "vmgenid", "cores",       "sockets", "memory", "balloon", "protection", "onboot",   "vmstate"};

constexpr std::size_t kHashBytes = 6;

bool is_inherited(const std::string& option) {
    return std::ranges::find(kNotInherited, option) == kNotInherited.end() && !option.starts_with("unused");
}

// Returns, for example, "base-9000-disk-0,size=8G" for "local-lvm:base-9000-disk-0,size=8G".
std::string without_storage(const std::string& drive) {
    return drive.substr(drive.find(':') + 1);
}

}  // namespace

std::string template_revision(std::int64_t vmid, const VmConfig& config) {
    std::string text;
    for (const auto& [name, value] : config.options)
        if (is_inherited(name)) text += name + "=" + (is_drive(name) ? without_storage(value) : value) + "\n";
    const auto digest = base::sha256(text);
    return std::to_string(vmid) + "-" + base::hex(std::span(digest).first(kHashBytes));
}

}  // namespace providers::proxmox
