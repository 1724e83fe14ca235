#include "operator/commands/version.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "operator/command_line/answer.hpp"
#include "operator/command_line/cluster_session.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/commands/operator_pods.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

struct VersionRequest {
    std::string version;
    std::string commit;
    std::string output = "text";
    bool only_client = false;
};

struct Versions {
    std::string kubernetes;  // empty: unknown
    std::string operators;   // images, separated by commas; empty: unknown
    std::string failure;     // why the server did not answer; empty: it did
};

Versions ask_server(const ClientOptions& options) {
    Versions found;
    auto bounded = options;
    constexpr base::Duration kPatience = std::chrono::seconds{5};
    if (!bounded.cluster.most_per_call) bounded.cluster.most_per_call = kPatience;
    try {
        ClusterSession session(bounded);
        const auto answer = session.run(session.client().call("GET", "/version", std::nullopt));
        found.kubernetes = answer.at("gitVersion").as_string();
        for (const auto& deployment : session.run(find_operators(session.client()))) {
            if (!found.operators.empty()) found.operators += ", ";
            found.operators += deployment.image;
        }
    } catch (const std::exception& error) {
        found.failure = error.what();
    }
    return found;
}

std::string text_of(const VersionRequest& request, const Versions& server) {
    auto text = "kubenodesmith " + request.version +
                (request.commit.empty() ? "" : " (commit " + request.commit + ")") + "\n";
    if (request.only_client) return text;
    if (server.kubernetes.empty()) return text + "Server: not reached: " + server.failure + "\n";
    text += "Kubernetes: " + server.kubernetes + "\n";
    return text + "Operator: " + (server.operators.empty() ? "not found" : server.operators) + "\n";
}

json::object json_of(const VersionRequest& request, const Versions& server) {
    auto document = document_of_kind("Version");
    document["client"] = json::object{{"version", request.version}, {"commit", request.commit}};
    if (!request.only_client)
        document["server"] = json::object{
            {"kubernetes", server.kubernetes}, {"operator", server.operators}, {"failure", server.failure}};
    return document;
}

Answer version_answer(const VersionRequest& request, const ClientOptions& options) {
    const auto server = request.only_client ? Versions{} : ask_server(options);
    return {printed(
        request.output, [&] { return text_of(request, server); }, [&] { return json_of(request, server); })};
}

}  // namespace

void add_version_command(CLI::App& app, ClientOptions& options, Command& chosen, const std::string& version,
                         const std::string& commit) {
    auto request = std::make_shared<VersionRequest>();
    request->version = version;
    request->commit = commit;
    auto* command =
        app.add_subcommand("version", "Print the versions of this program, the operator and Kubernetes");
    command->add_flag("--client", request->only_client, "Do not contact the server");
    add_output_flag(*command, request->output);
    add_cluster_flags(*command, options);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("version", [&] { return version_answer(*request, given); });
        };
    });
}

}  // namespace kubenodesmith
