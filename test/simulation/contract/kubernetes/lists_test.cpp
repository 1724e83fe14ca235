// Tests lists, their pages and selections.
#include "base/url.hpp"
#include "test/simulation/contract/kubernetes/objects.hpp"
#include "test/support/catch.hpp"

using namespace contract;

namespace {

std::string list_of(const std::string& mark) {
    return kConfigMaps + "?labelSelector=mark%3D" + mark;
}

// Makes five config maps labelled mark=MARK. Two also have odd=yes and two odd=no.
std::vector<std::string> make_five(const std::string& mark) {
    std::vector<std::string> names;
    for (int i = 0; i < 5; ++i) {
        names.push_back(mark + "-" + std::to_string(i));
        auto body = marked(names.back(), mark);
        if (i < 4) body["metadata"].at("labels").as_object()["odd"] = i % 2 == 1 ? "yes" : "no";
        server().call("POST", kConfigMaps, body);
    }
    return names;
}

}  // namespace

TEST_CASE("a list is chosen by labels") {
    auto mark = server().fresh("labels");
    auto all = make_five(mark);
    auto chosen = [&](const std::string& selector) {
        return names_of(server().call("GET", list_of(mark) + base::percent_encode("," + selector)));
    };
    using Names = std::vector<std::string>;
    CHECK(names_of(server().call("GET", list_of(mark))) == all);
    CHECK(chosen("odd=yes") == Names{all[1], all[3]});
    CHECK(chosen("odd==yes") == Names{all[1], all[3]});
    CHECK(chosen("odd!=yes") == Names{all[0], all[2], all[4]});
    CHECK(chosen("odd in (yes,maybe)") == Names{all[1], all[3]});
    CHECK(chosen("odd notin (yes)") == Names{all[0], all[2], all[4]});
    CHECK(chosen("odd") == Names{all[0], all[1], all[2], all[3]});
    CHECK(chosen("!odd") == Names{all[4]});
    CHECK(server().call("GET", kConfigMaps + "?labelSelector=a%3D%3Db%3Dc").status == 400);
}

TEST_CASE("a list is chosen by the few fields that its kind offers") {
    auto name = server().fresh("field");
    server().call("POST", kConfigMaps, config_map(name));
    auto base = kConfigMaps + "?fieldSelector=";
    CHECK(names_of(server().call("GET", base + "metadata.name%3D" + name)) == std::vector<std::string>{name});
    CHECK(server().call("GET", base + "data.value%3D1").status == 400);

    auto pod_name = server().fresh("selected");
    server().call("POST", kPods, pod(pod_name));
    auto pods = "/api/v1/pods?labelSelector=app%3D" + pod_name + "&fieldSelector=";
    CHECK(names_of(server().call("GET", pods + "spec.nodeName%3Dnowhere")).size() == 1);
    CHECK(names_of(server().call("GET", pods + "spec.nodeName%3Delsewhere")).empty());
    CHECK(
        names_of(server().call("GET", pods + "status.phase!%3DSucceeded%2Cstatus.phase!%3DFailed")).size() ==
        1);
    CHECK(names_of(server().call("GET", pods + "status.phase%3DRunning")).empty());
    end_pod(pod_name);
}

TEST_CASE("a list comes in pages of one moment, each of which can be asked for again") {
    auto mark = server().fresh("pages");
    auto all = make_five(mark);
    auto first = server().call("GET", list_of(mark) + "&limit=3");
    CHECK(names_of(first) == std::vector<std::string>{all[0], all[1], all[2]});
    server().call("DELETE", kConfigMaps + "/" + all[3]);
    server().call("POST", kConfigMaps, marked(mark + "-5", mark));
    auto next =
        list_of(mark) + "&limit=3&continue=" + base::percent_encode(first.text("metadata", "continue"));
    for (int tries = 0; tries < 2; ++tries) {
        auto second = server().call("GET", next);
        CHECK(names_of(second) == std::vector<std::string>{all[3], all[4]});
        CHECK(second.text("metadata", "continue").empty());
        CHECK(first.text("metadata", "resourceVersion") == second.text("metadata", "resourceVersion"));
    }
}

TEST_CASE("pages of a moment that is forgotten expire") {
    auto mark = server().fresh("expired");
    make_five(mark);
    auto first = server().call("GET", list_of(mark) + "&limit=3");
    server().call("POST", kConfigMaps, config_map(server().fresh("later")));
    server().compact();
    auto next =
        list_of(mark) + "&limit=3&continue=" + base::percent_encode(first.text("metadata", "continue"));
    auto expired = server().call("GET", next);
    CHECK(expired.status == 410);
    CHECK(expired.text("reason") == "Expired");
    CHECK(server().call("GET", list_of(mark) + "&limit=3&continue=nonsense").status == 400);
}

TEST_CASE("a list is as new as what was written before") {
    auto mark = server().fresh("fresh");
    for (int i = 0; i < 5; ++i) {
        auto name = mark + "-" + std::to_string(i);
        auto created = server().call("POST", kConfigMaps, marked(name, mark));
        auto list = server().call("GET", list_of(mark));
        CHECK(names_of(list).size() == static_cast<std::size_t>(i + 1));
        CHECK(std::stoull(list.text("metadata", "resourceVersion")) >=
              std::stoull(created.text("metadata", "resourceVersion")));
    }
}
