// Tests what a whole operator shows of objects in namespaces that it does not manage.
#include <boost/asio/co_spawn.hpp>
#include <boost/json/parse.hpp>

#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"
#include "operator/operator.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace api::v1alpha1;
using Catch::Contains;

template <class T>
void put_in_both(fake::ApiServer& server, const std::string& name) {
    for (const auto* namespace_ : {"ours", "team-a"}) {
        T object;
        object.metadata.namespace_ = namespace_;
        object.metadata.name = name;
        server.put(object);
    }
}

fake::ApiServer::Options with_our_kinds() {
    fake::ApiServer::Options options;
    options.custom_resources = {NodeSmithProvider::kResource, NodeSmithPool::kResource,
                                NodeSmithClaim::kResource, NodeSmithControlPlane::kResource,
                                NodeSmithHost::kResource};
    return options;
}

struct World {
    World() {
        put_in_both<NodeSmithProvider>(server, "shed");
        put_in_both<NodeSmithPool>(server, "tools");
        put_in_both<NodeSmithControlPlane>(server, "main");
        put_in_both<NodeSmithClaim>(server, "tools-1");
        put_in_both<NodeSmithHost>(server, "anvil");
        kubenodesmith::OperatorSettings settings;
        settings.namespaces = controllers::ManagedNamespaces({"ours"});
        settings.keeps_history = true;
        auto nowhere = [](const base::HttpClientOptions&) -> std::unique_ptr<base::HttpTransport> {
            throw std::runtime_error("no provider in this test");
        };
        kubenodesmith::OperatorEnvironment environment{context.get_executor(), clock, *random,
                                                       server.connect(), nowhere};
        program = std::make_unique<kubenodesmith::Operator>(std::move(environment), std::move(settings));
        boost::asio::co_spawn(context, program->run(),
                              [this](std::exception_ptr, kubenodesmith::Operator::End) { has_ended = true; });
        clock.run_for(context, 30s);
    }
    ~World() {
        program->stop();
        clock.run_for(context, 1min);
        CHECK(has_ended);
    }

    boost::asio::io_context context{1};
    fake::VirtualClock clock;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    fake::ApiServer server{context.get_executor(), clock, with_our_kinds()};
    std::unique_ptr<kubenodesmith::Operator> program;
    bool has_ended = false;
};

}  // namespace

TEST_CASE("debug state and status page show objects of managed namespaces, and say which these are") {
    const World world;
    const auto text = world.program->debug_state();
    const auto state = boost::json::parse(text).as_object();
    for (const auto* kind : {"controlPlanes", "providers", "pools", "claims"}) {
        INFO(kind);
        CHECK(state.at(kind).as_array().size() == 1);
    }
    CHECK_THAT(text, Contains("ours/tools") && !Contains("team-a"));
    CHECK(state.at("managedNamespaces").as_string() == "ours");
    const auto document = world.program->status_document();
    const auto shown = boost::json::parse(document).as_object();
    for (const auto* kind : {"controlPlanes", "providers", "pools", "claims", "hosts"}) {
        INFO(kind);
        CHECK(shown.at(kind).as_array().size() == 1);
    }
    CHECK(shown.at("managedNamespaces").as_string() == "ours");
    CHECK_THAT(document, !Contains("team-a"));
    CHECK(shown.at("history").at("times").as_array().size() == 1);
}
