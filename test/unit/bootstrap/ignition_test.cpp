#include "bootstrap/ignition.hpp"

#include <boost/json/parse.hpp>

#include "api/bytes.hpp"
#include "test/support/catch.hpp"
#include "test/unit/bootstrap/join_requests.hpp"

namespace {

namespace json = boost::json;

std::string content_of(const json::value& object) {
    const std::string url(object.at("source").as_string());
    const std::string scheme = "data:;base64,";
    REQUIRE(url.starts_with(scheme));
    return api::Bytes::parse(url.substr(scheme.size())).value;
}

bootstrap::UserDataSettings settings() {
    bootstrap::UserDataSettings settings;
    settings.hostname = "workers-a1b2c";
    return settings;
}

bootstrap::JoinPlan plan() {
    return bootstrap::plan_join(test::join_request(api::v1alpha1::BootstrapFormat::Kubeadm));
}

const json::value& file_at(const json::value& config, const char* path) {
    for (const auto& file : config.at("storage").at("files").as_array())
        if (file.at("path") == path) return file;
    throw std::runtime_error("no such file");
}

}  // namespace

TEST_CASE("An Ignition machine gets its files and runs the join once") {
    const auto config = json::parse(bootstrap::ignition_config(settings(), plan()));
    CHECK(config.at("ignition").at("version") == "3.0.0");
    CHECK(content_of(file_at(config, "/etc/hostname").at("contents")) == "workers-a1b2c\n");
    const auto& join = file_at(config, "/etc/kubernetes/kubenodesmith-join.yaml");
    CHECK(content_of(join.at("contents")) == plan().files.at(0).content);
    CHECK(join.at("mode") == 0600);
    const auto& script = file_at(config, "/var/lib/kubenodesmith/join");
    CHECK(script.at("mode") == 0700);
    CHECK(content_of(script.at("contents")) ==
          "#!/bin/sh\nset -e\nkubeadm join --config /etc/kubernetes/kubenodesmith-join.yaml\n"
          "touch /var/lib/kubenodesmith/joined\n");
    const auto& unit = config.at("systemd").at("units").at(0);
    CHECK(unit.at("enabled") == true);
    CHECK_THAT(std::string(unit.at("contents").as_string()),
               Catch::Contains("ExecStart=/var/lib/kubenodesmith/join\n") &&
                   Catch::Contains("ConditionPathExists=!/var/lib/kubenodesmith/joined\n"));
    CHECK_FALSE(config.as_object().contains("passwd"));
}

TEST_CASE("SSH keys are those of the user core unless another is wanted") {
    auto with_keys = settings();
    with_keys.ssh_authorized_keys = {"ssh-ed25519 AAAA a"};
    const auto user_of = [&] {
        return json::parse(bootstrap::ignition_config(with_keys, plan())).at("passwd").at("users").at(0);
    };
    CHECK(user_of() == json::parse(R"({"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA a"]})"));
    with_keys.user = "ops";
    CHECK(user_of().at("name") == "ops");
}

TEST_CASE("The user's own Ignition configuration is merged before ours") {
    auto with_own = settings();
    with_own.own_user_data = R"({"ignition": {"version": "3.3.0"}, "storage": {"links": []}})";
    const auto config = json::parse(bootstrap::ignition_config(with_own, plan()));
    const auto& sources = config.at("ignition").at("config").at("merge").as_array();
    REQUIRE(sources.size() == 2);
    CHECK(content_of(sources[0]) == with_own.own_user_data);
    CHECK(content_of(sources[1]) + "\n" == bootstrap::ignition_config(settings(), plan()));
}

TEST_CASE("Own user-data that is no Ignition configuration is refused without its text") {
    for (const auto* own :
         {"#cloud-config\ns3cret: 1\n", R"({"ignition": {"version": "2.3.0"}, "s3cret": 1})",
          R"({"s3cret": 1})", R"(["s3cret"])"}) {
        auto with_own = settings();
        with_own.own_user_data = own;
        CHECK_THROWS_WITH(bootstrap::ignition_config(with_own, plan()),
                          Catch::Contains("version 3.x") && !Catch::Contains("s3cret"));
        CHECK_THROWS_AS(bootstrap::ignition_config(with_own, plan()), bootstrap::OwnUserDataError);
    }
}
