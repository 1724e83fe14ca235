#include "kube/config.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include "base/random.hpp"
#include "test/support/catch.hpp"

namespace {

namespace fs = std::filesystem;

const char* kGood = R"(
apiVersion: v1
kind: Config
current-context: main
clusters:
- name: c
  cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: Q0E=, tls-server-name: api.example, proxy-url: "http://proxy:3128"}
contexts:
- name: main
  context: {cluster: c, user: u, namespace: team}
- name: other
  context: {cluster: c, user: nobody}
users:
- name: u
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
)";

struct Fixture {
    fs::path directory = fs::temp_directory_path() /
                         ("kubenodesmith-config-" + base::make_system_random()->text(12, "0123456789"));
    std::map<std::string, std::string> variables;

    Fixture() { fs::create_directories(directory); }
    ~Fixture() { fs::remove_all(directory); }

    std::string write(const std::string& name, const std::string& content) {
        const auto path = directory / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << content;
        return path;
    }
    kube::ClusterConfig load(kube::ConfigOptions options = {}) {
        kube::ConfigEnvironment environment;
        environment.variable = [this](const char* name) { return variables[name]; };
        environment.service_account_directory = directory / "serviceaccount";
        return kube::load_config(options, environment);
    }
    kube::ClusterConfig load_file(const std::string& content, const std::string& context = "") {
        return load({write("config", content), context});
    }
    // Returns the error about a wrong file, without the name of its folder.
    std::string refusal(const std::string& content, const std::string& context = "") {
        try {
            load_file(content, context);
        } catch (const kube::ConfigError& error) {
            std::string text = error.what();
            for (auto at = text.find(directory.string()); at != std::string::npos;
                 at = text.find(directory.string())) {
                text.erase(at, directory.string().size() + 1);
            }
            return text;
        }
        return "accepted";
    }
    static std::string with_user(const std::string& user) {
        return "{current-context: m, clusters: [{name: c, cluster: {server: 'https://x'}}],"
               " contexts: [{name: m, context: {cluster: c, user: u}}], users: [{name: u, user: " +
               user + "}]}";
    }
    static std::string with_cluster(const std::string& cluster) {
        return "{current-context: m, clusters: [{name: c, cluster: " + cluster +
               "}], contexts: [{name: m, context: {cluster: c}}]}";
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a kubeconfig's current context is taken, inline data decoded") {
    auto config = load_file(kGood);
    CHECK(config.source == (directory / "config").string() + " (context main)");
    CHECK(config.http.url == "https://10.0.0.1:6443");
    CHECK(config.http.proxy_url == "http://proxy:3128");
    CHECK(config.http.tls.ca_bundle_pem == "CA");
    CHECK(config.http.tls.server_name == "api.example");
    CHECK(config.http.tls.client_certificate_pem == "CERT");
    CHECK(config.http.tls.client_key_pem == "KEY");
    CHECK(config.namespace_ == "team");
}

TEST_CASE_METHOD(Fixture, "files are relative to the kubeconfig that names them") {
    write("pki/ca.crt", "CA");
    write("pki/token", "T");
    auto path = write("config", R"({current-context: m, contexts: [{name: m, context: {cluster: c, user: u}}],
        clusters: [{name: c, cluster: {server: 'https://x/k8s/clusters/c-1/', certificate-authority: pki/ca.crt}}],
        users: [{name: u, user: {tokenFile: ./pki/token}}]})");
    auto config = load({path, ""});
    CHECK(config.ca_file == directory / "pki/ca.crt");
    CHECK(config.token_file == directory / "pki/token");
    CHECK(config.path_prefix == "/k8s/clusters/c-1");
}

TEST_CASE_METHOD(Fixture, "of several files in KUBECONFIG the first that says something wins") {
    auto first = write("first", "{current-context: b, users: [{name: u, user: {token: first}}]}");
    auto second =
        write("second", R"({current-context: a, clusters: [{name: c, cluster: {server: 'https://x'}}],
        contexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: c, user: u}}],
        users: [{name: u, user: {token: second}}]})");
    variables["KUBECONFIG"] = (directory / "missing").string() + ":" + first + ":" + second;
    auto config = load();
    CHECK(config.bearer_token == "first");
    CHECK(config.source == first + ":" + second + " (context b)");
    CHECK(load({"", "a"}).bearer_token.empty());
}

TEST_CASE_METHOD(Fixture, "the order is flag, KUBECONFIG, service account, home") {
    const auto at = [](const std::string& server) {
        return "{current-context: m, clusters: [{name: c, cluster: {server: 'https://" + server +
               "'}}], contexts: [{name: m, context: {cluster: c}}]}";
    };
    variables["HOME"] = directory;
    CHECK_THROWS_WITH(load(), Catch::StartsWith("no cluster is configured: give --kubeconfig"));
    write(".kube/config", at("home"));
    CHECK(load().http.url == "https://home");
    variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
    variables["KUBERNETES_SERVICE_PORT"] = "443";
    CHECK(load().http.url == "https://home");
    write("serviceaccount/token", "T");
    write("serviceaccount/ca.crt", "CA");
    write("serviceaccount/namespace", "kube-system\n");
    auto inside = load();
    CHECK(inside.source == "in-cluster");
    CHECK(inside.http.url == "https://[fd00::1]:443");
    CHECK(inside.token_file == directory / "serviceaccount/token");
    CHECK(inside.ca_file == directory / "serviceaccount/ca.crt");
    CHECK(inside.namespace_ == "kube-system");
    variables["KUBECONFIG"] = write("listed", at("listed"));
    CHECK(load().http.url == "https://listed");
    CHECK(load({write("flag", at("flag")), ""}).http.url == "https://flag");
    variables["KUBECONFIG"] = "/no/such/file";
    CHECK_THROWS_WITH(load(), "KUBECONFIG=/no/such/file: there is no such file");
}

TEST_CASE_METHOD(Fixture,
                 "a server without a scheme has TLS where anything is configured for it, as in client-go") {
    CHECK(load_file(with_cluster("{server: '127.0.0.1:6443'}")).http.url == "http://127.0.0.1:6443");
    CHECK(load_file(with_cluster("{server: 'localhost:6443', insecure-skip-tls-verify: true}")).http.url ==
          "https://localhost:6443");
    CHECK(load_file(with_cluster("{server: api.example, certificate-authority-data: Q0E=}")).http.url ==
          "https://api.example");
}

TEST_CASE_METHOD(Fixture, "what is wrong is named by file and field, with what would be right") {
    CHECK(refusal("a: [").starts_with("kubeconfig config: "));
    CHECK(refusal("- a") == "kubeconfig config: expected a map at the top");
    CHECK(refusal("{}") == "config: current-context is empty, choose one with --context (there is none)");
    CHECK(refusal(kGood, "prod") == "config: there is no context \"prod\" (there are: main, other)");
    CHECK(refusal(kGood, "other") ==
          "config: contexts[other].context.user: there is no user \"nobody\" (there are: u)");
    CHECK(refusal(with_cluster("{}")) ==
          "config: clusters[c].cluster.server: \"\": not a URL such as https://host:port");
    CHECK(
        refusal(with_cluster("{server: 'https://[fe80::1%25eth0]:6443'}")) ==
        "config: clusters[c].cluster.server: \"https://[fe80::1%25eth0]:6443\": an IPv6 address with a zone "
        "is not supported, use one without");
    CHECK(refusal(with_cluster("{server: 'https://x', certificate-authority-data: '*'}")) ==
          "config: clusters[c].cluster.certificate-authority-data: expected base64");
    CHECK(refusal(with_cluster("{server: 'https://x', certificate-authority: nope.crt}")) ==
          "config: clusters[c].cluster.certificate-authority: reading nope.crt: No such file or directory");
    CHECK(refusal(with_cluster("{server: 'https://x', insecure-skip-tls-verify: true, "
                               "certificate-authority-data: Q0E=}")) ==
          "config: clusters[c].cluster.insecure-skip-tls-verify: contradicts certificate-authority: "
          "remove one of the two");
    CHECK(refusal(with_cluster("{server: 'https://x', insecure-skip-tls-verify: 'yes'}")) ==
          "config: clusters[c].cluster.insecure-skip-tls-verify: expected true or false");
    CHECK(refusal(with_user("{client-certificate-data: Q0E=}")) ==
          "config: users[u].user.client-key: is missing, and there is a client-certificate");
    CHECK(refusal(with_user("{auth-provider: {name: gcp}}"))
              .starts_with("config: users[u].user.auth-provider: is not"));
    CHECK(refusal(with_user("{exec: {apiVersion: v1, command: x}}")) ==
          "config: users[u].user.exec.apiVersion: expected client.authentication.k8s.io/v1 or v1beta1");
    CHECK(refusal(with_user("{exec: {apiVersion: client.authentication.k8s.io/v1}}")) ==
          "config: users[u].user.exec.command: is missing");
    CHECK_THROWS_WITH(load({"/no/such/file", ""}),
                      "kubeconfig /no/such/file: reading /no/such/file: No such file or directory");
}

TEST_CASE_METHOD(Fixture, "flags win over the context's cluster and user, and say whom to impersonate") {
    kube::ConfigOptions options;
    options.kubeconfig = write("config", std::string(kGood) + "- name: v\n  user: {token: t}\n");
    options.user = "v";
    options.as = "alice";
    options.as_groups = {"a", "b"};
    options.most_per_call = std::chrono::seconds{5};
    const auto config = load(options);
    CHECK(config.bearer_token == "t");
    CHECK(config.http.url == "https://10.0.0.1:6443");
    CHECK(config.namespace_ == "team");
    CHECK(config.impersonated_user == "alice");
    CHECK(config.impersonated_groups == std::vector<std::string>{"a", "b"});
    CHECK(config.most_per_call == std::chrono::seconds{5});
    options.cluster = "d";
    CHECK_THROWS_WITH(load(options), Catch::Contains("--cluster: the kubeconfig has no cluster \"d\"") &&
                                         Catch::Contains("there are: c"));
}

TEST_CASE_METHOD(Fixture, "an exec plugin is read with its arguments and environment") {
    auto config =
        load_file(with_user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/plugin,"
                            " args: [get, token], env: [{name: A, value: b}], installHint: get it,"
                            " provideClusterInfo: true}}"));
    REQUIRE(config.exec);
    CHECK(config.exec->command == directory / "bin/plugin");
    CHECK(config.exec->arguments == std::vector<std::string>{"get", "token"});
    CHECK(config.exec->environment == std::vector<std::pair<std::string, std::string>>{{"A", "b"}});
    CHECK(config.exec->install_hint == "get it");
    CHECK(config.exec->provide_cluster_info);
}
