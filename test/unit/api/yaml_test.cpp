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
    CHECK(message("a: 1\na: 2\n") == "line 2, column 1: key \"a\" appears twice");
    CHECK(message("a: !custom 1\n").find("line 1, column") == 0);
    CHECK(message("? {x: 1}\n: 2\n").find("a key must be a scalar") != std::string::npos);
}

namespace {

std::string message_of(const std::string& text, const api::YamlBounds& bounds = {}) {
    try {
        api::parse_yaml_documents(text, bounds);
    } catch (const api::YamlError& error) {
        return error.what();
    }
    return "(no error)";
}

std::string times(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

// Returns a short document in which each level is ten times the one before.
std::string bomb(const std::string& first, const std::string& open, const std::string& close) {
    std::string text = "a0: &a0 " + first + "\n";
    for (int level = 1; level < 10; ++level) {
        const std::string alias = "*a" + std::to_string(level - 1) + ",";
        text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " " + open + times(10, alias) +
                close + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("an alias within its own anchor is a fault, with its place") {
    CHECK(message_of("a: &a [*a]") == "line 1, column 8: the alias is part of the value that it refers to");
    CHECK(message_of("a: &a {b: {c: *a}}") ==
          "line 1, column 15: the alias is part of the value that it refers to");
    CHECK(message_of("b: 1\na: &a\n  <<: *a\n") ==
          "line 3, column 7: the alias is part of the value that it refers to");
    CHECK(message_of("&a *a").find("line 1, column ") == 0);
    CHECK(message_of("a: &a 1\n---\nb: *a\n").find("line 3, column ") == 0);
}

TEST_CASE("what aliases expand to has a bound, in values and in bytes") {
    CHECK_THAT(message_of(bomb("[x]", "[", "]")),
               Catch::Matches("line 6, column \\d+: more than 100000 values.*"));
    CHECK_THAT(message_of(bomb("{k: x}", "{<<: [", "]}")),
               Catch::Matches("line 6, column \\d+: more than 100000 values.*"));
    const std::string large = "a: &a " + std::string(100'000, 'x') + "\nb: [" + times(50, "*a, ") + "]\n";
    CHECK_THAT(message_of(large), Catch::Matches("line 2, column \\d+: more than 4194304 bytes.*"));
    // Many anchors around one value count as well, because each keeps a copy.
    std::string nested;
    for (int level = 0; level < 99; ++level) nested += "&n" + std::to_string(level) + " [";
    nested += times(2'000, "1,") + times(99, "]");
    CHECK_THAT(message_of(nested), Catch::Contains("more than 100000 values"));
}

TEST_CASE("depth has a bound, that of aliases counted") {
    CHECK(message_of(times(100, "[") + times(100, "]")) == "(no error)");
    const std::string deep = "line 1, column 101: lists and mappings are nested more than 100 deep";
    CHECK(message_of(times(101, "[") + times(101, "]")) == deep);
    CHECK(message_of(times(10'000, "[") + times(10'000, "]")) == deep);
    CHECK(message_of(times(100'000, "[")).find("line 1, column ") == 0);
    CHECK(message_of(times(100'000, "{")).find("line 1, column ") == 0);
    CHECK(message_of(times(100'000, "- ")).find("line 1, column ") == 0);
    CHECK(message_of(times(100'000, "? ")).find("line 1, column ") == 0);
    CHECK(message_of(times(100'000, "[{a: ")).find("line 1, column ") == 0);
    const std::string half = times(60, "[");
    const std::string end = times(60, "]");
    CHECK(
        message_of("a: &a " + half + end + "\nb: " + half + "*a" + end + "\n").find("line 2, column 64: ") ==
        0);
}

TEST_CASE("size has a bound before anything is read") {
    CHECK(message_of("a: 1\nb: 2\n", {.bytes = 6}) == "line 2, column 2: more than 6 bytes");
    CHECK(message_of("a: " + std::string(std::size_t{4} << 20, 'x')) ==
          "line 1, column 4194305: more than 4194304 bytes");
    CHECK(message_of("a: " + std::string(900'000, 'x'), api::kObjectBounds) == "(no error)");
    CHECK(message_of("[" + times(200'000, "a,")) ==
          "line 1, column 200001: more than 100000 of '[', '{' and ','");
    CHECK(message_of("[" + times(1'000, "a,"), {.brackets = 1'000}) ==
          "line 1, column 2001: more than 1000 of '[', '{' and ','");
    CHECK(message_of(times(100'000, "- a\n")).find("line 99999, column ") == 0);
    CHECK(message_of(times(100'001, "---\n")).find("more than 100000 values") != std::string::npos);
}

TEST_CASE("an anchor's name is there once in a document") {
    CHECK(message_of("a: &x 1\nb: &x 2\n").find("anchor &x appears twice") != std::string::npos);
    CHECK(message_of("a: &x 1\nb: &x 2\n").find("line 2, column ") == 0);
    CHECK(message_of("a: &x 1\n---\nb: &x 2\n") == "(no error)");
}

TEST_CASE("anchors may stand in one another, and an alias may be a key") {
    CHECK(api::parse_yaml("a: &a [&b {c: 1}, *b]\nd: *a\ne: *b\n") ==
          json::parse(R"({"a":[{"c":1},{"c":1}],"d":[{"c":1},{"c":1}],"e":{"c":1}})"));
    CHECK(api::parse_yaml("a: &k 12\n*k : *k\n") == json::parse(R"({"a":12,"12":12})"));
    CHECK(api::parse_yaml("&k key: 1\nb: *k\n") == json::parse(R"({"key":1,"b":"key"})"));
    CHECK(api::parse_yaml("\"<<\": 1\n") == json::parse(R"({"<<":1})"));
    CHECK(message_of("a: &a [1]\n*a : 1\n").find("line 2, column 1: a key must be a scalar") == 0);
    CHECK(message_of("<<: [1]\n").find("'<<' needs a mapping") != std::string::npos);
}
