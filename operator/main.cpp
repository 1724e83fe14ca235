#include <cstdio>

#include "migrate/migrate_command.hpp"
#include "operator/explain/explain_command.hpp"
#include "operator/options/options.hpp"
#include "operator/plan/plan_command.hpp"
#include "operator/process.hpp"

int main(int argc, char** argv) {
    auto command = kubenodesmith::parse_command_line(
        argc, argv,
        {kubenodesmith::migrate::add_command, kubenodesmith::add_plan_command,
         kubenodesmith::add_explain_command});
    if (command.exit) {
        std::fputs(command.exit->text.c_str(), command.exit->code == 0 ? stdout : stderr);
        return command.exit->code;
    }
    if (command.command) return command.command(command.options);
    return kubenodesmith::run_process(command.options);
}
