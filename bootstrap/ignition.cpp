#include "bootstrap/ignition.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"
#include "bootstrap/shell.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

constexpr const char* kVersion = "3.0.0";
constexpr const char* kJoinScriptPath = "/var/lib/kubenodesmith/join";
constexpr const char* kJoinedPath = "/var/lib/kubenodesmith/joined";
constexpr std::int64_t kReadByAll = 0644;

std::string data_url(const std::string& content) {
    return "data:;base64," + api::Bytes{content}.str();
}

json::object file_of(const std::string& path, const std::string& content, std::int64_t mode) {
    return {
        {"path", path}, {"mode", mode}, {"overwrite", true}, {"contents", {{"source", data_url(content)}}}};
}

std::string script_of(const JoinPlan& plan) {
    std::string script = "#!/bin/sh\nset -e\n";
    for (const auto& command : plan.commands) script += command_line(command) + "\n";
    return script + "touch " + kJoinedPath + "\n";
}

json::array files_of(const UserDataSettings& settings, const JoinPlan& plan) {
    constexpr int kOctal = 8;
    constexpr std::int64_t kRunByRoot = 0700;
    json::array files{file_of("/etc/hostname", settings.hostname + "\n", kReadByAll)};
    for (const auto& file : plan.files)
        files.push_back(file_of(file.path, file.content, std::stoll(file.permissions, nullptr, kOctal)));
    files.push_back(file_of(kJoinScriptPath, script_of(plan), kRunByRoot));
    return files;
}

json::object unit() {
    const std::string text =
        "[Unit]\n"
        "Description=Join the Kubernetes cluster\n"
        "Wants=network-online.target\n"
        "After=network-online.target\n"
        "ConditionPathExists=!" +
        std::string(kJoinedPath) +
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        "RemainAfterExit=true\n"
        "ExecStart=" +
        kJoinScriptPath +
        "\n"
        "[Install]\n"
        "WantedBy=multi-user.target\n";
    return {{"name", "kubenodesmith-join.service"}, {"enabled", true}, {"contents", text}};
}

json::object ours(const UserDataSettings& settings, const JoinPlan& plan) {
    json::object config{{"ignition", {{"version", kVersion}}},
                        {"storage", {{"files", files_of(settings, plan)}}},
                        {"systemd", {{"units", json::array{unit()}}}}};
    if (!settings.ssh_authorized_keys.empty()) {
        json::array keys;
        for (const auto& key : settings.ssh_authorized_keys) keys.push_back(json::string(key));
        const auto user = settings.user.empty() ? "core" : settings.user;
        config["passwd"] = {{"users", json::array{{{"name", user}, {"sshAuthorizedKeys", keys}}}}};
    }
    return config;
}

// Checks the user's configuration. Errors are reported without its text, which may contain secrets.
void check_own(const std::string& text) {
    boost::system::error_code error;
    const auto document = json::parse(text, error);
    const auto* ignition =
        !error && document.is_object() ? document.as_object().if_contains("ignition") : nullptr;
    const auto* version =
        ignition && ignition->is_object() ? ignition->as_object().if_contains("version") : nullptr;
    if (!version || !version->is_string() || !version->as_string().starts_with("3."))
        throw OwnUserDataError("own user-data must be an Ignition configuration of a version 3.x, as JSON");
}

}  // namespace

std::string ignition_config(const UserDataSettings& settings, const JoinPlan& plan) {
    const auto config = json::serialize(ours(settings, plan));
    if (settings.own_user_data.empty()) return config + "\n";
    check_own(settings.own_user_data);
    const json::array sources{{{"source", data_url(settings.own_user_data)}}, {{"source", data_url(config)}}};
    const json::object both{{"ignition", {{"version", kVersion}, {"config", {{"merge", sources}}}}}};
    return json::serialize(both) + "\n";
}

}  // namespace bootstrap
