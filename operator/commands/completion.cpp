#include "operator/commands/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "api/node.hpp"
#include "api/pod.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "kube/paths.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/cluster_session.hpp"

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

// Keeps the value of a flag that chooses the cluster, the user or the namespace.
void take(const CLI::Option& flag, const std::string& value, ClientOptions& options) {
    auto& cluster = options.cluster;
    for (const auto& [name, target] :
         {std::pair{"--kubeconfig", &cluster.kubeconfig}, std::pair{"--context", &cluster.context},
          std::pair{"--cluster", &cluster.cluster}, std::pair{"--user", &cluster.user},
          std::pair{"--as", &cluster.as}, std::pair{"--namespace", &options.namespace_}})
        if (flag.check_name(name)) *target = value;
    if (flag.check_name("--as-group")) cluster.as_groups.push_back(value);
}

// Adds the names of the objects, with the namespace where several have an object of that name.
void add_names(Completions& found, const std::string& before, ObjectKind kind, const ClientOptions& options,
               const FindObjects& find_objects) {
    const auto objects = find_objects(kind, options);
    std::map<std::string, int> count;
    for (const auto& key : objects) ++count[key.name];
    for (const auto& key : objects)
        found.add(before + (count[key.name] == 1 ? key.name : key.namespace_ + "/" + key.name), "");
}

// Adds what the positional argument `option` may name: an object of any kind, a claim or a control plane.
void add_objects(Completions& found, const std::string& option, const std::vector<std::string>& arguments,
                 const std::string& last, const ClientOptions& options, const FindObjects& find_objects) {
    if (option == "claim" && arguments.empty())
        return add_names(found, "", ObjectKind::claim, options, find_objects);
    if (option == "controlplane" && arguments.empty())
        return add_names(found, "", ObjectKind::control_plane, options, find_objects);
    if (option != "object" || arguments.size() > 1) return;
    if (!arguments.empty()) {
        if (const auto kind = find_kind(arguments.front()))
            add_names(found, "", *kind, options, find_objects);
        return;
    }
    const auto slash = last.find('/');
    if (slash == std::string::npos) {
        for (const auto kind : kObjectKinds) found.add(word_of(kind), "");
        return;
    }
    if (const auto kind = find_kind(std::string_view(last).substr(0, slash)))
        add_names(found, last.substr(0, slash + 1), *kind, options, find_objects);
}

api::Resource resource_of(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::pod:
            return api::Pod::kResource;
        case ObjectKind::node:
            return api::Node::kResource;
        case ObjectKind::claim:
            return api::v1alpha1::NodeSmithClaim::kResource;
        case ObjectKind::pool:
            return api::v1alpha1::NodeSmithPool::kResource;
        case ObjectKind::provider:
            return api::v1alpha1::NodeSmithProvider::kResource;
        case ObjectKind::host:
            return api::v1alpha1::NodeSmithHost::kResource;
        case ObjectKind::control_plane:
            return api::v1alpha1::NodeSmithControlPlane::kResource;
    }
    return {};
}

// Asks the cluster once, for one page. A person waits at the prompt, so whatever fails gives no names.
std::vector<api::ObjectKey> objects_in_cluster(ObjectKind kind, const ClientOptions& given) {
    std::vector<api::ObjectKey> found;
    try {
        auto options = given;
        options.cluster.most_per_call = std::chrono::seconds{3};
        ClusterSession session(options);
        auto namespace_ = given.only_namespace();
        if (kind == ObjectKind::pod && !given.all_namespaces) namespace_ = session.namespace_();
        const auto path = kube::path_of(resource_of(kind), {namespace_, ""});
        const auto list = session.run(session.client().get_json(path + "?limit=250"));
        if (!list) return {};
        for (const auto& item : list->at("items").as_array()) {
            const auto& metadata = item.at("metadata").as_object();
            const auto* space = metadata.if_contains("namespace");
            found.push_back({space ? std::string(space->as_string()) : std::string(),
                             std::string(metadata.at("name").as_string())});
        }
    } catch (const std::exception&) {
        return {};
    }
    return found;
}

}  // namespace

std::string candidates_for(const CLI::App& app, const std::vector<std::string>& words,
                           const FindObjects& find_objects) {
    const auto last = words.empty() ? std::string() : words.back();
    const auto* command = &app;
    const CLI::Option* open = nullptr;  // the flag before the last word that still needs its value
    ClientOptions options;
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const auto& word = words[i];
        if (open) {
            take(*open, word, options);
            open = nullptr;
            continue;
        }
        const auto equals = word.find('=');
        const auto* flag = find_flag(*command, word.substr(0, equals));
        const auto* inner = find_command(*command, word);
        const bool has_value = equals != std::string::npos;
        if (flag && takes_value(*flag) && !has_value) open = flag;
        if (flag && has_value) take(*flag, word.substr(equals + 1), options);
        if (word == "-A" || word == "--all-namespaces") options.all_namespaces = true;
        if (!flag && !inner) arguments.push_back(word);
        if (inner) command = inner;
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
    for (const auto* option : command->get_options()) {
        if (!option->get_positional()) continue;
        found.add_words(*option);
        add_objects(found, option->get_name(), arguments, last, options, find_objects);
    }
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
        const auto text = candidates_for(app, command->remaining(), objects_in_cluster);
        chosen = [text](const ClientOptions&) {
            return answer("__complete", [&text] { return Answer{text}; });
        };
    });
}

}  // namespace kubenodesmith
