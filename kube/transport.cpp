#include "kube/transport.hpp"

#include <boost/system/system_error.hpp>

#include "base/condition_variable.hpp"
#include "base/log.hpp"
#include "kube/credentials.hpp"

namespace kube {
namespace {

constexpr base::Duration kReadFilesEvery = std::chrono::minutes(1);

class AuthenticatingTransport final : public base::HttpTransport {
public:
    AuthenticatingTransport(asio::any_io_executor executor, base::Clock& clock, ClusterConfig config)
        : executor_(std::move(executor)), clock_(clock), config_(std::move(config)), refreshed_(executor_) {
        use(read_credentials(config_));
        read_at_ = clock_.now();
    }

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        co_await refresh(Wish::if_due);
        auto token = credentials_.bearer_token;
        auto http = http_;
        auto response = co_await http->send(authenticated(request));
        if (response.status != 401 || !is_refreshable()) co_return response;
        // A request without valid credentials had no effect, so even a write may be sent again.
        co_await refresh(Wish::now);
        if (credentials_.bearer_token == token && http == http_) co_return response;
        http = http_;
        co_return co_await http->send(authenticated(request));
    }

    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_await refresh(Wish::if_due);
        auto http = http_;
        auto stream = co_await http->open(authenticated(request));
        // The reflector retries with the new credentials.
        if (stream->head().status == 401 && is_refreshable()) co_await refresh(Wish::now);
        co_return stream;
    }

private:
    enum class Wish { if_due, now };

    bool is_refreshable() const {
        return config_.exec || !config_.token_file.empty() || !config_.ca_file.empty() ||
               !config_.client_certificate_file.empty();
    }

    bool is_due() const {
        if (config_.exec) {
            if (!plugin_ran_) return true;
            const auto& expires = credentials_.expires;
            return expires && clock_.wall_now() >= expires->at;
        }
        return is_refreshable() && clock_.now() - read_at_ >= kReadFilesEvery;
    }

    // Refreshes the credentials. Concurrent callers wait for the first one and use its result.
    asio::awaitable<void> refresh(Wish wish) {
        if (refreshing_) {
            while (refreshing_) co_await refreshed_.wait();
            co_return;
        }
        if (wish == Wish::if_due && !is_due()) co_return;
        refreshing_ = true;
        struct Finish {
            AuthenticatingTransport& transport;
            ~Finish() {
                transport.refreshing_ = false;
                transport.refreshed_.notify_all();
            }
        } finish{*this};
        std::string failure;
        try {
            co_await read_anew();
            co_return;
        } catch (const boost::system::system_error&) {
            throw;  // cancelled
        } catch (const std::exception& error) {
            failure = error.what();
        }
        // The rotation is probably incomplete. The files are read again in a minute, and the current
        // credentials may still work.
        read_at_ = clock_.now();
        if (config_.exec)
            throw base::TransportError("getting credentials for the API server: " + failure, false);
        base::log::warning("Cannot read credentials again", {{"error", failure}});
    }

    asio::awaitable<void> read_anew() {
        auto credentials = read_credentials(config_);
        if (config_.exec) {
            credentials = co_await run_plugin(clock_, config_, std::move(credentials));
            plugin_ran_ = true;
        }
        read_at_ = clock_.now();
        if (credentials != credentials_) use(std::move(credentials));
    }

    // Switches to new credentials. Calls in progress keep the client that they began with.
    void use(Credentials credentials) {
        auto options = config_.http;
        options.tls.ca_bundle_pem = credentials.ca_bundle_pem;
        options.tls.client_certificate_pem = credentials.client_certificate_pem;
        options.tls.client_key_pem = credentials.client_key_pem;
        const bool same_connection =
            http_ && credentials.ca_bundle_pem == credentials_.ca_bundle_pem &&
            credentials.client_certificate_pem == credentials_.client_certificate_pem &&
            credentials.client_key_pem == credentials_.client_key_pem;
        if (!same_connection) http_ = base::make_http_client(executor_, clock_, std::move(options));
        credentials_ = std::move(credentials);
    }

    base::HttpRequest authenticated(base::HttpRequest request) const {
        request.target = config_.path_prefix + request.target;
        if (!credentials_.bearer_token.empty()) {
            request.headers.set("Authorization", "Bearer " + credentials_.bearer_token);
        }
        if (!config_.impersonated_user.empty())
            request.headers.set("Impersonate-User", config_.impersonated_user);
        for (const auto& group : config_.impersonated_groups) request.headers.add("Impersonate-Group", group);
        if (config_.most_per_call) request.timeout = std::min(request.timeout, *config_.most_per_call);
        return request;
    }

    asio::any_io_executor executor_;
    base::Clock& clock_;
    ClusterConfig config_;
    Credentials credentials_;
    std::shared_ptr<base::HttpTransport> http_;
    base::TimePoint read_at_{};
    bool plugin_ran_ = false;
    bool refreshing_ = false;
    base::ConditionVariable refreshed_;
};

}  // namespace

std::unique_ptr<base::HttpTransport> make_transport(asio::any_io_executor executor, base::Clock& clock,
                                                    ClusterConfig config) {
    const auto source = config.source;
    // Equals the number of calls in flight of Client, and two for Leases: one that was given up may still
    // end.
    config.http.max_connections = 34;
    try {
        return std::make_unique<AuthenticatingTransport>(std::move(executor), clock, std::move(config));
    } catch (const std::invalid_argument& error) {
        throw ConfigError(source + ": " + error.what());
    } catch (const std::runtime_error& error) {
        throw ConfigError(source + ": " + error.what());
    }
}

}  // namespace kube
