#include "bootstrap/cloud_init.hpp"

#include <boost/json/value.hpp>

#include "api/yaml.hpp"
#include "bootstrap/yaml_writer.hpp"

namespace bootstrap {

namespace {

namespace json = boost::json;

constexpr std::string_view kHeader = "#cloud-config\n";
// https://cloudinit.readthedocs.io/en/latest/howto/disable_cloud_init.html
constexpr const char* kDisabledMarker = "/etc/cloud/cloud-init.disabled";

json::array strings(const std::vector<std::string>& values) {
    json::array array;
    for (const auto& value : values) array.push_back(json::string(value));
    return array;
}

// Parses the user's document. Errors are reported without its text, which may contain secrets.
json::object parse_own(const std::string& text) {
    if (text.empty()) return {};
    if (!text.starts_with("#cloud-config")) {
        throw OwnUserDataError("own user-data must begin with the line #cloud-config");
    }
    json::value document;
    try {
        document = api::parse_yaml(text, api::kObjectBounds);
    } catch (const api::YamlError& error) {
        throw OwnUserDataError(std::string("own user-data: ") + error.what());
    }
    if (document.is_null()) return {};
    if (!document.is_object()) throw OwnUserDataError("own user-data is not a mapping");
    return document.as_object();
}

void append(json::object& document, std::string_view key, const json::array& more) {
    if (more.empty()) return;
    auto& value = document[key];
    if (value.is_null()) value = json::array();
    if (!value.is_array()) {
        throw OwnUserDataError("own user-data: " + std::string(key) + " must be a list");
    }
    auto& list = value.as_array();
    list.insert(list.end(), more.begin(), more.end());
}

json::array write_files(const JoinPlan& plan) {
    json::array files;
    for (const auto& file : plan.files) {
        files.push_back({{"path", file.path},
                         {"owner", "root:root"},
                         {"permissions", file.permissions},
                         {"content", file.content}});
    }
    return files;
}

}  // namespace

std::string user_data(const UserDataSettings& settings, const JoinPlan& plan) {
    auto document = parse_own(settings.own_user_data);
    document["hostname"] = settings.hostname;
    document["preserve_hostname"] = false;
    if (!document.contains("manage_etc_hosts")) document["manage_etc_hosts"] = true;
    if (!settings.user.empty() && !document.contains("user")) {
        // A mapping renames the image's default user and keeps its groups and rights. A plain text meant
        // the same until cloud-init 27.2.
        document["user"] = {{"name", settings.user}};
    }
    if (!document.contains("package_upgrade")) document["package_upgrade"] = settings.upgrade_packages;
    append(document, "ssh_authorized_keys", strings(settings.ssh_authorized_keys));
    append(document, "write_files", write_files(plan));
    json::array commands;
    for (const auto& command : plan.commands) commands.push_back(strings(command));
    commands.push_back({"touch", kDisabledMarker});
    append(document, "runcmd", commands);
    return std::string(kHeader) + to_yaml(document);
}

std::string meta_data(std::string_view claim_uid, std::int64_t attempt, std::string_view hostname) {
    return to_yaml({{"instance-id", std::string(claim_uid) + "-" + std::to_string(attempt)},
                    {"local-hostname", std::string(hostname)}});
}

}  // namespace bootstrap
