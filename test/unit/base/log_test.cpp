#include "base/log.hpp"
#include "test/support/catch.hpp"

using base::log::format_json;
using base::log::format_text;

TEST_CASE("text values are quoted only where they would be ambiguous") {
    CHECK(format_text("Created machine",
                      {{"node_claim", "default/a"}, {"took", 1.5}, {"tries", 3}, {"ok", true}}) ==
          "Created machine node_claim=default/a took=1.5 tries=3 ok=true");
    CHECK(format_text("M", {{"a", "two words"}, {"b", ""}, {"c", "x=y"}, {"d", "q\"\\\n\x1b"}}) ==
          R"(M a="two words" b="" c="x=y" d="q\"\\\n\u001b")");
}

TEST_CASE("JSON members are valid JSON for every value") {
    CHECK(format_json("Said \"no\"", {{"n", 3}, {"f", 0.25}, {"b", false}, {"s", "a\tb\x01"}}) ==
          R"("message":"Said \"no\"","n":3,"f":0.25,"b":false,"s":"a\tb\u0001")");
    CHECK(format_json("M", {{"f", 1.0 / 0.0}}) == R"("message":"M","f":"inf")");
}
