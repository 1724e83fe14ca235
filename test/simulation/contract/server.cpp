#include "test/simulation/contract/server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "base/process.hpp"
#include "kube/config.hpp"
#include "test/component/base/loop.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/fake_api_target.hpp"
#include "test/support/run_coroutine.hpp"

namespace contract {
namespace {

namespace asio = boost::asio;

base::HttpRequest request_of(const std::string& method, const std::string& target, const json::value& body,
                             const std::string& content_type) {
    base::HttpRequest request;
    request.method = method;
    request.target = target;
    request.headers.set("Accept", "application/json");
    if (body.is_null()) return request;
    request.headers.set("Content-Type", content_type.empty() ? "application/json" : content_type);
    request.body = json::serialize(body);
    return request;
}

Answer answer_of(const base::HttpResponse& response) {
    boost::system::error_code error;
    auto body = json::parse(response.body, error);
    return {response.status, error || !body.is_object() ? json::object{} : body.as_object()};
}

// Collects complete lines.
class Lines {
public:
    void add(const std::string& piece) {
        rest_ += piece;
        for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
            lines_.push_back(json::parse(rest_.substr(0, end)).as_object());
            rest_.erase(0, end + 1);
        }
    }
    const std::vector<json::object>& all() const { return lines_; }

private:
    std::string rest_;
    std::vector<json::object> lines_;
};

asio::awaitable<void> read_events(base::HttpTransport& transport, base::HttpRequest request,
                                  std::size_t count, Lines& lines) {
    request.timeout = std::chrono::seconds{10};
    auto stream = co_await transport.open(std::move(request));
    std::exception_ptr failure;
    try {
        while (lines.all().size() < count) {
            auto piece = co_await stream->read();
            if (!piece) break;
            lines.add(*piece);
        }
    } catch (const base::TransportError&) {  // nothing more came in time
    }
}

class MemoryServer final : public Server {
public:
    Answer call(const std::string& method, const std::string& target, const json::value& body,
                const std::string& content_type) override {
        auto transport = server_.connect();
        return answer_of(
            test::run(context_, clock_, transport->send(request_of(method, target, body, content_type))));
    }
    std::vector<json::object> watch(const std::string& target, std::size_t count) override {
        auto transport = server_.connect();
        Lines lines;
        test::run(context_, clock_,
                  read_events(*transport, request_of("GET", target, nullptr, ""), count, lines));
        return lines.all();
    }
    void pause() override { clock_.run_for(context_, std::chrono::milliseconds{100}); }
    bool budget_allows(const std::string& name, int disruptions) override {
        json::value status{{"status", {{"disruptionsAllowed", disruptions}}}};
        auto target = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/" + name + "/status";
        return call("PATCH", target, status, "application/merge-patch+json").status == 200;
    }

private:
    asio::io_context context_{1};
    base::VirtualClock clock_;
    fake::ApiServer server_{context_.get_executor(), clock_};
};

class RealServer final : public Server {
public:
    RealServer()
        : transport_(
              kube::make_transport(loop_.context.get_executor(), *loop_.clock, kube::load_config({}))) {}

    Answer call(const std::string& method, const std::string& target, const json::value& body,
                const std::string& content_type) override {
        Answer answer;
        auto request = request_of(method, target, body, content_type);
        loop_.run([&]() -> asio::awaitable<void> {
            auto response = co_await transport_->send(request);
            answer = answer_of(response);
        });
        return answer;
    }
    std::vector<json::object> watch(const std::string& target, std::size_t count) override {
        Lines lines;
        auto request = request_of("GET", target, nullptr, "");
        loop_.run(
            [&]() -> asio::awaitable<void> { co_await read_events(*transport_, request, count, lines); });
        return lines.all();
    }
    void pause() override {
        loop_.run([&]() -> asio::awaitable<void> {
            co_await loop_.clock->sleep_for(std::chrono::milliseconds{100});
        });
    }
    bool budget_allows(const std::string& name, int disruptions) override {
        auto target = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/" + name;
        return until([&] {
            auto budget = call("GET", target, nullptr, "");
            return budget.text("status", "observedGeneration") == budget.text("metadata", "generation") &&
                   budget.text("status", "disruptionsAllowed") == std::to_string(disruptions) &&
                   budget.text("status", "expectedPods") != "0";
        });
    }

private:
    test::Loop loop_;
    std::unique_ptr<base::HttpTransport> transport_;
};

}  // namespace

std::string Answer::text_at(const std::vector<std::string>& path) const {
    return fake::text_at(body, path).value_or("");
}

bool Server::until(const std::function<bool()>& condition) {
    for (int i = 0; i < 600; ++i) {
        if (condition()) return true;
        pause();
    }
    return false;
}

std::string Server::fresh(const std::string& prefix) {
    return prefix + "-" + std::to_string(++names_);
}

std::unique_ptr<Server> make_server() {
    if (base::environment_variable("KUBECONFIG").empty()) return std::make_unique<MemoryServer>();
    return std::make_unique<RealServer>();
}

}  // namespace contract
