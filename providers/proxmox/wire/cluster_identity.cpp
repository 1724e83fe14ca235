#include "providers/proxmox/wire/cluster_identity.hpp"

#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/grammar.hpp"

namespace providers::proxmox {

namespace {

constexpr std::string_view kAuthority = "pve-root-ca.pem";

}  // namespace

std::string authority_fingerprint(const boost::json::value& certificates) {
    for (const auto* entry : objects_of(certificates)) {
        const auto fingerprint = text_of(*entry, "fingerprint");
        if (text_of(*entry, "filename") == kAuthority && is_fingerprint(fingerprint)) return fingerprint;
    }
    return {};
}

std::string cluster_name(const boost::json::value& status) {
    std::string host;
    for (const auto* entry : objects_of(status)) {
        const auto name = foreign::shown(text_of(*entry, "name"));
        if (text_of(*entry, "type") == "cluster") return name;
        if (flag_of(*entry, "local")) host = name;
    }
    return host;
}

}  // namespace providers::proxmox
