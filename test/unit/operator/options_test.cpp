#include "operator/options/options.hpp"

#include <vector>

#include "controllers/cache/managed_namespaces.hpp"
#include "operator/commands/commands.hpp"
#include "test/support/catch.hpp"

using namespace kubenodesmith;

namespace {

CommandLine parsed(std::vector<const char*> arguments) {
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data(),
                              all_commands({version_number(), "1a2b3c"}));
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

TEST_CASE("a wrong command line is refused in plain words, with what was meant and where more is said") {
    const auto said = [](std::vector<const char*> arguments) {
        const auto line = parsed(std::move(arguments));
        REQUIRE(line.exit);
        CHECK(line.exit->code == 2);
        return line.exit->text;
    };
    CHECK(said({"kubenodesmith", "run", "--leader-elct"}) ==
          "there is no flag --leader-elct; did you mean --leader-elect?\nSee kubenodesmith run --help\n");
    CHECK(said({"kubenodesmith", "walk"}) == "there is no command \"walk\"\nSee kubenodesmith --help\n");
    CHECK(said({"kubectl-nodesmith", "plna"}) ==
          "there is no command \"plna\"; did you mean plan?\nSee kubectl nodesmith --help\n");
    CHECK_THAT(said({"kubenodesmith", "plan", "-o", "jsno"}),
               Catch::Contains("\"jsno\" is not valid; give one of table, json, yaml; did you mean json?"));
    CHECK_THAT(said({"kubenodesmith", "plan", "--context"}), Catch::Contains("--context needs one value"));
    CHECK_THAT(said({"kubenodesmith", "plan", "now"}), Catch::Contains("\"now\" is one word too many"));
    CHECK_THAT(said({"kubenodesmith", "explain"}), Catch::Contains("object is missing"));
    CHECK_THAT(said({"kubenodesmith", "migrate", "kproximat", "x"}),
               Catch::Contains("kproximat is not valid; give one of kproximate"));
    CHECK_THAT(said({"kubenodesmith", "run", "--log-level=loud"}),
               Catch::Contains("--log-level: \"loud\" is not valid; give one of info, debug"));
    CHECK_THAT(said({"kubenodesmith", "run", "--max-concurrent-claims=many"}),
               Catch::Contains("give a number from 1 to 1000"));
    CHECK_THAT(said({"kubenodesmith", "plan", "--request-timeout=soon"}), Catch::Contains("such as 10s"));
}

TEST_CASE("the help of the program is about its commands, and that of run about the operator's flags") {
    const auto help = parsed({"kubenodesmith", "--help"}).exit->text;
    CHECK_THAT(help, !Catch::Contains("--leader-elect") && !Catch::Contains("--kubeconfig"));
    CHECK_THAT(parsed({"kubenodesmith", "run", "--help"}).exit->text,
               Catch::Contains("--leader-elect") && Catch::Contains("--kubeconfig"));
    CHECK_THAT(parsed({"kubectl-nodesmith", "plan", "-h"}).exit->text,
               Catch::Contains("--kubeconfig") && Catch::Contains("--request-timeout") &&
                   Catch::Contains("--namespaces") && !Catch::Contains("--leader-elect"));
    CHECK_THAT(parsed({"kubectl-nodesmith"}).exit->text, !Catch::Contains("Run the operator"));
}

TEST_CASE("commands take kubectl's flags, before and after their names") {
    const auto before = parsed({"kubectl-nodesmith", "-n", "lab", "--as=alice", "plan"});
    REQUIRE(before.command);
    CHECK(before.options.namespace_ == "lab");
    CHECK(before.options.cluster.as == "alice");
    const auto after = parsed({"kubectl-nodesmith", "explain", "pod/web", "-A", "--as-group", "a",
                               "--as-group", "b", "--cluster", "c", "--user=u", "--request-timeout=10"});
    REQUIRE(after.command);
    CHECK(after.options.all_namespaces);
    CHECK(after.options.cluster.as_groups == std::vector<std::string>{"a", "b"});
    CHECK(after.options.cluster.cluster == "c");
    CHECK(after.options.cluster.user == "u");
    CHECK(after.options.cluster.most_per_call == std::chrono::seconds{10});
    CHECK_FALSE(parsed({"kubenodesmith", "plan", "--request-timeout=0"}).options.cluster.most_per_call);
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
