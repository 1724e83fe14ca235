#include "test/simulators/proxmox/server/guests.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <deque>
#include <fstream>

#include "base/http_client.hpp"
#include "base/log.hpp"
#include "test/simulators/proxmox/guest/seed.hpp"

namespace proxmox_simulator {
namespace {

enum Action { start_action, stop_action, destroy_action };

void write_text(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
}

std::string last_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line, last;
    while (std::getline(file, line)) {
        if (!line.empty()) last = line;
    }
    return last;
}

bool is_shell(const std::vector<std::string>& arguments) {
    if (arguments.empty()) return false;
    auto program = std::filesystem::path(arguments.front()).filename();
    return program == "sh" || program == "bash";
}

}  // namespace

// Guest is the guest of one machine. Its power changes are executed one after the other.
struct Guests::Guest {
    std::filesystem::path folder;
    MachineView machine;
    std::deque<std::pair<Action, MachineView>> actions;
    bool working = false;
    std::uint64_t run = 0;  // counts power changes; work of an older run is void
    std::unique_ptr<ChildProcess> child;
    std::string state = "off";

    std::vector<std::string> identity() const {
        return {"--state-dir", (folder / "disk").string(), "--system-uuid", machine.uuid};
    }
};

Guests::Guests(Cluster& cluster, GuestOptions options)
    : cluster_(cluster), options_(std::move(options)), group_(cluster.executor), changed_(cluster.executor) {}

Guests::~Guests() = default;

void Guests::stop() {
    for (auto& [name, guest] : guests_) {
        if (guest->child) guest->child->kill();
    }
    group_.stop();
}

Guests::Guest& Guests::guest_of(const MachineView& machine) {
    auto name = std::to_string(machine.vmid) + "-" + machine.uuid;
    auto& guest = guests_[name];
    if (!guest) guest = std::make_shared<Guest>();
    guest->folder = options_.directory / name;
    guest->machine = machine;
    return *guest;
}

void Guests::enqueue(const MachineView& machine, int action) {
    if (options_.testnode.empty()) return;
    auto& guest = guest_of(machine);
    ++guest.run;
    if (guest.child) guest.child->kill();
    guest.actions.emplace_back(static_cast<Action>(action), machine);
    if (guest.working) return;
    guest.working = true;
    group_.spawn(work_off(guests_[guest.folder.filename().string()]));
}

void Guests::on_machine_started(const MachineView& machine) {
    enqueue(machine, start_action);
}
void Guests::on_machine_stopped(const MachineView& machine) {
    enqueue(machine, stop_action);
}
void Guests::on_machine_destroyed(const MachineView& machine) {
    enqueue(machine, destroy_action);
}

asio::awaitable<void> Guests::work_off(std::shared_ptr<Guest> guest) {
    while (!guest->actions.empty()) {
        auto [action, machine] = std::move(guest->actions.front());
        guest->actions.pop_front();
        if (action == start_action) {
            guest->state = "booting";
            co_await boot(guest, machine, guest->run);
        } else if (action == stop_action) {
            std::vector<std::string> arguments{"--power-off"};
            if (std::filesystem::exists(guest->folder)) co_await run_testnode(guest, arguments);
            guest->state = "off";
        } else {
            std::filesystem::remove_all(guest->folder);
            guests_.erase(guest->folder.filename().string());
        }
    }
    guest->working = false;
}

asio::awaitable<void> Guests::boot(std::shared_ptr<Guest> guest, MachineView machine, std::uint64_t run) {
    co_await cluster_.clock.sleep_for(cluster_.world.durations.boot);
    if (guest->run != run) co_return;
    std::string complaint;
    std::optional<SeedFiles> seed;
    try {
        seed = co_await find_seed(machine);
    } catch (const std::exception& error) {
        complaint = error.what();
    }
    if (!complaint.empty()) {
        guest->state = "no boot data: " + complaint;
        base::log::warning("A guest could not read its boot data",
                           {{"vmid", machine.vmid}, {"error", complaint}});
        co_return;
    }
    std::vector<std::string> arguments{"--cpus",       std::to_string(machine.cpus),
                                       "--memory-mib", std::to_string(machine.memory_mib),
                                       "--name",       machine.name};
    std::filesystem::create_directories(guest->folder / "disk");
    write_text(guest->folder / "dhcp-address", machine.address);
    bool network = !machine.boot_order.empty() && machine.boot_order.front().starts_with("net");
    bool joined_before = std::filesystem::exists(guest->folder / "disk" / "kubeadm-flags.env");
    if (seed) {
        for (auto& argument : write_seed(*guest, *seed)) arguments.push_back(std::move(argument));
    } else if (network && !options_.netboot_kubeconfig.empty()) {
        arguments.insert(arguments.end(), {"--kubeconfig", options_.netboot_kubeconfig});
    } else if (!joined_before) {
        guest->state = "idle: neither cloud-init data nor a network image";
        co_return;
    }
    int code = co_await run_testnode(guest, std::move(arguments));
    if (guest->run != run) co_return;
    guest->state = code == 0 ? "joined" : "did not join: " + last_line(guest->folder / "boot.log");
    base::log::info("A guest has booted",
                    {{"vmid", machine.vmid}, {"name", machine.name}, {"state", guest->state}});
}

asio::awaitable<std::optional<SeedFiles>> Guests::find_seed(MachineView machine) {
    if (!machine.cdrom.empty()) {
        if (auto seed = read_seed_image(machine.cdrom)) co_return seed;
    }
    auto url = seed_url(machine.smbios_serial);
    if (url.empty()) co_return machine.cloudinit_drive;
    SeedFiles seed;
    seed.user_data = co_await fetch(url + "user-data");
    seed.meta_data = co_await fetch(url + "meta-data");
    co_return seed;
}

asio::awaitable<std::string> Guests::fetch(std::string url) {
    base::HttpClientOptions options;
    options.url = url;
    options.tls.insecure_skip_verify = true;
    auto client = base::make_http_client(cluster_.executor, cluster_.clock, options);
    base::HttpRequest request;
    request.target = url.substr(url.find('/', url.find("://") + 3));
    auto response = co_await client->send(std::move(request));
    if (response.status != 200)
        throw std::runtime_error("the boot data server answered with status " +
                                 std::to_string(response.status));
    co_return response.body;
}

std::vector<std::string> Guests::write_seed(const Guest& guest, const SeedFiles& seed) const {
    auto folder = guest.folder / "seed";
    std::filesystem::create_directories(folder);
    std::vector<std::string> arguments{"--user-data", (folder / "user-data").string()};
    write_text(folder / "user-data", seed.user_data);
    if (!seed.network_config.empty()) write_text(folder / "network-config", seed.network_config);
    if (seed.meta_data.empty()) return arguments;
    write_text(folder / "meta-data", seed.meta_data);
    arguments.insert(arguments.end(), {"--meta-data", (folder / "meta-data").string()});
    return arguments;
}

asio::awaitable<int> Guests::run_testnode(std::shared_ptr<Guest> guest, std::vector<std::string> arguments) {
    while (running_ >= options_.parallel) co_await changed_.wait();
    ++running_;
    std::vector<std::string> command{options_.testnode};
    for (auto& argument : guest->identity()) command.push_back(std::move(argument));
    command.insert(command.end(), arguments.begin(), arguments.end());
    guest->child =
        std::make_unique<ChildProcess>(cluster_.executor, command, (guest->folder / "boot.log").string());
    int code = co_await guest->child->wait();
    guest->child.reset();
    --running_;
    changed_.notify_all();
    co_return code;
}

asio::awaitable<GuestCommandResult> Guests::run(MachineView machine, GuestCommand command) {
    GuestCommandResult result;
    if (options_.testnode.empty() || !is_shell(command.arguments)) co_return result;
    auto& known = guest_of(machine);
    auto guest = guests_[known.folder.filename().string()];
    auto script = command.input.empty() ? command.arguments.back() : command.input;
    std::filesystem::create_directories(guest->folder / "disk");
    json::object config{{"hostname", machine.name}, {"runcmd", json::array{json::value(script)}}};
    SeedFiles seed{"#cloud-config\n" + json::serialize(config), "", ""};
    std::vector<std::string> arguments{"--cpus", std::to_string(machine.cpus), "--memory-mib",
                                       std::to_string(machine.memory_mib)};
    for (auto& argument : write_seed(*guest, seed)) arguments.push_back(std::move(argument));
    result.exit_code = co_await run_testnode(guest, std::move(arguments));
    auto line = last_line(guest->folder / "boot.log");
    (result.exit_code == 0 ? result.output : result.error_output) = line + "\n";
    guest->state = result.exit_code == 0 ? "joined" : "did not join: " + line;
    co_return result;
}

void Guests::write_file(const MachineView& machine, const std::string& path, const std::string& content) {
    if (options_.testnode.empty()) return;
    auto file = guest_of(machine).folder / "disk" / "rootfs" / std::filesystem::path(path).relative_path();
    std::filesystem::create_directories(file.parent_path());
    write_text(file, content);
}

json::object Guests::notes(int vmid) const {
    for (const auto& [name, guest] : guests_) {
        if (guest->machine.vmid == vmid)
            return {{"guest", guest->state}, {"bootLog", (guest->folder / "boot.log").string()}};
    }
    return {};
}

}  // namespace proxmox_simulator
