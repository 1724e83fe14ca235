#include "base/http_date.hpp"

#include "test/support/catch.hpp"

using namespace std::chrono_literals;

TEST_CASE("dates of HTTP answers are read and written") {
    const base::WallTime time(std::chrono::seconds{784111777});
    CHECK(base::format_http_date(time) == "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(base::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == time);
    CHECK(base::format_http_date(time + 999ms) == "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_CASE("what is no date of an HTTP answer is not read") {
    for (const auto* text : {"", "Sun", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
                             "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
                             "Sun, 06 Nov -994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"}) {
        INFO(text);
        CHECK_FALSE(base::parse_http_date(text));
    }
}
