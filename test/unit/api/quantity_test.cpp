#include "api/quantity.hpp"

#include <boost/json/parse.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/core.hpp"
#include "api/json.hpp"
#include "test/support/catch.hpp"

using api::IntOrString;
using api::Quantity;

TEST_CASE("a quantity is written in its canonical form") {
    struct Row {
        std::string text;
        std::string canonical;
    };
    // The expected values are those of k8s.io/apimachinery/pkg/api/resource.
    const std::vector<Row> rows = {
        {"0", "0"},
        {"-0", "0"},
        {"0Ki", "0"},
        {"0.0", "0"},
        {"1", "1"},
        {"+1", "1"},
        {"100m", "100m"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"0.5", "500m"},
        {".5", "500m"},
        {"5.", "5"},
        {"0.1", "100m"},
        {"2.25", "2250m"},
        {"1000", "1k"},
        {"1024", "1024"},
        {"1100", "1100"},
        {"1000000", "1M"},
        {"12345000", "12345k"},
        {"1k", "1k"},
        {"10000k", "10M"},
        {"1M", "1M"},
        {"1G", "1G"},
        {"1T", "1T"},
        {"1P", "1P"},
        {"1E", "1E"},
        {"1Ki", "1Ki"},
        {"1024Ki", "1Mi"},
        {"1023Ki", "1023Ki"},
        {"1.5Gi", "1536Mi"},
        {"0.5Ki", "512"},
        {"0.3Mi", "314572800m"},
        {"1.1Gi", "1181116006400m"},
        {"8Gi", "8Gi"},
        {"3Ti", "3Ti"},
        {"2Pi", "2Pi"},
        {"2Ei", "2Ei"},
        {"1n", "1n"},
        {"1000n", "1u"},
        {"1500u", "1500u"},
        {"1u", "1u"},
        {"0.0000001", "100n"},
        {"1e3", "1e3"},
        {"1E3", "1e3"},
        {"1e4", "10e3"},
        {"12e6", "12e6"},
        {"1.5e3", "1500"},
        {"1e-3", "1e-3"},
        {"2e-2", "20e-3"},
        {"1e0", "1"},
        {"-100m", "-100m"},
        {"-1.5Gi", "-1536Mi"},
        {"-2", "-2"},
        // Values finer than a nano are rounded away from zero.
        {"0.1n", "1n"},
        {"1.0000000001", "1000000001n"},
        {"1e-30", "1e-9"},
        {"-0.1n", "-1n"},
        // Values larger than 2^63-1 are saturated.
        {"8Ei", "9223372036854775807"},
        {"10E", "9223372036854775807"},
        {"1e40", "9223372036854775807"},
        {"1e12345678", "9223372036854775807"},
        {"1e99999999999999999999", "9223372036854775807"},
        {"1e-99999999999999999999", "1e-9"},
        {"0e99999999999999999999", "0"},
        // The pattern of custom resources accepts fractions of exponents.
        {"1e1.5", "10"},
        {"1e+.5", "1"},
        {"-2E-1.", "-200e-3"},
        {"99999999999999999999999999999999999999999", "9223372036854775807"},
        {"-10E", "-9223372036854775807"},
        {"9223372036854775807", "9223372036854775807"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const Quantity quantity = Quantity::parse(row.text);
        CHECK(quantity.str() == row.canonical);
        CHECK(Quantity::parse(quantity.str()) == quantity);
    }
}

TEST_CASE("text that is no quantity is refused") {
    for (const std::string text :
         {"",    "-",   "+",   ".",    "m",    "1x",  "1 Gi", "1gi",  "1KI", "1K", "1mi", "1.2.3", "1e",
          "1e+", "1e.", "1e-", "1ee3", "1e3k", "--1", "1-",   "0x10", "1,5", " 1", "1 ",  "1i",    "Ki"}) {
        INFO(text);
        CHECK_THROWS_AS(Quantity::parse(text), std::invalid_argument);
    }
}

TEST_CASE("amounts are read in cores, millicores, bytes and MiB, rounded up") {
    struct Row {
        std::string text;
        std::int64_t value;
        std::int64_t milli;
        std::int64_t mebibytes;
    };
    const std::vector<Row> rows = {
        {"0", 0, 0, 0},
        {"250m", 1, 250, 1},
        {"1", 1, 1000, 1},
        {"1001m", 2, 1001, 1},
        {"0.5m", 1, 1, 1},
        {"1n", 1, 1, 1},
        {"1500u", 1, 2, 1},
        {"1Mi", 1 << 20, std::int64_t{1000} << 20, 1},
        {"1048577", 1048577, 1048577000, 2},
        {"1.5Gi", std::int64_t{3} << 29, std::int64_t{3000} << 29, 1536},
        {"1G", 1000000000, 1000000000000, 954},
        {"-1500m", -1, -1500, 0},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const Quantity quantity = Quantity::parse(row.text);
        CHECK(quantity.value() == row.value);
        CHECK(quantity.milli() == row.milli);
        CHECK(quantity.mebibytes() == row.mebibytes);
    }
    CHECK(Quantity::parse("8Ei").milli() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("quantities of different notation compare by amount") {
    CHECK(Quantity::parse("1Gi") == Quantity::parse("1073741824"));
    CHECK(Quantity::parse("1000m") == Quantity::parse("1"));
    CHECK(Quantity::parse("999m") < Quantity::parse("1"));
    CHECK(Quantity::parse("1G") < Quantity::parse("1Gi"));
    CHECK(Quantity::parse("-1") < Quantity::parse("-999m"));
    CHECK(Quantity::parse("-100m") < Quantity());
    CHECK(Quantity().is_zero());
    CHECK(Quantity::parse("0.5Gi") == Quantity::of_mebibytes(512));
    CHECK(Quantity::parse("1.25") == Quantity::of_milli(1250));
    CHECK(Quantity::parse("-1.25") == Quantity::of_milli(-1250));
    CHECK(Quantity::of_mebibytes(8192).str() == "8Gi");
    CHECK(Quantity::of_milli(3500).str() == "3500m");
    CHECK(Quantity::of(4).str() == "4");
}

TEST_CASE("sums and differences are exact, keep the left side's format and saturate") {
    CHECK((Quantity::parse("900m") + Quantity::parse("100m")).str() == "1");
    CHECK((Quantity::parse("1Gi") + Quantity::parse("512Mi")).str() == "1536Mi");
    CHECK((Quantity::parse("1") - Quantity::parse("1n")).str() == "999999999n");
    CHECK((Quantity::parse("100m") - Quantity::parse("1")).str() == "-900m");
    CHECK((Quantity::parse("1n") - Quantity::parse("1n")).is_zero());
    const Quantity largest = Quantity::parse("9223372036854775807");
    CHECK(largest + largest == largest);
    CHECK((Quantity() - largest - largest).value() == -std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a count or a percentage of a total, rounded up") {
    CHECK(IntOrString(3).resolve(10) == 3);
    CHECK(IntOrString("10%").resolve(3) == 1);
    CHECK(IntOrString("10%").resolve(10) == 1);
    CHECK(IntOrString("10%").resolve(11) == 2);
    CHECK(IntOrString("0%").resolve(11) == 0);
    CHECK(IntOrString("100%").resolve(7) == 7);
    CHECK(IntOrString("10%").resolve(0) == 0);
    for (const std::string text : {"", "%", "10", "a%", "-1%", "1.5%", "10%%", "9999999999%"}) {
        INFO(text);
        CHECK_THROWS_AS(IntOrString(text).resolve(10), std::invalid_argument);
    }
    CHECK(IntOrString(5).str() == "5");
    CHECK(IntOrString("5").as_integer() == std::nullopt);
}

TEST_CASE("a fraction without quotes is the quantity that it reads as") {
    const auto read = [](const char* json) {
        return api::decode<api::Pod>(
                   boost::json::parse(std::string(R"({"spec":{"overhead":{"cpu":)") + json + "}}}"))
            .spec.overhead->at("cpu");
    };
    CHECK(read("0.5") == api::Quantity::of_milli(500));
    CHECK(read("0.1") == api::Quantity::of_milli(100));
    CHECK(read("1e9") == api::Quantity::of(1'000'000'000));
    CHECK(read("2") == api::Quantity::of(2));
    CHECK_THROWS_WITH(
        api::decode<api::PodDisruptionBudget>(boost::json::parse(R"({"spec":{"minAvailable":0.5}})")),
        Catch::Contains("expected an integer or a string"));
}
