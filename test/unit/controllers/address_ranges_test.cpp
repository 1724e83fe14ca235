#include "controllers/services/address_ranges.hpp"

#include <stdexcept>

#include "test/support/catch.hpp"

using controllers::choose_address;
using Ranges = std::vector<std::string>;
using Catch::Contains;

TEST_CASE("the lowest address that is free is chosen, range by range") {
    const Ranges ranges{"10.0.4.50-10.0.4.52", "10.0.5.1"};
    CHECK(choose_address(ranges, {}) == "10.0.4.50");
    CHECK(choose_address(ranges, {"10.0.4.50", "10.0.4.52"}) == "10.0.4.51");
    CHECK(choose_address(ranges, {"10.0.4.50", "10.0.4.51", "10.0.4.52"}) == "10.0.5.1");
    CHECK_FALSE(choose_address(ranges, {"10.0.4.50", "10.0.4.51", "10.0.4.52", "10.0.5.1"}));
    CHECK_FALSE(choose_address({}, {}));
}

TEST_CASE("ranges end at the last address there is") {
    CHECK_FALSE(choose_address({"255.255.255.255"}, {"255.255.255.255"}));
    CHECK(choose_address({"10.0.0.255-10.0.1.0"}, {"10.0.0.255"}) == "10.0.1.0");
}

TEST_CASE("addresses of version 6 count as one however they are written") {
    CHECK(controllers::canonical_address("2001:DB8:0:0::A") == "2001:db8::a");
    CHECK(choose_address({"2001:DB8::A-2001:db8::ffff:ffff"}, {"2001:db8::a"}) == "2001:db8::b");
    CHECK(choose_address({"fd00::ffff-fd00::1:1"}, {"fd00::ffff"}) == "fd00::1:0");
}

TEST_CASE("what is no range is named") {
    for (const auto* text : {"10.0.4", "10.0.4.5-10.0.4.1", "10.0.4.1-fd00::1", "", "10.0.4.1-"}) {
        INFO(text);
        CHECK_THROWS_WITH(choose_address({text}, {}), Contains("network.addresses: " + std::string(text)));
    }
}

TEST_CASE("addresses are counted, as far as people care") {
    CHECK(controllers::count_addresses({"10.0.4.50-10.0.4.59", "10.0.5.1"}) == 11);
    CHECK(controllers::count_addresses({"fd00::-fd01::"}) == 1'000'000);
}
