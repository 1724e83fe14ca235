#include "operator/options/options.hpp"

#include <vector>

#include "controllers/cache/managed_namespaces.hpp"
#include "migrate/migrate_command.hpp"
#include "operator/explain/explain_command.hpp"
#include "operator/plan/plan_command.hpp"
#include "test/support/catch.hpp"

using namespace kubenodesmith;

namespace {

CommandLine parsed(std::vector<const char*> arguments) {
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data(),
                              {migrate::add_command, add_plan_command, add_explain_command});
}

bool runs(const CommandLine& line) {
    return !line.exit && !line.command;
}

}  // namespace

TEST_CASE("without arguments the program says what it can do") {
    const auto line = parsed({"/usr/bin/kubenodesmith"});
    REQUIRE(line.exit);
    CHECK(line.exit->code == 0);
    for (const auto* command : {"run", "plan", "explain", "migrate", "version"})
        CHECK_THAT(line.exit->text, Catch::Contains(command));
}

TEST_CASE("as a plugin of kubectl it names itself as it is called") {
    CHECK_THAT(parsed({"/home/ops/bin/kubectl-nodesmith"}).exit->text, Catch::Contains("kubectl nodesmith"));
    CHECK_THAT(parsed({"kubenodesmith"}).exit->text, !Catch::Contains("kubectl nodesmith"));
}

TEST_CASE("which cluster is no order to run the operator there") {
    const auto line = parsed({"kubectl-nodesmith", "--kubeconfig", "/home/ops/config", "--context", "home"});
    REQUIRE(line.exit);
    CHECK(line.exit->code == 0);
}

TEST_CASE("run starts the operator") {
    CHECK(runs(parsed({"kubenodesmith", "run"})));
    const auto line = parsed({"kubenodesmith", "run", "--context", "home", "--log-format=json"});
    CHECK(runs(line));
    CHECK(line.options.cluster.context == "home");
    CHECK(line.options.log_format == base::log::Format::json);
}

TEST_CASE("deployments that give flags only start the operator as before") {
    CHECK(runs(parsed({"kubenodesmith", "--leader-elect", "--health-probe-bind-address=:8081"})));
    CHECK(runs(parsed({"kubenodesmith", "--zap-log-level=debug"})));
}

TEST_CASE("leader election is on unless it is switched off") {
    CHECK(parsed({"kubenodesmith", "run"}).options.leader_elect);
    CHECK(parsed({"kubenodesmith", "run", "--leader-elect"}).options.leader_elect);
    CHECK_FALSE(parsed({"kubenodesmith", "run", "--leader-elect=false"}).options.leader_elect);
}

TEST_CASE("an unknown flag or command is refused") {
    CHECK(parsed({"kubenodesmith", "run", "--leader-elct"}).exit->code == 2);
    CHECK(parsed({"kubenodesmith", "walk"}).exit->code == 2);
}

TEST_CASE("the managed namespaces are those that are named, else the pod's own, else all") {
    kube::ClusterConfig inside, outside;
    inside.source = kube::ClusterConfig::kInCluster;
    inside.namespace_ = "kubenodesmith-system";
    outside.source = "/home/ops/config";
    outside.namespace_ = "default";
    const auto managed = [](const CommandLine& line, const kube::ClusterConfig& config) {
        REQUIRE_FALSE(line.exit);
        return controllers::managed_namespaces_of(line.options.namespaces, config).str();
    };
    const auto plain = parsed({"kubenodesmith", "run"});
    CHECK(managed(plain, inside) == "kubenodesmith-system");
    CHECK(managed(plain, outside) == "*");
    const auto two = parsed({"kubenodesmith", "run", "--namespaces=lab,kubenodesmith"});
    CHECK(managed(two, inside) == "kubenodesmith, lab");
    CHECK(managed(two, outside) == "kubenodesmith, lab");
    const auto repeated = parsed({"kubenodesmith", "run", "--namespaces", "a", "--namespaces=b"});
    CHECK(managed(repeated, inside) == "a, b");
    CHECK(managed(parsed({"kubenodesmith", "run", "--namespaces=*"}), inside) == "*");
    for (const auto& line : {parsed({"kubenodesmith", "plan", "--namespaces=lab"}),
                             parsed({"kubenodesmith", "explain", "pool", "tools", "--namespaces=lab"})}) {
        CHECK(line.command);
        CHECK(managed(line, outside) == "lab");
    }
}

TEST_CASE("a pod that does not know its namespace has to be told what it manages, rather than manage all") {
    kube::ClusterConfig inside;
    inside.source = kube::ClusterConfig::kInCluster;
    CHECK_THROWS_WITH(controllers::managed_namespaces_of({}, inside),
                      Catch::Contains("--namespaces") && Catch::Contains("* for all"));
    CHECK(controllers::managed_namespaces_of({"*"}, inside).all());
}

TEST_CASE("a namespace that cannot be is refused by the name of the flag") {
    const auto* command = GENERATE("run", "plan");
    for (const auto* flag : {"--namespaces=", "--namespaces=Lab", "--namespaces=team-*"}) {
        const auto line = parsed({"kubenodesmith", command, flag});
        INFO(command << " " << flag);
        REQUIRE(line.exit);
        CHECK(line.exit->code == 2);
        CHECK_THAT(line.exit->text, Catch::Contains("--namespaces"));
    }
}
