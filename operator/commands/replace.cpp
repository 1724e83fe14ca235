#include "operator/commands/replace.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "api/names.hpp"
#include "api/v1alpha1/claim.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/cluster_session.hpp"
#include "operator/command_line/references.hpp"

namespace kubenodesmith {
namespace {

using api::v1alpha1::NodeSmithClaim;

struct ReplaceRequest {
    std::string claim;
    bool undo = false;
};

boost::asio::awaitable<NodeSmithClaim> find_one(kube::Client& client, api::ObjectKey asked) {
    kube::ListOptions options;
    options.namespace_ = asked.namespace_;
    auto listed = co_await client.list<NodeSmithClaim>(std::move(options));
    std::erase_if(listed.objects, [&](const auto& claim) { return claim.metadata.name != asked.name; });
    if (listed.objects.empty()) throw UsageError("there is no claim " + asked.str());
    if (listed.objects.size() > 1)
        throw UsageError("several namespaces have a claim " + asked.name + "; give -n");
    co_return std::move(listed.objects.front());
}

Answer replace_answer(const ReplaceRequest& request, const ClientOptions& options) {
    const auto asked = parse_name(ObjectKind::claim, request.claim, options.namespace_);
    ClusterSession session(options);
    const auto claim = session.run(find_one(session.client(), asked));
    const auto name = "claim " + api::key_of(claim).str();
    if (claim.metadata.deletionTimestamp) return {name + " is being removed already\n"};
    auto after = claim;
    api::StringMap annotations = claim.metadata.annotations;
    const std::string key(api::annotations::kReplace);
    if (request.undo)
        annotations.erase(key);
    else
        annotations[key] = session.now().str();
    after.metadata.annotations = std::move(annotations);
    if (auto patch = kube::difference(claim, after, kube::Lock::none))
        session.run(session.client().patch<NodeSmithClaim>(api::key_of(claim), std::move(*patch)));
    if (request.undo) return {name + " will not be replaced, unless the replacement has already begun\n"};
    return {name +
            " will be replaced: a new machine is created, then the old node is drained, within the pool's "
            "disruption budgets. Follow it with: kubectl nodesmith explain claim/" +
            claim.metadata.name + " -n " + claim.metadata.namespace_ + "\n"};
}

}  // namespace

void add_replace_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<ReplaceRequest>();
    auto* command = app.add_subcommand("replace", "Replace a claim's machine with a new one");
    command->add_option("claim", request->claim, "Its name, or NAMESPACE/NAME")->required()->option_text(" ");
    command->add_flag("--undo", request->undo, "Cancel the request for a replacement");
    command->add_option("-n,--namespace", options.namespace_, "Namespace of the claim; default: any")
        ->option_text("NAME");
    add_cluster_flags(*command, options);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("replace", [&] { return replace_answer(*request, given); });
        };
    });
}

}  // namespace kubenodesmith
