#include "operator/command_line/client_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "api/time.hpp"
#include "base/text.hpp"
#include "operator/command_line/suggestions.hpp"

namespace kubenodesmith {
namespace {

constexpr const char* kClusterGroup = "Cluster";
constexpr const char* kNamespaceGroup = "Namespaces";

bool is_number(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Parses a duration as kubectl does: "30s", or whole seconds. Returns nullopt for 0, which keeps the client's
// default.
std::optional<base::Duration> timeout_of(const std::string& text) {
    base::Duration value{};
    try {
        value = api::Duration::parse(is_number(text) ? text + "s" : text).value;
    } catch (const std::invalid_argument&) {
        throw CLI::ValidationError("--request-timeout",
                                   "\"" + text + "\" is not a duration; give one such as 10s");
    }
    if (value < base::Duration{})
        throw CLI::ValidationError("--request-timeout",
                                   "the time must not be negative; give one such as 10s");
    if (value == base::Duration{}) return std::nullopt;
    return value;
}

}  // namespace

void add_cluster_flags(CLI::App& command, ClientOptions& options) {
    auto& cluster = options.cluster;
    command
        .add_option(
            "--kubeconfig", cluster.kubeconfig,
            "kubeconfig file; default: KUBECONFIG, then the pod's service account, then ~/.kube/config")
        ->option_text("FILE")
        ->group(kClusterGroup);
    command.add_option("--context", cluster.context, "Context of the kubeconfig; default: its current one")
        ->option_text("NAME")
        ->group(kClusterGroup);
    command.add_option("--cluster", cluster.cluster, "Cluster of the kubeconfig; default: the context's")
        ->option_text("NAME")
        ->group(kClusterGroup);
    command.add_option("--user", cluster.user, "User of the kubeconfig; default: the context's")
        ->option_text("NAME")
        ->group(kClusterGroup);
    command.add_option("--as", cluster.as, "User to impersonate")->option_text("USER")->group(kClusterGroup);
    command.add_option("--as-group", cluster.as_groups, "Group to impersonate; may be repeated")
        ->option_text("GROUP")
        ->allow_extra_args(false)
        ->group(kClusterGroup);
    command
        .add_option_function<std::string>(
            "--request-timeout",
            [&cluster](const std::string& text) { cluster.most_per_call = timeout_of(text); },
            "Time limit of one request to the API server, such as 10s; default: 30s")
        ->option_text("TIME")
        ->group(kClusterGroup);
}

void add_managed_flag(CLI::App& command, ClientOptions& options) {
    command
        .add_option("--namespaces", options.namespaces,
                    "The namespaces that the operator manages: names with commas between them, * = all; "
                    "default: this pod's, else all")
        ->option_text("NAMES")
        ->delimiter(',')
        ->group(kNamespaceGroup);
}

void add_namespace_flags(CLI::App& command, ClientOptions& options, const std::string& meaning) {
    command.add_option("-n,--namespace", options.namespace_, meaning)
        ->option_text("NAME")
        ->group(kNamespaceGroup);
    command.add_flag("-A,--all-namespaces", options.all_namespaces, "All namespaces")->group(kNamespaceGroup);
    add_managed_flag(command, options);
}

void add_file_flag(CLI::App& command, std::vector<std::string>& files) {
    command
        .add_option("-f,--file", files,
                    "Read objects from this file (as from kubectl get -o yaml), not from a cluster; - for "
                    "standard input")
        ->option_text("FILE")
        ->allow_extra_args(false);
}

void add_choice(CLI::App& command, const std::string& name, std::string& target,
                const std::vector<std::string>& words, const std::string& help) {
    const auto check = [words](const std::string& value) {
        if (std::ranges::find(words, value) != words.end()) return std::string();
        return "\"" + value + "\" is not valid; give one of " + base::joined(words) +
               did_you_mean(value, words);
    };
    command.add_option(name, target, help + ": " + base::joined(words))
        ->option_text(target.empty() ? "WORD" : "WORD=" + target)
        ->type_name(base::joined(words, "|"))
        ->check(CLI::Validator(check, "", "choice"));
}

}  // namespace kubenodesmith
