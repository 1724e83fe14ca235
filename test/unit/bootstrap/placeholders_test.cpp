#include "bootstrap/join.hpp"

#include "test/support/catch.hpp"

TEST_CASE("Placeholders are replaced wherever they stand") {
    const std::map<std::string, std::string> values{{"Host", "pve1"}, {"Pool", "workers"}};
    CHECK(bootstrap::fill_placeholders("", values).empty());
    CHECK(bootstrap::fill_placeholders("no placeholder }}", values) == "no placeholder }}");
    CHECK(bootstrap::fill_placeholders("{{ .Host }}-{{.Pool}}.{{  .Host}}", values) == "pve1-workers.pve1");
    CHECK(bootstrap::fill_placeholders("{{ .Host }}", {{"Host", "{{ .Pool }}"}}) == "{{ .Pool }}");
}

TEST_CASE("A placeholder that does not exist is named, values are not shown") {
    const std::map<std::string, std::string> values{{"Token", "abcdef.secret"}};
    CHECK_THROWS_WITH(
        bootstrap::fill_placeholders("{{ .Tokn }}", values),
        Catch::Contains("{{ .Tokn }}") && Catch::Contains("{{ .Token }}") && !Catch::Contains("secret"));
    CHECK_THROWS_AS(bootstrap::fill_placeholders("{{ Token }}", values), std::invalid_argument);
    CHECK_THROWS_AS(bootstrap::fill_placeholders("{{ .Token", values), std::invalid_argument);
}
