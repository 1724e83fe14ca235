// Tests who may read metrics, and how often the operator asks the API server about a caller.
#include "operator/access_review.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

// Reviews answers reviews as the API server does. It knows tokens that begin with "user", and "user-allowed"
// has the right.
class Reviews final : public fake::Interference {
public:
    int asked = 0;
    base::Duration takes{};

    base::Duration delay(const base::HttpRequest&) override { return takes; }
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        auto review = json::parse(request.body).as_object();
        const auto& spec = review.at("spec").as_object();
        json::object status;
        if (review.at("kind") == "TokenReview") {
            ++asked;
            const auto token = std::string(spec.at("token").as_string());
            const bool known = token.starts_with("user");
            status["authenticated"] = known;
            if (known) status["user"] = json::object{{"username", token}};
        } else {
            status["allowed"] = spec.at("user") == "user-allowed";
        }
        review["status"] = std::move(status);
        base::HttpResponse response;
        response.status = 201;
        response.body = json::serialize(review);
        return response;
    }
};

struct World {
    asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    base::MetricsRegistry metrics;
    Reviews reviews;
    kube::Client client{server.connect(&reviews), clock, metrics};
    kubenodesmith::GuardedPage page = kubenodesmith::guarded(
        [](base::HttpRequest) -> asio::awaitable<base::HttpResponse> {
            base::HttpResponse response;
            response.status = 200;
            co_return response;
        },
        client, context.get_executor(), clock);
    base::HttpHandler handler = page.handler;

    static base::HttpRequest request(const std::string& token) {
        base::HttpRequest request;
        request.method = "GET";
        request.target = "/metrics";
        if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
        return request;
    }
    int ask(const std::string& token) { return test::run(context, clock, handler(request(token))).status; }
    void ask_later(const std::string& token, std::vector<int>& answers) {
        asio::co_spawn(context, handler(request(token)),
                       [&answers](const std::exception_ptr&, const base::HttpResponse& response) {
                           answers.push_back(response.status);
                       });
    }
};

}  // namespace

TEST_CASE("the right token is let through, others are told what is missing") {
    World world;
    CHECK(world.ask("user-allowed") == 200);
    CHECK(world.ask("user-other") == 403);
    CHECK(world.ask("wrong") == 401);
    CHECK(world.ask("") == 401);
}

TEST_CASE("the API server is asked once for many scrapes, and again after a while") {
    World world;
    for (int i = 0; i < 50; ++i) {
        CHECK(world.ask("user-allowed") == 200);
        CHECK(world.ask("wrong") == 401);
    }
    CHECK(world.reviews.asked <= 4);
    const auto before = world.reviews.asked;
    world.clock.run_for(world.context, 61s);
    CHECK(world.ask("user-allowed") == 200);
    CHECK(world.reviews.asked == before + 1);
}

TEST_CASE("one token asks once, however many come with it at a time") {
    World world;
    world.reviews.takes = 10ms;
    std::vector<int> answers;
    for (int i = 0; i < 30; ++i) world.ask_later("user-allowed", answers);
    world.clock.run_for(world.context, 5s);
    CHECK(answers == std::vector<int>(30, 200));
    CHECK(world.reviews.asked <= 4);
}

TEST_CASE("who was allowed before does not wait behind strangers") {
    World world;
    CHECK(world.ask("user-allowed") == 200);
    world.clock.run_for(world.context, 61s);
    world.reviews.takes = 10s;
    std::vector<int> strangers;
    for (int i = 0; i < 40; ++i) world.ask_later("wrong-" + std::to_string(i), strangers);
    world.clock.run_for(world.context, 1ms);
    std::vector<int> good;
    world.ask_later("user-allowed", good);
    world.clock.run_for(world.context, 25s);  // two reviews; forty strangers take ten times as long
    CHECK(good == std::vector<int>{200});
    CHECK(strangers.size() < 40);
    world.clock.run_for(world.context, 10min);
    CHECK(strangers == std::vector<int>(40, 401));
}
