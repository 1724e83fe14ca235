#include "operator/admission_check.hpp"

#include "api/core.hpp"
#include "base/task_group.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

using namespace std::chrono_literals;

class Policies final : public fake::Interference {
public:
    std::string refusal;
    int asked = 0;
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (!request.target.starts_with("/api/v1/namespaces/kube-system/secrets")) return std::nullopt;
        ++asked;
        if (refusal.empty()) return std::nullopt;
        return fake::status_response(403, "Forbidden", refusal);
    }
};

struct World {
    boost::asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    base::MetricsRegistry metrics;
    Policies policies;
    kube::Client client{server.connect(&policies), clock, metrics};
    base::TaskGroup tasks{context.get_executor()};

    World() { tasks.spawn(kubenodesmith::watch_admission_policies(client, clock)); }
    ~World() {
        tasks.stop();
        run(1s);
    }
    void run(base::Duration duration) { clock.run_for(context, duration); }
    bool tells(const std::string& value) const {
        return metrics.exposition().find("kubenodesmith_admission_policies_installed " + value) !=
               std::string::npos;
    }
};

const std::string kByPolicy =
    "secrets \"kubenodesmith-admission-check\" is forbidden: ValidatingAdmissionPolicy "
    "'kubenodesmith-secrets' "
    "with binding 'kubenodesmith-secrets' denied request: no other Secrets";

TEST_CASE("without admission policies the metric is 0, and the Secret that was asked for is not made") {
    World world;
    world.run(1min);
    CHECK(world.tells("0"));
    CHECK(world.server.list<api::Secret>().empty());
    CHECK(world.policies.asked == 2);
}

TEST_CASE("policies that were made together with the operator may be heeded some seconds after its start") {
    World world;
    world.run(5s);
    CHECK_FALSE(world.tells("0"));
    world.policies.refusal = kByPolicy;
    world.run(1min);
    CHECK(world.tells("1"));
}

TEST_CASE("a refusal by a policy says that the policies hold; it is asked again when they may be there") {
    World world;
    world.run(1min);
    world.policies.refusal = kByPolicy;
    world.run(2h);
    CHECK(world.tells("1"));
    CHECK(world.policies.asked == 4);
}

TEST_CASE("a refusal by RBAC says nothing of policies, and is asked again soon") {
    World world;
    world.policies.refusal = "secrets is forbidden: User \"x\" cannot create resource \"secrets\"";
    world.run(150s);
    CHECK_FALSE(world.tells("0"));
    CHECK_FALSE(world.tells("1"));
    CHECK(world.policies.asked == 3);
}

}  // namespace
