#include "operator/commands/ui.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <memory>

#include "base/random.hpp"
#include "base/text.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/plan/cluster_snapshot.hpp"
#include "operator/status_page/document.hpp"
#include "operator/status_page/page.hpp"
#include "report/history.hpp"

namespace kubenodesmith {
namespace {

namespace asio = boost::asio;

constexpr const char* kAddress = "127.0.0.1";
constexpr std::size_t kMostConnections = 64;
constexpr std::size_t kPathLength = 32;
constexpr const char* kPathAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
// Several open pages together cost the API server no more than one.
constexpr std::chrono::seconds kFreshFor{5};

struct UiRequest {
    std::vector<std::string> files;
    std::uint16_t port = 0;
};

base::HttpResponse text(int status, std::string body) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    response.body = std::move(body) + "\n";
    return response;
}

bool is_own_name(const base::HttpRequest& request, std::uint16_t port) {
    const auto host = request.headers.find("Host");
    const auto suffix = ":" + std::to_string(port);
    return host && (*host == kAddress + suffix || *host == "localhost" + suffix);
}

base::HttpResponse answer_for(const base::HttpRequest& request, const UiSite& site) {
    if (!is_own_name(request, site.port)) return text(403, "this address is not served under that name");
    if (request.method != "GET" && request.method != "HEAD") return text(405, "only GET");
    if (request.target.substr(0, request.target.find('?')) != site.path)
        return text(404, "not found; kubectl nodesmith ui printed the address");
    try {
        return status_page::answer(request, site.document);
    } catch (const std::exception& error) {
        return text(502, error.what());
    }
}

asio::awaitable<base::HttpResponse> reply(base::HttpResponse response) {
    co_return response;
}

// DocumentSource reads the cluster when the page asks. It keeps samples for as long as the command runs.
class DocumentSource {
public:
    DocumentSource(std::vector<std::string> files, const ClientOptions& options, std::string program)
        : files_(std::move(files)), options_(options), program_(std::move(program)) {}

    // Reads files only once, as standard input has no second time.
    std::string document(base::TimePoint now) {
        const bool is_fresh = files_.empty() ? now - read_at_ < kFreshFor : true;
        if (text_.empty() || !is_fresh) read(now);
        return text_;
    }

    // Adds a sample at least once an interval while no page asks. The page says why the cluster could not be
    // read.
    asio::awaitable<void> keep_history(base::Clock& clock) {
        while (files_.empty()) {
            co_await clock.sleep_for(report::History::kInterval);
            try {
                document(clock.now());
            } catch (const std::exception&) {
                continue;
            }
        }
    }

private:
    void read(base::TimePoint now) {
        const auto view = ClusterSnapshot::open(files_, options_, Reading::ours_and_maybe_nodes);
        if (history_.is_due(view->now())) history_.add(view->report());
        text_ = boost::json::serialize(status_page::document_of({.report = view->report(),
                                                                 .history = history_,
                                                                 .program = program_,
                                                                 .notes = view->notes(),
                                                                 .has_nodes = view->has_nodes()}));
        read_at_ = now;
    }

    std::vector<std::string> files_;
    ClientOptions options_;
    std::string program_;
    report::History history_;
    std::string text_;
    base::TimePoint read_at_;
};

// Serves until the user interrupts it. It reads the cluster once before, so that missing rights end it.
Answer serve(const UiRequest& request, const ClientOptions& options, const std::string& program) {
    asio::io_context loop{1};
    const auto clock = base::make_steady_clock(loop.get_executor());
    DocumentSource source(request.files, options, program);
    source.document(clock->now());
    UiSite site;
    site.path = "/" + base::make_system_random()->text(kPathLength, kPathAlphabet) + "/";
    site.document = [&] { return source.document(clock->now()); };
    base::HttpServerOptions limits;
    limits.address = kAddress;
    limits.max_body_bytes = 0;
    limits.max_connections = kMostConnections;
    limits.port = request.port;
    const auto server =
        base::make_http_server(loop.get_executor(), *clock, std::move(limits), make_ui_handler(site));
    site.port = server->port();
    const auto failure = write_out(
        "The status page is at http://" + std::string(kAddress) + ":" + std::to_string(site.port) +
        site.path + "\nUntil you press Ctrl-C, it shows everyone with this address what you may read.\n");
    if (!failure.empty()) throw std::runtime_error(failure);
    asio::co_spawn(loop, server->run(), asio::detached);
    asio::co_spawn(loop, source.keep_history(*clock), asio::detached);
    loop.run();
    return {};
}

}  // namespace

base::HttpHandler make_ui_handler(const UiSite& site) {
    return [&site](const base::HttpRequest& request) { return reply(answer_for(request, site)); };
}

void add_ui_command(CLI::App& app, ClientOptions& options, Command& chosen, const std::string& program) {
    auto request = std::make_shared<UiRequest>();
    auto* command =
        app.add_subcommand("ui", "Serve the status page at an address of this computer, until Ctrl-C");
    command->add_option("--port", request->port, "Port on 127.0.0.1; default: any free one")
        ->option_text("PORT");
    add_file_flag(*command, request->files);
    add_managed_flag(*command, options);
    add_cluster_flags(*command, options);
    command->callback([&chosen, request, program] {
        chosen = [request, program](const ClientOptions& given) {
            return answer("ui", [&] { return serve(*request, given, program); });
        };
    });
}

}  // namespace kubenodesmith
