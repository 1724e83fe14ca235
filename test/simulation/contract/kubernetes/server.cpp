#include "test/simulation/contract/kubernetes/server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

#include "api/v1alpha1/claim.hpp"
#include "api/yaml.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "kube/config.hpp"
#include "kube/transport.hpp"
#include "test/component/base/loop.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/fake_api_target.hpp"
#include "test/support/run_coroutine.hpp"

namespace contract {
namespace {

namespace asio = boost::asio;

base::HttpRequest http_request(const Request& request) {
    base::HttpRequest result;
    result.method = request.method;
    result.target = request.target;
    result.headers.set("Accept", "application/json");
    if (request.body.is_null()) return result;
    result.headers.set("Content-Type",
                       request.content_type.empty() ? "application/json" : request.content_type);
    const auto* text = request.body.if_string();
    result.body = text ? std::string(*text) : json::serialize(request.body);
    return result;
}

Answer answer_of(const base::HttpResponse& response) {
    boost::system::error_code error;
    auto body = json::parse(response.body, error);
    return {response.status, error || !body.is_object() ? json::object{} : body.as_object()};
}

// Moves complete lines from the text to the events.
void take_lines(std::string& text, std::vector<json::object>& events) {
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        events.push_back(json::parse(text.substr(0, end)).as_object());
        text.erase(0, end + 1);
    }
}

asio::awaitable<void> read_events(base::HttpTransport& transport, std::string target, std::size_t count,
                                  std::vector<Request> meanwhile, Watched& watched) {
    Request watch{"GET", target, nullptr, ""};
    auto wire = http_request(watch);
    wire.timeout = std::chrono::seconds{10};
    auto stream = co_await transport.open(std::move(wire));
    for (const auto& request : meanwhile) {
        auto other = http_request(request);
        co_await transport.send(std::move(other));
    }
    std::string text;
    try {
        while (watched.events.size() < count) {
            auto piece = co_await stream->read();
            if (!piece) {
                watched.ended = true;
                break;
            }
            text += *piece;
            take_lines(text, watched.events);
        }
    } catch (const base::TransportError&) {  // no event came in time
    }
}

class MemoryServer final : public Server {
public:
    Answer send(const Request& request) override {
        auto transport = server_.connect();
        return answer_of(test::run(context_, clock_, transport->send(http_request(request))));
    }
    Watched watch(const std::string& target, std::size_t count, std::vector<Request> meanwhile) override {
        auto transport = server_.connect();
        Watched watched;
        test::run(context_, clock_, read_events(*transport, target, count, std::move(meanwhile), watched));
        return watched;
    }
    void compact() override { server_.store().compact(server_.store().version()); }
    void pause() override { clock_.run_for(context_, std::chrono::milliseconds{100}); }
    bool budget_allows(const std::string& name, int disruptions) override {
        auto target = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/" + name;
        const auto budget = call("GET", target).body;
        json::object status{{"disruptionsAllowed", disruptions}, {"currentHealthy", ready_pods_of(budget)}};
        status["desiredHealthy"] = budget.at("spec").at("minAvailable");
        status["observedGeneration"] = budget.at("metadata").at("generation");
        json::object change{{"status", status}};
        return call("PATCH", target + "/status", change, "application/merge-patch+json").status == 200;
    }

private:
    // Returns how many pods are ready, as the disruption controller counts them.
    int ready_pods_of(const json::value& budget) {
        int count = 0;
        const auto& selected = budget.at("spec").at("selector").at("matchLabels").at("app");
        const auto pods = call("GET", "/api/v1/namespaces/default/pods").body;
        for (const auto& pod : pods.at("items").as_array()) {
            const auto* status = pod.as_object().if_contains("status");
            const auto* conditions = status ? status->as_object().if_contains("conditions") : nullptr;
            const auto* labels = pod.at("metadata").as_object().if_contains("labels");
            const auto* app = labels ? labels->as_object().if_contains("app") : nullptr;
            if (!conditions || !app || *app != selected) continue;
            for (const auto& condition : conditions->as_array())
                count += condition.at("type") == "Ready" && condition.at("status") == "True" ? 1 : 0;
        }
        return count;
    }
    // Returns options for pods that do not end by themselves, as beside a control plane without kubelets.
    static fake::ApiServer::Options options() {
        using namespace api::v1alpha1;
        fake::ApiServer::Options options;
        options.pods_end_after.reset();
        options.custom_resources = {NodeSmithClaim::kResource};
        return options;
    }

    asio::io_context context_{1};
    fake::VirtualClock clock_;
    fake::ApiServer server_{context_.get_executor(), clock_, options()};
};

class RealServer final : public Server {
public:
    RealServer()
        : transport_(
              kube::make_transport(loop_.context.get_executor(), *loop_.clock, kube::load_config({}))) {
        auto crd = api::parse_yaml(base::read_file(KUBENODESMITH_CRDS "/nodesmithclaims.yaml"));
        auto created = call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
        if (created.status != 201 && created.status != 409) throw std::runtime_error(created.text("message"));
        auto served = [this] {
            return call("GET", "/apis/kubenodesmith.parawell.cloud/v1alpha1/nodesmithclaims").status == 200;
        };
        if (!until(served)) throw std::runtime_error("the CRD is not served");
    }

    Answer send(const Request& request) override {
        Answer answer;
        auto wire = http_request(request);
        loop_.run([&]() -> asio::awaitable<void> {
            auto response = co_await transport_->send(wire);
            answer = answer_of(response);
        });
        return answer;
    }
    Watched watch(const std::string& target, std::size_t count, std::vector<Request> meanwhile) override {
        Watched watched;
        loop_.run([&]() -> asio::awaitable<void> {
            co_await read_events(*transport_, target, count, meanwhile, watched);
        });
        return watched;
    }
    // The API server remembers more than etcd does until it is restarted.
    void compact() override {
        tell({"compact"});
        tell({"restart", "kube-apiserver"});
    }
    void pause() override {
        const base::Duration moment = std::chrono::milliseconds{100};
        loop_.run([&]() -> asio::awaitable<void> { co_await loop_.clock->sleep_for(moment); });
    }
    bool budget_allows(const std::string& name, int disruptions) override {
        auto target = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/" + name;
        return until([&] {
            auto budget = call("GET", target);
            return budget.text("status", "observedGeneration") == budget.text("metadata", "generation") &&
                   budget.text("status", "disruptionsAllowed") == std::to_string(disruptions) &&
                   budget.text("status", "expectedPods") != "0";
        });
    }

private:
    void tell(std::vector<std::string> command) {
        base::ProcessCommand tool;
        tool.program = "python3";
        tool.arguments = {base::environment_variable("CLUSTER_TOOL"), "--state",
                          base::environment_variable("CLUSTER_STATE")};
        tool.arguments.insert(tool.arguments.end(), command.begin(), command.end());
        tool.timeout = std::chrono::minutes{1};
        loop_.run(
            [&]() -> asio::awaitable<void> {
                auto result = co_await base::run_process(*loop_.clock, tool);
                if (result.exit_code != 0)
                    throw std::runtime_error("the cluster does not " + command.front());
            },
            std::chrono::seconds{90});
    }

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
