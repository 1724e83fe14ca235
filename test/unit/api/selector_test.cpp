#include "api/selector.hpp"

#include <string>
#include <vector>

#include "test/support/catch.hpp"

using api::LabelSelector;
using api::matches;
using api::NodeSelector;
using api::NodeSelectorTerm;
using api::SelectorOperator;
using api::SelectorRequirement;
using api::StringMap;

namespace {

const StringMap kLabels = {{"zone", "a"}, {"cores", "8"}, {"empty", ""}, {"name", "x"}};

}  // namespace

TEST_CASE("a requirement matches labels as Kubernetes defines its operator") {
    using enum SelectorOperator;
    struct Row {
        SelectorRequirement requirement;
        bool expected;
    };
    const std::vector<Row> rows = {
        {{"zone", In, {"a", "b"}}, true},
        {{"zone", In, {"b"}}, false},
        {{"zone", In, {}}, false},
        {{"missing", In, {"a"}}, false},
        {{"empty", In, {""}}, true},
        {{"zone", NotIn, {"a"}}, false},
        {{"zone", NotIn, {"b"}}, true},
        {{"missing", NotIn, {"a"}}, true},
        {{"zone", Exists, {}}, true},
        {{"empty", Exists, {}}, true},
        {{"missing", Exists, {}}, false},
        {{"zone", DoesNotExist, {}}, false},
        {{"missing", DoesNotExist, {}}, true},
        {{"cores", Gt, {"7"}}, true},
        {{"cores", Gt, {"8"}}, false},
        {{"cores", Gt, {"+7"}}, true},
        {{"cores", Gt, {"-1"}}, true},
        {{"cores", Lt, {"9"}}, true},
        {{"cores", Lt, {"8"}}, false},
        {{"cores", Gt, {"7", "6"}}, false},
        {{"cores", Gt, {}}, false},
        {{"cores", Gt, {"7.5"}}, false},
        {{"name", Gt, {"1"}}, false},
        {{"missing", Lt, {"9"}}, false},
        {{"zone", Unrecognized, {"a"}}, false},
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        INFO("row " << i << " key " << rows[i].requirement.key);
        CHECK(matches(rows[i].requirement, kLabels) == rows[i].expected);
    }
}

TEST_CASE("a label selector needs all of its parts, and an empty one selects everything") {
    LabelSelector selector;
    CHECK(matches(selector, kLabels));
    CHECK(matches(selector, {}));
    selector.matchLabels = {{"zone", "a"}};
    selector.matchExpressions = {{"cores", SelectorOperator::Exists, {}}};
    CHECK(matches(selector, kLabels));
    CHECK_FALSE(matches(selector, StringMap{{"zone", "a"}}));
    CHECK_FALSE(matches(selector, StringMap{{"zone", "b"}, {"cores", "8"}}));
}

TEST_CASE("a pod's nodeSelector needs each pair") {
    CHECK(matches(StringMap{}, kLabels));
    CHECK(matches(StringMap{{"zone", "a"}, {"empty", ""}}, kLabels));
    CHECK_FALSE(matches(StringMap{{"zone", "b"}}, kLabels));
    CHECK_FALSE(matches(StringMap{{"missing", ""}}, kLabels));
}

TEST_CASE("node selector terms are alternatives, and an empty term matches no node") {
    NodeSelectorTerm by_zone{{{"zone", SelectorOperator::In, {"a"}}}, {}};
    NodeSelectorTerm by_name{{}, {{"metadata.name", SelectorOperator::In, {"node-1"}}}};
    CHECK(matches(by_zone, kLabels, "node-2"));
    CHECK(matches(by_name, kLabels, "node-1"));
    CHECK_FALSE(matches(by_name, kLabels, "node-2"));
    CHECK_FALSE(matches(NodeSelectorTerm{}, kLabels, "node-1"));
    CHECK_FALSE(matches(NodeSelector{}, kLabels, "node-1"));
    by_zone.matchFields = {{"metadata.name", SelectorOperator::NotIn, {"node-1"}}};
    CHECK_FALSE(matches(by_zone, kLabels, "node-1"));
    CHECK(matches(by_zone, kLabels, "node-2"));
    CHECK(matches(NodeSelector{{NodeSelectorTerm{}, by_name}}, kLabels, "node-1"));
    CHECK_FALSE(matches(NodeSelectorTerm{{}, {{"metadata.uid", SelectorOperator::In, {"x"}}}}, kLabels, "x"));
    CHECK_FALSE(
        matches(NodeSelectorTerm{{}, {{"metadata.name", SelectorOperator::Exists, {}}}}, kLabels, "x"));
}
