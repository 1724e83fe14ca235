#include "api/yaml.hpp"

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

namespace json = boost::json;

TEST_CASE("plain scalars become what Kubernetes' tools make of them") {
    struct Row {
        std::string yaml;
        std::string json;
    };
    const std::vector<Row> rows = {
        {"a", R"("a")"},
        {"12", "12"},
        {"-7", "-7"},
        {"+7", "7"},
        {"0x1f", "31"},
        {"0o17", "15"},
        {"017", "15"},
        {"0b101", "5"},
        {"1_000", "1000"},
        {"9223372036854775807", "9223372036854775807"},
        {"18446744073709551615", "18446744073709551615"},
        {"1.5", "1.5"},
        {"-1e3", "-1000.0"},
        {".5", "0.5"},
        {"true", "true"},
        {"Yes", "true"},
        {"off", "false"},
        {"~", "null"},
        {"null", "null"},
        {"\"12\"", R"("12")"},
        {"'true'", R"("true")"},
        {"!!str 12", R"("12")"},
        {"02:00:00", R"("02:00:00")"},
        {"10.0.4.30", R"("10.0.4.30")"},
        {"1Gi", R"("1Gi")"},
        {"2m", R"("2m")"},
        {"order=net0", R"("order=net0")"},
        {"089", "89.0"},
        {"-", R"([null])"},
        {"{a: 1, b: [x, 2]}", R"({"a":1,"b":["x",2]})"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"|\n  two\n  lines\n", R"("two\nlines\n")"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(api::parse_yaml(row.yaml) == json::parse(row.json));
    }
}

TEST_CASE("anchors, aliases and merge keys are resolved") {
    const json::value value = api::parse_yaml(R"(
base: &base {a: 1, b: 2}
one: *base
two: {<<: *base, b: 3}
three:
  <<: [{c: 4}, *base]
  a: 0
)");
    CHECK(value.at("one") == json::parse(R"({"a":1,"b":2})"));
    CHECK(value.at("two") == json::parse(R"({"a":1,"b":3})"));
    CHECK(value.at("three") == json::parse(R"({"a":0,"b":2,"c":4})"));
}

TEST_CASE("a file may hold several documents, and empty ones do not count") {
    const auto documents = api::parse_yaml_documents("---\na: 1\n---\n# nothing\n---\nb: 2\n");
    REQUIRE(documents.size() == 2);
    CHECK(documents[1].at("b") == 2);
    CHECK_THROWS_AS(api::parse_yaml("a: 1\n---\nb: 2\n"), api::YamlError);
    CHECK(api::parse_yaml("").is_null());
}

TEST_CASE("YAML that ends before its text does is a fault, with its place") {
    for (const std::string text : {",", ", a: 1\n", "a: 1\n---\n- b\n- c\n, d\n", "]", "a: 1\n}\n"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(api::parse_yaml_documents(text), api::YamlError);
    }
    CHECK_THROWS_WITH(api::parse_yaml(","), Catch::Contains("line 1, column 1"));
}

TEST_CASE("YAML whose text is not UTF-8 is a fault, with its place") {
    CHECK_THROWS_WITH(api::parse_yaml("a: 1\nu\xf3rs: 2\n"), "line 2, column 1: the text is not UTF-8");
    CHECK_THROWS_WITH(api::parse_yaml("a: x\xd3y\n"), "line 1, column 4: the text is not UTF-8");
    CHECK(api::parse_yaml("a: \xc3\xa4\n").at("a") == "\xc3\xa4");
}

TEST_CASE("a fault in YAML is reported with its place") {
    const auto message = [](const std::string& text) -> std::string {
        try {
            api::parse_yaml(text);
        } catch (const api::YamlError& error) {
            return error.what();
        }
        return "(no error)";
    };
    CHECK(message("a: 1\nb: [1\n").find("line ") == 0);
    CHECK(message("a: 1\na: 2\n") == "line 2, column 1: key \"a\" is there twice");
    CHECK(message("a: !custom 1\n").find("line 1, column") == 0);
    CHECK(message("? {x: 1}\n: 2\n").find("a key must be a scalar") != std::string::npos);
}
