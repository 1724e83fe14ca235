// Tests objects of our kinds in namespaces whose writers the administrator does not trust.
#include "controllers/unmanaged.hpp"

#include <boost/asio/io_context.hpp>
#include <memory>

#include "base/random.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"
#include "test/support/run_coroutine.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using namespace api::v1alpha1;
using controllers::ManagedNamespaces;
using controllers::WaitingObjects;

template <class T>
T object_in(const std::string& namespace_, const std::string& name) {
    T object;
    object.metadata.namespace_ = namespace_;
    object.metadata.name = name;
    object.metadata.generation = 3;
    return object;
}

// Refusals answers so many patches with this code, and records the reads.
class Refusals final : public fake::Interference {
public:
    int code = 503;
    int left = 0;
    std::vector<std::string> reads;
    std::optional<base::HttpResponse> before(const base::HttpRequest& request) override {
        if (request.method == "GET") reads.push_back(request.target);
        if (request.method != "PATCH" || left == 0) return std::nullopt;
        --left;
        return fake::status_response(code, "", "not now");
    }
};

class Fixture {
public:
    ~Fixture() {
        running_.stop();
        clock.run_for(context, 1s);
        CHECK(running_.size() == 0);
    }
    void start() {
        add("providers", unmanaged_.providers);
        add("pools", unmanaged_.pools);
        add("claims", unmanaged_.claims);
        add("control-planes", unmanaged_.control_planes);
        add("hosts", unmanaged_.hosts);
        informers.spawn_all(running_);
        clock.run_for(context, 100ms);
        for (auto& controller : controllers_) running_.spawn(controller->run());
        clock.run_for(context, 5s);
    }
    template <class T>
    bool is_told(const std::string& namespace_, const std::string& name) {
        const auto object = server.get<T>({namespace_, name});
        const auto* ready = api::find_condition(object->status.conditions, api::conditions::kReady);
        return ready && ready->reason == api::reasons::kNamespaceNotManaged;
    }
    std::size_t told_pools(const std::string& namespace_, int of) {
        std::size_t told = 0;
        for (int i = 0; i < of; ++i) told += is_told<NodeSmithPool>(namespace_, "pool-" + std::to_string(i));
        return told;
    }
    void put_pools(const std::string& namespace_, int count) {
        for (int i = 0; i < count; ++i)
            server.put(object_in<NodeSmithPool>(namespace_, "pool-" + std::to_string(i)));
    }

    boost::asio::io_context context{1};
    fake::VirtualClock clock;
    fake::ApiServer server{context.get_executor(), clock};
    base::MetricsRegistry metrics;
    Refusals refusals;
    kube::Client client{server.connect(&refusals), clock, metrics};
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    controllers::Informers informers{client, clock, *random, context.get_executor(),
                                     ManagedNamespaces({"kubenodesmith", "lab"})};

private:
    template <class Reconciler>
    void add(const std::string& name, Reconciler& reconciler) {
        kube::ControllerOptions options;
        options.name = name;
        controllers_.push_back(
            std::make_unique<kube::Controller>(options, reconciler, context.get_executor(), clock, metrics));
        reconciler.subscribe(controllers_.back()->queue());
    }

    controllers::UnmanagedReconcilers unmanaged_{informers, client, clock};
    std::vector<std::unique_ptr<kube::Controller>> controllers_;
    base::TaskGroup running_{context.get_executor()};
};

}  // namespace

TEST_CASE("namespaces are managed by name, or all of them if that is asked for") {
    CHECK(ManagedNamespaces().contains("team-a"));
    CHECK(ManagedNamespaces({"*"}).all());
    CHECK(ManagedNamespaces({"lab", "*"}).contains("team-a"));
    const ManagedNamespaces two({"lab", "kubenodesmith"});
    CHECK(two.contains("lab"));
    CHECK_FALSE(two.contains("la"));
    CHECK_FALSE(two.contains(""));
    CHECK(two.str() == "kubenodesmith, lab");
    CHECK(two.to_list() == std::vector<std::string>{"kubenodesmith", "lab"});
    CHECK(ManagedNamespaces().to_list() == std::vector<std::string>{""});
    CHECK_THAT(two.why_unmanaged("la"), Catch::Contains("of namespace la,") &&
                                            Catch::Contains("(kubenodesmith, lab)") &&
                                            Catch::Contains("--namespaces"));
    const std::vector<std::string> none;
    CHECK_THROWS_WITH(ManagedNamespaces(none), Catch::Contains("* for all"));
    for (const auto* wrong : {"", "Lab", "lab-", "-lab", "team/a", "team-*", "a.b"})
        CHECK_THROWS_WITH(ManagedNamespaces({wrong}), Catch::Contains("such as kubenodesmith"));
    CHECK_THROWS_AS(ManagedNamespaces({std::string(64, 'a')}), std::invalid_argument);
}

TEST_CASE_METHOD(Fixture, "objects elsewhere are in no store, whether listed, watched or written") {
    server.put(object_in<NodeSmithPool>("kubenodesmith", "workers"));
    server.put(object_in<NodeSmithPool>("team-a", "workers"));
    server.put(object_in<NodeSmithProvider>("team-a", "proxmox"));
    start();
    server.put(object_in<NodeSmithPool>("team-a", "gpu"));
    server.put(object_in<NodeSmithPool>("lab", "gpu"));
    server.put(object_in<NodeSmithClaim>("team-a", "gpu-1"));
    server.put(object_in<NodeSmithControlPlane>("team-a", "main"));
    server.put(object_in<NodeSmithHost>("team-a", "rack-1"));
    clock.run_for(context, 5s);
    auto written = object_in<NodeSmithPool>("team-a", "written");
    written.metadata.resourceVersion = "999999";
    informers.pools.observe(written);

    CHECK(informers.pools.store().size() == 2);
    CHECK(informers.pools.store().get({"lab", "gpu"}));
    CHECK(informers.providers.store().size() == 0);
    CHECK(informers.claims.store().size() == 0);
    CHECK(informers.control_planes.store().size() == 0);
    CHECK(informers.hosts.store().size() == 0);
}

TEST_CASE_METHOD(Fixture, "a leader reads again in the managed namespaces only") {
    for (const auto* namespace_ : {"kubenodesmith", "lab", "team-a"}) {
        server.put(object_in<NodeSmithPool>(namespace_, "workers"));
        server.put(object_in<NodeSmithClaim>(namespace_, "workers-1"));
        server.put(object_in<NodeSmithControlPlane>(namespace_, "main"));
    }
    test::run(context, clock, informers.catch_up(client));

    CHECK(informers.pools.store().size() == 2);
    CHECK(informers.claims.store().size() == 2);
    CHECK(informers.control_planes.store().size() == 2);
    for (const auto& target : refusals.reads) {
        INFO(target);
        CHECK((target.find("/namespaces/kubenodesmith/") != std::string::npos ||
               target.find("/namespaces/lab/") != std::string::npos));
    }
}

TEST_CASE_METHOD(Fixture, "they are told so once, and nothing else of them is written") {
    auto provider = object_in<NodeSmithProvider>("team-a", "proxmox");
    provider.metadata.finalizers = {std::string(api::finalizers::kProvider)};
    api::set_condition(provider.status.conditions,
                       {"Reachable", api::ConditionStatus::True, "Reachable", "it answers", 2},
                       api::Time(clock.wall_now()));
    api::set_condition(provider.status.conditions,
                       {"Reconciling", api::ConditionStatus::True, "Unreachable", "it does not answer", 2},
                       api::Time(clock.wall_now()));
    server.put(provider);
    server.put(object_in<NodeSmithPool>("team-a", "gpu"));
    server.put(object_in<NodeSmithClaim>("team-a", "gpu-1"));
    server.put(object_in<NodeSmithControlPlane>("team-a", "main"));
    server.put(object_in<NodeSmithHost>("team-a", "rack-1"));
    server.put(object_in<NodeSmithPool>("kubenodesmith", "gpu"));
    start();

    CHECK(is_told<NodeSmithProvider>("team-a", "proxmox"));
    CHECK(is_told<NodeSmithPool>("team-a", "gpu"));
    CHECK(is_told<NodeSmithClaim>("team-a", "gpu-1"));
    CHECK(is_told<NodeSmithControlPlane>("team-a", "main"));
    CHECK(is_told<NodeSmithHost>("team-a", "rack-1"));
    CHECK_FALSE(is_told<NodeSmithPool>("kubenodesmith", "gpu"));
    CHECK(server.writes().size() == 5);

    const auto after = server.get<NodeSmithProvider>({"team-a", "proxmox"});
    const auto& conditions = after->status.conditions;
    const auto* ready = api::find_condition(conditions, api::conditions::kReady);
    CHECK(ready->status == api::ConditionStatus::False);
    CHECK(ready->observedGeneration == after->metadata.generation);
    CHECK(after->status.observedGeneration == after->metadata.generation);
    CHECK_THAT(ready->message, Catch::Contains("team-a") && Catch::Contains("kubenodesmith, lab") &&
                                   Catch::Contains("--namespaces"));
    CHECK(api::is_true(conditions, api::conditions::kStalled));
    CHECK_FALSE(api::find_condition(conditions, api::conditions::kReconciling));
    CHECK(api::is_true(conditions, api::conditions::kReachable));
    CHECK(after->metadata.finalizers == provider.metadata.finalizers);
    CHECK(after->spec == provider.spec);

    clock.run_for(context, 2h);
    CHECK(server.writes().size() == 5);
}

TEST_CASE_METHOD(Fixture, "a tenant's many objects take neither the others' turn nor our memory") {
    put_pools("team-a", 400);
    start();
    server.put(object_in<NodeSmithPool>("team-b", "pool-0"));
    const auto before = server.writes().size();
    clock.run_for(context, 4s);
    CHECK(is_told<NodeSmithPool>("team-b", "pool-0"));
    CHECK(server.writes().size() - before <= 5);
    clock.run_for(context, 1h);
    CHECK(told_pools("team-a", 400) == WaitingObjects::kMostOfNamespace);
    CHECK(informers.pools.store().size() == 0);
}

TEST_CASE_METHOD(Fixture,
                 "who could not be told for a moment is told later, who is refused has had his turn") {
    refusals.left = 1;
    const auto is_refused = GENERATE(false, true);
    if (is_refused) refusals.code = 422;
    server.put(object_in<NodeSmithPool>("team-a", "pool"));
    start();
    CHECK_FALSE(is_told<NodeSmithPool>("team-a", "pool"));
    clock.run_for(context, 1min);
    CHECK(is_told<NodeSmithPool>("team-a", "pool") == !is_refused);
}

TEST_CASE("who waits has a turn by namespace, and only so many wait") {
    WaitingObjects waiting;
    for (int i = 0; i < 1000; ++i) waiting.add({"a", std::to_string(i)});
    CHECK(waiting.size() == WaitingObjects::kMostOfNamespace);
    waiting.add({"b", "x"});
    waiting.add({"b", "x"});
    waiting.add({"c", "x"});
    waiting.remove({"c", "x"});
    waiting.remove({"d", "x"});
    CHECK(waiting.size() == WaitingObjects::kMostOfNamespace + 1);
    CHECK(waiting.take()->namespace_ == "a");
    CHECK(waiting.take()->namespace_ == "b");
    CHECK(waiting.take()->namespace_ == "a");
    while (waiting.take()) continue;
    CHECK(waiting.size() == 0);
    for (int i = 0; i < 20'000; ++i) waiting.add({std::to_string(i), "x"});
    CHECK(waiting.size() == WaitingObjects::kMost);
}
