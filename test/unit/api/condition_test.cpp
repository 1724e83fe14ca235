#include "api/meta.hpp"
#include "test/support/catch.hpp"

using namespace std::chrono_literals;
using api::Conditions;
using api::ConditionStatus;
using api::Time;

namespace {

const Time kEarly = Time::parse("2026-01-31T12:00:00Z");
const Time kLate = Time::parse("2026-01-31T12:05:00Z");

}  // namespace

TEST_CASE("a condition's transition time changes only with its status") {
    Conditions conditions;
    CHECK(set_condition(conditions, {"Ready", ConditionStatus::False, "Waiting", "for a node", 1}, kEarly));
    CHECK(conditions.front().lastTransitionTime == kEarly);

    CHECK_FALSE(
        set_condition(conditions, {"Ready", ConditionStatus::False, "Waiting", "for a node", 2}, kLate));
    CHECK(conditions.front().lastTransitionTime == kEarly);
    CHECK(conditions.front().observedGeneration == 2);

    CHECK(set_condition(conditions, {"Ready", ConditionStatus::False, "Waiting", "still", 2}, kLate));
    CHECK(conditions.front().lastTransitionTime == kEarly);
    CHECK(conditions.front().message == "still");

    CHECK(set_condition(conditions, {"Ready", ConditionStatus::True, "Ready", "", 2}, kLate));
    CHECK(conditions.front().lastTransitionTime == kLate);
    CHECK(conditions.size() == 1);
}

TEST_CASE("a condition's message is cut between characters to what the API server takes") {
    Conditions conditions;
    const api::ConditionUpdate update{
        "Ready", ConditionStatus::False, "Odd",
        std::string(20'000, 'x') + "ä" + std::string(20'000, 'y') + "the cause"};
    CHECK(set_condition(conditions, update, kEarly));
    const auto& message = conditions.front().message;
    CHECK(message.size() == 32'768);
    CHECK((message.starts_with("xxx") && message.ends_with("the cause")));
    CHECK_FALSE(set_condition(conditions, update, kLate));
}

TEST_CASE("an update without a generation keeps the one observed") {
    Conditions conditions;
    set_condition(conditions, {"Ready", ConditionStatus::True, "Ready", "", 7}, kEarly);
    set_condition(conditions, {"Ready", ConditionStatus::True, "Ready", "", std::nullopt}, kLate);
    CHECK(conditions.front().observedGeneration == 7);
}

TEST_CASE("conditions are found by type, and an absent one is neither true nor false") {
    Conditions conditions;
    set_condition(conditions, {"Launched", ConditionStatus::True, "Launched", "", {}}, kEarly);
    set_condition(conditions, {"Registered", ConditionStatus::False, "NodeNotFound", "", {}}, kEarly);
    set_condition(conditions, {"Ready", ConditionStatus::Unknown, "Waiting", "", {}}, kEarly);
    CHECK(is_true(conditions, "Launched"));
    CHECK_FALSE(is_false(conditions, "Launched"));
    CHECK(is_false(conditions, "Registered"));
    CHECK_FALSE(is_true(conditions, "Ready"));
    CHECK_FALSE(is_false(conditions, "Ready"));
    CHECK_FALSE(is_true(conditions, "Failed"));
    CHECK_FALSE(is_false(conditions, "Failed"));
    CHECK(find_condition(conditions, "Registered")->reason == "NodeNotFound");
    CHECK(find_condition(conditions, "Failed") == nullptr);
    CHECK(remove_condition(conditions, "Registered"));
    CHECK_FALSE(remove_condition(conditions, "Registered"));
    CHECK(conditions.size() == 2);
}

TEST_CASE("the controller among the owners is found") {
    api::ObjectMeta metadata;
    CHECK(controller_of(metadata) == nullptr);
    metadata.ownerReferences = {{"v1", "ConfigMap", "a", "1", {}, {}},
                                {"apps/v1", "DaemonSet", "b", "2", true, {}}};
    CHECK(controller_of(metadata)->name == "b");
    metadata.finalizers = {"x/y"};
    CHECK(has_finalizer(metadata, "x/y"));
    CHECK_FALSE(has_finalizer(metadata, "x"));
}
