#include "providers/proxmox/cluster/permissions.hpp"

#include <algorithm>

#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

Permissions Permissions::parse(const json::value& data) {
    Permissions permissions;
    if (!data.is_object()) return permissions;
    for (const auto& [path, privileges] : data.get_object()) {
        auto& at_path = permissions.by_path_[std::string(path)];
        if (!privileges.is_object()) continue;
        for (const auto& [privilege, propagates] : privileges.get_object()) {
            at_path[std::string(privilege)] = text_of(propagates) == "1";
        }
    }
    return permissions;
}

bool Permissions::has(const std::string& path, const std::string& privilege) const {
    if (const auto exact = by_path_.find(path); exact != by_path_.end())
        return exact->second.contains(privilege);
    for (auto parent = path; parent != "/";) {
        const auto slash = parent.rfind('/');
        parent = slash == 0 || slash == std::string::npos ? "/" : parent.substr(0, slash);
        const auto found = by_path_.find(parent);
        if (found == by_path_.end()) continue;
        const auto held = found->second.find(privilege);
        return held != found->second.end() && held->second;
    }
    return false;
}

std::set<std::string> Permissions::names_below(const std::string& path) const {
    std::set<std::string> names;
    for (const auto& [other, privileges] : by_path_) {
        const bool is_below = other.size() > path.size() + 1 && other.starts_with(path + "/");
        if (is_below && !privileges.empty()) names.insert(other.substr(path.size() + 1));
    }
    return names;
}

std::set<std::string> Permissions::at(const std::string& path) const {
    std::set<std::string> held;
    for (const auto& [there, privileges] : by_path_)
        for (const auto& [privilege, propagates] : privileges)
            if (has(path, privilege)) held.insert(privilege);
    return held;
}

bool Permissions::has_below(const std::string& path, const std::string& privilege) const {
    if (has(path, privilege)) return true;
    return std::ranges::any_of(by_path_, [&](const auto& entry) {
        return entry.first.starts_with(path + "/") && entry.second.contains(privilege);
    });
}

}  // namespace providers::proxmox
