#include "operator/status_page/page.hpp"

#include "operator/status_page/html.hpp"
#include "test/support/catch.hpp"
#include "test/support/virtual_clock.hpp"
#include "test/unit/plan/picture.hpp"

using namespace kubenodesmith;
using namespace test;
using Catch::Contains;

namespace {

class Discard final : public kube::EventRecorder {
public:
    void event(const kube::EventTarget&, kube::EventType, std::string, std::string) override { ++passed_on; }
    int passed_on = 0;
};

struct Scene {
    explicit Scene(const std::vector<std::string>& texts, controllers::ManagedNamespaces managed = {})
        : view(picture(texts, std::move(managed))), log(events, view->clock()) {}

    std::string page(bool leading = true) {
        auto report = view->report();
        report.stays = stays;
        report.leading = leading;
        return status_page::page(report, log, "kubenodesmith 1.2.3");
    }

    std::unique_ptr<ClusterSnapshot> view;
    Discard events;
    controllers::disruption::Stays stays;
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

std::size_t count(const std::string& page, const std::string& part) {
    std::size_t found = 0;
    for (auto at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("text of the cluster never becomes markup") {
    CHECK(status_page::text("<b a=\"x\" c='y'>&\n").str() == "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp; ");

    const std::string script = "<script>alert('x')</script>\\\"><img src=x onerror=y>";
    const std::string pod =
        "{apiVersion: v1, kind: Pod, metadata: {name: saw, namespace: shop, uid: p}, spec: {}, "
        "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: "
        "Unschedulable, message: \"" +
        script + "\"}]}}";
    Scene scene({std::string(kPool), pod,
                 claim("tools-bbbbb", "creationTimestamp: 2026-03-01T11:59:00Z",
                       "phase: Launching, conditions: [" +
                           condition("Launched", "False", "11:59:00", script) + "]")});
    scene.stays["<i>node</i>"] = {controllers::disruption::Kind::Empty,
                                  {"<i>", "<i>because</i>", std::nullopt}};
    scene.log.event({"v1", "Pod", "<i>ns", "<i>pod", ""}, kube::EventType::warning, "<i>", "<i>so</i>");
    const auto page = scene.page();
    CHECK_THAT(page, !Contains("<script") && !Contains("<img") && !Contains("<i>"));
    CHECK_THAT(page, Contains("&lt;script&gt;alert(&#39;x&#39;)") && Contains("&lt;i&gt;because"));
}

TEST_CASE("a pool is shown against its limits") {
    std::string full(kPool);
    full.insert(
        full.find("---\napiVersion: kubenodesmith.parawell.cloud/v1alpha1\nkind: NodeSmithControlPlane"),
        "status: {reserved: {nodes: 2, cpuCores: 8, memoryMiB: 16384}, readyNodes: 1, pendingNodes: 1,\n"
        "  conditions: [{type: Ready, status: \"False\", reason: ProviderMissing, message: no shed}]}\n");
    const auto page = Scene({full}).page();
    CHECK_THAT(page, Contains("ours/tools") && Contains("2 of 3") && Contains("width=\"100\" height=\"8\""));
    CHECK_THAT(page, Contains("1 ready<br>1 coming") && Contains("16Gi<br><span class=\"soft\">no limit"));
    CHECK_THAT(page, Contains("ProviderMissing</span><br>no shed"));
}

TEST_CASE("a host shows our machines, what others have committed, and what is free") {
    const auto page = Scene({std::string(kPool), node_in_service()}).page();
    CHECK_THAT(page, Contains("ford<br><span class=\"soft\">ours/shed") &&
                         Contains("memory: 40Gi to give, the host has 64Gi"));
    CHECK_THAT(page, Contains("<title>tools-aaaaa 4c/8Gi</title>"));
    // 8 of the 24 GiB committed are ours: the widths are 420 * 8 / 64 and 420 * 24 / 64.
    CHECK_THAT(page, Contains("<rect class=\"ours\" x=\"0\" width=\"52\""));
    CHECK_THAT(page, Contains("<rect class=\"other\" x=\"52\" width=\"105\""));
}

TEST_CASE("a bare-metal host shows its phase, its power and its claim") {
    const auto page = Scene({"{apiVersion: kubenodesmith.parawell.cloud/v1alpha1, kind: NodeSmithHost, "
                             "metadata: {name: anvil, "
                             "namespace: ours}, spec: {providerRef: racks, bmc: {address: \"https://bmc\"}}, "
                             "status: {phase: InUse, "
                             "powerState: \"On\", claimRef: {name: tools-aaaaa, uid: u}, capacity: "
                             "{cpuCores: 8, memoryMiB: 1536}, "
                             "conditions: [{type: Ready, status: \"True\"}]}}"})
                          .page();
    CHECK_THAT(page, Contains("ours/anvil") && Contains("<td>InUse</td><td>On</td><td>8 cores, 1536Mi</td>"
                                                        "<td>tools-aaaaa</td>"));
}

TEST_CASE("a claim is a timeline of its phases, and those that wait say for what") {
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
    const auto page = Scene({std::string(kPool), serving, coming, leaving}).page();
    CHECK_THAT(page, Contains("launch 10 s, registration 1 min, initialization 5 s, in service 28 min 45 s"));
    CHECK_THAT(page,
               Contains("launch 20 s, registration 40 s</span></td><td class=\"free\">RegisteredReason: "
                        "waiting for the machine to join"));
    CHECK_THAT(page, Contains("leaving 2 min"));
    // The bar covers half an hour of the hour: 480 pixels wide, of which launch ends after 10 s.
    CHECK_THAT(page, Contains("<rect class=\"launching\" x=\"240\" width=\"1\""));
    CHECK(page.find("tools-bbbbb") < page.rfind("tools-aaaaa"));
}

TEST_CASE("decisions are listed with their reasons, the latest first and repetitions counted") {
    Scene scene({std::string(kPool)});
    const kube::EventTarget pool{"v1", "NodeSmithPool", "ours", "tools", ""};
    scene.log.event(pool, kube::EventType::normal, "Bought", "bought tools-aaaaa for shop/saw");
    scene.log.event(pool, kube::EventType::warning, "LimitExceeded", "no room for one more");
    scene.log.event(pool, kube::EventType::normal, "Bought", "bought tools-aaaaa for shop/saw");
    const auto page = scene.page();
    CHECK_THAT(page, Contains("NodeSmithPool ours/tools") && Contains("(2 times)"));
    CHECK(page.find("bought tools-aaaaa") < page.find("no room for one more"));
    CHECK(scene.events.passed_on == 3);
    for (int i = 0; i < 1000; ++i) {
        scene.log.event(pool, kube::EventType::normal, "Bought", std::to_string(i) + std::string(5000, 'x'));
    }
    CHECK(scene.log.decisions().size() == 100);
    CHECK(scene.page().size() < 200'000);
}

TEST_CASE("who does not lead says so, and an empty cluster has an empty page") {
    CHECK_THAT(Scene({std::string(kPool)}).page(false), Contains("this process does not lead"));
    const auto page = Scene({}).page();
    CHECK_THAT(page, Contains("There is no NodeSmithPool") && Contains("There is no NodeSmithClaim") &&
                         Contains("No provider has reported a host") && Contains("None since it started"));
}

TEST_CASE("objects of namespaces that are not managed are not on the page, which says of whose it is") {
    const controllers::ManagedNamespaces lab({"lab"});
    const auto page = Scene({std::string(kPool), node_in_service()}, lab).page();
    CHECK_THAT(page, !Contains("ours/tools") && !Contains("tools-aaaaa") && !Contains("ours/shed"));
    CHECK_THAT(
        page, Contains("of the managed namespaces are shown: lab.") && Contains("There is no NodeSmithPool"));
    CHECK_THAT(Scene({std::string(kPool)}).page(), !Contains("managed"));
}

TEST_CASE("the page stays small with a thousand claims, and shows those in trouble") {
    std::vector<std::string> texts{std::string(kPool)};
    for (int i = 0; i < 1000; ++i) {
        const auto phase = i == 500 ? "Failed" : "Ready";
        texts.push_back(claim(
            "tools-" + std::to_string(i), "creationTimestamp: 2026-03-01T11:30:00Z",
            "phase: " + std::string(phase) + ", conditions: [" + condition("Launched", "True", "11:30:10") +
                ", " + condition("Failed", i == 500 ? "True" : "False", "11:40:00", std::string(5000, 'x')) +
                "]"));
    }
    const auto page = Scene(texts).page();
    CHECK(page.size() < 256 * 1024);
    CHECK_THAT(page, Contains("and 850 more") && Contains("FailedReason: xxx"));
    CHECK(count(page, "<title>launch 10 s</title>") == 150);
}
