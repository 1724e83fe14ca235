#include "test/component/proxmox/lab.hpp"

#include <regex>

#include "base/url.hpp"
#include "providers/registry/registry.hpp"
#include "test/simulators/proxmox/core/transport.hpp"

namespace test {

namespace {

providers::ProviderConfig default_config() {
    providers::ProviderConfig config;
    config.namespace_ = "default";
    config.name = "lab";
    config.uid = "0b1f8d5e-0000-4000-8000-000000000001";
    config.cluster_id = "c1c1c1c1-0000-4000-8000-000000000001";
    config.spec.type = api::v1alpha1::ProviderType::proxmox;
    config.spec.proxmox.emplace();
    auto& spec = *config.spec.proxmox;
    spec.endpoint = "https://alfaromeo:8006/api2/json";
    spec.endpoints = {"https://porsche:8006/api2/json", "https://zagato:8006/api2/json"};
    spec.vmIDRange = api::v1alpha1::VMIDRange{1000, 1999};
    spec.networkInterfaces = {{"net0", "virtio", "vmbr0", std::nullopt, "BC:24:11"}};
    spec.vmOptions = {{"scsihw", "virtio-scsi-single"}, {"scsi0", "local:8"}, {"boot", "order=net0;scsi0"}};
    spec.cloudInit.emplace();
    config.credentials = {{"PROXMOX_TOKEN_ID", "automation@pve!kubenodesmith"},
                          {"PROXMOX_SECRET", proxmox_simulator::kDefaultTokenSecret}};
    return config;
}

}  // namespace

std::vector<Death> deaths(int calls) {
    std::vector<Death> all;
    for (int call = 0; call < calls; ++call) {
        for (const bool is_recorded : {true, false}) all.push_back({call, is_recorded});
    }
    return all;
}

Lab::Lab(proxmox_simulator::World world)
    : simulator(context.get_executor(), clock, *random, std::move(world)),
      config(default_config()),
      environment{context.get_executor(),
                  clock,
                  *random,
                  metrics,
                  [this](base::HttpClientOptions options) {
                      return std::make_unique<proxmox_simulator::SimulatorTransport>(simulator,
                                                                                     entry_of(options));
                  },
                  [this] { return leads; }} {
    simulator.observe([this](const proxmox_simulator::RequestRecord& record) { log.push_back(record); });
    restart();
    wait(15s);  // the statistics of hosts arrive
}

Lab::~Lab() {
    bool done = false;
    asio::co_spawn(context, simulator.shut_down(), [&](std::exception_ptr) { done = true; });
    while (!done) clock.run_for(context, 10ms);
}

std::string Lab::entry_of(const base::HttpClientOptions& options) {
    const auto name = base::parse_url(options.url).host;
    for (const auto& host : simulator.cluster().world.hosts) {
        if (host.ip != name) continue;
        connections.push_back(options);
        const auto& shown = is_impersonated ? std::string("another") : host.certificate_fingerprint;
        const bool is_proven = options.tls.fingerprint_sha256 == shown;
        return hosts_are_reachable && is_proven ? host.name : "nowhere";
    }
    return name;
}

void Lab::restart() {
    provider = providers::make_provider(config, environment);
}

void Lab::drive(const bool& done) {
    const auto deadline = clock.now() + 1h;
    while (!done && clock.now() < deadline) clock.run_for(context, 1ms);
    REQUIRE(done);
}

providers::MachineSpec Lab::machine(int number) const {
    auto digits = std::to_string(number);
    digits.insert(0, 12 - digits.size(), '0');
    providers::MachineSpec spec;
    spec.name = "workers-" + std::to_string(number);
    spec.identity = {config.cluster_id,
                     config.uid,
                     "default",
                     spec.name,
                     "aaaaaaaa-0000-4000-8000-" + digits,
                     1,
                     "bbbbbbbb-0000-5000-8000-" + digits};
    spec.cpu_cores = 2;
    spec.memory_mib = 4096;
    return spec;
}

providers::Machine Lab::step(providers::MachineSpec& spec) {
    const auto result = ensure(spec);
    if (const auto* failed = std::get_if<providers::AttemptFailed>(&result))
        FAIL(failed->reason + ": " + failed->message);
    if (const auto* none = std::get_if<providers::InsufficientCapacity>(&result)) FAIL(none->message);
    if (const auto* not_ready = std::get_if<providers::NotReady>(&result)) FAIL(not_ready->message);
    auto machine = std::get<providers::Machine>(result);
    spec.record = machine.record;
    return machine;
}

void Lab::place(providers::MachineSpec& spec) {
    REQUIRE(step(spec).state == providers::MachineState::placed);
}

providers::Machine Lab::launch(providers::MachineSpec& spec) {
    for (int calls = 0; calls < 100; ++calls) {
        auto machine = step(spec);
        if (machine.state == providers::MachineState::running) return machine;
        wait(machine.retry_after);
    }
    FAIL("the machine never ran");
    return {};
}

providers::Machine Lab::launch_through(providers::MachineSpec& spec, const Death& death) {
    for (int call = 0; call < 200; ++call) {
        const auto before = spec.record;
        const auto machine = step(spec);
        if (call == death.after_call) {
            if (!death.is_recorded) spec.record = before;
            restart();
        } else {
            if (machine.state == providers::MachineState::running) return machine;
            wait(machine.retry_after);
        }
    }
    FAIL("the machine never ran");
    return {};
}

providers::RemoveResult Lab::destroy(providers::MachineSpec& spec) {
    for (int calls = 0; calls < 1000; ++calls) {
        auto result = remove(spec);
        const auto* busy = std::get_if<providers::RemovalInProgress>(&result);
        if (!busy) return result;
        spec.record.task = busy->task;
        wait(busy->retry_after);
    }
    FAIL("the removal never ended");
    return providers::Gone();
}

proxmox_simulator::Machine* Lab::vm(const std::string& machine_id) {
    auto& machines = simulator.cluster().world.machines;
    const auto found = machines.find(std::stoi(machine_id));
    return found == machines.end() ? nullptr : &found->second;
}

proxmox_simulator::Machine& Lab::plant(int vmid, const std::string& node, proxmox_simulator::Config options) {
    proxmox_simulator::Machine machine;
    machine.vmid = vmid;
    machine.node = node;
    machine.config = std::move(options);
    return simulator.cluster().world.machines[vmid] = std::move(machine);
}

std::vector<std::string> Lab::requests() {
    std::vector<std::string> result;
    for (; reported_ < log.size(); ++reported_) {
        const auto& record = log[reported_];
        const bool follows_task = record.path.find("/tasks/") != std::string::npos;
        const bool asks_for_cluster = record.path == "/nodes/localhost/certificates/info";
        if (!follows_task && !asks_for_cluster) result.push_back(record.method + " " + record.path);
    }
    return result;
}

std::size_t Lab::count(const std::string& method, const std::string& path_pattern) const {
    const std::regex pattern(path_pattern);
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [&](const auto& record) {
        return record.method == method && std::regex_match(record.path, pattern);
    }));
}

}  // namespace test
