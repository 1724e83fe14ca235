#include "operator/command_line/formats.hpp"
#include "operator/command_line/missing_rights.hpp"
#include "operator/command_line/references.hpp"
#include "operator/command_line/suggestions.hpp"
#include "operator/command_line/table.hpp"

#include <boost/json/parse.hpp>

#include "api/core.hpp"
#include "test/support/catch.hpp"

using namespace kubenodesmith;
using Catch::Contains;
using namespace std::chrono_literals;

TEST_CASE("a mistyped word is taken for the nearest one, if one is near") {
    const std::vector<std::string> commands{"plan", "explain", "version", "support-bundle"};
    CHECK(nearest("paln", commands) == "plan");
    CHECK(nearest("explian", commands) == "explain");
    CHECK(nearest("versoin", commands) == "version");
    CHECK(nearest("suport-bundel", commands) == "support-bundle");
    CHECK(nearest("teapot", commands).empty());
    CHECK(nearest("", commands).empty());
    CHECK(did_you_mean("plna", commands) == "; did you mean plan?");
    CHECK(did_you_mean(std::string(10'000, 'a'), commands).empty());
}

TEST_CASE("columns of a table are as wide as their widest cell, in characters") {
    Table table({"NAME", "STATE"});
    CHECK(table.empty());
    table.add({"größe", "Ready"});
    table.add({"a", ""});
    table.add({"b", "two\nlines"});
    CHECK(table.str() ==
          "NAME    STATE\n"
          "größe   Ready\n"
          "a       -\n"
          "b       two lines\n");
}

TEST_CASE("objects are named as for kubectl") {
    const auto named = [](std::vector<std::string> words, const std::string& namespace_ = "") {
        const auto reference = parse_reference(words, namespace_);
        return std::string(word_of(reference.kind)) + " " + reference.key.str();
    };
    CHECK(named({"pod", "web"}) == "pod web");
    CHECK(named({"pods/web"}, "shop") == "pod shop/web");
    CHECK(named({"po", "shop/web"}) == "pod shop/web");
    CHECK(named({"po/shop/web"}) == "pod shop/web");
    CHECK(named({"nspool", "workers"}) == "pool workers");
    CHECK(named({"nodesmithclaims.kubenodesmith.parawell.cloud/a"}) == "claim a");
    CHECK(named({"NodeSmithHost", "rack1"}) == "host rack1");
    CHECK(named({"nscp/main"}, "lab") == "controlplane lab/main");
    CHECK(named({"no", "n1"}, "lab") == "node n1");
}

TEST_CASE("what names no object is refused with what would") {
    CHECK_THROWS_WITH(parse_reference({"pool"}, ""), Contains("pool/NAME"));
    CHECK_THROWS_WITH(parse_reference({"pol", "x"}, ""), Contains("did you mean po"));
    CHECK_THROWS_WITH(parse_reference({"service", "x"}, ""), Contains("is no kind") && Contains("claim"));
    CHECK_THROWS_WITH(parse_reference({"pod/a", "b"}, ""), Contains("one word too many"));
    CHECK_THROWS_WITH(parse_reference({"pod", "a/b"}, "c"), Contains("namespace a") && Contains("-n says c"));
    CHECK_THROWS_WITH(parse_reference({"pod", "a/"}, ""), Contains("names no object"));
    CHECK(parse_name(ObjectKind::claim, "claim/a", "x") == api::ObjectKey{"x", "a"});
    CHECK(parse_name(ObjectKind::claim, "x/a", "") == api::ObjectKey{"x", "a"});
    CHECK_THROWS_WITH(parse_name(ObjectKind::claim, "pool/a", ""), Contains("is a pool"));
}

TEST_CASE("documents are printed with plain numbers, each member on its line") {
    const auto value =
        boost::json::parse(R"({"price": 2.4E1, "half": 0.5, "list": [1, "x"], "none": [], "is": true})");
    CHECK(to_pretty_json(value) ==
          "{\n  \"price\": 24,\n  \"half\": 0.5,\n  \"list\": [\n    1,\n    \"x\"\n  ],\n"
          "  \"none\": [],\n  \"is\": true\n}");
    const auto made = [] { return document_of_kind("Plan"); };
    CHECK(printed(
              "json", [] { return ""; }, made) ==
          "{\n  \"apiVersion\": \"cli.kubenodesmith.parawell.cloud/v1alpha1\",\n  \"kind\": \"Plan\"\n}\n");
    CHECK_THAT(printed("yaml", [] { return ""; }, made), Contains("kind: \"Plan\""));
    CHECK(printed("table", [] { return "red \x1b[31m\n"; }, made) == "red ?[31m\n");
}

TEST_CASE("missing rights are listed with a role that is enough, bound to who asks") {
    const std::vector<Right> needed{{"list", api::Node::kResource, ""},
                                    {"list", api::Pod::kResource, ""},
                                    {"list", api::DaemonSet::kResource, ""}};
    const auto text = describe_missing({needed[2]}, needed, "system:serviceaccount:ci:planner", "A hint.");
    CHECK_THAT(text, Contains("let system:serviceaccount:ci:planner:\n  list daemonsets.apps\nA hint.\n"));
    CHECK_THAT(text, Contains("apiGroups: [\"\"]\n    resources: [nodes, pods]\n    verbs: [list]"));
    CHECK_THAT(text, Contains("{kind: ServiceAccount, name: planner, namespace: ci}"));
    CHECK_THAT(describe_missing({needed[0]}, needed, "", ""), Contains("let you:\n  list nodes\n"));
}

TEST_CASE("an age has the unit that leaves at least two of it") {
    const auto after = [](std::chrono::seconds passed) {
        const api::Time since(std::chrono::sys_seconds(std::chrono::seconds(1'000'000)));
        return api::age(since, api::Time(since.at + base::Seconds(passed.count())));
    };
    CHECK(after(119s) == "119 s");
    CHECK(after(2min) == "2 min");
    CHECK(after(119min) == "119 min");
    CHECK(after(2h) == "2 h");
    CHECK(after(47h) == "47 h");
    CHECK(after(48h) == "2 d");
    CHECK(after(-5s) == "0 s");
    CHECK(api::age(std::nullopt, api::Time()).empty());
}
