#include "test/simulation/contract/proxmox/server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/file.hpp"
#include "base/http_client.hpp"
#include "base/process.hpp"
#include "base/random.hpp"
#include "base/url.hpp"
#include "test/component/base/loop.hpp"
#include "test/simulators/proxmox/core/transport.hpp"
#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/simulators/proxmox/server/control.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"

namespace contract::proxmox {
namespace {

namespace asio = boost::asio;
using proxmox_simulator::Simulator;

Answer answer_of(const base::HttpResponse& response) {
    std::string type(response.headers.find("Content-Type").value_or(""));
    return {response.status, response.reason, std::move(type), response.body};
}

asio::awaitable<Answer> exchange(base::HttpTransport& transport, base::HttpRequest request) {
    try {
        auto response = co_await transport.send(std::move(request));
        co_return answer_of(response);
    } catch (const base::TransportError&) {
        co_return Answer{};
    }
}

base::HttpRequest task_request(const std::string& upid) {
    base::HttpRequest request;
    auto node = upid.substr(5, upid.find(':', 5) - 5);
    request.target = "/api2/json/nodes/" + node + "/tasks/" + base::percent_encode(upid) + "/status";
    request.headers.set("Authorization", std::string("PVEAPIToken=automation@pve!kubenodesmith=") +
                                             proxmox_simulator::kDefaultTokenSecret);
    return request;
}

base::HttpRequest control_request(const std::string& method, const std::string& target,
                                  const json::value& body) {
    base::HttpRequest request;
    request.method = method;
    request.target = target;
    request.body = json::serialize(body);
    return request;
}

// CoreServer is the core in virtual time.
class CoreServer final : public Server {
public:
    ~CoreServer() override { test::run(context_, clock_, simulator_.shut_down()); }

    Answer send(const base::HttpRequest& request) override {
        return test::run(context_, clock_, exchange(transport_, request));
    }
    std::string finish(const std::string& upid) override {
        for (;;) {
            auto task = send(task_request(upid)).data();
            if (task.at("status") == "stopped") return std::string(task.at("exitstatus").as_string());
            pause(std::chrono::milliseconds{100});
        }
    }
    void control(const std::string& method, const std::string& target, const json::value& body) override {
        auto response = test::run(context_, clock_, control_(control_request(method, target, body)));
        INFO(response.body);
        REQUIRE(response.status == 200);
    }
    void pause(base::Duration duration) override { clock_.run_for(context_, duration); }

private:
    asio::io_context context_{1};
    fake::VirtualClock clock_;
    std::unique_ptr<base::Random> random_ = fake::make_seeded_random(1);
    Simulator simulator_{context_.get_executor(), clock_, *random_, proxmox_simulator::default_world()};
    proxmox_simulator::SimulatorTransport transport_{simulator_};
    proxmox_simulator::RequestLog log_{""};
    base::HttpHandler control_ =
        proxmox_simulator::make_control(simulator_, log_, [](int) { return json::object{}; });
};

// HttpsServer is the program over HTTPS, beside a core with which its answers are compared.
class HttpsServer final : public Server {
public:
    explicit HttpsServer(const std::string& ready_file)
        : ready_(json::parse(base::read_file(ready_file)).as_object()),
          api_(connect("url")),
          control_(connect("control")) {}

    Answer send(const base::HttpRequest& request) override {
        auto answer = over_wire(*api_, request);
        auto expected = core_.send(translated(request));
        INFO(request.method << " " << request.target);
        CHECK(differences(answer, expected) == std::vector<std::string>{});
        learn(answer.body(), expected.body());
        return answer;
    }
    std::string finish(const std::string& upid) override {
        std::string status;
        while (status.empty()) {
            auto task = over_wire(*api_, task_request(upid)).data();
            if (task.at("status") == "stopped") status = std::string(task.at("exitstatus").as_string());
            sleep(std::chrono::milliseconds{20});
        }
        CHECK(status == core_.finish(translation(upid)));
        return status;
    }
    void control(const std::string& method, const std::string& target, const json::value& body) override {
        auto answer = over_wire(*control_, control_request(method, target, body));
        INFO(answer.text);
        REQUIRE(answer.status == 200);
        core_.control(method, target, body);
    }
    void pause(base::Duration duration) override {
        sleep(duration / kSpeed);
        core_.pause(duration);
    }

private:
    static constexpr int kSpeed = 10;  // with_proxmox_simulator.sh starts the program at this speed

    std::unique_ptr<base::HttpTransport> connect(const char* which) {
        base::HttpClientOptions options;
        options.url = std::string(ready_.at(which).as_string());
        options.tls.insecure_skip_verify = true;
        options.idle_timeout = std::chrono::seconds{4};
        return base::make_http_client(loop_.context.get_executor(), *loop_.clock, options);
    }
    Answer over_wire(base::HttpTransport& transport, const base::HttpRequest& request) {
        Answer answer;
        loop_.run([&]() -> asio::awaitable<void> { answer = co_await exchange(transport, request); },
                  std::chrono::minutes{1});
        return answer;
    }
    void sleep(base::Duration duration) {
        loop_.run([&]() -> asio::awaitable<void> { co_await loop_.clock->sleep_for(duration); });
    }

    // Learns which text of the core corresponds to a text that the program made up, such as a UPID or a
    // ticket.
    void learn(const json::value& ours, const json::value& theirs) {
        if (ours.is_string() && theirs.is_string()) {
            if (ours != theirs) names_.emplace_back(ours.get_string(), theirs.get_string());
        } else if (ours.is_object() && theirs.is_object()) {
            for (const auto& [name, value] : ours.get_object()) {
                if (const auto* other = theirs.get_object().if_contains(name)) learn(value, *other);
            }
        }
    }
    std::string translation(std::string text) const {
        for (const auto& [ours, theirs] : names_) {
            replace(text, ours, theirs);
            replace(text, base::percent_encode(ours), base::percent_encode(theirs));
        }
        return text;
    }
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
            text.replace(at, from.size(), to);
        }
    }
    base::HttpRequest translated(base::HttpRequest request) const {
        request.target = translation(request.target);
        request.body = translation(request.body);
        auto headers = request.headers;
        for (const auto& [name, value] : headers.all()) request.headers.set(name, translation(value));
        return request;
    }

    test::Loop loop_;
    json::object ready_;
    std::unique_ptr<base::HttpTransport> api_, control_;
    CoreServer core_;
    std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

std::unique_ptr<Server> make_server() {
    auto ready_file = base::environment_variable("PROXMOX_SIMULATOR");
    if (ready_file.empty()) return std::make_unique<CoreServer>();
    return std::make_unique<HttpsServer>(ready_file);
}

}  // namespace contract::proxmox
