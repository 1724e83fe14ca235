#include <cstdio>
#include <fstream>
#include <set>

#include "base/backoff.hpp"
#include "base/file.hpp"
#include "base/hex.hpp"
#include "base/http.hpp"
#include "base/random.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"

using namespace std::chrono_literals;

TEST_CASE("headers are found whatever their case, and set replaces all of a name") {
    base::HttpHeaders headers;
    headers.add("Set-Cookie", "a");
    headers.add("set-cookie", "b");
    CHECK(headers.find("SET-COOKIE") == "a");
    headers.set("Set-cookie", "c");
    CHECK(headers.all().size() == 1);
    CHECK(headers.find("set-cookie") == "c");
    CHECK_FALSE(headers.find("Cookie"));
}

TEST_CASE("a seeded source repeats, and stays within its bound") {
    auto first = fake::make_seeded_random(7);
    auto second = fake::make_seeded_random(7);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) {
        auto value = first->below(10);
        CHECK(value == second->below(10));
        seen.insert(value);
        auto unit = first->unit();
        CHECK(unit == second->unit());
        CHECK((unit >= 0 && unit < 1));
    }
    CHECK(seen.size() == 10);
    CHECK(*seen.rbegin() == 9);
}

TEST_CASE("random text has the length and alphabet asked for") {
    auto random = base::make_system_random();
    auto text = random->text(64, "ab");
    CHECK(text.size() == 64);
    CHECK(text.find_first_not_of("ab") == std::string::npos);
    CHECK(text != random->text(64, "ab"));
    CHECK_THROWS_AS(random->below(0), std::logic_error);
}

TEST_CASE("pairs of hexadecimal digits are told by their digits, separators and number") {
    CHECK(base::are_hex_pairs("BC:24:1f"));
    CHECK(base::are_hex_pairs("bc-24:1F", ":-"));
    CHECK_FALSE(base::are_hex_pairs("bc-24-1f"));
    for (const auto* wrong : {"", "b", "bc:", "bc:2", "bc:24:", ":bc:24", "bg:24", "bc24"})
        CHECK_FALSE(base::are_hex_pairs(wrong));
}

TEST_CASE("backoff doubles up to its maximum and starts at nothing") {
    base::Backoff backoff{100ms, 1s};
    CHECK(backoff.after(0) == 0ms);
    CHECK(backoff.after(1) == 100ms);
    CHECK(backoff.after(3) == 400ms);
    CHECK(backoff.after(5) == 1s);
    CHECK(backoff.after(5000) == 1s);
    auto random = fake::make_seeded_random(1);
    for (int i = 0; i < 100; ++i) {
        auto spread = backoff.after(3, *random);
        CHECK((spread >= 300ms && spread <= 500ms));
    }
}

TEST_CASE("a file is read whole, and a missing one is named") {
    auto path = "/tmp/kubenodesmith-file-test-" + base::make_system_random()->text(12, "0123456789");
    const std::string content(100'000, 'x');
    std::ofstream(path) << content;
    CHECK(base::read_file(path) == content);
    CHECK(base::read_file(path, content.size()) == content);
    CHECK_THROWS_WITH(base::read_file(path, content.size() - 1),
                      "reading " + path + ": more than 99999 bytes");
    std::remove(path.c_str());
    CHECK_THROWS_WITH(base::read_file(path), "reading " + path + ": No such file or directory");
    CHECK_THROWS_WITH(base::read_file("/tmp"), "reading /tmp: Is a directory");
    CHECK_THROWS_WITH(base::read_file("/dev/zero"), "reading /dev/zero: more than 16777216 bytes");
}
