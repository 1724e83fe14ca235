#include "test/simulators/proxmox/server/control.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "test/simulators/proxmox/core/json_fields.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"

namespace proxmox_simulator {
namespace {

struct NotFound : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Control {
public:
    Control(Simulator& simulator, RequestLog& log, MachineNotes notes)
        : simulator_(simulator), cluster_(simulator.cluster()), log_(log), notes_(std::move(notes)) {}

    json::value answer(const std::string& method, const std::string& path, const json::value& body) {
        auto parts = split(path.substr(1), '/');
        for (auto& part : parts) part = percent_decode(part);
        Fields fields(body, "body");
        if (method == "GET" && path == "/world") return world();
        if (method == "GET" && path == "/machines") return machines();
        if (method == "DELETE" && path == "/faults") return clear_faults();
        if (method != "POST") throw NotFound(method + " " + path);
        if (parts[0] == "hosts" && parts.size() == 3) return change_host(parts[1], parts[2], fields);
        if (parts[0] == "storages" && parts.size() >= 2)
            return change_storage(parts[1], parts.size() == 3, fields);
        if (parts[0] == "tokens" && parts.size() == 3) return change_token(parts[1], parts[2]);
        if (parts[0] == "machines" && parts.size() == 3) return change_guest(parts[1], fields);
        if (path == "/acl") return change_acl(fields);
        if (path == "/durations") return change_durations(fields);
        if (path == "/faults") return add_fault(fields);
        if (path == "/task-faults") return add_task_fault(fields);
        if (path == "/statistics/refresh") return refresh_statistics();
        if (path == "/request-log/reset") return reset_log();
        throw NotFound(method + " " + path);
    }

private:
    json::array machines() const {
        json::array result;
        for (const auto& [vmid, machine] : cluster_.world.machines) {
            json::object entry{{"vmid", vmid},
                               {"node", machine.node},
                               {"name", display_name(machine)},
                               {"uuid", cluster_.view(machine).uuid},
                               {"running", machine.running.has_value()},
                               {"config", config_json(machine.config)}};
            for (auto& [key, value] : notes_(vmid)) entry[key] = value;
            result.push_back(std::move(entry));
        }
        return result;
    }

    json::object world() const {
        json::array hosts, storages, pools, tasks;
        for (const auto& host : cluster_.world.hosts) {
            hosts.push_back({{"name", host.name},
                             {"cpus", host.cpus},
                             {"memoryMiB", host.memory / kMiB},
                             {"poweredOn", host.powered_on},
                             {"maintenance", host.maintenance}});
        }
        for (const auto& [id, storage] : cluster_.world.storages) {
            json::array volumes;
            for (const auto& [host, list] : storage.volumes) {
                for (const auto& [name, volume] : list) {
                    volumes.push_back(
                        {{"volid", print_volume_id(id, volume)}, {"host", host}, {"size", volume.size}});
                }
            }
            storages.push_back({{"id", id},
                                {"type", storage.type},
                                {"shared", storage.shared},
                                {"active", storage.active},
                                {"totalGiB", storage.total / kGiB},
                                {"volumes", std::move(volumes)}});
        }
        for (const auto& [id, pool] : cluster_.world.pools) {
            pools.push_back({{"id", id}, {"vms", json::array(pool.vms.begin(), pool.vms.end())}});
        }
        for (const auto& task : cluster_.tasks.all()) {
            tasks.push_back(
                {{"upid", task->upid}, {"running", task->is_running()}, {"exitStatus", task->exit_status}});
        }
        return {{"hosts", std::move(hosts)},
                {"storages", std::move(storages)},
                {"pools", std::move(pools)},
                {"machines", machines()},
                {"tasks", std::move(tasks)}};
    }

    json::value change_host(const std::string& name, const std::string& action, const Fields& fields) {
        auto* host = cluster_.find_host(name);
        if (!host) throw NotFound("host " + name);
        if (action == "power-off")
            cluster_.power_off_host(name);
        else if (action == "power-on")
            cluster_.power_on_host(name);
        else if (action == "maintenance")
            host->maintenance = fields.flag("enabled", true);
        else
            throw NotFound("action " + action);
        return nullptr;
    }

    json::value change_storage(const std::string& id, bool fill, const Fields& fields) {
        if (!cluster_.world.storages.contains(id)) throw NotFound("storage " + id);
        auto& storage = cluster_.world.storages.at(id);
        if (!fill) {
            storage.active = fields.flag("active", storage.active);
            storage.enabled = fields.flag("enabled", storage.enabled);
            return nullptr;
        }
        auto wanted = static_cast<std::uint64_t>(fields.number("availGiB", 0) * static_cast<double>(kGiB));
        for (const auto& host : cluster_.world.hosts) {
            if (fields.has("host") && fields.text("host") != host.name && !storage.shared) continue;
            auto& foreign = storage.foreign_used[storage.shared ? "" : host.name];
            foreign = 0;
            auto own = used_space(storage, host.name);
            foreign = storage.total - std::min(storage.total, own + wanted);
        }
        return nullptr;
    }

    json::value change_token(const std::string& id, const std::string& action) {
        auto& tokens = cluster_.world.tokens;
        if (action == "revoke") {
            auto token = tokens.extract(id);
            if (token.empty()) throw NotFound("token " + id);
            revoked_.insert(std::move(token));
        } else if (action == "restore") {
            auto token = revoked_.extract(id);
            if (token.empty()) throw NotFound("revoked token " + id);
            tokens.insert(std::move(token));
        } else {
            throw NotFound("action " + action);
        }
        return nullptr;
    }

    json::value change_acl(const Fields& fields) {
        bool token = fields.has("token");
        AclEntry entry{fields.text("path"), token ? "token" : "user", fields.text(token ? "token" : "user"),
                       fields.text("role"), fields.flag("propagate", true)};
        std::erase_if(cluster_.world.acl, [&](const auto& known) {
            return known.path == entry.path && known.subject == entry.subject && known.role == entry.role;
        });
        if (!fields.flag("delete", false)) cluster_.world.acl.push_back(std::move(entry));
        return nullptr;
    }

    json::value change_durations(const Fields& fields) {
        read_durations(cluster_.world.durations, fields);
        return nullptr;
    }

    json::value change_guest(const std::string& vmid, const Fields& fields) {
        auto machine = cluster_.world.machines.find(static_cast<int>(to_integer(vmid).value_or(0)));
        if (machine == cluster_.world.machines.end()) throw NotFound("machine " + vmid);
        auto& guest = machine->second.guest;
        guest.agent_silent = fields.flag("agentSilent", guest.agent_silent);
        if (machine->second.running) {
            machine->second.running->guest_halted =
                fields.flag("halted", machine->second.running->guest_halted);
        }
        return nullptr;
    }

    json::value add_fault(const Fields& fields) {
        RequestFault fault;
        auto moment = fields.text("moment", "before");
        fault.moment = moment == "after" ? Moment::after_effect : Moment::before_effect;
        fault.lose_connection = fields.flag("loseConnection", false);
        fault.status = static_cast<int>(fields.number("status", 500));
        fault.reason = fields.text("reason", "injected fault");
        fault.delay = std::chrono::milliseconds(static_cast<int>(fields.number("delay", 0) * 1000));
        simulator_.faults().add(fields.text("method", ".*"), fields.text("path", ".*"), fault,
                                static_cast<int>(fields.number("count", 1)),
                                static_cast<int>(fields.number("skip", 0)));
        return nullptr;
    }

    json::value add_task_fault(const Fields& fields) {
        static const std::map<std::string, TaskTrouble> kKinds{
            {"fail", TaskTrouble::fail_at_once},
            {"fail-at-end", TaskTrouble::fail_at_end},
            {"hang", TaskTrouble::hang},
            {"hang-deaf", TaskTrouble::hang_deaf},
            {"hang-in-kernel", TaskTrouble::hang_in_kernel},
            {"die", TaskTrouble::die}};
        auto kind = kKinds.find(fields.text("trouble", "fail"));
        if (kind == kKinds.end())
            throw std::invalid_argument(
                "body.trouble: fail, fail-at-end, hang, hang-deaf, hang-in-kernel or die is expected");
        simulator_.faults().add_task(fields.text("type", ".*"), fields.text("id", ".*"),
                                     {kind->second, fields.text("text", "injected fault")},
                                     static_cast<int>(fields.number("count", 1)),
                                     static_cast<int>(fields.number("skip", 0)));
        return nullptr;
    }

    json::value clear_faults() {
        simulator_.faults().clear();
        return nullptr;
    }

    json::value refresh_statistics() {
        cluster_.statistics.refresh();
        return nullptr;
    }

    json::value reset_log() {
        log_.reset();
        return nullptr;
    }

    Simulator& simulator_;
    Cluster& cluster_;
    RequestLog& log_;
    MachineNotes notes_;
    std::map<std::string, Token> revoked_;
};

base::HttpResponse reply(int status, const json::value& body) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.body = json::serialize(body) + "\n";
    return response;
}

base::HttpResponse serve(Control& control, const base::HttpRequest& request) {
    try {
        json::value body = json::object{};
        if (!request.body.empty()) body = json::parse(request.body);
        return reply(200, control.answer(request.method, request.target, body));
    } catch (const NotFound& error) {
        return reply(404, {{"error", error.what()}});
    } catch (const std::invalid_argument& error) {
        return reply(400, {{"error", error.what()}});
    } catch (const boost::system::system_error& error) {
        return reply(400, {{"error", error.what()}});
    }
}

asio::awaitable<base::HttpResponse> handle(std::shared_ptr<Control> control, base::HttpRequest request) {
    co_return serve(*control, request);
}

}  // namespace

base::HttpHandler make_control(Simulator& simulator, RequestLog& log, MachineNotes notes) {
    auto control = std::make_shared<Control>(simulator, log, std::move(notes));
    return [control](base::HttpRequest request) { return handle(control, std::move(request)); };
}

}  // namespace proxmox_simulator
