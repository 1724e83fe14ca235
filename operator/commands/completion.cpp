#include "operator/commands/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "operator/command_line/answer.hpp"

namespace kubenodesmith {
namespace {

constexpr const char* kBash = R"(# bash completion: source <(kubenodesmith completion bash)
_kubenodesmith() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :0) compopt -o default ;;
            :*) ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _kubenodesmith kubenodesmith
)";

constexpr const char* kZsh = R"(#compdef kubenodesmith
# zsh completion: source <(kubenodesmith completion zsh)
_kubenodesmith() {
    local line
    local -a found
    while IFS= read -r line; do
        case "$line" in
            :0) _files ;;
            :*) ;;
            *) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe kubenodesmith found
}
compdef _kubenodesmith kubenodesmith
)";

constexpr const char* kFish = R"(# fish completion: kubenodesmith completion fish | source
function __kubenodesmith_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null | string match -v -r '^:'
end
complete -c kubenodesmith -a '(__kubenodesmith_complete)'
)";

// kubectl runs this script as the executable kubectl_complete-nodesmith.
constexpr const char* kKubectl = R"(#!/bin/sh
exec kubectl nodesmith __complete "$@"
)";

const std::map<std::string, const char*>& scripts() {
    static const std::map<std::string, const char*> all{
        {"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}, {"kubectl", kKubectl}};
    return all;
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
    const auto found = app.get_subcommands([&name](const CLI::App* command) {
        return command->get_name() == name && !command->get_group().empty();
    });
    return found.empty() ? nullptr : found.front();
}

const CLI::Option* find_flag(const CLI::App& command, const std::string& word) {
    for (const auto* option : command.get_options())
        if (option->nonpositional() && option->check_name(word)) return option;
    return nullptr;
}

class Completions {
public:
    explicit Completions(std::string beginning) : beginning_(std::move(beginning)) {}

    void add(const std::string& word, const std::string& description) {
        if (!word.starts_with(beginning_)) return;
        text_ += word + "\t" + description.substr(0, description.find('\n')) + "\n";
    }
    // Adds the words that the option accepts, if it accepts only certain words.
    void add_words(const CLI::Option& option) {
        const auto& words = option.get_type_name();
        if (words.find('|') == std::string::npos) return;
        for (std::size_t start = 0; start <= words.size();) {
            const auto end = std::min(words.find('|', start), words.size());
            add(words.substr(start, end - start), "");
            start = end + 1;
        }
    }
    std::string text(bool are_files) const { return text_ + (are_files ? ":0\n" : ":4\n"); }

private:
    std::string beginning_;
    std::string text_;
};

bool takes_value(const CLI::Option& option) {
    return option.get_type_size() != 0;
}

}  // namespace

std::string candidates_for(const CLI::App& app, const std::vector<std::string>& words) {
    const auto last = words.empty() ? std::string() : words.back();
    const auto* command = &app;
    const CLI::Option* open = nullptr;  // the flag before the last word that still needs its value
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const auto* flag = open ? nullptr : find_flag(*command, words[i]);
        open = flag && takes_value(*flag) ? flag : nullptr;
        if (const auto* inner = find_command(*command, words[i])) command = inner;
    }
    Completions found(last);
    if (open) {
        found.add_words(*open);
        return found.text(open->check_name("--file") || open->check_name("--kubeconfig"));
    }
    if (last.starts_with('-')) {
        for (const auto* option : command->get_options())
            if (!option->get_group().empty() && !option->get_lnames().empty())
                found.add("--" + option->get_lnames().front(), option->get_description());
        return found.text(false);
    }
    for (const auto* inner : command->get_subcommands([](const CLI::App*) { return true; }))
        if (!inner->get_group().empty()) found.add(inner->get_name(), inner->get_description());
    for (const auto* option : command->get_options())
        if (option->get_positional()) found.add_words(*option);
    return found.text(false);
}

void add_completion_command(CLI::App& app, ClientOptions&, Command& chosen) {
    auto shell = std::make_shared<std::string>();
    auto* command =
        app.add_subcommand("completion", "Print a script that lets a shell complete commands and flags");
    std::vector<std::string> names;
    for (const auto& [name, script] : scripts()) names.push_back(name);
    add_choice(*command, "shell", *shell, names, "Shell of the script, or kubectl for its plugin");
    command->get_option("shell")->required();
    command->callback([&chosen, shell] {
        chosen = [shell](const ClientOptions&) {
            return answer("completion", [&shell] { return Answer{scripts().at(*shell)}; });
        };
    });
}

void add_complete_command(CLI::App& app, ClientOptions&, Command& chosen) {
    auto* command = app.add_subcommand("__complete", "Print the completions of a word");
    command->set_help_flag();
    command->prefix_command();
    command->callback([&app, &chosen, command] {
        const auto text = candidates_for(app, command->remaining());
        chosen = [text](const ClientOptions&) {
            return answer("__complete", [&text] { return Answer{text}; });
        };
    });
}

}  // namespace kubenodesmith
