// What Proxmox answers: bodies, identifiers, property strings.
#include <boost/json/parse.hpp>
#include <stdexcept>

#include "providers/proxmox/call.hpp"
#include "providers/proxmox/cluster_state.hpp"
#include "providers/proxmox/error.hpp"
#include "providers/proxmox/mark.hpp"
#include "providers/proxmox/property_string.hpp"
#include "providers/proxmox/task_status.hpp"
#include "providers/proxmox/vm_config.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {

namespace proxmox = providers::proxmox;

// The first line is the status, the second the reason phrase, the rest the body.
void proxmox_response(std::string_view input) {
    base::HttpResponse response;
    auto first = input.find('\n');
    auto second = first == std::string_view::npos ? first : input.find('\n', first + 1);
    if (second == std::string_view::npos) return;
    response.status = 100 + static_cast<int>(input.size() ? static_cast<unsigned char>(input[0]) * 2 : 0);
    if (input.starts_with("200")) response.status = 200;
    response.reason = input.substr(first + 1, second - first - 1);
    response.body = input.substr(second + 1);
    boost::json::value data;
    try {
        data = proxmox::data_of(proxmox::get_cluster_resources(), response);
    } catch (const proxmox::ApiError&) {
        return;
    }
    proxmox::parse_cluster_state(data);
    proxmox::parse_task_status(data);
    auto config = proxmox::parse_vm_config(data);
    config.system_uuid();
    config.cores();
    config.memory_mib();
    proxmox::has_empty_cdrom(config);
    proxmox::drive_with_file(config, "kubenodesmith.iso");
    providers::MachineIdentity identity;
    identity.claim_uid = "00000000-0000-4000-8000-000000000001";
    auto ownership = proxmox::ownership_of(config, identity, "kubenodesmith-managed");
    auto why = proxmox::explain_ownership(config, identity, "kubenodesmith-managed");
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

}  // namespace fuzz
