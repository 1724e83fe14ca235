// Fuzzes the parsers of files that users and clusters provide.
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "api/yaml.hpp"
#include "bootstrap/cloud_init.hpp"
#include "bootstrap/cluster_info.hpp"
#include "bootstrap/custom.hpp"
#include "controllers/claim/facts/node_changes.hpp"
#include "kube/kubeconfig.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {

void yaml(std::string_view input) {
    try {
        api::parse_yaml_documents(input);
    } catch (const api::YamlError&) {
    }
    api::ConfigMap cluster_info;
    cluster_info.data["kubeconfig"] = input;
    try {
        bootstrap::ca_cert_hashes(bootstrap::parse_cluster_info(cluster_info).ca_pem);
    } catch (const std::invalid_argument&) {
    }
}

void kubeconfig(std::string_view input) {
    static const auto path = [] {
        std::string name = (std::filesystem::temp_directory_path() / "kubenodesmith-fuzz-XXXXXX").string();
        int descriptor = mkstemp(name.data());
        if (descriptor < 0) throw std::runtime_error("no temporary file");
        return name;
    }();
    std::ofstream(path, std::ios::trunc) << input;
    try {
        kube::resolve_context(kube::read_kubeconfig({path}), {});
    } catch (const kube::ConfigError&) {
    }
}

// Merges a user's own cloud-config with ours.
void user_data(std::string_view input) {
    bootstrap::UserDataSettings settings;
    settings.hostname = "worker-1";
    settings.own_user_data = input;
    bootstrap::JoinPlan plan;
    plan.files = {{"/etc/kubernetes/join.yaml", "token: abc"}};
    plan.commands = {{"kubeadm", "join"}};
    try {
        auto document = bootstrap::user_data(settings, plan);
        check(document.starts_with("#cloud-config\n"), "cloud-init knows it by its first line");
        // The result has no aliases, so it may be longer than its input.
        const api::YamlBounds bounds{.bytes = std::size_t{1} << 30, .nodes = 1'000'000, .depth = 200};
        check(api::parse_yaml(document, bounds).at("hostname") == "worker-1", "the host name is ours");
    } catch (const std::invalid_argument&) {
    }
}

void template_text(std::string_view input) {
    try {
        bootstrap::fill_placeholders(input, {{"Token", "t"}, {"Endpoint", "e:6443"}, {"Host", ""}});
    } catch (const std::invalid_argument&) {
    }
    controllers::NodeSmithClaim claim;
    claim.metadata.name = "claim";
    claim.spec.poolRef = "{{ .Host }}";
    controllers::claim::render(std::string(input), claim);
}

}  // namespace fuzz
