#include "operator/explain/explain_command.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "base/text.hpp"
#include "operator/explain/explain.hpp"
#include "operator/options/options.hpp"

namespace kubenodesmith {
namespace {

struct Request {
    std::string kind;
    std::string name;
    std::string namespace_;
    std::vector<std::string> files;
};

api::ObjectKey key_of(const Request& request) {
    const auto slash = request.name.find('/');
    if (slash != std::string::npos) return {request.name.substr(0, slash), request.name.substr(slash + 1)};
    return {request.namespace_, request.name};
}

std::string explain(ClusterSnapshot& view, const Request& request) {
    auto key = key_of(request);
    if (request.kind == "node") return explain_node(view, key.name);
    if (request.kind == "claim") return explain_claim(view, key);
    if (request.kind == "pool") return explain_pool(view, key);
    if (key.namespace_.empty()) key.namespace_ = "default";
    return explain_pod(view, key);
}

int run(const Request& request, const Options& options) {
    try {
        const auto view = ClusterSnapshot::open(request.files, options.cluster, options.namespaces);
        std::cout << base::for_terminal(explain(*view, request));
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "explain: " << base::for_terminal(error.what()) << "\n";
        return 2;
    }
}

}  // namespace

void add_explain_command(CLI::App& app, std::function<int(const Options&)>& chosen) {
    auto request = std::make_shared<Request>();
    auto* command = app.add_subcommand(
        "explain", "Say why a pod waits, why a node stays, or what a claim or a pool waits for");
    command->add_option("kind", request->kind, "pod, node, claim or pool")
        ->required()
        ->check(CLI::IsMember({"pod", "node", "claim", "pool"}));
    command->add_option("name", request->name, "Its name, or namespace/name")->required();
    command->add_option(
        "-n,--namespace", request->namespace_,
        "Namespace; default: of a pod default, of a claim the only one that has it, of a pool all");
    command->add_option(
        "-f,--file", request->files,
        "Objects instead of a live cluster, as kubectl get -o yaml prints them; - for standard input");
    command->callback([&chosen, request] {
        chosen = [request](const Options& options) { return run(*request, options); };
    });
}

}  // namespace kubenodesmith
