#include "operator/commands/setup_proxmox.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <memory>
#include <optional>

#include "api/core.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "base/text.hpp"
#include "bootstrap/yaml_writer.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/cluster_session.hpp"
#include "operator/command_line/private_file.hpp"
#include "operator/command_line/references.hpp"
#include "operator/commands/proxmox_session.hpp"
#include "operator/commands/setup_objects.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
namespace asio = boost::asio;

struct SetupRequest {
    providers::ProxmoxSetup wish;
    LoginRequest login;
    SetupObjects objects;
    std::string file;
    bool reads_standard_input = false;
    bool print = false;
    bool apply = false;
    bool yes = false;
};

struct Manifest {
    api::Resource resource;
    json::object document;
};

// ManifestApplier applies manifests to a cluster. Providers and pools that exist are kept as they are,
// because somebody may have changed them.
class ManifestApplier {
public:
    ManifestApplier(const ClientOptions& options, std::string namespace_name)
        : session_(options), namespace_name_(std::move(namespace_name)) {}

    bool has_secret(const std::string& name) { return exists(api::Secret::kResource, name); }

    // Lets the API server check everything without a change.
    void rehearse(const std::vector<Manifest>& manifests) {
        for (const auto& manifest : manifests) send(manifest, true);
    }
    void apply(const std::vector<Manifest>& manifests) {
        for (const auto& manifest : manifests) send(manifest, false);
    }

private:
    std::string target(const api::Resource& resource, const std::string& name) const {
        return kube::path_of(resource, {namespace_name_, name});
    }
    bool exists(const api::Resource& resource, const std::string& name) {
        return session_.run(session_.client().get_json(target(resource, name))).has_value();
    }

    void send(const Manifest& manifest, bool is_rehearsal) {
        const auto name = std::string(manifest.document.at("metadata").at("name").as_string());
        const bool is_secret = manifest.resource.kind == api::Secret::kResource.kind;
        const auto shown = std::string(manifest.resource.kind) + " " + namespace_name_ + "/" + name;
        const bool is_there = exists(manifest.resource, name);
        if (is_there && !is_secret) {
            if (!is_rehearsal) say(shown + " exists and is kept as it is\n");
            return;
        }
        const std::string suffix = is_rehearsal ? "?dryRun=All&" : "?";
        std::optional<json::value> body = manifest.document;
        if (is_there)
            session_.run(session_.client().call(
                "PATCH", target(manifest.resource, name) + suffix + "fieldManager=kubenodesmith-setup",
                std::move(body), "application/merge-patch+json"));
        else
            session_.run(session_.client().call("POST",
                                                target(manifest.resource, "") + suffix +
                                                    "fieldManager=kubenodesmith-setup&fieldValidation=Strict",
                                                std::move(body)));
        if (!is_rehearsal) say(shown + (is_there ? " updated\n" : " created\n"));
    }

    ClusterSession session_;
    std::string namespace_name_;
};

std::string yaml_of(const std::vector<Manifest>& manifests) {
    return base::joined(manifests, "---\n",
                        [](const Manifest& manifest) { return bootstrap::to_yaml(manifest.document); });
}

// Setup acts: it looks, shows what it will do, does it, and hands out manifests.
class Setup {
public:
    Setup(const SetupRequest& request, const ClientOptions& options) : request_(request) {
        if (request.apply) applier_.emplace(options, request.objects.namespace_);
        if (!request.file.empty()) file_.emplace(request.file);
    }

    Answer run() {
        ProxmoxSession session(request_.login);
        const auto site = session.run(session.administrator().look());
        say(describe(site) + "\n");
        const auto wish = chosen_setup(request_.wish, site, request_.objects);
        const auto plan = session.run(session.administrator().plan(wish));
        if (request_.print)
            return {plan.steps.empty() ? "# Nothing is missing.\n" : providers::commands_of(plan)};
        manifests_ = {
            {api::v1alpha1::NodeSmithProvider::kResource,
             provider_of(request_.objects, wish, session.endpoint(), session.tls(site.authority_pem))},
            {api::v1alpha1::NodeSmithPool::kResource, pool_of(request_.objects)}};
        prepare(plan);
        hand_out(plan, session.run(session.administrator().carry_out(plan)));
        return {};
    }

private:
    std::string secret_name() const { return request_.objects.namespace_ + "/" + request_.objects.secret; }

    // Finds what would fail later, because the token's secret is shown only once.
    void prepare(const providers::ProxmoxPlan& plan) {
        const bool has_secret = applier_ && applier_->has_secret(request_.objects.secret);
        if (applier_ && !plan.makes_token && !has_secret)
            throw UsageError("the token " + plan.token_id + " exists, but not the Secret " + secret_name() +
                             ", and Proxmox does not show a token's secret again: make another token with "
                             "--new-token");
        if (has_secret && plan.makes_token && !request_.wish.another_token)
            throw UsageError("the Secret " + secret_name() +
                             " exists already: name another with --secret, or replace its token with "
                             "--new-token");
        auto all = manifests_;
        const Manifest secret{api::Secret::kResource,
                              secret_of(request_.objects, plan.token_id, "rehearsal")};
        if (plan.makes_token) all.insert(all.begin(), secret);
        if (applier_) applier_->rehearse(all);
        show(plan);
        if (plan.steps.empty() || request_.yes) return;
        if (!is_interactive()) throw UsageError("nothing was changed: give --yes to make these changes");
        if (!confirm("Make these changes?")) throw UsageError("nothing was changed");
    }

    static void show(const providers::ProxmoxPlan& plan) {
        for (const auto& note : plan.notes) say("Note: " + note + "\n");
        if (plan.steps.empty())
            say("Nothing is missing in Proxmox.\n");
        else
            say("This is equivalent to these commands:\n\n" + providers::commands_of(plan) + "\n");
        if (!plan.makes_token)
            say("The token " + plan.token_id +
                " exists. Proxmox does not show its secret again, so no Secret is written: keep yours, or "
                "make "
                "another token with --new-token.\n");
    }

    void hand_out(const providers::ProxmoxPlan& plan, const std::string& token_secret) {
        if (plan.makes_token)
            manifests_.insert(manifests_.begin(), {api::Secret::kResource,
                                                   secret_of(request_.objects, plan.token_id, token_secret)});
        try {
            if (applier_)
                applier_->apply(manifests_);
            else if (file_)
                file_->write(yaml_of(manifests_));
            else if (const auto failure = write_out(yaml_of(manifests_)); !failure.empty())
                throw std::runtime_error(failure);
        } catch (const std::exception& error) {
            if (!plan.makes_token) throw;
            throw std::runtime_error(std::string(error.what()) + "; the token " + plan.token_id +
                                     " was made, but its secret is lost: run this again with --new-token");
        }
        if (file_)
            say("Wrote " + request_.file + ". It holds the token's secret: apply it, then delete it.\n");
        say("Next: a NodeSmithControlPlane must list the pool " + request_.objects.pool +
            ". The provider says what it finds:\n  kubectl describe nodesmithprovider " +
            request_.objects.provider + " -n " + request_.objects.namespace_ + "\n");
    }

    const SetupRequest& request_;
    std::optional<ManifestApplier> applier_;
    std::optional<PrivateFile> file_;
    std::vector<Manifest> manifests_;
};

// Returns the commands for what is named, without a look at Proxmox.
Answer printed_commands(const SetupRequest& request) {
    auto wish = request.wish;
    wish.through_guest_agent = request.objects.join == "GuestAgent";
    if (request.objects.join != "CloudInit") wish.image_storages.clear();
    return {providers::proxmox_setup_commands(wish) +
            "\n# Then, where kubectl works, with the secret that the last command printed:\n"
            "kubectl create secret generic " +
            request.objects.secret + " --namespace " + request.objects.namespace_ +
            " --from-literal=PROXMOX_TOKEN_ID='" + wish.user + "!" + wish.token +
            "' --from-literal=PROXMOX_SECRET=SECRET\n"};
}

Answer setup_answer(const SetupRequest& request, const ClientOptions& options) {
    if (request.login.endpoint.empty() && request.print) return printed_commands(request);
    if (request.login.endpoint.empty())
        throw UsageError(
            "give --endpoint with the address of a Proxmox host, or --print for the commands alone");
    if (request.apply && !request.file.empty()) throw UsageError("give --apply or --file, not both");
    auto given = request;
    if (given.reads_standard_input) given.login.password_descriptor = 0;
    return Setup(given, options).run();
}

void add_text(CLI::App& command, const std::string& name, std::string& target, const std::string& help) {
    command.add_option(name, target, help)->option_text(target.empty() ? "TEXT" : "NAME=" + target);
}

void add_lists(CLI::App& command, providers::ProxmoxSetup& wish) {
    const auto add = [&command](const char* name, auto& target, const char* help) {
        return command.add_option(name, target, help)
            ->option_text(std::string(name) == "--template" ? "VMID" : "NAME")
            ->allow_extra_args(false);
    };
    add("--storage", wish.disk_storages,
        "Storage for disks of machines; may be repeated; default: the only one, or the template's");
    add("--image-storage", wish.image_storages,
        "Storage for boot images (content iso), if machines join by cloud-init; default: the only one, or "
        "local");
    add("--template", wish.templates, "VMID of a template that machines are cloned from");
    add("--download-storage", wish.download_storages,
        "Storage (content import) for the image of --image; default: the only one, or local");
    add("--bridge", wish.bridges, "Bridge for machines; may be repeated; default: the template's, or vmbr0");
}

void add_login(CLI::App& command, SetupRequest& request) {
    auto& login = request.login;
    command
        .add_option("--endpoint", login.endpoint,
                    "Address of a Proxmox host, such as https://192.168.1.10:8006")
        ->option_text("URL");
    add_text(command, "--admin", login.administrator, "Administrator who logs in; the password is asked for");
    command.add_flag(
        "--password-stdin", request.reads_standard_input,
        "Read the password from the first line of standard input, and a second factor from the second");
    command.add_option("--password-fd", login.password_descriptor, "Read them from this file descriptor")
        ->option_text("NUMBER");
    command
        .add_option("--fingerprint", login.fingerprint,
                    "SHA-256 fingerprint of the server's certificate; otherwise it is verified, or asked for")
        ->option_text("AA:BB:...");
    command.add_option("--ca-file", login.ca_file, "CA that signed the server's certificate, in PEM form")
        ->option_text("FILE");
    command.add_flag("--yes", request.yes, "Make the changes without asking");
}

void add_made(CLI::App& command, SetupRequest& request) {
    auto& wish = request.wish;
    command.add_option("--resource-pool", wish.resource_pool, "Resource pool for machines")
        ->option_text("NAME=" + wish.resource_pool);
    command.add_option("--token-user", wish.user, "User to create")->option_text("NAME=" + wish.user);
    command.add_option("--token", wish.token, "Token to create")->option_text("NAME=" + wish.token);
    command.add_flag("--new-token", wish.another_token,
                     "If the token exists, make another one; the old one stays valid");
    command
        .add_option("--proxmox-version", wish.major_version,
                    "Major version of Proxmox VE; only for --print alone")
        ->option_text("NUMBER=" + std::to_string(wish.major_version));
}

void add_objects(CLI::App& command, SetupRequest& request) {
    auto& objects = request.objects;
    command.add_option("-n,--namespace", objects.namespace_, "Namespace of the objects")
        ->option_text("NAME=" + objects.namespace_);
    add_text(command, "--secret", objects.secret, "Name of the Secret");
    add_text(command, "--provider", objects.provider, "Name of the NodeSmithProvider");
    add_text(command, "--pool", objects.pool, "Name of the NodeSmithPool");
    add_choice(command, "--join", objects.join, {"CloudInit", "GuestAgent", "None"},
               "bootstrap.method of the pool");
    add_choice(command, "--format", objects.format, {"Kubeadm", "K3s", "RKE2", "K0s", "Talos", "Custom"},
               "bootstrap.format of the pool");
    add_text(command, "--api-server", objects.api_server,
             "bootstrap.apiServerEndpoint of the pool, HOST:PORT");
    add_text(command, "--image", objects.image_url,
             "URL of a disk image from which the hosts make templates");
    add_text(command, "--checksum", objects.image_checksum, "Its checksum, such as sha512:...");
    add_text(command, "--user-data-secret", objects.user_data_secret,
             "Secret whose key user-data has further cloud-init user data");
    command.add_option("--vmid-range", objects.vmid_range, "VMIDs for machines")->option_text("LOWER-UPPER");
    command.add_option("--boot-disk-gib", objects.boot_disk_gib, "Size of boot disks, with --image")
        ->option_text("NUMBER=" + std::to_string(objects.boot_disk_gib));
    command.add_option("--max-nodes", objects.max_nodes, "limits.maxNodes of the pool")
        ->option_text("NUMBER=" + std::to_string(objects.max_nodes));
    command.add_option("--file", request.file, "New file for the manifests; default: standard output")
        ->option_text("FILE");
    command.add_flag("--apply", request.apply, "Apply the manifests through the kubeconfig");
}

}  // namespace

void add_setup_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<SetupRequest>();
    auto* setup = app.add_subcommand("setup", "Prepare the infrastructure for machines");
    setup->require_subcommand(1);
    auto* command = setup->add_subcommand(
        "proxmox", "Create a Proxmox token with the rights of its machines, and the manifests that use it");
    command->add_flag("--print", request->print,
                      "Show the commands instead; without --endpoint Proxmox is not contacted");
    add_login(*command, *request);
    add_lists(*command, request->wish);
    add_made(*command, *request);
    add_objects(*command, *request);
    add_cluster_flags(*command, options);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("setup proxmox", [&] { return setup_answer(*request, given); });
        };
    });
}

}  // namespace kubenodesmith
