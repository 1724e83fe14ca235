#include "operator/process.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "base/certificate.hpp"
#include "base/file.hpp"
#include "base/http_server.hpp"
#include "base/log.hpp"
#include "base/task_group.hpp"
#include "kube/transport.hpp"
#include "operator/access_review.hpp"
#include "operator/operator.hpp"
#include "operator/ports.hpp"
#include "operator/process_metrics.hpp"

namespace kubenodesmith {
namespace {

constexpr int kOrderly = 0;
constexpr int kFailed = 1;
constexpr int kWrongConfiguration = 2;
// No operator process runs longer, and no client verifies that certificate.
constexpr base::Duration kSelfSignedValidity = std::chrono::years{10};

// Forbids core dumps, as they would contain credentials of hypervisors and of the cluster. If dumps are piped
// to a program (core_pattern), the limit alone has no effect.
void forbid_core_dumps() {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
        base::log::warning("Cannot forbid core dumps, which would contain credentials", {{"errno", errno}});
}

std::string host_name() {
    if (const char* pod = std::getenv("POD_NAME")) return pod;
    char buffer[256] = {};
    return gethostname(buffer, sizeof buffer - 1) == 0 ? buffer : "kubenodesmith";
}

OperatorSettings settings_of(const Options& options, const kube::ClusterConfig& config,
                             base::Random& random) {
    OperatorSettings settings;
    settings.leader_elect = options.leader_elect;
    settings.namespaces = controllers::managed_namespaces_of(options.namespaces, config);
    settings.credentials_role = options.credentials_role;
    settings.concurrent_claims = options.concurrent_claims;
    settings.kproximate_metrics = options.kproximate_metrics;
    settings.keeps_history = options.status_page;
    settings.boot_data_url = options.bootstrap_url;
    while (settings.boot_data_url.ends_with('/')) settings.boot_data_url.pop_back();
    settings.election.lease_duration = options.lease_duration;
    settings.election.renew_deadline = options.renew_deadline;
    settings.election.retry_period = options.retry_period;
    settings.election.identity = host_name() + "_" + random.text(8, "0123456789abcdef");
    auto& lease = settings.election.lease;
    lease.name = options.leader_election_id;
    lease.namespace_ = options.leader_election_namespace;
    // The namespace of a kubeconfig's context does not say where the operator runs.
    if (lease.namespace_.empty() && config.is_in_cluster()) lease.namespace_ = config.namespace_;
    return settings;
}

// Process runs the servers, the signals and the operator on one loop.
class Process {
public:
    Process(const Options& options, kube::ClusterConfig config)
        : clock_(base::make_steady_clock(loop_.get_executor())),
          random_(base::make_system_random()),
          servers_(loop_.get_executor()),
          signals_(loop_, SIGTERM, SIGINT),
          operator_(environment(config), settings_of(options, config, *random_)) {
        serve("--health-probe-bind-address", options.health_address,
              make_probe_handler([this] { return operator_.readiness(); }), probe_port());
        serve_metrics(options);
        serve_boot_data(options);
    }

    int run() {
        wait_for_signal();
        asio::co_spawn(loop_, operator_.run(), [this](const std::exception_ptr& failure, Operator::End end) {
            finish(failure, end);
        });
        watch_.run(loop_);
        return exit_code_;
    }

private:
    OperatorEnvironment environment(kube::ClusterConfig config) {
        auto executor = loop_.get_executor();
        auto connect = [this](base::HttpClientOptions options) {
            return base::make_http_client(loop_.get_executor(), *clock_, std::move(options));
        };
        return {executor, *clock_, *random_, kube::make_transport(executor, *clock_, std::move(config)),
                connect};
    }

    Pages pages(const Options& options) {
        Pages pages;
        pages.metrics = [this] { return operator_.metrics().exposition() + metrics_.exposition(); };
        pages.state = [this] { return operator_.debug_state(); };
        if (options.status_page) pages.status_document = [this] { return operator_.status_document(); };
        return pages;
    }

    void serve_metrics(const Options& options) {
        if (options.metrics_address == "0") return;
        auto handler = make_metrics_handler(pages(options));
        auto server = metrics_port();
        if (options.metrics_secure) {
            auto guard = guarded(std::move(handler), operator_.client(), loop_.get_executor(), *clock_);
            handler = std::move(guard.handler);
            server.comes_first = std::move(guard.was_allowed);
            server.key_pair = key_pair_source(options);
        }
        serve("--metrics-bind-address", options.metrics_address, std::move(handler), std::move(server));
    }

    void serve_boot_data(const Options& options) {
        auto server = boot_data_port();
        server.comes_first = operator_.boot_data_precedence();
        serve("--bootstrap-bind-address", options.bootstrap_address, operator_.boot_data_handler(),
              std::move(server));
    }

    std::function<base::KeyPair()> key_pair_source(const Options& options) {
        if (options.metrics_cert_path.empty()) {
            auto pair = base::make_self_signed(host_name(), clock_->wall_now(), kSelfSignedValidity);
            return [pair = std::move(pair)] { return pair; };
        }
        const auto folder = options.metrics_cert_path + "/";
        return [certificate = folder + options.metrics_cert_name, key = folder + options.metrics_cert_key] {
            return base::KeyPair{base::read_file(certificate), base::read_file(key)};
        };
    }

    void serve(const std::string& flag, const std::string& text, base::HttpHandler handler,
               base::HttpServerOptions options) {
        auto bind = parse_bind_address(flag, text);
        if (!bind) return;
        options.address = bind->address;
        options.port = bind->port;
        auto server = base::make_http_server(loop_.get_executor(), *clock_, options, std::move(handler));
        servers_.spawn(server->run());
        http_servers_.push_back(std::move(server));
    }

    // The first signal begins an orderly end, the second ends the process immediately.
    void wait_for_signal() {
        signals_.async_wait([this](const boost::system::error_code& error, int signal) {
            if (error) return;
            if (stopping_) std::_Exit(kFailed);
            stopping_ = true;
            base::log::info("Stopping", {{"signal", signal}});
            operator_.stop();
            wait_for_signal();
        });
    }

    void finish(const std::exception_ptr& failure, Operator::End end) {
        exit_code_ = !failure && end == Operator::End::stopped ? kOrderly : kFailed;
        if (failure) {
            try {
                std::rethrow_exception(failure);
            } catch (const std::exception& error) {
                base::log::error("Ending after a failure", {{"error", error.what()}});
            }
        }
        signals_.cancel();
        servers_.stop();
    }

    asio::io_context loop_{1};
    std::unique_ptr<base::Clock> clock_;
    std::unique_ptr<base::Random> random_;
    std::vector<std::unique_ptr<base::HttpServer>> http_servers_;
    base::TaskGroup servers_;
    asio::signal_set signals_;
    Operator operator_;
    base::MetricsRegistry metrics_;  // for this process
    std::unique_ptr<base::MetricsRegistry::Hook> process_metrics_ =
        add_process_metrics(metrics_, version_number());
    LoopWatch watch_{metrics_, *clock_};
    bool stopping_ = false;
    int exit_code_ = kFailed;
};

}  // namespace

int run_process(const Options& options) {
    base::log::configure(options.log_level, options.log_format);
    forbid_core_dumps();
    try {
        auto config = kube::load_config(options.cluster);
        base::log::info("Starting", {{"version", version()},
                                     {"cluster", config.http.url},
                                     {"config", config.source},
                                     {"namespaces",
                                      controllers::managed_namespaces_of(options.namespaces, config).str()}});
        Process process(options, std::move(config));
        return process.run();
    } catch (const kube::ConfigError& error) {
        base::log::error("Wrong cluster configuration", {{"error", error.what()}});
    } catch (const std::invalid_argument& error) {
        base::log::error("Wrong option", {{"error", error.what()}});
    } catch (const std::exception& error) {
        base::log::error("Cannot start", {{"error", error.what()}});
        return kFailed;
    }
    return kWrongConfiguration;
}

}  // namespace kubenodesmith
