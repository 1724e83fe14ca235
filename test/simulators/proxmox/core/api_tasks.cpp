// Endpoints to list workers and to stop them.
#include <algorithm>
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

json::object describe(const Task& task, bool split_user) {
    json::object entry{{"upid", task.upid}, {"node", task.node},         {"type", task.type},
                       {"id", task.id},     {"user", task.user},         {"starttime", task.start_time},
                       {"pid", task.pid},   {"pstart", task.start_ticks}};
    auto mark = task.user.find('!');
    if (split_user && mark != std::string::npos) {
        entry["user"] = task.user.substr(0, mark);
        entry["tokenid"] = task.user.substr(mark + 1);
    }
    return entry;
}

bool is_own(const Task& task, const std::string& user) {
    return task.user == user || task.user.starts_with(user + "!");
}

Task& find_task(Call& call) {
    auto upid = call.text("upid");
    if (!is_upid(upid)) throw parameter_error("upid", "unable to parse worker upid");
    auto* task = call.cluster.tasks.find(upid);
    if (!task || task->node != call.node) throw parameter_error("upid", "no such task");
    return *task;
}

// The caller needs an audit right on the host for the tasks of others.
Task& readable_task(Call& call) {
    auto& task = find_task(call);
    if (!is_own(task, call.user)) call.require("/nodes/" + call.node, "Sys.Audit");
    return task;
}

asio::awaitable<json::value> task_status(Call& call) {
    const auto& task = readable_task(call);
    auto result = describe(task, true);
    result["status"] = task.is_running() ? "running" : "stopped";
    if (!task.is_running()) result["exitstatus"] = task.exit_status;
    co_return result;
}

asio::awaitable<json::value> task_log(Call& call) {
    const auto& task = readable_task(call);
    auto start = static_cast<std::size_t>(call.integer("start"));
    auto limit = static_cast<std::size_t>(call.integer("limit", 50));
    json::array lines;
    for (std::size_t i = start; i < task.log.size() && (limit == 0 || i < start + limit); ++i) {
        lines.push_back({{"n", i + 1}, {"t", task.log[i]}});
    }
    if (lines.empty()) lines.push_back({{"n", start + 1}, {"t", "no content"}});
    call.total = static_cast<std::int64_t>(task.log.size());
    co_return lines;
}

asio::awaitable<json::value> stop_task(Call& call) {
    auto& task = find_task(call);
    if (!is_own(task, call.user)) call.require("/nodes/" + call.node, "Sys.Modify");
    if (task.is_running()) co_await call.cluster.tasks.stop(task);
    co_return nullptr;
}

bool is_error(const Task& task) {
    return task.exit_status != "OK" && !task.exit_status.starts_with("WARNINGS");
}

bool has_status(const Task& task, const std::string& filter) {
    auto kinds = split_list(lower(filter));
    std::string kind = is_error(task) ? "error" : task.exit_status == "OK" ? "ok" : "warning";
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool is_wanted(const Call& call, const Task& task, bool audit) {
    if (task.node != call.node || (!audit && !is_own(task, call.user))) return false;
    if (call.has("vmid") && task.id != call.text("vmid")) return false;
    if (call.has("typefilter") && task.type != call.text("typefilter")) return false;
    if (call.has("userfilter") && task.user.find(call.text("userfilter")) == std::string::npos) return false;
    if (call.has("since") && task.start_time < call.integer("since")) return false;
    if (call.has("until") && task.start_time > call.integer("until")) return false;
    auto source = call.text("source", "archive");
    if (task.is_running()) return source != "archive";
    return source != "active" && (!call.flag("errors") || is_error(task)) &&
           has_status(task, call.text("statusfilter"));
}

asio::awaitable<json::value> list_tasks(Call& call) {
    bool audit = has_any(call.cluster.world, call.user, "/nodes/" + call.node, {"Sys.Audit"});
    auto start = call.integer("start"), limit = call.integer("limit", 50);
    std::int64_t count = 0;
    json::array result;
    const auto& tasks = call.cluster.tasks.all();
    for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) {
        if (!is_wanted(call, **task, audit)) continue;
        auto position = count++;
        if (position < start || (limit > 0 && position >= start + limit)) continue;
        auto entry = describe(**task, !(*task)->is_running());
        entry["status"] = (*task)->is_running() ? "RUNNING" : (*task)->exit_status;
        if ((*task)->end_time)
            entry["endtime"] = *(*task)->end_time;
        else
            entry["saved"] = "0";
        result.push_back(std::move(entry));
    }
    call.total = count;
    co_return result;
}

// Lists the last 25 tasks of each host. Running tasks have no status.
asio::awaitable<json::value> list_cluster_tasks(Call& call) {
    json::array result;
    std::map<std::string, int> shown;
    const auto& tasks = call.cluster.tasks.all();
    for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) {
        bool audit = has_any(call.cluster.world, call.user, "/nodes/" + (*task)->node, {"Sys.Audit"});
        if ((!audit && !is_own(**task, call.user)) || ++shown[(*task)->node] > 25) continue;
        auto entry = describe(**task, true);
        if ((*task)->end_time) {
            entry["endtime"] = *(*task)->end_time;
            entry["status"] = (*task)->exit_status;
            entry["saved"] = "1";
            entry.erase("pid");
        }
        entry.erase("pstart");
        result.push_back(std::move(entry));
    }
    co_return result;
}

}  // namespace

void add_tasks(Routes& routes) {
    const std::string tasks = "/nodes/{node}/tasks";
    routes.add({.method = "GET", .path = "/cluster/tasks", .handler = list_cluster_tasks});
    routes.add({.method = "GET",
                .path = tasks,
                .handler = list_tasks,
                .parameters = R"(
                    start integer min=0
                    limit integer min=0
                    source enum=archive|active|all
                    errors boolean
                    since integer
                    until integer
                    statusfilter format=pve-task-status-type-list
                    typefilter string
                    userfilter string
                    vmid vmid)",
                .place = Place::node});
    routes.add({.method = "GET",
                .path = tasks + "/{upid}/status",
                .handler = task_status,
                .place = Place::node,
                .daemon = true});
    routes.add({.method = "GET",
                .path = tasks + "/{upid}/log",
                .handler = task_log,
                .parameters = "start integer min=0\nlimit integer min=0\ndownload boolean",
                .place = Place::node,
                .daemon = true});
    routes.add({.method = "DELETE",
                .path = tasks + "/{upid}",
                .handler = stop_task,
                .place = Place::node,
                .daemon = true});
}

}  // namespace proxmox_simulator
