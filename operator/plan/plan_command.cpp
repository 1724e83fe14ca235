#include "operator/plan/plan_command.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <memory>

#include "base/text.hpp"
#include "operator/options/options.hpp"
#include "operator/plan/plan.hpp"

namespace kubenodesmith {
namespace {

struct Request {
    std::vector<std::string> files;
    std::string output = "table";
};

int run(const Request& request, const Options& options) {
    try {
        const auto view = ClusterSnapshot::open(request.files, options.cluster, options.namespaces);
        const auto plan = make_plan(*view);
        if (request.output == "json") {
            std::cout << boost::json::serialize(json_of(plan)) << "\n";
        } else {
            std::cout << base::for_terminal(table_of(plan));
        }
        return plan.changes_something() ? 1 : 0;
    } catch (const std::exception& error) {
        std::cerr << "plan: " << base::for_terminal(error.what()) << "\n";
        return 2;
    }
}

}  // namespace

void add_plan_command(CLI::App& app, std::function<int(const Options&)>& chosen) {
    auto request = std::make_shared<Request>();
    auto* command = app.add_subcommand("plan", "Say what would be created and removed now, without doing it");
    command->add_option(
        "-f,--file", request->files,
        "Objects instead of a live cluster, as kubectl get -o yaml prints them; - for standard input");
    command->add_option("-o,--output", request->output, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->callback([&chosen, request] {
        chosen = [request](const Options& options) { return run(*request, options); };
    });
}

}  // namespace kubenodesmith
