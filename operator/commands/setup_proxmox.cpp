#include "operator/commands/setup_proxmox.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "operator/command_line/answer.hpp"
#include "operator/command_line/references.hpp"
#include "providers/proxmox_setup.hpp"

namespace kubenodesmith {
namespace {

struct SetupRequest {
    providers::ProxmoxSetup wish;
    std::string join = "CloudInit";
    std::string namespace_ = "kubenodesmith";
    bool print = false;
};

Answer setup_answer(const SetupRequest& request) {
    if (!request.print)
        throw UsageError("give --print to show the commands; then run them on a host of the Proxmox cluster");
    auto wish = request.wish;
    wish.through_guest_agent = request.join == "GuestAgent";
    if (request.join != "CloudInit") wish.image_storages.clear();
    return {providers::proxmox_setup_commands(wish) +
            "\n# Then, where kubectl works, with the secret that the last command printed:\n"
            "kubectl create secret generic proxmox --namespace " +
            request.namespace_ + " --from-literal=PROXMOX_TOKEN_ID='" + wish.user + "!" + wish.token +
            "' --from-literal=PROXMOX_SECRET=SECRET\n"};
}

void add_lists(CLI::App& command, providers::ProxmoxSetup& wish) {
    const auto add = [&command](const char* name, auto& target, const char* help) {
        return command.add_option(name, target, help)
            ->option_text(std::string(name) == "--template" ? "VMID" : "NAME")
            ->allow_extra_args(false);
    };
    add("--storage", wish.disk_storages, "Storage for disks of machines; may be repeated")->required();
    add("--image-storage", wish.image_storages,
        "Storage for boot images (content iso), if machines join by cloud-init; may be repeated");
    add("--template", wish.templates, "VMID of a template that machines are cloned from; may be repeated");
    add("--download-storage", wish.download_storages,
        "Storage (content import) for images that templates are made of (template.image); may be repeated");
    add("--bridge", wish.bridges, "Bridge for machines; may be repeated");
}

}  // namespace

void add_setup_command(CLI::App& app, ClientOptions&, Command& chosen) {
    auto request = std::make_shared<SetupRequest>();
    auto& wish = request->wish;
    auto* setup = app.add_subcommand("setup", "Prepare the infrastructure for machines");
    setup->require_subcommand(1);
    auto* command =
        setup->add_subcommand("proxmox", "Show the commands that create a Proxmox token with its rights");
    command->add_flag("--print", request->print, "Show the commands; Proxmox is not contacted");
    add_lists(*command, wish);
    command->add_option("--resource-pool", wish.resource_pool, "Resource pool for machines")
        ->option_text("NAME=" + wish.resource_pool);
    command->add_option("--token-user", wish.user, "User to create")->option_text("NAME=" + wish.user);
    command->add_option("--token", wish.token, "Token to create")->option_text("NAME=" + wish.token);
    add_choice(*command, "--join", request->join, {"CloudInit", "GuestAgent", "None"},
               "bootstrap.method of the pools");
    command->add_option("--proxmox-version", wish.major_version, "Major version of Proxmox VE")
        ->option_text("NUMBER=" + std::to_string(wish.major_version));
    command->add_option("-n,--namespace", request->namespace_, "Namespace of the Secret")
        ->option_text("NAME=" + request->namespace_);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions&) {
            return answer("setup proxmox", [&] { return setup_answer(*request); });
        };
    });
}

}  // namespace kubenodesmith
