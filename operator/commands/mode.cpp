#include "operator/commands/mode.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "api/json.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "base/text.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/cluster_session.hpp"
#include "operator/command_line/references.hpp"

namespace kubenodesmith {
namespace {

using api::v1alpha1::Mode;
using api::v1alpha1::NodeSmithControlPlane;

struct ModeRequest {
    std::string name;
    bool observe = false;
};

// Returns the tool that manages the object and may revert changes; empty if no mark names a tool.
std::string author_of(const api::ObjectMeta& metadata) {
    if (api::find(metadata.annotations, "argocd.argoproj.io/tracking-id")) return "Argo CD";
    if (api::find(metadata.labels, "argocd.argoproj.io/instance")) return "Argo CD";
    if (api::find(metadata.labels, "kustomize.toolkit.fluxcd.io/name")) return "Flux";
    if (api::find(metadata.labels, "helm.toolkit.fluxcd.io/name")) return "Flux";
    const auto* manager = api::find(metadata.labels, "app.kubernetes.io/managed-by");
    return manager && *manager == "Helm" ? "Helm" : "";
}

boost::asio::awaitable<std::vector<NodeSmithControlPlane>> find_planes(kube::Client& client,
                                                                       std::string namespace_) {
    kube::ListOptions options;
    options.namespace_ = std::move(namespace_);
    auto listed = co_await client.list<NodeSmithControlPlane>(std::move(options));
    co_return std::move(listed.objects);
}

// Returns the requested control planes: the named one, all with -A, or the only one. Throws UsageError if
// there are none, or several without -A.
std::vector<NodeSmithControlPlane> choose(std::vector<NodeSmithControlPlane> known,
                                          const ModeRequest& request, const ClientOptions& options) {
    if (!request.name.empty()) {
        const auto key = parse_name(ObjectKind::control_plane, request.name, options.namespace_);
        std::erase_if(known, [&](const auto& plane) { return !is_meant(key, api::key_of(plane)); });
    }
    if (known.empty()) throw UsageError("there is no such control plane");
    if (known.size() > 1 && !options.all_namespaces)
        throw UsageError(
            "there are several: " +
            base::joined(known, ", ", [](const auto& plane) { return api::key_of(plane).str(); }) +
            "; give the name of one, or -A for all");
    return known;
}

std::string effect_of(Mode mode) {
    switch (mode) {
        case Mode::Paused:
            return "no machine is created or removed until you resume it";
        case Mode::Observe:
            return "the operator reports its decisions and changes nothing";
        default:
            return "machines are created and removed";
    }
}

Answer set_mode(Mode mode, const ModeRequest& request, const ClientOptions& options) {
    ClusterSession session(options);
    std::string text;
    for (const auto& plane :
         choose(session.run(find_planes(session.client(), options.only_namespace())), request, options)) {
        const auto key = api::key_of(plane);
        const auto name = "controlplane " + key.str();
        const auto word = std::string(api::name_of(mode));
        if (plane.spec.mode == mode) {
            text += name + " has mode " + word + " already\n";
            continue;
        }
        auto after = plane;
        after.spec.mode = mode;
        if (auto patch = kube::difference(plane, after, kube::Lock::none))
            session.run(session.client().patch<NodeSmithControlPlane>(key, std::move(*patch)));
        text += name + " now has mode " + word + ": " + effect_of(mode) + "\n";
        const auto author = author_of(plane.metadata);
        if (!author.empty())
            text += "  " + author + " manages it and may revert the change: set the mode there, too\n";
    }
    return {text};
}

void add_mode_command(CLI::App& app, ClientOptions& options, Command& chosen, const std::string& name,
                      const std::string& help) {
    auto request = std::make_shared<ModeRequest>();
    auto* command = app.add_subcommand(name, help);
    command
        ->add_option("controlplane", request->name,
                     "Its name, or NAMESPACE/NAME; may be omitted if there is only one")
        ->option_text(" ");
    const bool is_pause = name == "pause";
    if (!is_pause)
        command->add_flag("--observe", request->observe,
                          "Report decisions, but change nothing (mode Observe)");
    command->add_option("-n,--namespace", options.namespace_, "Namespace of the control plane; default: any")
        ->option_text("NAME");
    command->add_flag("-A,--all-namespaces", options.all_namespaces, "All control planes, of all namespaces");
    add_cluster_flags(*command, options);
    command->callback([&chosen, request, name, is_pause] {
        chosen = [request, name, is_pause](const ClientOptions& given) {
            const auto mode = is_pause ? Mode::Paused : request->observe ? Mode::Observe : Mode::Active;
            return answer(name, [&] { return set_mode(mode, *request, given); });
        };
    });
}

}  // namespace

void add_pause_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    add_mode_command(app, options, chosen, "pause", "Stop creating and removing machines (mode Paused)");
}

void add_resume_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    add_mode_command(app, options, chosen, "resume", "Create and remove machines again (mode Active)");
}

}  // namespace kubenodesmith
