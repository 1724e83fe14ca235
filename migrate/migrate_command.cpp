#include "migrate/migrate_command.hpp"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "migrate/kproximate.hpp"
#include "migrate/kubenodesmith_config.hpp"
#include "migrate/proxmox_autoscaler.hpp"

namespace kubenodesmith::migrate {
namespace {

using Migrate = Migration (*)(std::string_view text, const Names& names);

const std::map<std::string, Migrate>& sources() {
    static const std::map<std::string, Migrate> all{{"kubenodesmith", migrate_kubenodesmith},
                                                    {"kproximate", migrate_kproximate},
                                                    {"proxmox-autoscaler", migrate_proxmox_autoscaler}};
    return all;
}

struct Request {
    std::string source;
    std::string file;
    std::string report = "-";
    bool with_secrets = false;
    Names names;
};

std::string read(const std::string& file) {
    return base::read_input(file, base::kMostFileBytes);
}

void write_report(const std::string& file, const std::string& text) {
    if (file == "-") {
        std::cerr << text;
        return;
    }
    std::ofstream stream(file);
    if (!(stream << text << std::flush)) throw std::invalid_argument("cannot write the report to " + file);
}

int run(const Request& request) {
    try {
        const auto migration = sources().at(request.source)(read(request.file), request.names);
        write_report(request.report, text_of(migration.report));
        std::cout << yaml_of(migration.draft, request.with_secrets) << std::flush;
        if (std::cout) return 0;
        throw std::runtime_error("cannot write the output");
    } catch (const std::exception& error) {
        std::cerr << "migrate: " << error.what() << "\n";
        return 1;
    }
}

}  // namespace

void add_command(CLI::App& app, std::function<int(const ClientOptions&)>& chosen) {
    auto request = std::make_shared<Request>();
    auto* command = app.add_subcommand("migrate", "Turn another autoscaler's configuration into resources");
    command
        ->add_option("source", request->source,
                     "Whose configuration it is: " + base::joined(std::views::keys(sources())))
        ->required()
        ->check(CLI::IsMember(sources()));
    command->add_option("file", request->file, "The configuration; - for standard input")->required();
    command->add_option("-n,--namespace", request->names.namespace_, "Namespace of the resources")
        ->capture_default_str();
    command->add_option("--name", request->names.name, "Name of the Provider where the source has none")
        ->capture_default_str();
    command->add_option("--report", request->report, "File for what became of each key; -: standard error")
        ->capture_default_str();
    command->add_flag("--with-secrets", request->with_secrets, "Write Secrets too, in plain text");
    command->callback(
        [&chosen, request] { chosen = [request](const ClientOptions&) { return run(*request); }; });
}

}  // namespace kubenodesmith::migrate
