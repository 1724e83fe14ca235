// redfish-player: a Redfish service over HTTPS for foreign tools. It plays a file with a recorded service
// tree, or the BMC that our own tests simulate.
#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/file.hpp"
#include "base/http_server.hpp"
#include "test/simulators/redfish/bmc.hpp"
#include "test/simulators/redfish_player/player.hpp"

namespace redfish_player {
namespace {

namespace asio = boost::asio;

struct Options {
    std::string tree, certificate, key, ready_file;
    std::vector<std::string> habits;
    PlayerOptions player;
};

// Habits of vendors that change which documents exist and what they contain.
const std::map<std::string, bool redfish_simulator::Profile::*> kHabits = {
    {"media_on_manager", &redfish_simulator::Profile::media_on_manager},
    {"resets_in_action_info", &redfish_simulator::Profile::resets_in_action_info},
    {"boot_on_settings", &redfish_simulator::Profile::boot_on_settings},
    {"has_power_only", &redfish_simulator::Profile::has_power_only},
};

using Handle = std::function<base::HttpResponse(const base::HttpRequest&)>;

Handle make_service(const Options& options, base::Clock& clock) {
    if (options.tree.empty()) {
        redfish_simulator::Profile profile;
        profile.username = options.player.username;
        profile.password = options.player.password;
        profile.watts = 240;
        for (const auto& habit : options.habits) profile.*kHabits.at(habit) = true;
        auto bmc = std::make_shared<redfish_simulator::Bmc>(std::move(profile), clock);
        return [bmc](const base::HttpRequest& request) { return bmc->handle(request); };
    }
    Tree tree(json::parse(base::read_file(options.tree)).as_object());
    auto player = std::make_shared<Player>(std::move(tree), options.player, clock);
    return [player](const base::HttpRequest& request) { return player->handle(request); };
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    const auto temporary = path.string() + ".new";
    std::ofstream(temporary, std::ios::trunc) << text;
    std::filesystem::rename(temporary, path);
}

int serve(const Options& options) {
    asio::io_context context(1);
    const auto clock = base::make_steady_clock(context.get_executor());
    const auto handle = make_service(options, *clock);
    base::HttpServerOptions server_options;
    server_options.key_pair = [&options] {
        return base::KeyPair{base::read_file(options.certificate), base::read_file(options.key)};
    };
    const auto server =
        base::make_http_server(context.get_executor(), *clock, server_options,
                               [&handle](base::HttpRequest request) -> asio::awaitable<base::HttpResponse> {
                                   co_return handle(request);
                               });
    asio::co_spawn(context, server->run(), [&context](std::exception_ptr) { context.stop(); });
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&context](const boost::system::error_code&, int) { context.stop(); });
    write_file(options.ready_file, "https://127.0.0.1:" + std::to_string(server->port()) + "\n");
    context.run();
    return 0;
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("A Redfish service from a recorded tree; without one, the BMC of our own tests");
    app.add_option("--tree", options.tree, "JSON object from path (lower case) to document");
    app.add_option("--habit", options.habits, "of that BMC; may be given several times")
        ->check(CLI::IsMember(kHabits));
    app.add_option("--certificate", options.certificate, "PEM file")->required();
    app.add_option("--key", options.key, "PEM file")->required();
    app.add_option("--user", options.player.username)->capture_default_str();
    app.add_option("--password", options.player.password)->required();
    app.add_option("--ready-file", options.ready_file, "written with the URL once it listens")->required();
    CLI11_PARSE(app, argc, argv);
    return serve(options);
}

}  // namespace
}  // namespace redfish_player

int main(int argc, char** argv) {
    try {
        return redfish_player::run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "redfish-player: " << error.what() << '\n';
        return 1;
    }
}
