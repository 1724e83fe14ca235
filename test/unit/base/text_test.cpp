#include "base/text.hpp"
#include "test/support/catch.hpp"

TEST_CASE("a number and its noun agree") {
    CHECK(base::counted(1, "claim") == "1 claim");
    CHECK(base::counted(0, "claim") == "0 claims");
    CHECK(base::counted(2, "claim") == "2 claims");
}

TEST_CASE("a text is cut between characters") {
    CHECK(base::beginning("äöü", 6) == "äöü");
    CHECK(base::beginning("äöü", 5) == "äö");
    CHECK(base::beginning("äöü", 3) == "ä");
    CHECK(base::beginning("😀", 3).empty());
    CHECK(base::beginning("", 0).empty());
}

TEST_CASE("a number and its verb agree") {
    CHECK(base::is_or_are(1) == "is");
    CHECK(base::is_or_are(0) == "are");
}
