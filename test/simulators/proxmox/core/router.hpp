// The table of endpoints: their parameters, who may call them, where they run, and their handlers.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/simulators/proxmox/core/cluster.hpp"
#include "test/simulators/proxmox/core/schema.hpp"

namespace proxmox_simulator {

struct UploadedFile {
    std::string name;
    std::string data;
    // True when the client was cut off. The server then removes the temporary file, even if a worker still
    // needs it.
    std::shared_ptr<bool> is_gone = std::make_shared<bool>(false);
};

struct Endpoint;

// Call is one request on its way through a handler. It lives until the answer is ready.
struct Call {
    Cluster& cluster;
    const Endpoint& endpoint;
    std::string user;  // name@realm or name@realm!token; empty for endpoints without authentication
    std::string node;  // the host that executes it
    json::object parameters;
    std::optional<UploadedFile> file;
    std::optional<std::int64_t> total;  // size of the whole list that this page belongs to

    bool has(std::string_view name) const { return parameters.contains(name); }
    std::string text(std::string_view name, std::string_view otherwise = {}) const;
    std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
    bool flag(std::string_view name, bool otherwise = false) const;
    std::vector<std::string> list(std::string_view name) const;
    int vmid() const { return static_cast<int>(integer("vmid")); }
    bool is_root() const { return user == "root@pam"; }
    // Returns the machine that the path names. Throws "Configuration file ... does not exist".
    Machine& machine() const { return cluster.machine(node, vmid()); }
    void require(const std::string& path, std::string_view privilege) const;
    // Refuses options that only root@pam may use as wrong parameters.
    void only_root(std::initializer_list<std::string_view> names) const;
};

using Handler = asio::awaitable<json::value> (*)(Call&);

enum class Place { anywhere, node };           // node: forwarded to the host in the path
enum class Access { world, user, privilege };  // privilege: `privileges` at `permission_path`

struct Endpoint {
    std::string method;
    std::string path;
    Handler handler = nullptr;
    std::string parameters;  // in the notation of schema.hpp; parameters of the path are added
    Place place = Place::anywhere;
    bool daemon = false;  // "protected": one of the few workers of the host's root daemon executes it
    bool for_tokens = true;
    Access access = Access::user;
    std::string permission_path;               // may contain {parameters}
    std::vector<std::string_view> privileges;  // any one of them suffices
    Schema schema;                             // may be preset with declarations that several endpoints share
    std::vector<std::string> segments;
};

class Routes {
public:
    void add(Endpoint endpoint);
    struct Match {
        const Endpoint* endpoint = nullptr;
        std::map<std::string, std::string> parameters;
    };
    // `path` is percent-encoded and lacks the prefix /api2/json.
    Match find(const std::string& method, const std::string& path) const;
    const std::vector<Endpoint>& all() const { return endpoints_; }

private:
    std::vector<Endpoint> endpoints_;
};

// Returns every endpoint that the simulator serves.
const Routes& routes();

// Makes an endpoint of high availability, which requires `privilege` on "/". The daemon executes each change.
Endpoint ha_endpoint(std::string method, std::string path, Handler handler, std::string_view privilege);

// Each area adds its own endpoints.
void add_access(Routes& routes);
void add_cluster(Routes& routes);
void add_ha(Routes& routes);
void add_ha_rules(Routes& routes);
void add_mapping(Routes& routes);
void add_pools(Routes& routes);
void add_nodes(Routes& routes);
void add_node_config(Routes& routes);
void add_tasks(Routes& routes);
void add_storage(Routes& routes);
void add_storage_content(Routes& routes);
void add_qemu_status(Routes& routes);
void add_qemu_create(Routes& routes);
void add_qemu_destroy(Routes& routes);
void add_qemu_clone(Routes& routes);
void add_qemu_template(Routes& routes);
void add_qemu_config(Routes& routes);
void add_qemu_cloudinit(Routes& routes);
void add_qemu_disk(Routes& routes);
void add_qemu_power(Routes& routes);
void add_qemu_suspend(Routes& routes);
void add_qemu_migrate(Routes& routes);
void add_qemu_agent(Routes& routes);

}  // namespace proxmox_simulator
