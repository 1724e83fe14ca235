// Preparing a Proxmox cluster for machines, once, before there is a provider: the commands that an
// administrator types, and the same by the API.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/http_client.hpp"
#include "base/interface.hpp"
#include "base/url.hpp"
#include "providers/environment.hpp"

namespace providers {

// ProxmoxSetup is what machines will be made of. The rights follow from it.
struct ProxmoxSetup {
    std::string user = "kubenodesmith@pve";
    std::string token = "operator";
    std::string resource_pool = "kubernetes";  // empty: machines may be anywhere
    std::vector<std::string> disk_storages;
    std::vector<std::string> image_storages;     // for boot images, if pools join by cloud-init
    std::vector<std::string> download_storages;  // for images that templates are made of
    std::vector<std::string> bridges;
    std::vector<std::int64_t> templates;  // VMIDs
    bool through_guest_agent = false;     // how machines join
    bool another_token = false;           // if the token exists, make one with another name
    std::int64_t major_version = 9;       // of Proxmox VE
};

// Returns a shell script of pveum commands that give a new token what its machines need, and nothing else.
// The comment before each command says its purpose. Throws std::invalid_argument that names what is missing
// or impossible.
std::string proxmox_setup_commands(const ProxmoxSetup& wish);

// ProxmoxStep is one change, as a request to the API and as the command that does the same.
struct ProxmoxStep {
    std::string purpose;  // for example "On /nodes: to see how large hosts are"; empty: the command shows it
    std::string command;
    std::string method;
    std::string path;  // below /api2/json, percent-encoded
    base::FormFields parameters;
};

// ProxmoxPlan adds what is missing, and takes nothing away.
struct ProxmoxPlan {
    std::vector<ProxmoxStep> steps;  // in their order; a new token comes last
    std::string token_id;            // user@realm!name
    bool makes_token = false;        // otherwise the token exists, and its secret cannot be read again
    std::vector<std::string> notes;  // what a person should know before
};

// Returns the plan's commands with their purposes as a shell script.
std::string commands_of(const ProxmoxPlan& plan);

// ProxmoxSite is what an administrator sees of a cluster.
struct ProxmoxSite {
    struct SiteHost {
        std::string name;
        bool is_online = false;
        std::int64_t cpus = 0;
        std::int64_t memory_mib = 0;
        std::set<std::string> bridges;  // empty if it is offline
    };
    struct SiteStorage {
        std::string name;
        std::string type;               // for example lvmthin
        std::set<std::string> content;  // images, iso, import, ...
        std::set<std::string> hosts;
        bool is_shared = false;
        std::int64_t free_mib = 0;  // on the host with the least
    };
    struct SiteTemplate {
        std::int64_t vmid = 0;
        std::string name;
        std::string host;
    };
    std::string version;
    std::int64_t major_version = 0;
    std::string cluster;  // its name; a host without a cluster gives its own
    std::vector<SiteHost> hosts;
    std::vector<SiteStorage> storages;
    std::vector<SiteTemplate> templates;
    std::string authority_pem;  // the cluster's own CA; empty: not shown
};

struct ProxmoxLogin {
    std::string endpoint;  // https://host:8006
    base::TlsClientOptions tls;
    std::string username;  // user@realm
    std::string password;
    // Returns a TOTP code or a recovery key, of which Proxmox accepts the named kinds ("a TOTP code or a
    // recovery key"). May throw. Empty: there is no one to ask.
    std::function<std::string(const std::string& kinds)> ask_second_factor;
};

// ProxmoxAdministrator acts with an administrator's login, which is kept in memory only.
class ProxmoxAdministrator : public base::Interface {
public:
    // Reads hosts, bridges, storages and templates. Throws ProviderError.
    virtual boost::asio::awaitable<ProxmoxSite> look() = 0;
    // Compares pools, users, tokens, roles and rights with the wish. Throws ProviderError, also if the
    // administrator lacks a right for one of the steps, and std::invalid_argument.
    virtual boost::asio::awaitable<ProxmoxPlan> plan(ProxmoxSetup wish) = 0;
    // Takes the steps in their order. Returns the new token's secret, empty without one. If a step fails,
    // those before it stay, and a new plan has the rest. Throws ProviderError.
    virtual boost::asio::awaitable<std::string> carry_out(ProxmoxPlan plan) = 0;
};

// Logs in. Throws ProviderError, in which no part of the login is repeated. The environment must outlive the
// administrator.
boost::asio::awaitable<std::unique_ptr<ProxmoxAdministrator>> log_in_to_proxmox(
    ProxmoxLogin login, ProviderEnvironment& environment);

}  // namespace providers
