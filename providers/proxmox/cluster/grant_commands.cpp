#include "providers/proxmox/cluster/grant_commands.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace providers::proxmox {

namespace {

constexpr std::size_t kMostPaths = 4;

bool is_name_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

bool is_plain(std::string_view text) {
    constexpr std::string_view kOthers = "/._-@!";
    return std::ranges::all_of(
        text, [&](char c) { return is_name_character(c) || kOthers.find(c) != std::string_view::npos; });
}

std::string role_for(std::string path) {
    std::ranges::replace_if(path, [](char c) { return !is_name_character(c) && c != '_'; }, '-');
    return "KubeNodeSmith" + path;
}

std::string grant_commands(const std::string& token, const Permissions& permissions,
                           const std::vector<MissingPrivilege>& missing) {
    std::map<std::string, std::set<std::string>> by_path;
    for (const auto& right : missing)
        if (is_plain(right.path)) by_path[right.path].insert(right.privilege);
    const auto user = token.substr(0, token.find('!'));
    if (by_path.empty() || !is_plain(token)) return {};
    std::vector<std::string> commands;
    for (auto& [path, privileges] : by_path) {
        if (commands.size() == kMostPaths) break;
        privileges.merge(permissions.at(path));
        const auto role = role_for(path);
        // Both work whether the role exists or not.
        auto command = "pveum role add " + role + " 2>/dev/null; pveum role modify " + role +
                       " --append 1 -privs '" + base::joined(privileges, " ") + "' && pveum acl modify " +
                       path + " --roles " + role + " --users " + user;
        // A token without privilege separation has its user's rights. For it this is harmless.
        if (token != user) command += " --tokens '" + token + "'";
        commands.push_back(std::move(command));
    }
    const auto more = by_path.size() - commands.size();
    return base::joined(commands, "; ") +
           (more > 0 ? "; and the same for " + base::counted(static_cast<std::int64_t>(more), "more path")
                     : std::string());
}

}  // namespace providers::proxmox
