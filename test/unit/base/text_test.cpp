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

TEST_CASE("a text that is too long loses its middle, between characters, and keeps its end") {
    CHECK(base::shortened("0123456789", 10) == "0123456789");
    CHECK(base::shortened("clone failed: 0123456789 0123456789: no space left", 30) ==
          "clone fail...89: no space left");
    CHECK(base::shortened("ääääääääää", 12) == "ä...äää");
    CHECK(base::shortened("äöü", 3) == "ä");
    CHECK(base::shortened("", 0).empty());
}

TEST_CASE("a terminal gets no control character of others but the line feed") {
    CHECK(base::for_terminal("one\n two") == "one\n two");
    CHECK(base::for_terminal("a\x1b[2Jb\rc\x7f"
                             "d\te") == "a?[2Jb?c?d?e");
    CHECK(base::for_terminal("a\xc2\x9b"
                             "31m") == "a?31m");
    CHECK(base::for_terminal("\xc2\xa0äöü 😀") == "\xc2\xa0äöü 😀");
    CHECK(base::for_terminal("\xc2") == "\xc2");
}

TEST_CASE("only A to Z have a lower case") {
    CHECK(base::lower_case("4C4C4544-AZaz-@[`{") == "4c4c4544-azaz-@[`{");
    CHECK(base::lower_case("ÄÖÜ") == "ÄÖÜ");
    CHECK(base::lower_case("").empty());
}

TEST_CASE("a number and its verb agree") {
    CHECK(base::is_or_are(1) == "is");
    CHECK(base::is_or_are(0) == "are");
}
