#include "operator/commands/manual.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>

#include "base/text.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/references.hpp"
#include "operator/command_line/suggestions.hpp"

namespace kubenodesmith {
namespace {

constexpr const char* kProgram = "kubenodesmith";

// Escapes text so that troff prints it unchanged.
std::string plain(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\') escaped += "\\e";
        if (c == '-') escaped += "\\-";
        if (c != '\\' && c != '-') escaped += c;
    }
    const bool is_request = escaped.starts_with('.') || escaped.starts_with('\'');
    return is_request ? "\\&" + escaped : escaped;
}

std::string bold(const std::string& text) {
    return "\\fB" + plain(text) + "\\fR";
}

std::string title_of(const CLI::App& command) {
    const auto* parent = command.get_parent();
    return parent ? title_of(*parent) + "-" + command.get_name() : kProgram;
}

std::string call_of(const CLI::App& command) {
    const auto* parent = command.get_parent();
    return parent ? call_of(*parent) + " " + command.get_name() : kProgram;
}

bool is_shown(const CLI::Option& option) {
    return !option.get_group().empty();
}

std::string item(const CLI::Option& option) {
    std::string names;
    for (const auto& name : option.get_snames()) names += bold("-" + name);
    for (const auto& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + bold("--" + name);
    if (option.get_positional()) names = bold(option.get_name());
    const auto& value = option.get_option_text();
    if (option.nonpositional() && !value.empty()) names += " \\fI" + plain(value) + "\\fR";
    return ".TP\n" + names + "\n" + plain(option.get_description()) + "\n";
}

std::string options_of(const CLI::App& command) {
    std::string text;
    for (const auto& group : command.get_groups()) {
        std::string items;
        for (const auto* option : command.get_options())
            if (is_shown(*option) && option->nonpositional() && option->get_group() == group)
                items += item(*option);
        if (items.empty()) continue;
        text += group == "Options" ? ".SH OPTIONS\n" + items : ".SS " + plain(group) + "\n" + items;
    }
    return text;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::string page_of(const CLI::App& command) {
    const auto title = title_of(command);
    auto upper = title;
    std::ranges::transform(upper, upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    std::string synopsis = bold(call_of(command)) + " [\\fIOPTIONS\\fR]";
    std::string arguments;
    for (const auto* option : command.get_options()) {
        if (!option->get_positional()) continue;
        const auto name = "\\fI" + plain(option->get_name()) + "\\fR";
        synopsis += option->get_required() ? " " + name : " [" + name + "]";
        arguments += item(*option);
    }
    const auto inner = commands_of(command);
    if (!inner.empty()) synopsis += " \\fICOMMAND\\fR";
    auto text = ".TH " + plain(upper) + " 1 \"\" KubeNodeSmith \"User Commands\"\n.SH NAME\n" + plain(title) +
                " \\- " + plain(command.get_description()) + "\n.SH SYNOPSIS\n" + synopsis + "\n";
    if (!arguments.empty()) text += ".SH ARGUMENTS\n" + arguments;
    if (!inner.empty()) text += ".SH COMMANDS\n";
    for (const auto* each : inner)
        text += ".TP\n" + bold(each->get_name()) + "\n" + plain(each->get_description()) + "\n";
    text += options_of(command);
    auto footer = command.get_footer();
    footer.erase(0, footer.find_first_not_of('\n'));
    if (!footer.empty() && command.get_parent()) text += ".SH NOTES\n" + plain(footer) + "\n";
    const auto* parent = command.get_parent();
    return text + ".SH \"SEE ALSO\"\n" + bold(parent ? title_of(*parent) : "kubectl") + "(1)\n";
}

void add_pages(const CLI::App& command, std::map<std::string, std::string>& pages) {
    pages[title_of(command)] = page_of(command);
    for (const auto* inner : commands_of(command)) add_pages(*inner, pages);
}

struct ManRequest {
    std::vector<std::string> command;
    std::string directory;
};

Answer man_answer(const ManRequest& request, const std::map<std::string, std::string>& pages) {
    if (request.directory.empty()) {
        auto name = std::string(kProgram);
        for (const auto& word : request.command) name += "-" + word;
        const auto found = pages.find(name);
        if (found == pages.end()) throw UsageError("there is no page " + name);
        return {found->second};
    }
    std::string written;
    for (const auto& [name, text] : pages) {
        const auto file = request.directory + "/" + name + ".1";
        std::ofstream stream(file);
        if (!(stream << text << std::flush)) throw std::runtime_error("cannot write " + file);
        written += file + "\n";
    }
    return {written};
}

}  // namespace

std::map<std::string, std::string> manual_pages(const CLI::App& app) {
    std::map<std::string, std::string> pages;
    add_pages(app, pages);
    return pages;
}

void add_man_command(CLI::App& app, ClientOptions&, Command& chosen) {
    auto request = std::make_shared<ManRequest>();
    auto* command =
        app.add_subcommand("man", "Print the manual page of a command, or write all pages to files");
    command->add_option("command", request->command, "The command; default: the page of the program itself")
        ->option_text(" ");
    command->add_option("--directory", request->directory, "Write all pages into this folder")
        ->option_text("FOLDER");
    command->footer("\nTo read one: kubenodesmith man plan | man -l -");
    command->callback([&app, &chosen, request] {
        chosen = [request, pages = manual_pages(app)](const ClientOptions&) {
            return answer("man", [&] { return man_answer(*request, pages); });
        };
    });
}

}  // namespace kubenodesmith
