#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <regex>
#include <set>

#include "test/simulation/contract/proxmox/server.hpp"

namespace contract::proxmox {
namespace {

// Reports whether the member is a time, a counter or a random value.
bool is_volatile(const std::string& name) {
    static const std::set<std::string> names{"cpu",       "ctime",
                                             "digest",    "disk",
                                             "diskread",  "diskwrite",
                                             "endtime",   "loadavg",
                                             "mem",       "memhost",
                                             "meta",      "netin",
                                             "netout",    "pid",
                                             "pstart",    "rootfs",
                                             "smbios1",   "ssl_fingerprint",
                                             "starttime", "swap",
                                             "ticket",    "CSRFPreventionToken",
                                             "time",      "upid",
                                             "uptime",    "vmgenid",
                                             "wait",      "memory-used"};
    return names.contains(name);
}

std::string masked(const std::string& text) {
    static const std::regex upid("UPID:[^\"\\s\\\\]+"), uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        mac("([0-9A-F]{2}:){5}[0-9A-F]{2}"), hash("[0-9a-f]{40}");
    auto result = std::regex_replace(text, upid, "UPID");
    result = std::regex_replace(result, uuid, "UUID");
    result = std::regex_replace(result, mac, "MAC");
    return std::regex_replace(result, hash, "HASH");
}

void compare(const json::value& left, const json::value& right, const std::string& path,
             std::vector<std::string>& found);

void compare_objects(const json::object& left, const json::object& right, const std::string& path,
                     std::vector<std::string>& found) {
    for (const auto& [name, value] : left) {
        auto place = path + "/" + std::string(name);
        const auto* other = right.if_contains(name);
        if (!other) {
            found.push_back(place + ": only in the first");
        } else if (!is_volatile(name)) {
            compare(value, *other, place, found);
        } else if (value.kind() != other->kind() && !(value.is_number() && other->is_number())) {
            found.push_back(place + ": of different kinds");
        }
    }
    for (const auto& [name, value] : right) {
        if (!left.contains(name)) found.push_back(path + "/" + std::string(name) + ": only in the second");
    }
}

void compare(const json::value& left, const json::value& right, const std::string& path,
             std::vector<std::string>& found) {
    auto differ = [&] {
        found.push_back(path + ": " + json::serialize(left) + " and " + json::serialize(right));
    };
    if (left.is_string() && right.is_string()) {
        if (masked(std::string(left.get_string())) != masked(std::string(right.get_string()))) differ();
    } else if (left.is_object() && right.is_object()) {
        compare_objects(left.get_object(), right.get_object(), path, found);
    } else if (left.is_array() && right.is_array()) {
        if (left.get_array().size() != right.get_array().size()) return differ();
        for (std::size_t i = 0; i < left.get_array().size(); ++i) {
            compare(left.get_array()[i], right.get_array()[i], path + "/" + std::to_string(i), found);
        }
    } else if (left != right) {
        differ();
    }
}

}  // namespace

json::value Answer::body() const {
    boost::system::error_code error;
    auto value = json::parse(text, error);
    return error ? json::value() : value;
}

json::value Answer::data() const {
    auto value = body();
    const auto* object = value.if_object();
    const auto* data = object ? object->if_contains("data") : nullptr;
    return data ? *data : json::value();
}

std::vector<std::string> Answer::errors() const {
    std::vector<std::string> names;
    auto value = body();
    const auto* object = value.if_object();
    const auto* errors = object ? object->if_contains("errors") : nullptr;
    if (!errors || !errors->is_object()) return names;
    for (const auto& [name, why] : errors->get_object()) names.emplace_back(name);
    return names;
}

std::vector<std::string> differences(const Answer& left, const Answer& right) {
    std::vector<std::string> found;
    auto expect = [&found](const char* what, const std::string& one, const std::string& other) {
        if (one != other) found.push_back(std::string(what) + ": " + one + " and " + other);
    };
    expect("status", std::to_string(left.status), std::to_string(right.status));
    expect("reason", masked(left.reason), masked(right.reason));
    expect("content type", left.content_type, right.content_type);
    auto one = left.body(), other = right.body();
    if (one.is_null() || other.is_null()) {
        expect("body", masked(left.text), masked(right.text));
    } else {
        compare(one, other, "", found);
    }
    return found;
}

}  // namespace contract::proxmox
