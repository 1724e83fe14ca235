#include "base/metrics.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "test/support/catch.hpp"

TEST_CASE("the exposition is Prometheus' text format, sorted by name") {
    base::MetricsRegistry registry;
    registry.gauge("b_ratio", "A gauge.").with({}).set(0.5);
    auto& requests = registry.counter("a_total", "Requests by\ncode\\path.", {"code", "path"});
    requests.with({"200", "/a\"b\\c\n"}).add();
    requests.with({"200", "/a\"b\\c\n"}).add(2);
    CHECK(registry.exposition() ==
          "# HELP a_total Requests by\\ncode\\\\path.\n"
          "# TYPE a_total counter\n"
          "a_total{code=\"200\",path=\"/a\\\"b\\\\c\\n\"} 3\n"
          "# HELP b_ratio A gauge.\n"
          "# TYPE b_ratio gauge\n"
          "b_ratio 0.5\n");
}

TEST_CASE("a histogram counts cumulatively, bounds included") {
    base::MetricsRegistry registry;
    auto& seconds = registry.histogram("took_seconds", "Time.", {0.1, 1}, {"verb"}).with({"get"});
    for (double value : {0.1, 0.5, 7.0}) seconds.observe(value);
    CHECK(registry.exposition() ==
          "# HELP took_seconds Time.\n"
          "# TYPE took_seconds histogram\n"
          "took_seconds_bucket{verb=\"get\",le=\"0.1\"} 1\n"
          "took_seconds_bucket{verb=\"get\",le=\"1\"} 2\n"
          "took_seconds_bucket{verb=\"get\",le=\"+Inf\"} 3\n"
          "took_seconds_sum{verb=\"get\"} 7.6\n"
          "took_seconds_count{verb=\"get\"} 3\n");
}

TEST_CASE("a metric without labels is shown from the start, one with labels when it has a series") {
    base::MetricsRegistry registry;
    registry.counter("plain_total", "P.");
    auto& labelled = registry.gauge("labelled", "L.", {"x"});
    CHECK(registry.exposition() == "# HELP plain_total P.\n# TYPE plain_total counter\nplain_total 0\n");
    labelled.with({"1"}).set(std::numeric_limits<double>::infinity());
    CHECK(registry.exposition().find("labelled{x=\"1\"} +Inf\n") != std::string::npos);
    labelled.remove({"1"});
    CHECK(registry.exposition().find("labelled") == std::string::npos);
}

TEST_CASE("asking again gives the same family, asking for something else under its name is a bug") {
    base::MetricsRegistry registry;
    auto& family = registry.counter("x_total", "X.", {"a"});
    CHECK(&registry.counter("x_total", "X.", {"a"}) == &family);
    CHECK_THROWS_AS(registry.gauge("x_total", "X.", {"a"}), std::logic_error);
    CHECK_THROWS_AS(registry.counter("x_total", "X.", {"b"}), std::logic_error);
    CHECK_THROWS_AS(family.with({"1", "2"}), std::logic_error);
}

TEST_CASE(
    "gauges that follow the time are brought up to date before each exposition, while somebody wants it") {
    base::MetricsRegistry registry;
    auto& gauge = registry.gauge("age", "A.").with({});
    auto hook = registry.before_exposition([&] { gauge.add(1); });
    CHECK(registry.exposition().ends_with("age 1\n"));
    CHECK(registry.exposition().ends_with("age 2\n"));
    hook.reset();
    CHECK(registry.exposition().ends_with("age 2\n"));
}
