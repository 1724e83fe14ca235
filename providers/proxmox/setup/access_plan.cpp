#include "providers/proxmox/setup/access_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "base/text.hpp"
#include "providers/proxmox/cluster/grant_commands.hpp"

namespace providers::proxmox {
namespace {

constexpr const char* kOurRoles = "KubeNodeSmith";

void check_name(const std::string& what, const std::string& name) {
    if (name.empty()) throw std::invalid_argument(what + " is missing");
    if (name.starts_with('-') || !is_plain(name))
        throw std::invalid_argument(what + " \"" + name + "\" is no name in Proxmox");
}

void check_user(const std::string& user) {
    check_name("the user", user);
    if (user.find('@') == std::string::npos)
        throw std::invalid_argument("the user \"" + user + "\" names no realm: give one such as " + user +
                                    "@pve");
    // Its tokens have every right that it has.
    if (user.starts_with("root@"))
        throw std::invalid_argument("the token of " + user +
                                    " would have all rights: name another user, which is created if needed");
}

void check(const ProxmoxSetup& wish, const std::vector<TemplateParts>& templates) {
    check_user(wish.user);
    check_name("the token", wish.token);
    if (!wish.resource_pool.empty()) check_name("the resource pool", wish.resource_pool);
    for (const auto& name : wish.disk_storages) check_name("a storage", name);
    for (const auto& name : wish.image_storages) check_name("a storage", name);
    for (const auto& name : wish.download_storages) check_name("a storage", name);
    for (const auto& name : wish.bridges) check_name("a bridge", name);
    // Clones without a storage have their disks where their template has them.
    if (wish.disk_storages.empty() && templates.empty())
        throw std::invalid_argument("no storage for the disks of machines is named");
    if (wish.templates.empty() && wish.download_storages.empty())
        throw std::invalid_argument(
            "machines are cloned: name a template, or the storage that images are downloaded to");
}

Settings settings_of(const ProxmoxSetup& wish) {
    Settings settings;
    auto& spec = settings.spec;
    spec.resourcePool = wish.resource_pool;
    for (const auto& bridge : wish.bridges) {
        auto& interface = spec.networkInterfaces.emplace_back();
        interface.name = "net" + std::to_string(spec.networkInterfaces.size() - 1);
        interface.bridge = bridge;
    }
    auto& source = spec.template_.emplace();
    if (!wish.disk_storages.empty()) source.storage = wish.disk_storages.front();
    source.bootDisk.sizeGiB = 1;
    if (!wish.download_storages.empty()) source.image.emplace().storage = source.storage;
    spec.cloudInit.emplace();
    return settings;
}

Surroundings surroundings_of(const ProxmoxSetup& wish, const std::vector<TemplateParts>& templates) {
    Surroundings surroundings;
    surroundings.major_version = static_cast<int>(wish.major_version);
    surroundings.templates = templates;
    for (const auto vmid : wish.templates) {
        if (std::ranges::find(templates, vmid, &TemplateParts::vmid) != templates.end()) continue;
        auto& parts = surroundings.templates.emplace_back();
        parts.vmid = vmid;
        parts.disk_storages.insert(wish.disk_storages.begin(), wish.disk_storages.end());
    }
    surroundings.download_storages.insert(wish.download_storages.begin(), wish.download_storages.end());
    return surroundings;
}

// Returns the rights that are useful but not needed: they show what is wrong before a machine is made.
std::vector<MissingPrivilege> useful_rights(const ProxmoxSetup& wish) {
    std::vector<MissingPrivilege> rights;
    for (const auto vmid : wish.templates)
        rights.push_back({"/vms/" + std::to_string(vmid), "VM.Audit", "to find the template"});
    for (const auto& storage : wish.disk_storages)
        rights.push_back({"/storage/" + storage, "Datastore.Audit", "to see the storage's room"});
    if (!wish.resource_pool.empty())
        rights.push_back({"/pool/" + wish.resource_pool, "Pool.Audit", "to see the resource pool"});
    return rights;
}

// Returns the rights that the permissions lack for the wish.
std::vector<MissingPrivilege> lacking(const ProxmoxSetup& wish, const std::vector<TemplateParts>& templates,
                                      const Permissions& permissions) {
    auto settings = settings_of(wish);
    const auto surroundings = surroundings_of(wish, templates);
    auto all = missing_privileges(settings, permissions, surroundings);
    const auto add = [&all](const std::vector<MissingPrivilege>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    for (const auto& storage : wish.disk_storages) {
        settings.spec.template_->storage = storage;
        add(missing_privileges(settings, permissions, surroundings));
    }
    for (const auto& storage : wish.image_storages)
        add(missing_image_privileges(settings, permissions, storage, surroundings.templates));
    for (const auto& right : useful_rights(wish))
        if (!permissions.has(right.path, right.privilege)) all.push_back(right);
    if (!wish.through_guest_agent) return all;
    add(missing_agent_privileges(settings, permissions, static_cast<int>(wish.major_version)));
    return all;
}

struct PathGrant {
    std::set<std::string> privileges;
    std::set<std::string> purposes;
};

// AccessPlanner collects the steps.
class AccessPlanner {
public:
    AccessPlanner(const ProxmoxSetup& wish, const AccessState& state) : wish_(wish), state_(state) {
        plan_.token_id = wish.user + "!" + wish.token;
    }

    ProxmoxPlan plan() {
        check(wish_, state_.templates);
        choose_token();
        add_pool();
        add_user();
        std::map<std::string, PathGrant> by_path;
        const auto& permissions = is_separated() ? state_.of_token : state_.of_user;
        for (const auto& right : lacking(wish_, state_.templates, permissions)) {
            if (is_unknown(right)) continue;
            by_path[right.path].privileges.insert(right.privilege);
            by_path[right.path].purposes.insert(right.purpose);
        }
        for (const auto& [path, grant] : by_path) add_grant(path, grant);
        add_token();
        return std::move(plan_);
    }

private:
    const AccessUser* user() const {
        const auto found = state_.users.find(wish_.user);
        return found == state_.users.end() ? nullptr : &found->second;
    }
    bool has_token(const std::string& name) const { return user() && user()->tokens.contains(name); }
    bool is_separated() const { return !plan_.makes_token && user()->tokens.at(wish_.token); }

    // Older versions lack some privileges, and refuse a role that has them.
    bool is_unknown(const MissingPrivilege& right) {
        const auto all = state_.roles.find("Administrator");
        if (all == state_.roles.end() || all->second.contains(right.privilege)) return false;
        const auto note =
            "this version of Proxmox VE has no privilege " + right.privilege + " (" + right.purpose + ")";
        if (std::ranges::find(plan_.notes, note) == plan_.notes.end()) plan_.notes.push_back(note);
        return true;
    }

    // The old token of that name keeps working, so another one needs another name.
    void choose_token() {
        plan_.makes_token = !has_token(wish_.token) || wish_.another_token;
        for (int number = 2; plan_.makes_token && has_token(name_of_token()); ++number)
            plan_.token_id = wish_.user + "!" + wish_.token + "-" + std::to_string(number);
        if (plan_.makes_token && name_of_token() != wish_.token)
            plan_.notes.push_back("the token " + wish_.user + "!" + wish_.token +
                                  " stays valid; once nothing uses it: pveum user token remove " +
                                  wish_.user + " " + wish_.token);
    }
    std::string name_of_token() const { return plan_.token_id.substr(wish_.user.size() + 1); }

    void add_pool() {
        if (wish_.resource_pool.empty() || state_.pools.contains(wish_.resource_pool)) return;
        plan_.steps.push_back({"The resource pool for machines",
                               "pveum pool add " + wish_.resource_pool,
                               "POST",
                               "/pools",
                               {{"poolid", wish_.resource_pool}}});
    }

    void add_user() {
        if (!user()) {
            plan_.steps.push_back({"The user of the token; it has no password",
                                   "pveum user add " + wish_.user,
                                   "POST",
                                   "/access/users",
                                   {{"userid", wish_.user}}});
            return;
        }
        if (!user()->is_enabled)
            plan_.notes.push_back("the user " + wish_.user +
                                  " is disabled, and so are its tokens: pveum user modify " + wish_.user +
                                  " --enable 1");
        for (const auto& entry : state_.acl)
            if (entry.subject == wish_.user && !entry.role.starts_with(kOurRoles) && !is_separated())
                plan_.notes.push_back("the user " + wish_.user + " has the role " + entry.role + " on " +
                                      entry.path + ", and so has its token");
    }

    // Rights of the user on a path replace inherited ones, so a first role there repeats those.
    void add_grant(const std::string& path, const PathGrant& grant) {
        auto privileges = grant.privileges;
        if (!has_entry(path, wish_.user)) privileges.merge(state_.of_user.at(path));
        const auto role = usable_role(path, privileges);
        const auto purpose = "On " + path + ": " + base::joined(grant.purposes);
        const bool is_explained = add_role(purpose, role, privileges);
        add_entry(is_explained ? "" : purpose, path, role);
    }

    bool has_entry(const std::string& path, const std::string& subject) const {
        return std::ranges::any_of(state_.acl, [&](const AclEntry& entry) {
            return entry.path == path && entry.subject == subject;
        });
    }
    bool is_ours(const std::string& subject) const {
        return subject == wish_.user || subject == plan_.token_id;
    }

    // A role that others have, or that has more than is needed, would give or get too much. Then the next
    // name is used.
    std::string usable_role(const std::string& path, const std::set<std::string>& privileges) const {
        const auto first = role_for(path);
        auto name = first;
        for (int number = 2; !is_usable(name, path, privileges); ++number)
            name = first + "-" + std::to_string(number);
        return name;
    }
    bool is_usable(const std::string& role, const std::string& path,
                   const std::set<std::string>& privileges) const {
        const auto known = state_.roles.find(role);
        if (known == state_.roles.end() || known->second == privileges) return true;
        bool is_granted_here = false;
        for (const auto& entry : state_.acl) {
            if (entry.role != role) continue;
            if (entry.path != path || !is_ours(entry.subject)) return false;
            is_granted_here = is_granted_here || entry.subject == wish_.user;
        }
        return is_granted_here || std::ranges::includes(privileges, known->second);
    }

    // Returns false if the role has the privileges already.
    bool add_role(const std::string& purpose, const std::string& role,
                  const std::set<std::string>& privileges) {
        const auto known = state_.roles.find(role);
        if (known == state_.roles.end()) {
            plan_.steps.push_back(
                {purpose,
                 "pveum role add " + role + " -privs '" + base::joined(privileges, " ") + "'",
                 "POST",
                 "/access/roles",
                 {{"roleid", role}, {"privs", base::joined(privileges, ",")}}});
            return true;
        }
        std::set<std::string> missing;
        std::ranges::set_difference(privileges, known->second, std::inserter(missing, missing.end()));
        if (missing.empty()) return false;
        plan_.steps.push_back(
            {purpose,
             "pveum role modify " + role + " --append 1 -privs '" + base::joined(missing, " ") + "'",
             "PUT",
             "/access/roles/" + base::percent_encode(role),
             {{"privs", base::joined(missing, ",")}, {"append", "1"}}});
        return true;
    }

    void add_entry(const std::string& purpose, const std::string& path, const std::string& role) {
        std::vector<std::string> subjects{wish_.user};
        if (is_separated()) subjects.push_back(plan_.token_id);
        const bool is_granted = std::ranges::all_of(subjects, [&](const std::string& subject) {
            return std::ranges::any_of(state_.acl, [&](const AclEntry& entry) {
                return entry.path == path && entry.subject == subject && entry.role == role &&
                       entry.propagates;
            });
        });
        if (is_granted) return;
        ProxmoxStep step{purpose,
                         "pveum acl modify " + path + " --roles " + role + " --users " + wish_.user,
                         "PUT",
                         "/access/acl",
                         {{"path", path}, {"roles", role}, {"users", wish_.user}}};
        if (is_separated()) {
            step.command += " --tokens '" + plan_.token_id + "'";
            step.parameters.emplace_back("tokens", plan_.token_id);
        }
        plan_.steps.push_back(std::move(step));
    }

    void add_token() {
        if (!plan_.makes_token) return;
        const auto name = name_of_token();
        plan_.steps.push_back(
            {"The token has the rights of its user. Its secret is shown only once",
             "pveum user token add " + wish_.user + " " + name + " --privsep 0",
             "POST",
             "/access/users/" + base::percent_encode(wish_.user) + "/token/" + base::percent_encode(name),
             {{"privsep", "0"}, {"comment", "KubeNodeSmith"}}});
    }

    const ProxmoxSetup& wish_;
    const AccessState& state_;
    ProxmoxPlan plan_;
};

// Returns the rights that Proxmox demands for the step.
std::vector<MissingPrivilege> needed_for(const ProxmoxStep& step) {
    const auto parameter = [&](const char* name) {
        const auto found = std::ranges::find(step.parameters, name, &base::FormFields::value_type::first);
        return found == step.parameters.end() ? std::string() : found->second;
    };
    if (step.path == "/pools")
        return {{"/pool/" + parameter("poolid"), "Pool.Allocate", "to create the resource pool"}};
    if (step.path.starts_with("/access/roles")) return {{"/access", "Sys.Modify", "to create roles"}};
    if (step.path == "/access/acl") return {{parameter("path"), "Permissions.Modify", "to grant rights"}};
    std::vector<MissingPrivilege> rights{
        {"/access/groups", "User.Modify", "to create the user and its token"}};
    const auto user = parameter("userid");
    if (!user.empty())
        rights.push_back(
            {"/access/realm/" + user.substr(user.find('@') + 1), "Realm.AllocateUser", "to create the user"});
    return rights;
}

}  // namespace

ProxmoxPlan access_plan(const ProxmoxSetup& wish, const AccessState& state) {
    return AccessPlanner(wish, state).plan();
}

std::string lacking_for(const ProxmoxPlan& plan, const std::string& administrator,
                        const Permissions& permissions) {
    std::vector<MissingPrivilege> missing;
    for (const auto& step : plan.steps)
        for (const auto& right : needed_for(step))
            if (!permissions.has(right.path, right.privilege) &&
                std::ranges::find(missing, right) == missing.end())
                missing.push_back(right);
    return missing.empty() ? std::string() : administrator + " lacks " + list_text(missing);
}

}  // namespace providers::proxmox

namespace providers {

std::string commands_of(const ProxmoxPlan& plan) {
    std::string text;
    for (const auto& step : plan.steps) {
        if (!step.purpose.empty()) text += (text.empty() ? "# " : "\n# ") + step.purpose + ".\n";
        text += step.command + "\n";
    }
    return text;
}

std::string proxmox_setup_commands(const ProxmoxSetup& wish) {
    return "# As root on a host of the Proxmox cluster.\n\n" + commands_of(proxmox::access_plan(wish, {}));
}

}  // namespace providers
