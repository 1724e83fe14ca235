// Tests watches.
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;
using Lines = std::vector<std::string>;

namespace {

std::string selection_of(const std::string& mark) {
    return kConfigMaps + "?labelSelector=mark%3D" + mark;
}

std::string version_of(const std::string& list) {
    return server().call("GET", list).text("metadata", "resourceVersion");
}

std::uint64_t version_of(const json::value& object) {
    return std::stoull(std::string(object.at("metadata").at("resourceVersion").as_string()));
}

Watched watch(const std::string& list, const std::string& parameters, std::size_t count) {
    return server().watch(list + "&watch=1&" + parameters, count);
}

}  // namespace

TEST_CASE("a watch goes on from a resourceVersion and shows objects enter and leave its selection") {
    auto mark = server().fresh("watch");
    auto start = version_of(selection_of(mark));
    server().call("POST", kConfigMaps, config_map(mark));
    auto label = [&](const json::value& value) {
        json::object change{{"metadata", {{"labels", {{"mark", value}}}}}};
        server().call("PATCH", kConfigMaps + "/" + mark, change, kMergePatch);
    };
    label(json::string(mark));
    server().call("PATCH", kConfigMaps + "/" + mark, config_map(mark, "2"), kMergePatch);
    label(nullptr);
    label(json::string(mark));
    server().call("DELETE", kConfigMaps + "/" + mark);
    auto watched = watch(selection_of(mark), "resourceVersion=" + start, 5);
    CHECK(told(watched.events) ==
          Lines{"ADDED " + mark, "MODIFIED " + mark, "DELETED " + mark, "ADDED " + mark, "DELETED " + mark});
    CHECK_FALSE(watched.ended);
    // Versions increase, and a deletion has a version too.
    std::uint64_t last = std::stoull(start);
    for (const auto& event : watched.events) {
        auto version = version_of(event.at("object"));
        CHECK(version > last);
        last = version;
    }
}

TEST_CASE("a watch of one namespace or by a field shows nothing else") {
    auto mark = server().fresh("scope");
    auto unfinished = "/api/v1/pods?labelSelector=app%3D" + mark +
                      "&fieldSelector=status.phase!%3DSucceeded%2Cstatus.phase!%3DFailed";
    auto start = version_of(unfinished);
    running_pod(mark);
    json::object succeeded{{"status", {{"phase", "Succeeded"}}}};
    server().call("PATCH", kPods + "/" + mark + "/status", succeeded, kMergePatch);
    end_pod(mark);
    auto watched = watch(unfinished, "resourceVersion=" + start, 3);
    CHECK(told(watched.events) == Lines{"ADDED " + mark, "MODIFIED " + mark, "DELETED " + mark});
    auto elsewhere = "/api/v1/namespaces/kube-system/pods?labelSelector=app%3D" + mark;
    auto nothing = watch(elsewhere, "timeoutSeconds=1&resourceVersion=" + start, 1);
    CHECK(nothing.events.empty());
    CHECK(server().call("GET", kConfigMaps + "?watch=1&fieldSelector=data.value%3D1").status == 400);
}

TEST_CASE("a watch without a resourceVersion, or with 0, begins with what is there") {
    auto mark = server().fresh("present");
    server().call("POST", kConfigMaps, marked(mark, mark));
    CHECK(told(watch(selection_of(mark), "", 1).events) == Lines{"ADDED " + mark});
    CHECK(told(watch(selection_of(mark), "resourceVersion=0", 1).events) == Lines{"ADDED " + mark});
}

TEST_CASE("a watch with initial events ends them with a bookmark") {
    auto mark = server().fresh("initial");
    server().call("POST", kConfigMaps, marked(mark, mark));
    auto watched =
        watch(selection_of(mark),
              "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", 2);
    REQUIRE(told(watched.events) == Lines{"ADDED " + mark, "BOOKMARK"});
    const auto& bookmark = watched.events[1].at("object");
    CHECK(bookmark.at("metadata").at("annotations").at("k8s.io/initial-events-end") == "true");
}

TEST_CASE("a watch ends after its time, and says before how far it has come") {
    auto mark = server().fresh("ends");
    auto start = version_of(selection_of(mark));
    auto other = server().fresh("other");
    auto target =
        selection_of(mark) + "&watch=1&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=" + start;
    auto watched = server().watch(target, 9, {{"POST", kConfigMaps, config_map(other), ""}});
    CHECK(watched.ended);
    REQUIRE(!watched.events.empty());
    CHECK(told(watched.events) == Lines(watched.events.size(), "BOOKMARK"));
    const auto& bookmark = watched.events.back().at("object");
    CHECK(bookmark.at("kind") == "ConfigMap");
    CHECK(bookmark.at("apiVersion") == "v1");
    // A controller of the cluster may have written a ConfigMap since then.
    auto written = server().call("GET", kConfigMaps + "/" + other).text("metadata", "resourceVersion");
    CHECK(version_of(bookmark) >= std::stoull(written));
}

TEST_CASE("a watch of something that does not change ends in silence") {
    auto mark = server().fresh("silent");
    auto start = version_of(selection_of(mark));
    auto silent =
        watch(selection_of(mark), "allowWatchBookmarks=true&timeoutSeconds=4&resourceVersion=" + start, 1);
    CHECK(silent.ended);
    CHECK(silent.events.empty());
}

TEST_CASE("a watch from a moment that is forgotten says so, once it is listed again it goes on") {
    auto mark = server().fresh("forgotten");
    server().call("POST", kConfigMaps, marked(mark, mark));
    server().compact();
    auto watched = watch(selection_of(mark), "resourceVersion=1", 2);
    REQUIRE(watched.events.size() == 1);
    CHECK(watched.ended);
    const auto& error = watched.events[0];
    CHECK(error.at("type") == "ERROR");
    CHECK(error.at("object").at("kind") == "Status");
    CHECK(error.at("object").at("code") == 410);
    CHECK(error.at("object").at("reason") == "Expired");

    auto start = version_of(selection_of(mark));
    server().call("DELETE", kConfigMaps + "/" + mark);
    auto again = watch(selection_of(mark), "resourceVersion=" + start, 1);
    CHECK(told(again.events) == Lines{"DELETED " + mark});
}
