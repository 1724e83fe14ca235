#include "operator/plan/plan_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "operator/command_line/answer.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/plan/plan_text.hpp"

namespace kubenodesmith {
namespace {

struct PlanRequest {
    std::vector<std::string> files;
    std::string output;
};

Answer plan_answer(const PlanRequest& request, const ClientOptions& options) {
    const auto view = ClusterSnapshot::open(request.files, options);
    auto plan = make_plan(*view);
    if (const auto namespace_ = options.only_namespace(); !namespace_.empty()) keep_only(plan, namespace_);
    const auto text =
        printed(request.output, [&plan] { return table_of(plan); }, [&plan] { return json_of(plan); });
    return {text, plan.changes_something() ? 1 : 0};
}

}  // namespace

void add_plan_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<PlanRequest>();
    auto* command =
        app.add_subcommand("plan", "Show what would be created and removed now, without doing it");
    add_file_flag(*command, request->files);
    add_output_flag(*command, request->output);
    add_namespace_flags(*command, options,
                        "Show only what concerns this namespace: its pods, pools and claims; default: all");
    add_cluster_flags(*command, options);
    command->footer("\nExit code: 0 nothing would change, 1 something would, 2 a failure.");
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("plan", [&] { return plan_answer(*request, given); });
        };
    });
}

}  // namespace kubenodesmith
