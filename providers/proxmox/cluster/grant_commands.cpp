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

std::string role_for(std::string text) {
    std::ranges::replace_if(text, [](char c) { return !is_name_character(c) && c != '_'; }, '-');
    return "KubeNodeSmith" + text;
}

std::string grant_commands(const std::string& token, const Permissions& permissions,
                           const std::vector<MissingPrivilege>& missing) {
    std::map<std::string, std::set<std::string>> by_path;
    for (const auto& right : missing)
        if (is_plain(right.path)) by_path[right.path].insert(right.privilege);
    const auto user = token.substr(0, token.find('!'));
    const bool is_token = token != user;
    const auto to_user = " --users " + user;
    const auto to_token = " --tokens '" + token + "'";
    if (by_path.empty() || !is_plain(token)) return {};
    std::vector<std::string> commands;
    for (auto& [path, privileges] : by_path) {
        if (commands.size() == kMostPaths) break;
        privileges.merge(permissions.at(path));
        // The role may repeat many rights of this user, so no other user may ever get it.
        const auto role = role_for("-" + token + path);
        // Both work whether the role exists or not.
        const auto command = "pveum role add " + role + " 2>/dev/null; pveum role modify " + role +
                             " --append 1 -privs '" + base::joined(privileges, " ") +
                             "' && pveum acl modify " + path + " --roles " + role +
                             (is_token ? to_token : to_user);
        commands.push_back(command);
    }
    const auto more = by_path.size() - commands.size();
    auto text = base::joined(commands, "; ");
    if (more > 0) text += "; and the same for " + base::counted(static_cast<std::int64_t>(more), "more path");
    // A token does not see whether it has privilege separation. The role repeats the rights of the token,
    // which may be fewer than those of its user. Given to that user, the role would replace the user's own
    // rights.
    if (is_token)
        text += " (for a token that was made with --privsep 0, see pveum user token list " + user + ":" +
                to_user + " instead of" + to_token + "; for any other, " + user +
                " must have these rights, too)";
    return text;
}

}  // namespace providers::proxmox
