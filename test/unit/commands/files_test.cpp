// Tests commands that need no cluster, and the redaction of their output.
#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>

#include "api/core.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/yaml.hpp"
#include "base/file.hpp"
#include "operator/commands/check.hpp"
#include "operator/commands/commands.hpp"
#include "operator/commands/completion.hpp"
#include "operator/commands/host_add.hpp"
#include "operator/commands/manual.hpp"
#include "operator/commands/operator_pods.hpp"
#include "operator/commands/redaction.hpp"
#include "operator/commands/support_bundle.hpp"
#include "operator/commands/tar.hpp"
#include "test/support/catch.hpp"
#include "test/support/fake_api_server.hpp"

using namespace kubenodesmith;
using Catch::Contains;

namespace {

using Strings = std::vector<std::string>;

// Program has the program's commands, as completion and manual pages see them.
struct Program {
    Program() {
        app.name("kubenodesmith");
        for (const auto& group : all_commands({"1.2.3", "abc"}))
            for (const auto& add : group.commands) {
                const auto known = app.get_subcommands([](const CLI::App*) { return true; }).size();
                add(app, options, chosen);
                const auto all = app.get_subcommands([](CLI::App*) { return true; });
                for (auto i = known; i < all.size(); ++i) all[i]->group(group.heading);
            }
    }
    CLI::App app{"A test"};
    ClientOptions options;
    Command chosen;
};

std::vector<api::ObjectKey> no_objects(ObjectKind, const ClientOptions&) {
    return {};
}

}  // namespace

TEST_CASE("a range in brackets, or from one address to another, is each of its elements") {
    CHECK(expand_range("rack1-[08-10]") == Strings{"rack1-08", "rack1-09", "rack1-10"});
    CHECK(expand_range("https://10.0.0.[17-18]/bmc") ==
          Strings{"https://10.0.0.17/bmc", "https://10.0.0.18/bmc"});
    CHECK(expand_range("10.0.0.254-10.0.0.255") == Strings{"10.0.0.254", "10.0.0.255"});
    CHECK(expand_range("one-host") == Strings{"one-host"});
    CHECK(expand_range("") == Strings{""});
    const auto* wrong = GENERATE("a[1-", "a]1-2[", "a[1]", "a[2-1]", "a[x-y]", "a[1-2][3-4]", "a[1-100000]",
                                 "a[1--2]", "10.0.0.5-10.0.1.6", "a[1-99999999999999999999]");
    CHECK_THROWS_WITH(expand_range(wrong), Contains("is not a range"));
}

namespace {

OperatorDeployment deployed(const std::string& name, const std::string& args) {
    return deployment_of(boost::json::parse(R"({"metadata": {"namespace": "ops", "name": ")" + name +
                                            R"("}, "spec": {"template": {"spec": {"containers": [{"args": )" +
                                            args + "}]}}}}"));
}

}  // namespace

TEST_CASE("the flags of an operator's Deployment say where its Lease is, and whether there is one") {
    const auto usual = deployed("a", R"(["run", "--leader-elect"])");
    CHECK(usual.elects_leader);
    CHECK(usual.lease.str() == "ops/12c57729.kubenodesmith.parawell.cloud");
    const auto other =
        deployed("a", R"(["run", "--leader-election-id=mine", "--leader-election-namespace", "leases"])");
    CHECK(other.lease.str() == "leases/mine");
    CHECK_FALSE(deployed("a", R"(["run", "--leader-elect=false"])").elects_leader);
    const auto newer = deployed("a", R"(["run", "--leader-election-id=mine", "--of-a-newer-version=1"])");
    CHECK(newer.lease.name == "mine");
    CHECK(deployed("a", "null").lease == usual.lease);
}

TEST_CASE("operators are in each other's way only if they manage the same namespace") {
    const auto one = deployed("one", R"(["run", "--namespaces=lab,shop"])");
    CHECK(overlap(one, deployed("other", R"(["run", "--namespaces=shop"])")));
    CHECK(overlap(one, deployed("other", R"(["run", "--namespaces=*"])")));
    CHECK_FALSE(overlap(one, deployed("other", R"(["run", "--namespaces=bench"])")));
    CHECK_FALSE(overlap(one, deployed("other", R"(["run"])")));  // only the one in which it runs
}

TEST_CASE("an archive is one that tar reads") {
    Tar tar(api::Time::parse("2026-03-01T12:00:00Z"));
    tar.add("folder/a.txt", "hello\n");
    tar.add("folder/b.txt", std::string(513, 'x'));
    const auto archive = tar.str();
    CHECK(archive.size() == 512 * (1 + 1 + 1 + 2 + 2));
    CHECK(archive.substr(257, 5) == "ustar");
    CHECK(archive.substr(124, 11) == "00000000006");
    CHECK_THROWS_WITH(tar.add(std::string(101, 'a'), ""), Contains("too long"));
}

TEST_CASE("what may be secret in an object is left out") {
    auto object = boost::json::parse(R"({
        "kind": "NodeSmithProvider",
        "metadata": {"name": "pve", "managedFields": [{"manager": "x"}],
                     "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "S3CRET",
                                     "kubenodesmith.io/adopt": "true"}},
        "spec": {"credentialsSecretRef": {"name": "token", "namespace": "ours"},
                 "additionalSettings": {"anything": "S3CRET"},
                 "apiToken": "S3CRET", "userPassword": "S3CRET",
                 "proxmox": {"endpoint": "https://root:S3CRET@pve:8006/api2/json",
                             "vmOptions": [{"name": "cipassword", "value": "S3CRET"}]}},
        "status": {"conditions": [{"message": "POST https://u:S3CRET@pve/x failed"}]}})");
    redact(object);
    const auto text = boost::json::serialize(object);
    CHECK_THAT(text, !Contains("S3CRET") && !Contains("managedFields"));
    CHECK_THAT(text, Contains("\"name\":\"token\"") && Contains("https://...@pve:8006/api2/json") &&
                         Contains("kubenodesmith.io/adopt") && Contains("cipassword"));
}

TEST_CASE("of a pod only what concerns its place is kept") {
    const auto pod = boost::json::parse(R"({
        "metadata": {"name": "web", "namespace": "shop", "annotations": {"a": "S3CRET"}},
        "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "c", "args": ["S3CRET"],
                 "env": [{"name": "P", "value": "S3CRET"}], "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Pending"}})");
    const auto text = boost::json::serialize(excerpt_of_pod(pod));
    CHECK_THAT(text, !Contains("S3CRET") && Contains("\"disk\":\"ssd\"") && Contains("\"cpu\":\"1\"") &&
                         Contains("Pending"));
}

TEST_CASE("a support bundle holds our objects and no Secret") {
    std::unique_ptr<fake::ApiServer> server, same;
    const auto connect_to = [](std::unique_ptr<fake::ApiServer>& target) {
        return [&target](boost::asio::any_io_executor executor, base::Clock& clock) {
            target = std::make_unique<fake::ApiServer>(std::move(executor), clock);
            api::Secret secret;
            secret.metadata.namespace_ = "ours";
            secret.metadata.name = "token";
            secret.data["PROXMOX_SECRET"] = api::Bytes{"S3CRET-DATA"};
            target->put(secret);
            api::v1alpha1::NodeSmithPool pool;
            pool.metadata.namespace_ = "ours";
            pool.metadata.name = "tools";
            pool.spec.providerRef = "shed";
            target->put(pool);
            return target->connect();
        };
    };
    ClusterSession session(connect_to(server));
    const auto view = ClusterSnapshot::live(connect_to(same), {});
    const auto archive = make_support_bundle(session, *view, "1.2.3");
    CHECK_THAT(archive, Contains("kubenodesmith-support/nodesmithpools.yaml") && Contains("\"tools\"") &&
                            Contains("kubenodesmith-support/status.txt"));
    CHECK_THAT(archive, !Contains("S3CRET-DATA") && !Contains("UzNDUkVULURBVEE"));
}

TEST_CASE("kinds and the names of objects are completed") {
    const Program program;
    ClientOptions asked_with;
    std::optional<ObjectKind> asked_for;
    const auto found = [&](const Strings& words) {
        return candidates_for(program.app, words, [&](ObjectKind kind, const ClientOptions& options) {
            asked_with = options;
            asked_for = kind;
            return std::vector<api::ObjectKey>{{"ours", "web-1"}, {"ours", "db-1"}, {"theirs", "db-1"}};
        });
    };
    CHECK(found({"explain", "po"}) == "pod\t\npool\t\n:4\n");
    CHECK_FALSE(asked_for);
    CHECK(found({"explain", "nspools/"}) ==
          "nspools/web-1\t\nnspools/ours/db-1\t\nnspools/theirs/db-1\t\n:4\n");
    CHECK(asked_for == ObjectKind::pool);
    CHECK(found({"explain", "--context=lab", "-n", "ours", "claim", "w"}) == "web-1\t\n:4\n");
    CHECK(asked_for == ObjectKind::claim);
    CHECK(asked_with.cluster.context == "lab");
    CHECK(asked_with.namespace_ == "ours");
    CHECK(found({"replace", "w"}) == "web-1\t\n:4\n");
    CHECK(found({"pause", "w"}) == "web-1\t\n:4\n");
    CHECK(asked_for == ObjectKind::control_plane);
    CHECK(found({"explain", "claim", "web-1", ""}) == ":4\n");
    CHECK(found({"explain", "nothing/"}) == ":4\n");
}

TEST_CASE("words are completed by commands, flags and the words that a flag takes") {
    const Program program;
    const auto found = [&](const Strings& words) { return candidates_for(program.app, words, no_objects); };
    CHECK_THAT(found({""}), Contains("plan\t") && Contains("explain\t") && !Contains("__complete") &&
                                Catch::EndsWith(":4\n"));
    CHECK_THAT(found({"pl"}), Catch::StartsWith("plan\t") && !Contains("explain"));
    CHECK_THAT(found({"plan", "--req"}), Catch::StartsWith("--request-timeout\t"));
    CHECK(found({"plan", "-o", ""}) == "table\t\njson\t\nyaml\t\n:4\n");
    CHECK(found({"plan", "-f", ""}) == ":0\n");
    CHECK_THAT(found({"host", ""}), Catch::StartsWith("add\t"));
    CHECK(found({"completion", "b"}) == "bash\t\n:4\n");
    CHECK(found({}).find("plan\t") != std::string::npos);
}

TEST_CASE("each command has a manual page with its flags") {
    const Program program;
    const auto pages = manual_pages(program.app);
    for (const auto* name :
         {"kubenodesmith", "kubenodesmith-plan", "kubenodesmith-host-add", "kubenodesmith-status"})
        CHECK(pages.contains(name));
    CHECK_FALSE(pages.contains("kubenodesmith-__complete"));
    const auto& plan = pages.at("kubenodesmith-plan");
    CHECK_THAT(plan, Catch::StartsWith(".TH KUBENODESMITH\\-PLAN 1") &&
                         Contains(".SH NAME\nkubenodesmith\\-plan \\- Show") &&
                         Contains("\\fB\\-o\\fR, \\fB\\-\\-output\\fR") && Contains(".SH NOTES\nExit code"));
}

TEST_CASE("check asks for the rights that the manifests give the operator, and no others") {
    std::set<NeededRight> given;
    const auto text = base::read_file(KUBENODESMITH_SOURCE "/config/rbac/role.yaml");
    for (const auto& document : api::parse_yaml_documents(text)) {
        if (document.at("kind").as_string() != "ClusterRole") continue;
        if (document.at("metadata").at("name").as_string() != "kubenodesmith") continue;
        for (const auto& rule : document.at("rules").as_array()) {
            if (rule.as_object().contains("resourceNames") || rule.as_object().contains("nonResourceURLs"))
                continue;
            for (const auto& group : rule.at("apiGroups").as_array())
                for (const auto& resource : rule.at("resources").as_array())
                    for (const auto& verb : rule.at("verbs").as_array())
                        given.insert({std::string(verb.as_string()), std::string(group.as_string()),
                                      std::string(resource.as_string())});
        }
    }
    const auto& asked = rights_of_operator();
    CHECK(std::set(asked.begin(), asked.end()) == given);
}
