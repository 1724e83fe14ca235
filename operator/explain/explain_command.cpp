#include "operator/explain/explain_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "operator/command_line/answer.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/command_line/references.hpp"
#include "operator/explain/explain.hpp"

namespace kubenodesmith {
namespace {

struct ExplainRequest {
    std::vector<std::string> object;
    std::vector<std::string> files;
    std::string output = "text";
};

// Returns which objects to read. Decisions about pods and nodes need all of them; other kinds need fewer
// rights.
Reading reading_for(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::pod:
        case ObjectKind::node:
            return Reading::everything;
        case ObjectKind::claim:
            return Reading::ours_and_maybe_nodes;
        case ObjectKind::pool:
        case ObjectKind::provider:
        case ObjectKind::host:
        case ObjectKind::control_plane:
            return Reading::ours;
    }
    return Reading::everything;
}

std::vector<Explanation> explain(ClusterSnapshot& view, Reference reference, bool everywhere) {
    auto& key = reference.key;
    switch (reference.kind) {
        case ObjectKind::pod:
            if (key.namespace_.empty() && !everywhere) key.namespace_ = view.context_namespace();
            return {explain_pod(view, key)};
        case ObjectKind::node:
            return {explain_node(view, key.name)};
        case ObjectKind::claim:
            return {explain_claim(view, key)};
        case ObjectKind::pool:
            return explain_pool(view, key);
        case ObjectKind::provider:
            return explain_provider(view, key);
        case ObjectKind::host:
            return explain_host(view, key);
        case ObjectKind::control_plane:
            return explain_control_plane(view, key);
    }
    return {};
}

Answer explain_answer(const ExplainRequest& request, const ClientOptions& options) {
    const auto reference = parse_reference(request.object, options.only_namespace());
    const auto view = ClusterSnapshot::open(request.files, options, reading_for(reference.kind));
    const auto found = explain(*view, reference, options.all_namespaces);
    return {
        printed(request.output, [&found] { return text_of(found); }, [&found] { return json_of(found); })};
}

}  // namespace

void add_explain_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<ExplainRequest>();
    auto* command = app.add_subcommand(
        "explain", "Explain why a pod waits, why a node is kept, or what any object waits for");
    command
        ->add_option("object", request->object,
                     "KIND/NAME or KIND NAME; the kind is pod, node, claim, pool, provider, host or "
                     "controlplane; plurals and short names work, too")
        ->required()
        ->option_text(" ")
        ->expected(1, 2);
    add_file_flag(*command, request->files);
    add_output_flag(*command, request->output);
    add_namespace_flags(
        *command, options,
        "Namespace of the object; default: for pods the kubeconfig context's, for other objects any");
    add_cluster_flags(*command, options);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("explain", [&] { return explain_answer(*request, given); });
        };
    });
}

}  // namespace kubenodesmith
