#include "controllers/services/write_turns.hpp"

#include "test/support/catch.hpp"

namespace {

using Names = std::vector<std::string>;

Names in_turn(controllers::WriteTurns& turns, Names names) {
    return turns.in_turn(std::move(names), [](const std::string& name) { return name; });
}

kube::ApiError error_of(int code, const std::string& message = "") {
    return kube::ApiError("DELETE", code, "", message);
}

}  // namespace

TEST_CASE(
    "a loop ends at the first write that is not answered in time, and the next one begins with the others") {
    controllers::WriteTurns turns;
    CHECK(in_turn(turns, {"a", "b", "c"}) == Names{"a", "b", "c"});
    CHECK_FALSE(turns.note_failure("b", error_of(403)));
    CHECK(in_turn(turns, {"a", "b", "c"}) == Names{"a", "b", "c"});
    CHECK(turns.note_failure("a", error_of(504)));
    CHECK(in_turn(turns, {"a", "b", "c"}) == Names{"b", "c", "a"});
    CHECK(turns.note_failure("b", error_of(504)));
    CHECK(in_turn(turns, {"a", "b", "c"}) == Names{"c", "a", "b"});
    // One that is late again and again takes no turn from the others.
    CHECK(turns.note_failure("a", error_of(504)));
    CHECK(in_turn(turns, {"a", "b", "c"}) == Names{"c", "b", "a"});
    turns.note_success("a");
    CHECK(in_turn(turns, {"a", "b", "c"}) == Names{"a", "c", "b"});
}

TEST_CASE("a webhook for which the API server itself gave up waiting ends the loop, too") {
    controllers::WriteTurns turns;
    const std::string called = "Internal error occurred: failed calling webhook \"claims.example.org\": ";
    CHECK(turns.note_failure("a", error_of(500, called + "Post \"https://x/\": context deadline exceeded")));
    CHECK(turns.note_failure("a", error_of(500, called + "dial tcp 10.0.0.1:443: i/o timeout")));
    CHECK_FALSE(turns.note_failure("a", error_of(500, called + "EOF")));
}

TEST_CASE("an object that is gone is forgotten") {
    controllers::WriteTurns turns;
    CHECK(turns.note_failure("a", error_of(504)));
    CHECK(in_turn(turns, {"b"}) == Names{"b"});
    CHECK(in_turn(turns, {"a", "b"}) == Names{"a", "b"});
}
