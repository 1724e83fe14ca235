// boot-documents: writes the data that the operator hands out to machines, as files and over HTTP, for
// programs that read it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "api/json.hpp"
#include "base/http_server.hpp"
#include "bootstrap/cloud_init.hpp"
#include "bootstrap/iso_image.hpp"
#include "bootstrap/join.hpp"
#include "bootstrap/network_config.hpp"
#include "bootstrap/seed_server.hpp"
#include "bootstrap/token.hpp"
#include "test/unit/bootstrap/certificate.hpp"

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace fs = std::filesystem;

// Machine describes one machine: {"name", "network": as in the API, "interfaces": [{"name", "mac",
// "addresses"}], "format": as in the API, "given": a script for Custom, "user", "keys", "own"}.
struct Machine {
    std::string name;
    bootstrap::Token token;
    bootstrap::Seed seed;
};

std::string text(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value ? std::string(value->as_string()) : std::string();
}

std::vector<std::string> texts(const json::object& object, std::string_view key) {
    std::vector<std::string> list;
    if (const auto* values = object.if_contains(key))
        for (const auto& value : values->as_array()) list.emplace_back(value.as_string());
    return list;
}

bootstrap::NetworkRequest network_of(const json::object& wish) {
    bootstrap::NetworkRequest request;
    if (const auto* network = wish.if_contains("network"))
        request.network = api::decode<api::v1alpha1::MachineNetwork>(*network);
    if (!wish.contains("interfaces")) return request;
    for (const auto& value : wish.at("interfaces").as_array()) {
        const auto& interface = value.as_object();
        request.interfaces.push_back(
            {text(interface, "name"), text(interface, "mac"), texts(interface, "addresses")});
    }
    return request;
}

bootstrap::JoinRequest join_of(const json::object& wish, const bootstrap::Token& token,
                               const std::string& name) {
    bootstrap::JoinRequest request;
    request.format =
        api::decode<api::v1alpha1::Bootstrap>(json::object{{"format", wish.at("format")}}).format;
    request.token = token;
    request.cluster = {"https://10.0.0.1:6443", test::kCACertificate, 36, "v1.36.1+k3s1"};
    request.node_name = name;
    request.labels = {{"example.com/quoted", "true"}};
    request.taints = bootstrap::registration_taints({{"gpu", "yes", "NoSchedule", {}}}, {});
    request.kubelet.maxPods = 200;
    request.kubelet.extraArgs = {{"image-gc-high-threshold", "80"}};
    request.given = text(wish, "given");
    return request;
}

Machine make_machine(const json::object& wish, std::size_t number) {
    Machine machine;
    machine.name = text(wish, "name");
    const auto id = std::to_string(100000 + number);
    machine.token = {id, "0123456789abcdef"};
    bootstrap::UserDataSettings guest;
    guest.hostname = "workers-" + id;
    guest.user = text(wish, "user");
    guest.ssh_authorized_keys = texts(wish, "keys");
    guest.own_user_data = text(wish, "own");
    const auto plan = bootstrap::plan_join(join_of(wish, machine.token, guest.hostname));
    machine.seed.user_data = bootstrap::user_data(guest, plan);
    machine.seed.meta_data = bootstrap::meta_data("uid-" + id, 1, guest.hostname);
    machine.seed.network_config = bootstrap::network_config(network_of(wish));
    return machine;
}

void write(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class Machines final : public bootstrap::SeedSource {
public:
    explicit Machines(std::vector<Machine> machines) : machines_(std::move(machines)) {}

    asio::awaitable<std::optional<bootstrap::Seed>> seed(std::string key) override {
        const auto found = std::ranges::find_if(
            machines_, [&](const Machine& machine) { return bootstrap::is_seed_key_of(key, machine.token); });
        co_return found == machines_.end() ? std::nullopt : std::optional(found->seed);
    }
    bool may_be_right(std::string_view) const override { return true; }

    void write_to(const fs::path& folder, std::uint16_t port) const {
        for (const auto& [name, token, seed] : machines_) {
            const auto place = folder / name;
            fs::create_directories(place);
            write(place / "user-data", seed.user_data);
            write(place / "meta-data", seed.meta_data);
            write(place / "network-config", seed.network_config);
            write(place / "seed.iso", bootstrap::nocloud_image(seed));
            write(place / "url",
                  "http://127.0.0.1:" + std::to_string(port) + "/" + bootstrap::seed_key(token) + "/");
        }
    }

private:
    std::vector<Machine> machines_;
};

void serve(Machines& machines, const fs::path& folder) {
    asio::io_context context(1);
    const auto clock = base::make_steady_clock(context.get_executor());
    const auto server = base::make_http_server(context.get_executor(), *clock, base::HttpServerOptions(),
                                               bootstrap::make_seed_handler(machines));
    asio::co_spawn(context, server->run(), [&context](std::exception_ptr) { context.stop(); });
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&context](const boost::system::error_code&, int) { context.stop(); });
    machines.write_to(folder, server->port());
    std::cout << "ready" << std::endl;
    context.run();
}

int run(int argc, char** argv) {
    std::string folder;
    CLI::App app("What the operator hands out to machines, which come as a JSON list on standard input");
    app.add_option("folder", folder, "where a folder for each machine is made")->required();
    CLI11_PARSE(app, argc, argv);
    const std::string input{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    std::vector<Machine> list;
    const auto wishes = json::parse(input);
    for (const auto& wish : wishes.as_array()) list.push_back(make_machine(wish.as_object(), list.size()));
    Machines machines(std::move(list));
    serve(machines, folder);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "boot-documents: " << error.what() << '\n';
        return 1;
    }
}
