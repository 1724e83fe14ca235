// Fuzzes the parsers of Proxmox' answers: bodies, identifiers, property strings.
#include <boost/json/parse.hpp>
#include <cctype>
#include <charconv>
#include <stdexcept>

#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/cluster/permissions.hpp"
#include "providers/proxmox/config/mark.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/config/vm_options.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/placement/host_choice.hpp"
#include "providers/proxmox/wire/answer.hpp"
#include "providers/proxmox/wire/grammar.hpp"
#include "providers/proxmox/wire/property_string.hpp"
#include "providers/proxmox/wire/proxmox_error.hpp"
#include "providers/proxmox/wire/task_status.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {

namespace proxmox = providers::proxmox;

// Reads the first line as the status, the second as the reason phrase, and the rest as the body.
void proxmox_response(std::string_view input) {
    base::HttpResponse response;
    auto [status, rest] = first_line(input);
    auto [reason, body] = first_line(rest);
    std::from_chars(status.data(), status.data() + status.size(), response.status);
    response.reason = reason;
    response.body = body;
    boost::json::value data;
    try {
        data = proxmox::data_of(proxmox::get_cluster_resources(), response);
    } catch (const proxmox::ProxmoxError& error) {
        for (const char c : error.message)
            check(std::iscntrl(static_cast<unsigned char>(c)) == 0, "it can be shown");
        return;
    }
    try {
        auto state = proxmox::parse_cluster_state(data);
        proxmox::rooms(proxmox::Settings{}, state, {}, {});
        for (const auto& host : state.hosts) check(proxmox::is_host_name(host.name), "it is a name");
    } catch (const proxmox::ProxmoxError& error) {
        check(error.kind == proxmox::ErrorKind::other, "it is no answer of a Proxmox");
    }
    proxmox::Permissions::parse(data).has("/vms", "VM.Allocate");
    if (data.is_string()) proxmox::parse_next_id_range(data.get_string());
    proxmox::parse_task_status(data);
    auto config = proxmox::parse_vm_config(data);
    config.system_uuid();
    config.cores();
    config.memory_mib();
    proxmox::has_empty_cdrom(config);
    proxmox::drive_with_file(config, "kubenodesmith.iso");
    providers::MachineIdentity identity;
    identity.claim_uid = "00000000-0000-4000-8000-000000000001";
    auto ownership = proxmox::ownership_of(config, 100, identity, "kubenodesmith-managed");
    auto why = proxmox::explain_ownership(config, 100, identity, "kubenodesmith-managed");
    check(ownership != proxmox::Ownership::ours || why.empty(), "what is ours needs no explanation");
}

void property_string(std::string_view input) {
    auto properties = proxmox::PropertyString::parse(input);
    check(proxmox::PropertyString::parse(properties.str()).str() == properties.str(), "writing is stable");
    properties.find("uuid");
    properties.find_or_default("file");
    try {
        properties.set("size", std::string(input.substr(0, 8)));
        check(properties.find("size").has_value(), "what was set is there");
    } catch (const std::invalid_argument&) {
    }
    auto tags = proxmox::parse_tags(input);
    check(proxmox::parse_tags(proxmox::join_tags(tags)) == tags, "tags read as they were written");
    proxmox::parse_upid(input);
    if (auto mark = proxmox::parse_mark(input)) {
        check(proxmox::parse_mark(proxmox::describe_mark(*mark)) == mark, "a mark reads as it was written");
    }
}

// Checks one of the options that users pass through. The first line is its name, the rest its value.
void vm_option(std::string_view input) {
    auto [name, value] = first_line(input);
    const api::v1alpha1::VMOption option{std::string(name), boost::json::string(value)};
    try {
        proxmox::checked_vm_options({option});
    } catch (const std::invalid_argument&) {
    }
    try {
        proxmox::check_network_interfaces({{std::string(name), std::string(value)}});
    } catch (const std::invalid_argument&) {
    }
    try {
        proxmox::endpoint_origin(std::string(input));
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace fuzz
