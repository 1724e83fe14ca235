#include <vector>

#include "base/log.hpp"
#include "test/support/catch.hpp"

TEST_CASE("log lines go where they are redirected to, until that ends") {
    std::vector<std::string> lines;
    base::log::redirect([&lines](base::log::Level, std::string_view line) { lines.emplace_back(line); });
    base::log::info("Created machine", {{"host", "pve1"}});
    base::log::debug("not enabled");
    base::log::redirect({});
    CHECK(lines == std::vector<std::string>{"Created machine host=pve1"});
}
