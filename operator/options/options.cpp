#include "operator/options/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "api/time.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "controllers/cache/managed_namespaces.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/parse_errors.hpp"
#include "operator/command_line/suggestions.hpp"

namespace kubenodesmith {
namespace {

// Adds a flag for a Go duration ("15s"), as in all Kubernetes components.
void add_duration(CLI::App& app, const std::string& name, base::Duration& target, const std::string& help) {
    auto set = [&target, name](const std::string& text) {
        try {
            target = api::Duration::parse(text).value;
        } catch (const std::invalid_argument& error) {
            throw CLI::ValidationError(name,
                                       std::string(error.what()) + "; give a duration such as 15s or 1m30s");
        }
    };
    app.add_option_function<std::string>(name, set, help)->option_text("TIME=" + api::Duration(target).str());
}

void add_leader_election(CLI::App& app, Options& options) {
    app.add_flag("--leader-elect", options.leader_elect,
                 "Let only one of several operators act, by a Lease; =false: two could act simultaneously")
        ->default_str("true");
    app.add_option(
        "--leader-election-namespace", options.leader_election_namespace,
        "Namespace of the Lease; default: this pod's, else an existing Lease's, else kubenodesmith-system");
    app.add_option("--leader-election-id", options.leader_election_id, "Name of the Lease")
        ->capture_default_str();
    add_duration(app, "--leader-elect-lease-duration", options.lease_duration,
                 "Time after which a lease that is not renewed is free");
    add_duration(app, "--leader-elect-renew-deadline", options.renew_deadline,
                 "Time after which a leader that cannot renew its lease exits");
    add_duration(app, "--leader-elect-retry-period", options.retry_period,
                 "Time between two attempts to get or renew the lease");
}

// Adds an option that accepts one of these words in any case.
template <class Value>
void add_named(CLI::App& app, const std::string& names, Value& target,
               const std::vector<std::pair<std::string, Value>>& values, const std::string& help) {
    auto set = [&target, values, name = names.substr(0, names.find(','))](const std::string& text) {
        const auto lower = base::lower_case(text);
        std::vector<std::string> words;
        for (const auto& [word, value] : values) {
            if (lower == word) {
                target = value;
                return;
            }
            words.push_back(word);
        }
        throw CLI::ValidationError(name, "\"" + text + "\" is not valid; give one of " + base::joined(words) +
                                             did_you_mean(text, words));
    };
    app.add_option_function<std::string>(names, set, help)->option_text("WORD=" + values.front().first);
}

void add_logging(CLI::App& app, Options& options) {
    using base::log::Format;
    using base::log::Level;
    add_named<Level>(app, "--log-level,--zap-log-level", options.log_level,
                     {{"info", Level::info},
                      {"debug", Level::debug},
                      {"warning", Level::warning},
                      {"error", Level::error}},
                     "debug, info, warning or error");
    add_named<Format>(app, "--log-format,--zap-encoder", options.log_format,
                      {{"text", Format::text}, {"console", Format::text}, {"json", Format::json}},
                      "text (also: console) or json");
}

void add_metrics(CLI::App& app, Options& options) {
    app.add_option("--metrics-bind-address", options.metrics_address,
                   "Address of /metrics, /debug/state and /status; 0 = off")
        ->capture_default_str();
    app.add_flag("--metrics-secure", options.metrics_secure,
                 "Serve them over HTTPS to users whom the API server allows; =false: over HTTP to everybody")
        ->default_str("true");
    app.add_option(
        "--metrics-cert-path", options.metrics_cert_path,
        "Folder with certificate and key, read again when they change; default: a self-signed one");
    app.add_option("--metrics-cert-name", options.metrics_cert_name, "File of the certificate in that folder")
        ->capture_default_str();
    app.add_option("--metrics-cert-key", options.metrics_cert_key, "File of the key in that folder")
        ->capture_default_str();
    app.add_flag("--legacy-kproximate-metrics", options.kproximate_metrics,
                 "Also serve kproximate's gauges, for dashboards made for it");
    app.add_flag("--status-page", options.status_page,
                 "Also serve a status page for browsers, at /status beside the metrics");
}

void add_operator_flags(CLI::App& app, Options& options) {
    app.add_option("--credentials-role", options.credentials_role,
                   "ClusterRole that gives the rights on Secrets in a managed namespace")
        ->capture_default_str();
    app.add_option("--health-probe-bind-address", options.health_address,
                   "Address of /healthz and /readyz; 0 = off")
        ->capture_default_str();
    add_metrics(app, options);
    app.add_option("--bootstrap-bind-address", options.bootstrap_address,
                   "Address at which machines fetch their boot data (bootstrap.delivery HTTP); 0 = off")
        ->capture_default_str();
    app.add_option("--bootstrap-advertise-url", options.bootstrap_url,
                   "URL under which machines reach that address: http://10.0.0.9:8082");
    app.add_option("--max-concurrent-claims", options.concurrent_claims,
                   "Number of claims processed simultaneously")
        ->check(CLI::Validator(
            [](const std::string& text) {
                const bool is_short =
                    text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos;
                const int number = is_short && !text.empty() ? std::stoi(text) : 0;
                return number >= 1 && number <= 1000 ? std::string() : "give a number from 1 to 1000";
            },
            ""))
        ->capture_default_str();
    add_leader_election(app, options);
    add_logging(app, options);
}

// Checks a URL that machines receive in an SMBIOS value. There, cloud-init ends it at a blank or a semicolon.
void check_advertise_url(const std::string& url) {
    std::string wrong;
    try {
        if (!base::parse_url(url).user.empty() || url.find_first_of(" ;?#") != std::string::npos)
            wrong = "credentials, blanks, semicolons and queries are not allowed";
    } catch (const std::invalid_argument& error) {
        wrong = error.what();
    }
    if (wrong.empty()) return;
    throw std::invalid_argument("--bootstrap-advertise-url: " + wrong +
                                "; give a URL such as http://10.0.0.9:8082");
}

void check_bootstrap(const Options& options) {
    const auto address = parse_bind_address("--bootstrap-bind-address", options.bootstrap_address);
    if (address.has_value() != !options.bootstrap_url.empty()) {
        throw std::invalid_argument(
            "--bootstrap-bind-address and --bootstrap-advertise-url go together: where this process listens, "
            "and where machines reach it");
    }
    if (address) check_advertise_url(options.bootstrap_url);
}

void check(const Options& options) {
    controllers::managed_namespaces_of(options.namespaces, {});
    parse_bind_address("--health-probe-bind-address", options.health_address);
    parse_bind_address("--metrics-bind-address", options.metrics_address);
    check_bootstrap(options);
    if (options.renew_deadline >= options.lease_duration) {
        throw std::invalid_argument(
            "--leader-elect-renew-deadline must be shorter than --leader-elect-lease-duration");
    }
    if (options.retry_period >= options.renew_deadline) {
        throw std::invalid_argument(
            "--leader-elect-retry-period must be shorter than --leader-elect-renew-deadline");
    }
}

// Returns the name by which the user calls the program. kubectl finds its plugin kubectl-nodesmith in the
// PATH.
std::string name_of(int argc, const char* const* argv) {
    const std::string path = argc > 0 ? argv[0] : "";
    return path.substr(path.rfind('/') + 1) == "kubectl-nodesmith" ? "kubectl nodesmith" : "kubenodesmith";
}

// Reports whether flags without a command mean `run`, as in Deployments from before `run` existed. The flags
// in the list say nothing about it.
bool is_asked_to_run(const CLI::App& app) {
    static const std::set<std::string> says_nothing{
        "help", "version",  "kubeconfig", "context",        "cluster",        "user",
        "as",   "as-group", "namespace",  "all-namespaces", "request-timeout"};
    return std::ranges::any_of(app.get_options(), [](const CLI::Option* option) {
        return option->count() > 0 && !says_nothing.contains(option->get_lnames().front());
    });
}

// Adds flags that may precede the command. Without a command they are the operator's flags. The program's
// help describes its commands, so it hides these flags.
void add_hidden_flags(CLI::App& app, Options& options) {
    add_cluster_flags(app, options);
    add_namespace_flags(app, options, "");
    add_operator_flags(app, options);
    for (auto* option : app.get_options()) {
        const auto name = option->get_name();
        if (name != "--help" && name != "--version") option->group("");
    }
}

void add_run(CLI::App& app, Options& options, bool is_shown) {
    auto* run = app.add_subcommand("run", "Run the operator");
    run->group(is_shown ? "The operator" : "");
    add_operator_flags(*run, options);
    run->add_option(
           "--kubeconfig", options.cluster.kubeconfig,
           "kubeconfig file; default: KUBECONFIG, then the pod's service account, then ~/.kube/config")
        ->option_text("FILE");
    run->add_option("--context", options.cluster.context,
                    "Context of the kubeconfig; default: its current one")
        ->option_text("NAME");
    add_managed_flag(*run, options);
}

void add_commands(CLI::App& app, Options& options, Command& chosen, const std::vector<CommandGroup>& groups) {
    for (const auto& group : groups) {
        for (const auto& add : group.commands) {
            const auto known = app.get_subcommands([](const CLI::App*) { return true; });
            add(app, options, chosen);
            for (auto* command : app.get_subcommands([](CLI::App*) { return true; }))
                if (std::ranges::find(known, command) == known.end()) command->group(group.heading);
        }
    }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, const std::vector<CommandGroup>& groups) {
    CommandLine result;
    CLI::App app{
        "KubeNodeSmith: creates, monitors and removes machines so that Kubernetes pods have nodes to run on"};
    app.name(name_of(argc, argv));
    app.set_version_flag("--version", version());
    add_hidden_flags(app, result.options);
    app.require_subcommand(0, 1);
    add_commands(app, result.options, result.command, groups);
    add_run(app, result.options, app.get_name() == "kubenodesmith");
    app.footer("\n" + app.get_name() + " COMMAND --help says more about a command.");
    try {
        app.parse(argc, argv);
        check(result.options);
        if (app.get_subcommands().empty() && !is_asked_to_run(app)) result.exit = Exit{0, app.help()};
    } catch (const CLI::Success& asked) {
        std::ostringstream out;
        app.exit(asked, out, out);
        result.exit = Exit{0, out.str()};
    } catch (const CLI::ParseError& error) {
        result.exit = Exit{kFailure, describe(app, error)};
    } catch (const std::invalid_argument& error) {
        result.exit = Exit{kFailure, std::string(error.what()) + "\n"};
    }
    return result;
}

std::optional<BindAddress> parse_bind_address(const std::string& flag, const std::string& text) {
    if (text == "0") return std::nullopt;
    auto colon = text.rfind(':');
    BindAddress result;
    bool valid = colon != std::string::npos;
    if (valid) {
        const char* first = text.data() + colon + 1;
        const char* last = text.data() + text.size();
        auto [end, error] = std::from_chars(first, last, result.port);
        valid = first != last && end == last && error == std::errc{};
    }
    if (!valid) {
        throw std::invalid_argument(flag + "=" + text +
                                    ": give ADDRESS:PORT or :PORT, such as :8081, or 0 for off");
    }
    result.address = text.substr(0, colon);
    if (result.address.starts_with('[') && result.address.ends_with(']')) {
        result.address = result.address.substr(1, result.address.size() - 2);
    }
    return result;
}

std::string version() {
    return "kubenodesmith " + version_number();
}

std::string version_number() {
    return KUBENODESMITH_VERSION;
}

}  // namespace kubenodesmith
