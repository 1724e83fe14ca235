#include <cstdio>

#include "operator/command_line/answer.hpp"
#include "operator/commands/commands.hpp"
#include "operator/options/options.hpp"
#include "operator/process.hpp"
#include "operator/source_commit.hpp"

int main(int argc, char** argv) {
    using namespace kubenodesmith;
    const auto line = parse_command_line(argc, argv, all_commands({version_number(), kSourceCommit}));
    if (line.exit && line.exit->code != 0) {
        std::fputs(line.exit->text.c_str(), stderr);
        return line.exit->code;
    }
    if (line.exit) return answer("kubenodesmith", [&line] { return Answer{line.exit->text, 0}; });
    if (line.command) return line.command(line.options);
    return run_process(line.options);
}
