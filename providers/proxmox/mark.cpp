#include "providers/proxmox/mark.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "providers/proxmox/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kKey = "kubenodesmith";
constexpr std::string_view kLineStart = "{\"kubenodesmith\":";

std::optional<MachineIdentity> parse_line(std::string_view line) {
    boost::system::error_code error;
    const auto document = json::parse(line, error);
    if (error || !document.is_object()) return std::nullopt;
    const auto* mark = document.get_object().if_contains(kKey);
    if (!mark || !mark->is_object()) return std::nullopt;
    const auto& fields = mark->get_object();
    const auto claim = text_of(fields, "claim");
    const auto slash = claim.find('/');
    MachineIdentity identity;
    identity.cluster_id = text_of(fields, "cluster");
    identity.provider_uid = text_of(fields, "provider");
    identity.claim_uid = text_of(fields, "uid");
    identity.attempt = integer_of(fields, "attempt");
    if (slash == std::string::npos || identity.claim_uid.empty() || identity.attempt < 1) return std::nullopt;
    identity.claim_namespace = claim.substr(0, slash);
    identity.claim_name = claim.substr(slash + 1);
    return identity;
}

}  // namespace

std::string describe_mark(const MachineIdentity& identity) {
    json::object fields{{"cluster", identity.cluster_id},
                        {"provider", identity.provider_uid},
                        {"claim", identity.claim_namespace + "/" + identity.claim_name},
                        {"uid", identity.claim_uid},
                        {"attempt", identity.attempt}};
    return json::serialize(json::object{{kKey, std::move(fields)}});
}

std::optional<MachineIdentity> parse_mark(std::string_view description) {
    while (!description.empty()) {
        const auto end = std::min(description.find('\n'), description.size());
        const auto line = description.substr(0, end);
        if (line.starts_with(kLineStart)) return parse_line(line);
        description.remove_prefix(std::min(end + 1, description.size()));
    }
    return std::nullopt;
}

std::string lower_case(std::string_view uuid) {
    std::string text(uuid);
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text;
}

}  // namespace providers::proxmox
