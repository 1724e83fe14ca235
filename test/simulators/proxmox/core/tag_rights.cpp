#include "test/simulators/proxmox/core/tag_rights.hpp"

#include <algorithm>
#include <iterator>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

// Returns a property of the datacenter's option user-tag-access.
std::string tag_access(const World& world, std::string_view property) {
    const auto option = world.options.find("user-tag-access");
    if (option == world.options.end()) return {};
    const auto properties = parse_properties(property_group("user-tag-access"), option->second);
    const auto found = properties.find(std::string(property));
    return found == properties.end() ? std::string() : found->second;
}

std::set<std::string> tags_in(const std::string& text) {
    const auto list = split_list(text);
    return {list.begin(), list.end()};
}

// Returns the tags that only administrators may add and remove.
std::set<std::string> registered_tags(const World& world) {
    const auto option = world.options.find("registered-tags");
    return option == world.options.end() ? std::set<std::string>() : tags_in(option->second);
}

}  // namespace

std::set<std::string> allowed_tags(const World& world, const std::string& user) {
    const bool is_privileged = has_any(world, user, "/", {"Sys.Modify"});
    const auto allow = tag_access(world, "user-allow");
    std::set<std::string> allowed;
    if (allow != "none" || is_privileged) allowed.merge(tags_in(tag_access(world, "user-allow-list")));
    if (allow.empty() || allow == "free" || allow == "existing" || is_privileged) {
        for (const auto& [vmid, machine] : world.machines) {
            const bool is_seen = has_any(world, user, "/vms/" + std::to_string(vmid), {"VM.Audit"});
            if (is_seen || is_privileged) allowed.merge(tags_in(config_text(machine.config, "tags")));
        }
    }
    for (const auto& tag : registered_tags(world)) {
        if (is_privileged) {
            allowed.insert(tag);
        } else {
            allowed.erase(tag);
        }
    }
    return allowed;
}

void require_tag_rights(const World& world, const std::string& user, int vmid, const std::string& old_tags,
                        const std::string& new_tags) {
    require_any(world, user, "/vms/" + std::to_string(vmid), {"VM.Config.Options"});
    if (has_any(world, user, "/", {"Sys.Modify"})) return;
    const auto allow = tag_access(world, "user-allow");
    const bool is_free = allow.empty() || allow == "free";
    const auto allowed = allowed_tags(world, user);
    const auto registered = registered_tags(world);
    const auto before = tags_in(old_tags);
    const auto after = tags_in(new_tags);
    std::set<std::string> changed;
    std::ranges::set_symmetric_difference(before, after, std::inserter(changed, changed.end()));
    for (const auto& tag : changed) {
        if ((allowed.contains(tag) || is_free) && !registered.contains(tag)) continue;
        throw permission_denied("/, Sys.Modify for modifying tag '" + tag + "'");
    }
}

}  // namespace proxmox_simulator
