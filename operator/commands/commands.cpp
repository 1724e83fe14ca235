#include "operator/commands/commands.hpp"

#include "migrate/migrate_command.hpp"
#include "operator/commands/check.hpp"
#include "operator/commands/completion.hpp"
#include "operator/commands/host_add.hpp"
#include "operator/commands/manual.hpp"
#include "operator/commands/mode.hpp"
#include "operator/commands/replace.hpp"
#include "operator/commands/setup_proxmox.hpp"
#include "operator/commands/status.hpp"
#include "operator/commands/support_bundle.hpp"
#include "operator/commands/top.hpp"
#include "operator/commands/ui.hpp"
#include "operator/commands/version.hpp"
#include "operator/explain/explain_command.hpp"
#include "operator/plan/plan_command.hpp"

namespace kubenodesmith {
namespace {

void add_migrate_command(CLI::App& app, ClientOptions&, Command& chosen) {
    migrate::add_command(app, chosen);
}

}  // namespace

std::vector<CommandGroup> all_commands(const BuildInfo& build) {
    const auto add_version = [build](CLI::App& app, ClientOptions& options, Command& chosen) {
        add_version_command(app, options, chosen, build.version, build.commit);
    };
    const auto add_support_bundle = [build](CLI::App& app, ClientOptions& options, Command& chosen) {
        add_support_bundle_command(app, options, chosen, build.version + " " + build.commit);
    };
    const auto add_ui = [build](CLI::App& app, ClientOptions& options, Command& chosen) {
        add_ui_command(app, options, chosen, "kubenodesmith " + build.version);
    };
    return {{"Inspect",
             {add_status_command, add_ui, add_top_command, add_plan_command, add_explain_command,
              add_check_command}},
            {"Change", {add_pause_command, add_resume_command, add_replace_command}},
            {"Set up", {add_setup_command, add_host_command, add_migrate_command}},
            {"Other", {add_support_bundle, add_completion_command, add_man_command, add_version}},
            {"", {add_complete_command}}};
}

}  // namespace kubenodesmith
