#include "kube/reflector.hpp"

#include "test/support/catch.hpp"

namespace {

using kube::ReflectorState;
using Action = ReflectorState::Action;

api::ListMeta page(std::string version, std::string token = "") {
    api::ListMeta result;
    result.resourceVersion = std::move(version);
    result.continue_ = std::move(token);
    return result;
}

const Action kFirstPage = ReflectorState::ListPage{""};

}  // namespace

TEST_CASE("it lists page by page and watches from the list's version") {
    ReflectorState state;
    CHECK(state.next() == kFirstPage);
    state.page_received(page("", "token"));
    CHECK(state.next() == Action(ReflectorState::ListPage{"token"}));
    state.page_received(page("7"));
    CHECK(state.next() == Action(ReflectorState::Watch{"7"}));
    state.event_received("9");
    CHECK(state.next() == Action(ReflectorState::Watch{"9"}));
    state.watch_ended(false);
    CHECK(state.next() == Action(ReflectorState::Watch{"9"}));
}

TEST_CASE("after a failure it waits, then does the same again") {
    ReflectorState state;
    state.page_received(page("", "token"));
    state.failed();
    CHECK(state.next() == Action(ReflectorState::Pause{1}));
    state.paused();
    CHECK(state.next() == Action(ReflectorState::ListPage{"token"}));
    state.failed();
    CHECK(state.next() == Action(ReflectorState::Pause{2}));
    state.paused();
    state.page_received(page("7"));
    state.failed();
    CHECK(state.next() == Action(ReflectorState::Pause{3}));
    state.paused();
    state.event_received("8");
    CHECK(state.failures() == 0);
}

TEST_CASE("a watch that ends at once is a failure, one that lasted forgets earlier ones") {
    ReflectorState state;
    state.page_received(page("7"));
    state.watch_ended(true);
    CHECK(state.next() == Action(ReflectorState::Pause{1}));
    state.paused();
    state.watch_ended(false);
    CHECK(state.failures() == 0);
}

TEST_CASE("too old a version means a new list, at once only the first time") {
    ReflectorState state;
    state.page_received(page("7"));
    state.expired();
    CHECK(state.next() == kFirstPage);
    state.page_received(page("8"));
    state.expired();
    CHECK(state.next() == Action(ReflectorState::Pause{2}));
    state.paused();
    CHECK(state.next() == kFirstPage);
    state.page_received(page("", "token"));
    state.expired();
    state.paused();
    CHECK(state.next() == kFirstPage);
}
