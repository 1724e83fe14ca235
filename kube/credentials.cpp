#include "kube/credentials.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"
#include "base/file.hpp"
#include "base/process.hpp"

namespace kube {
namespace {

namespace json = boost::json;

// Plugins may have to call a server.
constexpr base::Duration kPluginTimeout = std::chrono::seconds(60);

std::string file_or(const std::string& path, const std::string& value) {
    return path.empty() ? value : base::read_file(path);
}

std::string exec_info(const ClusterConfig& config) {
    json::object spec{{"interactive", false}};
    if (config.exec->provide_cluster_info) {
        json::object cluster{{"server", config.http.url}};
        const auto& tls = config.http.tls;
        const api::Bytes authority{file_or(config.ca_file, tls.ca_bundle_pem)};
        if (!authority.value.empty()) cluster["certificate-authority-data"] = authority.str();
        if (tls.insecure_skip_verify) cluster["insecure-skip-tls-verify"] = true;
        if (!tls.server_name.empty()) cluster["tls-server-name"] = tls.server_name;
        if (!config.http.proxy_url.empty()) cluster["proxy-url"] = config.http.proxy_url;
        spec["cluster"] = std::move(cluster);
    }
    return json::serialize(json::object{
        {"kind", "ExecCredential"}, {"apiVersion", config.exec->api_version}, {"spec", std::move(spec)}});
}

std::string text_of(const json::object& status, const char* field) {
    const auto* value = status.if_contains(field);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

Credentials read_credentials(const ClusterConfig& config) {
    const auto& tls = config.http.tls;
    Credentials credentials;
    credentials.bearer_token = file_or(config.token_file, config.bearer_token);
    while (!credentials.bearer_token.empty() && credentials.bearer_token.back() <= ' ') {
        credentials.bearer_token.pop_back();
    }
    credentials.ca_bundle_pem = file_or(config.ca_file, tls.ca_bundle_pem);
    credentials.client_certificate_pem = file_or(config.client_certificate_file, tls.client_certificate_pem);
    credentials.client_key_pem = file_or(config.client_key_file, tls.client_key_pem);
    return credentials;
}

void add_plugin_output(const std::string& output, Credentials& credentials) {
    boost::system::error_code error;
    const auto document = json::parse(output, error);
    const auto* object = document.if_object();
    const auto* status = object ? object->if_contains("status") : nullptr;
    if (error || !status || !status->is_object())
        throw std::runtime_error("printed no ExecCredential with a status");
    const auto& given = status->get_object();
    credentials.bearer_token = text_of(given, "token");
    if (const auto certificate = text_of(given, "clientCertificateData"); !certificate.empty()) {
        credentials.client_certificate_pem = certificate;
        credentials.client_key_pem = text_of(given, "clientKeyData");
    }
    if (credentials.bearer_token.empty() && credentials.client_certificate_pem.empty()) {
        throw std::runtime_error("printed neither a token nor a client certificate");
    }
    if (const auto expires = text_of(given, "expirationTimestamp"); !expires.empty()) {
        credentials.expires = api::Time::parse(expires);
    }
}

asio::awaitable<Credentials> run_plugin(base::Clock& clock, ClusterConfig config, Credentials credentials) {
    base::ProcessCommand command;
    command.program = config.exec->command;
    command.arguments = config.exec->arguments;
    command.environment = config.exec->environment;
    command.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(config));
    command.timeout = kPluginTimeout;
    const auto plugin = "credential plugin " + command.program + ": ";
    std::string failure;
    try {
        auto result = co_await base::run_process(clock, std::move(command));
        if (result.exit_code != 0) throw std::runtime_error("exit code " + std::to_string(result.exit_code));
        add_plugin_output(result.output, credentials);
        co_return credentials;
    } catch (const boost::system::system_error&) {
        throw;  // cancelled
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!config.exec->install_hint.empty()) failure += " (" + config.exec->install_hint + ")";
    throw std::runtime_error(plugin + failure);
}

}  // namespace kube
