// Endpoints for the guest agent: they ask the guest and run commands in it.
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/guest_answers.hpp"
#include "test/simulators/proxmox/core/machine_config.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

constexpr Duration kPingTimeout = std::chrono::seconds{3};
constexpr Duration kPlainCommand = std::chrono::milliseconds{300};

bool is_alive(const Cluster& cluster, const Machine& machine) {
    const auto& running = *machine.running;
    return !machine.guest.agent_silent && !running.guest_halted && has_agent(running.config) &&
           cluster.clock.now() >= running.guest_since + cluster.world.durations.boot;
}

// Pings the agent before every question. The ping takes 3 s if the agent does not answer.
asio::awaitable<void> require_agent(Call& call) {
    const auto& machine = call.machine();
    if (!has_agent(machine.config)) throw failure("No QEMU guest agent configured");
    if (!machine.running) throw failure("VM " + call.text("vmid") + " is not running");
    if (is_alive(call.cluster, machine)) co_return;
    co_await call.cluster.clock.sleep_for(kPingTimeout);
    throw failure("QEMU guest agent is not running");
}

asio::awaitable<json::value> ask(Call& call) {
    co_await require_agent(call);
    auto command = call.endpoint.path.substr(call.endpoint.path.rfind('/') + 1);
    json::object result{{"result", guest_answer(call.machine(), command, call.cluster.wall_seconds())}};
    co_return result;
}

asio::awaitable<void> run_command(Cluster& cluster, MachineView machine, GuestCommand command, int pid,
                                  std::uint64_t generation) {
    GuestCommandResult result;
    if (cluster.hooks) result = co_await cluster.hooks->run(machine, std::move(command));
    co_await cluster.clock.sleep_for(kPlainCommand);
    auto known = cluster.world.machines.find(machine.vmid);
    if (known == cluster.world.machines.end() || !known->second.running) co_return;
    auto& running = *known->second.running;
    if (running.generation != generation || !running.processes.contains(pid)) co_return;
    running.processes[pid] = {true, result.exit_code, std::move(result.output),
                              std::move(result.error_output)};
}

asio::awaitable<json::value> exec(Call& call) {
    co_await require_agent(call);
    auto& machine = call.machine();
    auto& running = *machine.running;
    int pid = running.next_process++;
    running.processes[pid] = {};
    GuestCommand command{call.list("command"), call.text("input-data")};
    call.cluster.background.spawn(
        run_command(call.cluster, call.cluster.view(machine), std::move(command), pid, running.generation));
    co_return json::object{{"pid", pid}};
}

asio::awaitable<json::value> exec_status(Call& call) {
    co_await require_agent(call);
    auto& processes = call.machine().running->processes;
    auto process = processes.find(static_cast<int>(call.integer("pid")));
    if (process == processes.end()) throw failure("Agent error: PID " + call.text("pid") + " does not exist");
    json::object result{{"exited", process->second.exited ? 1 : 0}};
    if (!process->second.exited) co_return result;
    result["exitcode"] = process->second.exit_code;
    if (!process->second.output.empty()) result["out-data"] = process->second.output;
    if (!process->second.error_output.empty()) result["err-data"] = process->second.error_output;
    processes.erase(process);  // a process that ended is reported only once
    co_return result;
}

asio::awaitable<json::value> file_write(Call& call) {
    co_await require_agent(call);
    auto content = call.text("content");
    if (!call.flag("encode", true)) content = base64_decode(content);
    auto& machine = call.machine();
    machine.guest.files[call.text("file")] = content;
    if (call.cluster.hooks)
        call.cluster.hooks->write_file(call.cluster.view(machine), call.text("file"), content);
    co_return nullptr;
}

asio::awaitable<json::value> file_read(Call& call) {
    co_await require_agent(call);
    const auto& files = call.machine().guest.files;
    auto file = files.find(call.text("file"));
    if (file == files.end()) {
        throw failure("Agent error: failed to open file '" + call.text("file") +
                      "' (mode: 'r'): No such file or directory");
    }
    co_return json::object{{"content", file->second}, {"bytes-read", file->second.size()}};
}

Endpoint agent_endpoint(std::string method, const std::string& command, Handler handler,
                        std::vector<std::string_view> privileges) {
    Endpoint endpoint{.method = std::move(method),
                      .path = "/nodes/{node}/qemu/{vmid}/agent/" + command,
                      .handler = handler};
    endpoint.place = Place::node;
    endpoint.daemon = true;
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/vms/{vmid}";
    endpoint.privileges = std::move(privileges);
    return endpoint;
}

}  // namespace

void add_qemu_agent(Routes& routes) {
    const std::vector<std::string_view> audit{"VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"};
    routes.add(agent_endpoint("POST", "ping", ask, audit));
    for (const char* command : {"network-get-interfaces", "get-osinfo", "info", "get-host-name", "get-users",
                                "get-time", "get-timezone", "get-vcpus", "get-fsinfo"}) {
        routes.add(agent_endpoint("GET", command, ask, audit));
    }
    auto run = agent_endpoint("POST", "exec", exec, {"VM.GuestAgent.Unrestricted"});
    run.parameters = "command! array\ninput-data maxlen=65536";
    routes.add(std::move(run));
    auto status = agent_endpoint("GET", "exec-status", exec_status, {"VM.GuestAgent.Unrestricted"});
    status.parameters = "pid! integer";
    routes.add(std::move(status));
    auto write = agent_endpoint("POST", "file-write", file_write,
                                {"VM.GuestAgent.FileWrite", "VM.GuestAgent.Unrestricted"});
    write.parameters = "file! string\ncontent! maxlen=61440\nencode boolean";
    routes.add(std::move(write));
    auto read = agent_endpoint("GET", "file-read", file_read,
                               {"VM.GuestAgent.FileRead", "VM.GuestAgent.Unrestricted"});
    read.parameters = "file! string\ncount integer min=1 max=16777216\ndecode boolean\noffset integer min=0";
    routes.add(std::move(read));
}

}  // namespace proxmox_simulator
