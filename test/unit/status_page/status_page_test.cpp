#include <boost/json/serialize.hpp>

#include "base/text.hpp"
#include "operator/status_page/document.hpp"
#include "operator/status_page/page.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using namespace std::chrono_literals;
using Catch::Contains;
namespace json = boost::json;

namespace {

class Discard final : public kube::EventRecorder {
public:
    void event(const kube::EventTarget&, kube::EventType, std::string, std::string) override { ++passed_on; }
    int passed_on = 0;
};

struct Scene {
    explicit Scene(const std::vector<std::string>& texts, controllers::ManagedNamespaces managed = {})
        : view(picture(texts, std::move(managed))), report(view->report()), log(events, view->clock()) {
        report.leading = true;
        report.synced = true;
    }

    json::object document() const { return status_page::document_of(known(&log)); }
    json::object document_of_command() const { return status_page::document_of(known(nullptr)); }
    status_page::Knowledge known(const status_page::DecisionLog* of_operator) const {
        return {.report = report, .history = history, .program = "kubenodesmith 1.2.3", .log = of_operator};
    }

    std::unique_ptr<ClusterSnapshot> view;
    report::ClusterReport report;
    report::History history;
    Discard events;
    status_page::DecisionLog log;
};

std::string claim(const std::string& name, const std::string& metadata, const std::string& status) {
    return "{apiVersion: kubenodesmith.parawell.cloud/v1alpha1, kind: NodeSmithClaim, metadata: {name: " +
           name + ", namespace: ours, uid: " + name + ", " + metadata +
           "}, spec: {poolRef: tools, requirements: {cpuCores: 4, memoryMiB: 8192}}, status: {size: 4c/8Gi, "
           "providerRef: shed, host: ford, " +
           status + "}}";
}

std::string condition(const std::string& type, const std::string& status, const std::string& since,
                      const std::string& message = "") {
    return "{type: " + type + ", status: \"" + status + "\", reason: " + type + "Reason, message: \"" +
           message + "\", lastTransitionTime: 2026-03-01T" + since + "Z}";
}

std::string waiting_pod(const std::string& name, const std::string& message) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: shop, uid: " + name +
           "}, spec: {}, status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", "
           "reason: "
           "Unschedulable, message: \"" +
           message + "\"}]}}";
}

json::object only(const json::object& document, const char* kind) {
    REQUIRE(document.at(kind).as_array().size() == 1);
    return document.at(kind).as_array()[0].as_object();
}

std::vector<std::string> notes(const json::object& document) {
    std::vector<std::string> all;
    for (const auto& note : document.at("notes").as_array()) all.emplace_back(note.as_string());
    return all;
}

base::HttpResponse asked_for(const std::string& target) {
    base::HttpRequest request;
    request.target = target;
    return status_page::answer(request, [] { return std::string("{}"); });
}

}  // namespace

TEST_CASE("the document has a version, and says who made it and when") {
    const auto document = Scene({std::string(kPool)}).document();
    CHECK(document.at("apiVersion").as_string() == "cli.kubenodesmith.parawell.cloud/v1alpha1");
    CHECK(document.at("kind").as_string() == "StatusPage");
    CHECK(document.at("program").as_string() == "kubenodesmith 1.2.3");
    CHECK(document.at("time").as_string() == "2026-03-01T12:00:00Z");
    CHECK(document.at("leading").as_bool());
    CHECK(document.at("history").at("keptBy").as_string() == "operator");
}

TEST_CASE("a document of the command has neither decisions nor nodes that are kept, as it knows none") {
    const auto document = Scene({std::string(kPool)}).document_of_command();
    CHECK(document.at("leading").is_null());
    CHECK(document.at("decisions").is_null());
    CHECK(document.at("stays").is_null());
    CHECK(document.at("history").at("keptBy").as_string() == "command");
}

TEST_CASE("pods that wait for one cause are one trouble with their number") {
    std::vector<std::string> texts{std::string(kPool)};
    for (int i = 0; i < 60; ++i) texts.push_back(waiting_pod("saw-" + std::to_string(i), "no cpu"));
    texts.push_back(waiting_pod("axe", "no memory"));
    const auto document = Scene(texts).document();
    std::map<std::string, std::int64_t> pods;
    for (const auto& trouble : document.at("troubles").as_array())
        if (trouble.at("kind").as_string() == "pod")
            pods[std::string(trouble.at("message").as_string())] =
                trouble.at("count").to_number<std::int64_t>();
    CHECK(pods == std::map<std::string, std::int64_t>{{"no cpu", 60}, {"no memory", 1}});
    CHECK(document.at("counts").at("waitingPods").to_number<int>() == 61);
}

TEST_CASE("a pool has its limits, its use and its state") {
    std::string full(kPool);
    full.insert(
        full.find("---\napiVersion: kubenodesmith.parawell.cloud/v1alpha1\nkind: NodeSmithControlPlane"),
        "status: {reserved: {nodes: 2, cpuCores: 8, memoryMiB: 16384}, readyNodes: 1, pendingNodes: 1,\n"
        "  consecutiveFailures: 2, nextRetryTime: 2026-03-01T12:05:00Z,\n"
        "  conditions: [{type: Ready, status: \"False\", reason: ProviderMissing, message: no shed}]}\n");
    const auto pool = only(Scene({full}).document(), "pools");
    CHECK(pool.at("limits").at("maxNodes").as_int64() == 3);
    CHECK(pool.at("used").at("nodes").as_int64() == 2);
    CHECK(pool.at("reason").as_string() == "ProviderMissing");
    CHECK(pool.at("message").as_string() == "no shed");
    CHECK(pool.at("nextRetry").as_string() == "2026-03-01T12:05:00Z");
    CHECK(pool.at("failures").to_number<int>() == 2);
}

TEST_CASE("a host lists the machines of claims on it") {
    const auto document = Scene({std::string(kPool), node_in_service()}).document();
    const auto host = only(only(document, "providers"), "hosts");
    CHECK(host.at("freeMemoryMiB").as_int64() == 40960);
    const auto machine = only(host, "machines");
    CHECK(machine.at("claim").as_string() == "tools-aaaaa");
    CHECK(machine.at("memoryMiB").as_int64() == 8192);
    CHECK(machine.at("phase").as_string() == "Ready");
}

TEST_CASE("a bare-metal host has its phase, its power and its claim") {
    const auto document =
        Scene(
            {"{apiVersion: kubenodesmith.parawell.cloud/v1alpha1, kind: NodeSmithHost, metadata: {name: "
             "anvil, "
             "namespace: ours}, spec: {providerRef: racks, bmc: {address: \"https://bmc\"}}, status: {phase: "
             "InUse, powerState: \"On\", claimRef: {name: tools-aaaaa, uid: u}, capacity: {cpuCores: 8, "
             "memoryMiB: 1536}, conditions: [{type: Ready, status: \"True\"}]}}"})
            .document();
    const auto host = only(document, "hosts");
    CHECK(host.at("phase").as_string() == "InUse");
    CHECK(host.at("power").as_string() == "On");
    CHECK(host.at("claim").as_string() == "tools-aaaaa");
    CHECK(host.at("cpuCores").as_int64() == 8);
}

TEST_CASE("a claim has the stages that began, and says what it waits for") {
    const auto serving = claim("tools-aaaaa", "creationTimestamp: 2026-03-01T11:30:00Z",
                               "phase: Ready, conditions: [" + condition("Launched", "True", "11:30:10") +
                                   ", " + condition("Registered", "True", "11:31:10") + ", " +
                                   condition("Initialized", "True", "11:31:15") + "]");
    const auto coming =
        claim("tools-bbbbb", "creationTimestamp: 2026-03-01T11:59:00Z",
              "phase: Registering, conditions: [" + condition("Launched", "True", "11:59:20") + ", " +
                  condition("Registered", "False", "11:59:20", "waiting for the machine to join") + "]");
    const auto leaving = claim(
        "tools-ccccc", "creationTimestamp: 2026-02-01T11:00:00Z, deletionTimestamp: 2026-03-01T11:58:00Z",
        "phase: Terminating, conditions: [" + condition("Launched", "True", "11:00:00") + "]");
    const auto claims =
        Scene({std::string(kPool), serving, coming, leaving}).document().at("claims").as_array();
    REQUIRE(claims.size() == 3);
    CHECK(claims[0].at("name").as_string() == "tools-bbbbb");
    CHECK(json::serialize(claims[0].at("stages")) ==
          R"([{"name":"Launch","begin":"2026-03-01T11:59:00Z","end":"2026-03-01T11:59:20Z"},)"
          R"({"name":"Register","begin":"2026-03-01T11:59:20Z"}])");
    CHECK(claims[0].at("waitsFor").at("message").as_string() == "waiting for the machine to join");
    CHECK(claims[1].at("leavingSince").as_string() == "2026-03-01T11:58:00Z");
    CHECK(claims[1].at("stages").as_array().back().at("end").as_string() == "2026-03-01T11:58:00Z");
    CHECK(claims[2].at("name").as_string() == "tools-aaaaa");
    CHECK(claims[2].at("stages").as_array().size() == 4);
    CHECK_FALSE(claims[2].as_object().contains("waitsFor"));
}

TEST_CASE("decisions are listed with their reasons, the latest first and repetitions counted") {
    Scene scene({std::string(kPool)});
    const kube::EventTarget pool{"v1", "NodeSmithPool", "ours", "tools", ""};
    scene.log.event(pool, kube::EventType::normal, "Created", "created tools-aaaaa for shop/saw");
    scene.log.event(pool, kube::EventType::warning, "LimitExceeded", "no room for one more");
    scene.log.event(pool, kube::EventType::normal, "Created", "created tools-aaaaa for shop/saw");
    const auto decisions = scene.document().at("decisions").as_array();
    REQUIRE(decisions.size() == 2);
    CHECK(decisions[0].at("about").as_string() == "NodeSmithPool ours/tools");
    CHECK(decisions[0].at("count").as_int64() == 2);
    CHECK(decisions[1].at("warning").as_bool());
    CHECK(scene.events.passed_on == 3);
    for (int i = 0; i < 1000; ++i)
        scene.log.event(pool, kube::EventType::normal, "Created", std::to_string(i) + std::string(5000, 'x'));
    CHECK(scene.log.decisions().size() == 100);
}

TEST_CASE("the notes say who does not lead, and that there is no control plane") {
    Scene scene({});
    scene.report.leading = false;
    const auto found = base::joined(notes(scene.document()), "\n");
    CHECK_THAT(found, Contains("does not lead") && Contains("There is no NodeSmithControlPlane"));
    CHECK_THAT(base::joined(notes(scene.document_of_command())), !Contains("lead"));
    CHECK(notes(Scene({std::string(kPool)}).document()).empty());
}

TEST_CASE("objects of namespaces that are not managed are not in the document, which names those that are") {
    const auto document =
        Scene({std::string(kPool), node_in_service()}, controllers::ManagedNamespaces({"lab"})).document();
    CHECK_THAT(json::serialize(document), !Contains("tools") && !Contains("shed"));
    CHECK(document.at("managedNamespaces").as_string() == "lab");
    CHECK(Scene({std::string(kPool)}).document().at("managedNamespaces").as_string().empty());
}

TEST_CASE("the document stays small with thousands of claims, and shows those in trouble") {
    std::vector<std::string> texts{std::string(kPool)};
    for (int i = 0; i < 2000; ++i) {
        const auto phase = i == 500 ? "Failed" : "Ready";
        texts.push_back(claim(
            "tools-" + std::to_string(i), "creationTimestamp: 2026-03-01T11:30:00Z",
            "phase: " + std::string(phase) + ", conditions: [" +
                condition("Failed", i == 500 ? "True" : "False", "11:40:00", std::string(5000, 'x')) + "]"));
    }
    const auto document = Scene(texts).document();
    const auto& claims = document.at("claims").as_array();
    CHECK(claims.size() == 1000);
    CHECK(claims[0].at("name").as_string() == "tools-500");
    CHECK(document.at("counts").at("claims").to_number<int>() == 2000);
    CHECK(json::serialize(document).size() < 1024 * 1024);
}

TEST_CASE("the history has a day of samples, one a minute") {
    const Scene scene({std::string(kPool), node_in_service(), waiting_pod("saw", "no cpu")});
    auto report = scene.report;
    report::History history;
    CHECK(history.is_due(report.time));
    for (int minute = 0; minute < 1500; ++minute) {
        history.add(report);
        CHECK_FALSE(history.is_due(report.time));
        report.time.at += 60s;
        CHECK(history.is_due(report.time));
    }
    const auto& samples = history.samples();
    REQUIRE(samples.size() == 1440);
    CHECK(samples.back().nodes == 1);
    CHECK(samples.back().waiting_pods == 1);
    CHECK(samples.back().price == 24);  // four CPUs as 4 GiB each, and 8 GiB
    CHECK(samples.back().time.at - samples.front().time.at == 1439min);
    report.time = samples.front().time;  // the clock was set back by a day
    history.add(report);
    CHECK(history.samples().size() == 1);
}

TEST_CASE("the page may run its own script only, and no other site may embed it") {
    const auto page = asked_for("/status");
    CHECK(page.headers.find("Content-Type") == "text/html; charset=utf-8");
    const auto policy = std::string(page.headers.find("Content-Security-Policy").value());
    CHECK_THAT(policy, Contains("default-src 'none'; script-src 'sha256-") &&
                           Contains("style-src 'sha256-") && Contains("frame-ancestors 'none'") &&
                           !Contains("unsafe"));
    CHECK_THAT(page.body, Contains("<style>") && Contains("<script>") && !Contains("@STYLE@") &&
                              !Contains("@SCRIPT@") && !Contains("innerHTML"));
    const auto document = asked_for("/status?format=json");
    CHECK(document.headers.find("Content-Type") == "application/json");
    CHECK(document.headers.find("Cache-Control") == "no-store");
    CHECK(document.body == "{}");
}
