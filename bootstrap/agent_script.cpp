#include "bootstrap/agent_script.hpp"

#include "bootstrap/shell.hpp"

namespace bootstrap {

namespace {

constexpr std::string_view kEndOfFile = "END-OF-KUBENODESMITH-FILE";
constexpr std::string_view kFolder = "/var/lib/kubenodesmith";

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string writing(const GuestFile& file) {
    auto content = file.content;
    if (!content.ends_with('\n')) content += '\n';
    return "mkdir -p " + quoted(folder_of(file.path)) + "\ncat > " + quoted(file.path) + " <<'" +
           std::string(kEndOfFile) + "'\n" + content + std::string(kEndOfFile) + "\nchmod " +
           file.permissions + " " + quoted(file.path) + "\n";
}

}  // namespace

std::string agent_script(const JoinPlan& plan, std::string_view id) {
    const auto folder = std::string(kFolder);
    std::string script =
        "umask 077\n"
        "state=" +
        folder + "/join-" + std::string(id) +
        "\n"
        "mkdir -p " +
        folder +
        " || exit 1\n"
        // Creating a folder succeeds for only one of several processes.
        "if ! mkdir \"$state\" 2>/dev/null\nthen\n"
        "while ! test -e \"$state/exit\"\ndo\nsleep 1\ndone\n"
        "cat \"$state/output\"\n"
        "exit \"$(cat \"$state/exit\")\"\n"
        "fi\n"
        "(\nset -e\n";
    for (const auto& file : plan.files) script += writing(file);
    for (const auto& command : plan.commands) script += command_line(command) + "\n";
    script +=
        ") > \"$state/output\" 2>&1 < /dev/null\n"
        "code=$?\n"
        "echo $code > \"$state/exit.new\"\n"
        "mv \"$state/exit.new\" \"$state/exit\"\n"
        "cat \"$state/output\"\n"
        "exit $code\n";
    return script;
}

}  // namespace bootstrap
