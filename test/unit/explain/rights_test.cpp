// Tests explanations for a user who may not read everything in the cluster.
#include <algorithm>

#include "api/v1alpha1/control_plane.hpp"
#include "operator/explain/explain.hpp"
#include "operator/plan/plan_text.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"

using namespace kubenodesmith;
using namespace api::v1alpha1;
using Catch::Contains;

namespace {

// ReadsOurs grants our kinds and Events by a RoleBinding in namespace ours, and the other kinds by a
// ClusterRoleBinding.
class ReadsOurs final : public fake::Interference {
public:
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        const auto has = [&](std::string_view part) {
            return request.target.find(part) != std::string::npos;
        };
        const bool is_bound = has(api::kGroup) || has("/events");
        if (!is_bound || has("/namespaces/ours/")) return std::nullopt;
        return fake::status_response(403, "Forbidden", "not for you");
    }
};

api::Event event_about(const std::string& kind, const api::ObjectKey& key, const std::string& reason) {
    api::Event event;
    event.metadata.namespace_ = key.namespace_;
    event.metadata.name = key.name + "." + reason;
    event.involvedObject.kind = kind;
    event.involvedObject.namespace_ = key.namespace_;
    event.involvedObject.name = key.name;
    event.source.component = "kubenodesmith";
    event.reason = reason;
    event.message = "because";
    return event;
}

void fill(fake::ApiServer& server) {
    for (const auto* namespace_ : {"ours", "team-a"}) {
        NodeSmithPool pool;
        pool.metadata = api::ObjectMeta{};
        pool.metadata.namespace_ = namespace_;
        pool.metadata.name = "tools";
        pool.spec.providerRef = "shed";
        server.put(pool);
    }
    api::Pod pod;
    pod.metadata.namespace_ = "shop";
    pod.metadata.name = "saw";
    server.put(pod);
    server.put(event_about("NodeSmithPool", {"ours", "tools"}, "ScaleUpBlocked"));
    server.put(event_about("NodeSmithPool", {"ours", "others"}, "SomethingElse"));
}

// The view uses the server's clock, so the server must live as long as the view.
struct Cluster {
    explicit Cluster(controllers::ManagedNamespaces managed) {
        const auto connect = [this](boost::asio::any_io_executor executor, base::Clock& clock) {
            server = std::make_unique<fake::ApiServer>(std::move(executor), clock);
            fill(*server);
            return server->connect(&rights);
        };
        view = ClusterSnapshot::live(connect, std::move(managed));
    }
    ReadsOurs rights;
    std::unique_ptr<ClusterSnapshot> view;
    std::unique_ptr<fake::ApiServer> server;
};

}  // namespace

TEST_CASE("who may read in the managed namespaces only gets a plan and explanations") {
    const Cluster cluster(controllers::ManagedNamespaces({"ours"}));
    auto& view = *cluster.view;
    CHECK(view.informers().pools.store().size() == 1);
    CHECK(view.informers().pods.store().size() == 1);
    CHECK_THAT(table_of(make_plan(view)), Contains("in these namespaces: ours"));

    const auto pool = text_of(explain_pool(view, {"", "tools"}));
    CHECK_THAT(pool, Contains("Pool ours/tools has 0 nodes") && Contains("ScaleUpBlocked: because"));
    CHECK_THAT(pool, !Contains("SomethingElse") && !Contains("team-a"));
    CHECK_THAT(text_of(explain_pod(view, {"shop", "saw"})),
               Contains("Pod shop/saw") && Contains("may not read the operator's Events") &&
                   Contains("not for you"));
}

TEST_CASE(
    "without the right to read everywhere the error lists the missing rights, a sufficient role and "
    "--namespaces") {
    CHECK_THROWS_WITH(Cluster({}), Contains("list nodesmithproviders.kubenodesmith.parawell.cloud") &&
                                       Contains("list nodesmithhosts.kubenodesmith.parawell.cloud") &&
                                       !Contains("  list nodes\n") && Contains("--namespaces") &&
                                       Contains("kind: ClusterRole\n"));
}

TEST_CASE("explaining an object of KubeNodeSmith needs no rights on other kinds") {
    struct ReadsOursOnly final : fake::Interference {
        std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
            if (request.target.find(api::kGroup) != std::string::npos) return std::nullopt;
            return fake::status_response(403, "Forbidden", "not for you");
        }
    } rights;
    std::unique_ptr<fake::ApiServer> server;
    const auto connect = [&](boost::asio::any_io_executor executor, base::Clock& clock) {
        server = std::make_unique<fake::ApiServer>(std::move(executor), clock);
        fill(*server);
        return server->connect(&rights);
    };
    const auto view = ClusterSnapshot::live(connect, {}, Reading::ours_and_maybe_nodes);
    CHECK(view->report().pools.size() == 2);
    CHECK_FALSE(view->has_nodes());
    CHECK_THROWS_WITH(
        ClusterSnapshot::live(connect, {}, Reading::everything),
        Contains("list nodes\n") && Contains("list daemonsets.apps") && Contains("list csidrivers"));
}
