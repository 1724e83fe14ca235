#include "test/simulators/proxmox/core/formats.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/regex.hpp>
#include <map>
#include <stdexcept>

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

// Format accepts a value that matches the expression. Where no regular expression can decide, the function
// does.
struct Format {
    std::string expression;
    std::string complaint;  // %s is replaced by the value
    bool (*check)(std::string_view) = nullptr;
};

bool is_ipv4(std::string_view value) {
    boost::system::error_code error;
    boost::asio::ip::make_address_v4(std::string(value), error);
    return !error;
}

bool is_ipv6(std::string_view value) {
    boost::system::error_code error;
    boost::asio::ip::make_address_v6(std::string(value), error);
    return !error && value.find('%') == std::string_view::npos;
}

bool is_cidr(std::string_view value, bool (*is_address)(std::string_view), int widest) {
    auto slash = value.find('/');
    if (slash == std::string_view::npos || !is_address(value.substr(0, slash))) return false;
    auto prefix = value.substr(slash + 1);
    if (!matches(R"(\d+)", prefix)) return false;
    auto width = to_integer(prefix);
    return width && *width >= 8 && *width <= widest;
}

bool is_cidr4(std::string_view value) {
    return is_cidr(value, is_ipv4, 32);
}
bool is_cidr6(std::string_view value) {
    return is_cidr(value, is_ipv6, 128);
}

constexpr const char* kDnsName =
    R"((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\.)*[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)";

std::map<std::string, Format, std::less<>> make_formats() {
    const std::string storage_id = R"((?i:[a-z][a-z0-9_.-]*[a-z0-9]))";
    const std::string drive = R"((?:ide[0-3]|sata[0-5]|scsi(?:\d|[12]\d|30)|virtio(?:\d|1[0-5])))";
    return {
        {"pve-vmid", {R"([1-9]\d{2,8})", "value does not look like a valid VM ID"}},
        {"dns-name", {kDnsName, "value does not look like a valid DNS name"}},
        {"pve-node",
         {R"([a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)", "value does not look like a valid node name"}},
        {"pve-storage-id", {storage_id, "storage ID '%s' contains illegal characters"}},
        {"pve-poolid",
         {R"([A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+){0,2})", "value '%s' does not look like a valid pool name"}},
        {"pve-configid", {R"((?i:[a-z][a-z0-9_-]+))", "invalid configuration ID '%s'"}},
        {"pve-tag", {R"((?i:[a-z0-9_][a-z0-9_\-+.]*))", "invalid characters in tag"}},
        {"pve-storage-content",
         {"images|rootdir|vztmpl|iso|backup|snippets|none|import", "invalid content type '%s'"}},
        {"pve-userid",
         {R"((?=.{3,64}$)[^\s:/]+@[A-Za-z][A-Za-z0-9._-]+)",
          "value '%s' does not look like a valid user name"}},
        {"pve-tokenid",
         {R"([^\s:/]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+)",
          "value '%s' does not look like a valid token ID"}},
        {"pve-groupid", {R"([A-Za-z0-9._-]+)", "value '%s' contains invalid characters"}},
        {"pve-roleid", {R"([A-Za-z0-9._-]+)", "value '%s' contains invalid characters"}},
        {"pve-priv", {R"([A-Z][A-Za-z]+(?:\.[A-Z][A-Za-z]+){1,2})", "invalid privilege '%s'"}},
        {"pve-realm", {R"([A-Za-z][A-Za-z0-9._-]+)", "value does not look like a valid realm"}},
        {"pve-volume-id", {storage_id + ":.+", "unable to parse volume ID '%s'"}},
        {"pve-volume-id-or-qm-path",
         {"none|cdrom|/[\\s\\S]*|" + storage_id + ":.+", "unable to parse volume ID '%s'"}},
        {"pve-volume-id-or-absolute-path",
         {"/[\\s\\S]*|" + storage_id + ":.+", "unable to parse volume ID '%s'"}},
        {"pve-iface", {R"([a-zA-Z][a-zA-Z0-9_]{1,20}([:\.]\d+)?)", "invalid network interface name '%s'"}},
        {"pve-bridge-id", {R"([-_.\w]+)", "invalid bridge name '%s'"}},
        {"pve-task-status-type", {"(?i:ok|error|warning|unknown)", "invalid status '%s'"}},
        {"pve-ha-resource-or-vm-id",
         {R"((?:[a-z]+:\S+|\d+))", "value does not look like a valid ha resource id"}},
        {"pve-qm-bootdev",
         {"(?:" + drive + R"(|net(?:\d|[12]\d|3[01])|usb(?:\d|1[0-3])|hostpci(?:\d|1[0-5])))",
          "invalid boot device '%s'"}},
        {"pve-qm-bootdisk", {"(?:" + drive + "|efidisk0|tpmstate0)", "invalid boot disk '%s'"}},
        {"pve-hotplug-features",
         {R"(0|1|(?:(?:network|disk|cpu|memory|usb|cloudinit)(?:[\s,;]+(?:network|disk|cpu|memory|usb|cloudinit))*)?)",
          "unable to parse hotplug option"}},
        {"pve-startup-order",
         {R"((?=.)(?!0$)(?:(?:(?:order=)?\d+|up=\d+|down=\d+|\s*)(?:,|$))*)",
          "unable to parse startup options"}},
        {"pve-cpuset", {R"(\s*\d+(?:-\d+)?\s*(?:,\s*\d+(?:-\d+)?\s*)*)", "could not parse cpuset"}},
        {"pve-phys-bits",
         {"host|0?[89]|[1-5]\\d|6[0-4]", "value must be a number between 8 and 64 or 'host'"}},
        {"disk-size", {R"(\d+(?:\.\d+)?(?:[KMGT](?:iB)?)?)", "value does not look like a valid size"}},
        {"mac-addr",
         {"(?i:[a-f0-9][02468ace](?::[a-f0-9]{2}){5})",
          "value does not look like a valid unicast MAC address"}},
        {"urlencoded", {R"([-%a-zA-Z0-9_.!~*'()]*)", "invalid urlencoded string: %s"}},
        {"address",
         {kDnsName, "value does not look like a valid address: %s",
          [](std::string_view value) { return is_ipv4(value) || is_ipv6(value); }}},
        {"ipv4", {"", "value does not look like a valid IPv4 address", is_ipv4}},
        {"ipv6", {"", "value does not look like a valid IPv6 address", is_ipv6}},
        {"CIDR",
         {"", "value does not look like a valid CIDR network",
          [](std::string_view value) { return is_cidr4(value) || is_cidr6(value); }}},
        {"pve-ipv4-config",
         {"dhcp|manual", "value does not look like a valid ipv4 network configuration", is_cidr4}},
        {"pve-ipv6-config",
         {"auto|dhcp|manual", "value does not look like a valid ipv6 network configuration", is_cidr6}},
        {"storage-pair", {storage_id + "(?::" + storage_id + ")?|1", "invalid storage ID mapping '%s'"}},
        {"email", {R"([^\s@]+@[^\s@]+)", "value does not look like a valid email address"}},
        {"mac-prefix",
         {"(?i:[a-f0-9][02468ace](?::[a-f0-9]{2}){0,2}:?)",
          "value is not a valid unicast MAC address prefix"}},
    };
}

const std::map<std::string, Format, std::less<>>& formats() {
    static const auto table = make_formats();
    return table;
}

std::optional<std::string> check_one(const Format& format, std::string_view value) {
    if (format.check && format.check(value)) return std::nullopt;
    if (!format.expression.empty() && matches(format.expression, value)) return std::nullopt;
    auto complaint = format.complaint;
    auto placeholder = complaint.find("%s");
    if (placeholder != std::string::npos) complaint.replace(placeholder, 2, value);
    return complaint + "\n";
}

}  // namespace

bool matches(std::string_view expression, std::string_view value) {
    static std::map<std::string, boost::regex, std::less<>> compiled;
    auto known = compiled.find(expression);
    if (known == compiled.end()) {
        known = compiled.emplace(expression, boost::regex(std::string(expression), boost::regex::perl)).first;
    }
    return boost::regex_match(value.begin(), value.end(), known->second);
}

std::optional<std::string> check_format(std::string_view format, std::string_view value) {
    auto known = formats().find(format);
    if (known != formats().end()) return check_one(known->second, value);
    if (format.ends_with("-opt") && value.empty()) return std::nullopt;
    bool list = format.ends_with("-list");
    auto base = format.substr(0, format.rfind('-'));
    known = formats().find(base);
    if (known == formats().end() || (!list && !format.ends_with("-opt"))) {
        throw std::logic_error("no such format: " + std::string(format));
    }
    if (!list) return check_one(known->second, value);
    for (const auto& item : split_list(value)) {
        if (auto complaint = check_one(known->second, item)) return complaint;
    }
    return std::nullopt;
}

}  // namespace proxmox_simulator
