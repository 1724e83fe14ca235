// proxmox-simulator: a Proxmox VE cluster that other programs talk to over HTTPS.
#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/file.hpp"
#include "base/http_server.hpp"
#include "base/log.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/simulators/proxmox/server/certificate.hpp"
#include "test/simulators/proxmox/server/control.hpp"
#include "test/simulators/proxmox/server/describe.hpp"
#include "test/simulators/proxmox/server/guests.hpp"
#include "test/simulators/proxmox/server/scaled_clock.hpp"

namespace proxmox_simulator {
namespace {

struct Options {
    std::vector<std::string> listen{"127.0.0.1:0"};
    std::string control = "127.0.0.1:0";
    std::string state = "proxmox-simulator";
    std::string world, request_log, ready_file;
    GuestOptions guests;
    double speed = 1;
    bool describe = false, check_requests = false;
};

struct Address {
    std::string host_name;  // name of the simulated host; empty: the first one
    std::string ip;
    std::uint16_t port = 0;
};

// Parses [HOST=]IP:PORT.
Address parse_address(const std::string& text) {
    Address address;
    auto equals = text.find('=');
    auto rest = text;
    if (equals != std::string::npos) {
        address.host_name = text.substr(0, equals);
        rest = text.substr(equals + 1);
    }
    auto colon = rest.rfind(':');
    if (colon == std::string::npos) throw std::invalid_argument(text + ": [HOST=]IP:PORT is expected");
    address.ip = rest.substr(0, colon);
    address.port = static_cast<std::uint16_t>(std::stoi(rest.substr(colon + 1)));
    return address;
}

std::unique_ptr<base::HttpServer> make_api_server(asio::io_context& context, base::Clock& clock,
                                                  Simulator& simulator, const Certificate& certificate,
                                                  const Address& address) {
    base::HttpServerOptions options;
    options.address = address.ip;
    options.port = address.port;
    options.key_pair = [certificate] { return certificate; };
    options.max_body_bytes = 4ULL * 1024 * 1024 * 1024;  // uploads are long; the core limits other bodies
    options.idle_timeout = std::chrono::seconds{5};
    options.refuse = &Simulator::refuse;
    auto host = address.host_name;
    return base::make_http_server(
        context.get_executor(), clock, options,
        [&simulator, host](base::HttpRequest request) { return simulator.handle(std::move(request), host); });
}

World load_world(const std::string& path) {
    return path.empty() ? default_world() : world_from_json(json::parse(base::read_file(path)));
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    auto temporary = path.string() + ".new";
    std::ofstream(temporary, std::ios::trunc) << text;
    std::filesystem::rename(temporary, path);
}

std::function<void(std::exception_ptr)> stop_on_failure(asio::io_context& context) {
    return [&context](std::exception_ptr failure) {
        try {
            if (failure) std::rethrow_exception(failure);
        } catch (const std::exception& error) {
            base::log::error("The server ended", {{"error", error.what()}});
        }
        context.stop();
    };
}

int serve(const Options& options) {
    auto world = load_world(options.world);
    auto state = std::filesystem::absolute(options.state);
    std::filesystem::create_directories(state);
    auto certificate = make_certificate(world.hosts.front().name);
    for (auto& host : world.hosts) host.certificate_fingerprint = certificate.fingerprint_sha256;
    world.authority_pem = certificate.authority_pem;
    // Two simulators are two clusters, whatever their names are. A simulator that is restarted remains the
    // same cluster.
    if (world.authority_fingerprint.empty())
        world.authority_fingerprint = made_up_fingerprint(world.cluster_name + " in " + state.string());
    write_file(state / "pve-ssl.pem", certificate.certificate_pem);
    write_file(state / "pve-root-ca.pem", certificate.authority_pem);
    write_file(state / "fingerprint", certificate.fingerprint_sha256 + "\n");

    asio::io_context context(1);
    auto clock = base::make_steady_clock(context.get_executor());
    auto random = base::make_system_random();
    ScaledClock simulated_time(*clock, options.speed);
    Simulator simulator(context.get_executor(), simulated_time, *random, std::move(world));
    RequestLog log(options.request_log);
    simulator.observe([&log](const RequestRecord& record) { log.write(record); });
    auto guest_options = options.guests;
    guest_options.directory = state / "machines";
    Guests guests(simulator.cluster(), guest_options);
    simulator.cluster().hooks = &guests;

    json::object endpoints;
    std::vector<std::unique_ptr<base::HttpServer>> servers;
    for (const auto& text : options.listen) {
        auto address = parse_address(text);
        if (address.host_name.empty()) address.host_name = simulator.cluster().world.hosts.front().name;
        servers.push_back(make_api_server(context, *clock, simulator, certificate, address));
        endpoints[address.host_name] = "https://" + address.ip + ":" + std::to_string(servers.back()->port());
    }
    auto control_address = parse_address(options.control);
    base::HttpServerOptions control_options;
    control_options.address = control_address.ip;
    control_options.port = control_address.port;
    servers.push_back(base::make_http_server(
        context.get_executor(), *clock, control_options,
        make_control(simulator, log, [&guests](int vmid) { return guests.notes(vmid); })));
    json::object ready{
        {"url", endpoints.begin()->value()},
        {"endpoints", endpoints},
        {"control", "http://" + control_address.ip + ":" + std::to_string(servers.back()->port())},
        {"certificate", (state / "pve-ssl.pem").string()},
        {"authority", (state / "pve-root-ca.pem").string()},
        {"fingerprint", certificate.fingerprint_sha256}};
    for (auto& server : servers) asio::co_spawn(context, server->run(), stop_on_failure(context));
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code&, int) {
        guests.stop();
        context.stop();
    });
    base::log::info("The Proxmox simulator is listening",
                    {{"url", std::string(ready["url"].as_string())},
                     {"control", std::string(ready["control"].as_string())}});
    if (!options.ready_file.empty()) write_file(options.ready_file, json::serialize(ready) + "\n");
    context.run();
    return 0;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("A simulated Proxmox VE cluster");
    app.add_option("--listen", options.listen,
                   "[HOST=]IP:PORT of the API, once per simulated host; port 0: any")
        ->capture_default_str();
    app.add_option("--control", options.control, "IP:PORT of the control interface")->capture_default_str();
    app.add_option("--state", options.state, "folder for the certificate and the machines' disks")
        ->capture_default_str();
    app.add_option("--world", options.world,
                   "JSON file with hosts, storages, users, templates (world_file.hpp)");
    app.add_option("--request-log", options.request_log, "file for one line of JSON per request");
    app.add_option("--ready-file", options.ready_file,
                   "file written with the addresses once all are listening");
    app.add_option("--testnode", options.guests.testnode, "program that plays the guests");
    app.add_option("--netboot-kubeconfig", options.guests.netboot_kubeconfig,
                   "bootstrap kubeconfig of the image that machines load from the network");
    app.add_option("--speed", options.speed, "how much faster than ours the simulated time runs")
        ->check(CLI::Range(0.01, 1000.0))
        ->capture_default_str();
    app.add_flag("--describe", options.describe, "print the table of endpoints as JSON and end");
    app.add_flag("--check-requests", options.check_requests,
                 "read requests as lines of JSON {method, path, params}, print their parameter errors");
    CLI11_PARSE(app, argc, argv);
    if (options.describe) return describe_endpoints(std::cout);
    if (options.check_requests) return check_requests(std::cin, std::cout);
    return serve(options);
}

}  // namespace
}  // namespace proxmox_simulator

int main(int argc, char** argv) {
    try {
        return proxmox_simulator::run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "proxmox-simulator: " << error.what() << '\n';
        return 1;
    }
}
