#include "kube/kubeconfig.hpp"

#include <filesystem>
#include <ranges>

#include "api/bytes.hpp"
#include "api/yaml.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

namespace kube {
namespace {

namespace json = boost::json;

// Section reads the fields of one entry. Its messages say where they are.
class Section {
public:
    Section(const json::object& body, std::string file, std::string path)
        : body_(body), file_(std::move(file)), path_(std::move(path)) {}

    [[noreturn]] void fail(const std::string& field, const std::string& why) const {
        throw ConfigError(file_ + ": " + path_ + "." + field + ": " + why);
    }
    bool has(const char* field) const { return body_.contains(field) && !body_.at(field).is_null(); }

    std::string text(const char* field) const {
        if (!has(field)) return {};
        const auto* value = body_.at(field).if_string();
        if (!value) fail(field, "expected a string");
        return std::string(*value);
    }
    bool flag(const char* field) const {
        if (!has(field)) return false;
        const auto* value = body_.at(field).if_bool();
        if (!value) fail(field, "expected true or false");
        return *value;
    }
    // Returns the decoded "FIELD-data".
    std::string data(const std::string& field) const {
        const auto name = field + "-data";
        const auto encoded = text(name.c_str());
        try {
            return api::Bytes::parse(encoded).value;
        } catch (const std::invalid_argument&) {
            fail(name, "expected base64");
        }
    }
    // Returns a path relative to its file; empty: not set.
    std::string path(const char* field) const {
        const auto value = text(field);
        if (value.empty()) return {};
        return std::filesystem::absolute(std::filesystem::path(file_).parent_path() / value)
            .lexically_normal();
    }
    // Returns the path of a file that can be read now.
    std::string readable(const char* field) const {
        const auto file = path(field);
        if (file.empty()) return {};
        try {
            base::read_file(file);
        } catch (const std::runtime_error& error) {
            fail(field, error.what());
        }
        return file;
    }
    const json::array* list(const char* field) const {
        if (!has(field)) return nullptr;
        const auto* value = body_.at(field).if_array();
        if (!value) fail(field, "expected a list");
        return value;
    }
    Section child(const char* field) const {
        const auto* value = body_.at(field).if_object();
        if (!value) fail(field, "expected a map");
        return {*value, file_, path_ + "." + field};
    }
    void refuse(const char* field, const char* why) const {
        if (has(field)) fail(field, why);
    }
    const std::string& file() const { return file_; }

private:
    const json::object& body_;
    std::string file_;
    std::string path_;
};

std::string names_of(const std::map<std::string, Kubeconfig::Entry>& entries) {
    return entries.empty() ? "there is none" : "there are: " + base::joined(std::views::keys(entries));
}

void merge_entries(const json::object& document, const std::string& file, const char* list,
                   const char* member, std::map<std::string, Kubeconfig::Entry>& into) {
    const auto* entries = document.if_contains(list);
    if (!entries || entries->is_null()) return;
    if (!entries->is_array()) throw ConfigError(file + ": " + list + ": expected a list");
    for (const auto& entry : entries->get_array()) {
        const auto* object = entry.if_object();
        const auto* name = object ? object->if_contains("name") : nullptr;
        if (!name || !name->is_string()) throw ConfigError(file + ": " + list + ": an entry has no name");
        const auto* body = object->if_contains(member);
        into.try_emplace(
            std::string(name->get_string()),
            Kubeconfig::Entry{body && body->is_object() ? body->get_object() : json::object(), file});
    }
}

// The entry that the flag of that name asks for, else the context.
const Kubeconfig::Entry& entry_of(const Section& context, const char* field, const std::string& flag,
                                  const std::map<std::string, Kubeconfig::Entry>& entries) {
    const auto name = flag.empty() ? context.text(field) : flag;
    const auto found = entries.find(name);
    if (found == entries.end()) {
        if (!flag.empty())
            throw ConfigError(std::string("--") + field + ": the kubeconfig has no " + field + " \"" + flag +
                              "\" (" + names_of(entries) + ")");
        context.fail(field,
                     "there is no " + std::string(field) + " \"" + name + "\" (" + names_of(entries) + ")");
    }
    return found->second;
}

// Completes an address without a scheme like client-go: with TLS if anything is configured for it.
void apply_server(const Section& cluster, ClusterConfig& config) {
    config.http.url = cluster.text("server");
    const auto& tls = config.http.tls;
    const bool has_tls = tls.insecure_skip_verify || !tls.ca_bundle_pem.empty() || !config.ca_file.empty() ||
                         !tls.client_certificate_pem.empty() || !config.client_certificate_file.empty();
    if (!config.http.url.empty() && config.http.url.find("://") == std::string::npos)
        config.http.url.insert(0, has_tls ? "https://" : "http://");
    try {
        const auto url = base::parse_url(config.http.url);
        config.path_prefix = url.path == "/" ? "" : url.path;
        while (config.path_prefix.ends_with('/')) config.path_prefix.pop_back();
    } catch (const std::invalid_argument& error) {
        cluster.fail("server", "\"" + config.http.url + "\": " + error.what());
    }
}

void apply_cluster(const Section& cluster, ClusterConfig& config) {
    config.http.proxy_url = cluster.text("proxy-url");
    auto& tls = config.http.tls;
    tls.server_name = cluster.text("tls-server-name");
    tls.insecure_skip_verify = cluster.flag("insecure-skip-tls-verify");
    tls.ca_bundle_pem = cluster.data("certificate-authority");
    if (tls.ca_bundle_pem.empty()) config.ca_file = cluster.readable("certificate-authority");
    if (tls.insecure_skip_verify && (!tls.ca_bundle_pem.empty() || !config.ca_file.empty())) {
        cluster.fail("insecure-skip-tls-verify", "contradicts certificate-authority: remove one of the two");
    }
}

ExecCredential exec_of(const Section& exec) {
    ExecCredential result;
    result.api_version = exec.text("apiVersion");
    if (result.api_version != "client.authentication.k8s.io/v1" &&
        result.api_version != "client.authentication.k8s.io/v1beta1") {
        exec.fail("apiVersion", "expected client.authentication.k8s.io/v1 or v1beta1");
    }
    result.command = exec.text("command");
    if (result.command.empty()) exec.fail("command", "is missing");
    if (result.command.find('/') != std::string::npos) result.command = exec.path("command");
    result.install_hint = exec.text("installHint");
    result.provide_cluster_info = exec.flag("provideClusterInfo");
    if (exec.text("interactiveMode") == "Always")
        exec.fail("interactiveMode", "Always is not supported, because nobody can answer a prompt");
    if (const auto* arguments = exec.list("args")) {
        for (const auto& argument : *arguments) {
            if (!argument.is_string()) exec.fail("args", "expected strings");
            result.arguments.emplace_back(argument.get_string());
        }
    }
    if (const auto* variables = exec.list("env")) {
        for (const auto& variable : *variables) {
            if (!variable.is_object()) exec.fail("env", "expected entries with name and value");
            const Section one(variable.get_object(), exec.file(), "env");
            result.environment.emplace_back(one.text("name"), one.text("value"));
        }
    }
    return result;
}

void apply_user(const Section& user, ClusterConfig& config) {
    user.refuse("auth-provider", "is not supported, use exec, a token or a client certificate");
    user.refuse("username",
                "is not supported (Kubernetes removed it), use exec, a token or a client certificate");
    user.refuse("as", "impersonation is not supported, use credentials of the account itself");
    auto& tls = config.http.tls;
    tls.client_certificate_pem = user.data("client-certificate");
    if (tls.client_certificate_pem.empty())
        config.client_certificate_file = user.readable("client-certificate");
    tls.client_key_pem = user.data("client-key");
    if (tls.client_key_pem.empty()) config.client_key_file = user.readable("client-key");
    const bool has_certificate =
        !tls.client_certificate_pem.empty() || !config.client_certificate_file.empty();
    const bool has_key = !tls.client_key_pem.empty() || !config.client_key_file.empty();
    if (has_certificate && !has_key) user.fail("client-key", "is missing, and there is a client-certificate");
    if (has_key && !has_certificate) user.fail("client-certificate", "is missing, and there is a client-key");
    config.bearer_token = user.text("token");
    config.token_file = user.readable("tokenFile");
    if (user.has("exec")) config.exec = exec_of(user.child("exec"));
}

}  // namespace

Kubeconfig read_kubeconfig(const std::vector<std::string>& paths) {
    Kubeconfig merged;
    for (const auto& path : paths) {
        json::value document;
        try {
            document = api::parse_yaml(base::read_file(path));
        } catch (const std::runtime_error& error) {
            throw ConfigError("kubeconfig " + path + ": " + error.what());
        }
        if (document.is_null()) document = json::object();
        if (!document.is_object()) throw ConfigError("kubeconfig " + path + ": expected a map at the top");
        const auto& object = document.get_object();
        merge_entries(object, path, "clusters", "cluster", merged.clusters);
        merge_entries(object, path, "contexts", "context", merged.contexts);
        merge_entries(object, path, "users", "user", merged.users);
        const auto* current = object.if_contains("current-context");
        if (merged.current_context.empty() && current && current->is_string()) {
            merged.current_context = std::string(current->get_string());
        }
        merged.files.push_back(path);
    }
    return merged;
}

ClusterConfig resolve_context(const Kubeconfig& kubeconfig, const ConfigOptions& options) {
    std::string files;
    for (const auto& file : kubeconfig.files) files += (files.empty() ? "" : ":") + file;
    const auto& name = options.context.empty() ? kubeconfig.current_context : options.context;
    if (name.empty()) {
        throw ConfigError(files + ": current-context is empty, choose one with --context (" +
                          names_of(kubeconfig.contexts) + ")");
    }
    const auto found = kubeconfig.contexts.find(name);
    if (found == kubeconfig.contexts.end()) {
        throw ConfigError(files + ": there is no context \"" + name + "\" (" + names_of(kubeconfig.contexts) +
                          ")");
    }
    const Section section(found->second.body, found->second.file, "contexts[" + name + "].context");
    ClusterConfig config;
    config.source = files + " (context " + name + ")";
    config.namespace_ = section.text("namespace");
    const auto& found_cluster = entry_of(section, "cluster", options.cluster, kubeconfig.clusters);
    const auto cluster_name = options.cluster.empty() ? section.text("cluster") : options.cluster;
    const Section cluster(found_cluster.body, found_cluster.file, "clusters[" + cluster_name + "].cluster");
    apply_cluster(cluster, config);
    const auto user_name = options.user.empty() ? section.text("user") : options.user;
    if (!user_name.empty()) {
        const auto& user = entry_of(section, "user", options.user, kubeconfig.users);
        apply_user(Section(user.body, user.file, "users[" + user_name + "].user"), config);
    }
    apply_server(cluster, config);
    return config;
}

}  // namespace kube
