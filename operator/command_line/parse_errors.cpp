#include "operator/command_line/parse_errors.hpp"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "operator/command_line/suggestions.hpp"

namespace kubenodesmith {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) names.push_back(command->get_name());
    return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// Returns the words that no option or command accepted, anywhere on the line.
std::vector<std::string> extras_of(const CLI::App& app) {
    auto words = app.remaining();
    for (const auto* command = &app; command;) {
        const auto parsed = command->get_subcommands();
        command = parsed.empty() ? nullptr : parsed.front();
        if (command)
            for (auto& word : command->remaining()) words.push_back(std::move(word));
    }
    return words;
}

std::string describe_extra(const CLI::App& app, const std::string& word) {
    const auto& command = parsed_command(app);
    if (word.starts_with('-')) {
        const auto flag = word.substr(0, word.find('='));
        return "there is no flag " + flag + did_you_mean(flag, flags_of(command));
    }
    const auto commands = commands_of(command);
    if (!commands.empty()) return "there is no command \"" + word + "\"" + did_you_mean(word, commands);
    return "\"" + word + "\" is one word too many";
}

template <class Kind>
bool is_a(const CLI::ParseError& error) {
    return dynamic_cast<const Kind*>(&error) != nullptr;
}

std::string plain(const CLI::App& app, const CLI::ParseError& error) {
    std::string text = error.what();
    // The library does not name a flag that the help does not show.
    if (text.starts_with(": ")) text = "a flag before the command: " + text.substr(2);
    if (is_a<CLI::ExtrasError>(error)) {
        const auto words = extras_of(app);
        return words.empty() ? text : describe_extra(app, words.front());
    }
    if (is_a<CLI::RequiredError>(error)) {
        constexpr std::string_view kEnd = " is required";
        const auto name = text.ends_with(kEnd) ? text.substr(0, text.size() - kEnd.size()) : text;
        return name == "A subcommand" ? "a command is missing" : name + " is missing";
    }
    if (is_a<CLI::ArgumentMismatch>(error)) return text.substr(0, text.find(": ")) + " needs one value";
    constexpr std::string_view kNotIn = " not in {";
    const auto list = text.find(kNotIn);
    if (is_a<CLI::ValidationError>(error) && list != std::string::npos && text.ends_with('}')) {
        const auto words = text.substr(list + kNotIn.size(), text.size() - list - kNotIn.size() - 1);
        return text.substr(0, list) + " is not valid; give one of " + words;
    }
    if (is_a<CLI::ConversionError>(error)) {
        constexpr std::string_view kStart = "Could not convert: ";
        if (text.starts_with(kStart)) return text.substr(kStart.size()) + ": this value is not valid";
        return text.substr(0, text.find(": ")) + " takes true or false";
    }
    return text;
}

}  // namespace

const CLI::App& parsed_command(const CLI::App& app) {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? app : parsed_command(*parsed.front());
}

std::string full_name(const CLI::App& command) {
    const auto* parent = command.get_parent();
    return parent ? full_name(*parent) + " " + command.get_name() : command.get_name();
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
    const auto name = full_name(parsed_command(app));
    return plain(app, error) + "\nSee " + name + " --help\n";
}

}  // namespace kubenodesmith
