#include "migrate/proxmox_autoscaler.hpp"

#include <boost/json/object.hpp>
#include <stdexcept>

#include "migrate/rules.hpp"
#include "migrate/source.hpp"

namespace kubenodesmith::migrate {
namespace {

using namespace api::v1alpha1;

constexpr auto kMapped = Outcome::mapped;
constexpr auto kDifferent = Outcome::different;
constexpr auto kNone = Outcome::none;
constexpr auto kCredentials = "proxmox";

api::Duration seconds(const Setting& setting) {
    return std::chrono::seconds(setting.integer());
}

std::int32_t number(const Setting& setting) {
    return static_cast<std::int32_t>(setting.integer());
}

MachineNetwork& network_of(Draft& draft) {
    return draft.cloud_init().network;
}

void set_host(Draft& draft, Setting& setting) {
    auto& endpoint = draft.proxmox().endpoint;
    endpoint = setting.text();
    if (endpoint.find("://") == std::string::npos) {
        if (endpoint.find(':') == std::string::npos) endpoint += ":8006";
        endpoint = "https://" + endpoint + "/api2/json";
    }
    draft.proxmox().tls.insecureSkipVerify = true;
}

void set_user(Draft& draft, Setting& setting) {
    draft.secrets[kCredentials]["PROXMOX_USERNAME"] = setting.text();
}

void set_password(Draft& draft, Setting& setting) {
    draft.secrets[kCredentials]["PROXMOX_PASSWORD"] = setting.text();
}

void set_network_mode(Draft& draft, Setting& setting) {
    const auto mode = setting.text();
    if (mode != "manual" && mode != "dhcp") throw std::invalid_argument("expected manual or dhcp");
    network_of(draft).mode = mode == "manual" ? NetworkMode::Static : NetworkMode::DHCP;
}

constexpr std::string_view kHostNote =
    "TLS was not verified there and is not here: better set tls.fingerprintSHA256";

const Rule kRules[] = {
    {"pxe_host", kMapped, "NodeSmithProvider spec.proxmox.endpoint", kHostNote, set_host},
    {"PXE_HOST", kMapped, "NodeSmithProvider spec.proxmox.endpoint", kHostNote, set_host},
    {"pxe_user", kMapped, "Secret proxmox", "PROXMOX_USERNAME", set_user},
    {"PXE_USER", kMapped, "Secret proxmox", "PROXMOX_USERNAME", set_user},
    {"pxe_password", kMapped, "Secret proxmox", "PROXMOX_PASSWORD", set_password},
    {"PXE_PASSWORD", kMapped, "Secret proxmox", "PROXMOX_PASSWORD", set_password},
    {"pxe_autoscaled_node_template_vm", kDifferent, "spec.proxmox.template.name",
     "must be the whole name of exactly one template, not a part of it",
     [](Draft& d, Setting& s) { d.template_of().name = s.text(); }},
    {"pxe_autoscaled_node_name", kDifferent, "NodeSmithPool metadata.name",
     "names end in five letters and digits instead of a number",
     [](Draft& d, Setting& s) { d.pool().metadata.name = s.text(); }},
    {"pxe_autoscaled_node_network_mode", kMapped, "spec.proxmox.cloudInit.network.mode",
     "manual is called Static", set_network_mode},
    {"pxe_autoscaled_node_ip_pool", kMapped, "spec.proxmox.cloudInit.network.addresses", "",
     [](Draft& d, Setting& s) { network_of(d).addresses = s.list(); }},
    {"pxe_autoscaled_node_ip_mask", kMapped, "spec.proxmox.cloudInit.network.prefixLength", "",
     [](Draft& d, Setting& s) { network_of(d).prefixLength = number(s); }},
    {"pxe_autoscaled_node_ip_gateway", kMapped, "spec.proxmox.cloudInit.network.gateway", "",
     [](Draft& d, Setting& s) { network_of(d).gateway = s.text(); }},
    {"pxe_autoscaled_node_dns_server", kMapped, "spec.proxmox.cloudInit.network.nameservers", "",
     [](Draft& d, Setting& s) { network_of(d).nameservers = s.list(); }},
    {"node_group_label", kMapped, "spec.machineTemplate.labels",
     "with the value true, beside the pool's own label",
     [](Draft& d, Setting& s) { d.pool().spec.machineTemplate.labels[s.text()] = "true"; }},
    {"min_size", kMapped, "spec.limits.minNodes", "",
     [](Draft& d, Setting& s) { d.pool().spec.limits.minNodes = s.integer(); }},
    {"max_size", kMapped, "spec.limits.maxNodes", "0 is unlimited",
     [](Draft& d, Setting& s) { d.pool().spec.limits.maxNodes = s.integer(); }},
    {"scan_interval", kNone, "", "nothing is polled: watches say at once what changed"},
    {"max_node_provision_time", kDifferent, "spec.scaleUp.registrationTimeout", "had no effect there",
     [](Draft& d, Setting& s) { d.pool().spec.scaleUp.registrationTimeout = seconds(s); }},
    {"pxe_vm_lost_cleanup_delay", kDifferent, "NodeSmithProvider spec.orphanGracePeriod",
     "only machines that carry the mark of this cluster, never by name",
     [](Draft& d, Setting& s) { d.provider().spec.orphanGracePeriod = seconds(s); }},
    {"scale_up_delay_after_add", kDifferent, "spec.scaleUp.stabilizationWindow",
     "between two decisions, each of which creates all that its pods need",
     [](Draft& d, Setting& s) { d.pool().spec.scaleUp.stabilizationWindow = seconds(s); }},
    {"scale_down_unneeded_time", kDifferent, "spec.scaleDown.unneededDuration", "per node, not for the group",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.unneededDuration = seconds(s); }},
    {"scale_down_delay", kMapped, "spec.scaleDown.delayAfterDelete", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.delayAfterDelete = seconds(s); }},
    {"scale_down_delay_after_add", kMapped, "spec.scaleDown.stabilizationWindow", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.stabilizationWindow = seconds(s); }},
    {"scale_down_delay_after_error", kMapped, "spec.scaleDown.delayAfterFailure", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.delayAfterFailure = seconds(s); }},
    {"scale_down_utilization_threshold", kDifferent, "spec.scaleDown.utilizationThresholdPercent",
     "of what pods request, not of what they use at the moment",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.utilizationThresholdPercent = number(s); }},
    {"max_total_unready_percentage", kDifferent, "NodeSmithControlPlane spec.health.maxUnreadyPercent",
     "had no effect there",
     [](Draft& d, Setting& s) { d.control_plane.spec.health.maxUnreadyPercent = number(s); }},
    {"ok_total_unready_count", kDifferent, "NodeSmithControlPlane spec.health.okUnreadyCount",
     "had no effect there",
     [](Draft& d, Setting& s) { d.control_plane.spec.health.okUnreadyCount = number(s); }},
};

void check(Draft& draft) {
    if (draft.proxmox().endpoint.empty()) throw std::invalid_argument("pxe_host is missing");
    if (draft.template_of().name.empty()) {
        throw std::invalid_argument("pxe_autoscaled_node_template_vm is missing");
    }
    auto& network = network_of(draft);
    if (network.mode == NetworkMode::Static && network.addresses.empty()) {
        throw std::invalid_argument("pxe_autoscaled_node_ip_pool is missing, and the network mode is manual");
    }
    // There a pool of addresses beside mode dhcp has no effect; here it is not allowed.
    if (network.mode == NetworkMode::DHCP) {
        network.addresses.clear();
        network.gateway.clear();
    }
}

}  // namespace

Migration migrate_proxmox_autoscaler(std::string_view text, const Names& names) {
    Migration migration;
    auto& [draft, report] = migration;
    draft.pool().metadata.name = "autoscaler.node";
    draft.pool().spec.limits.maxNodes = 5;
    network_of(draft).mode = NetworkMode::Static;
    apply_rules(kRules, read_settings(text), draft, report);
    check(draft);

    auto& provider = draft.provider();
    provider.metadata.name = names.name;
    provider.metadata.namespace_ = names.namespace_;
    provider.spec.credentialsSecretRef = SecretReference{kCredentials, ""};
    draft.proxmox().vmOptions.push_back({"agent", "1"});
    auto& pool = draft.pool();
    pool.metadata.namespace_ = names.namespace_;
    pool.spec.providerRef = names.name;
    draft.bootstrap().method = BootstrapMethod::GuestAgent;
    draft.control_plane.metadata.name = "kubenodesmith";
    draft.control_plane.spec.pools = {"*"};
    for (const auto& entry : draft.secrets)
        report.notes.push_back(instruction_for(draft, names.namespace_, entry.first));
    report.notes.emplace_back(
        "Give the user the rights of docs/proxmox.md; a token is better than a password.");
    report.notes.emplace_back(
        "Machines had the template's size there; here they are sized to the pods they are created for. For "
        "machines of "
        "one size give it in spec.machineTemplate.sizes of the pool.");
    report.notes.emplace_back(
        "Machines of proxmox-autoscaler have no claim and are never touched. Stop it, apply these resources, "
        "then "
        "drain its nodes and remove its machines one by one: KubeNodeSmith creates new nodes for the evicted "
        "pods.");
    return migration;
}

}  // namespace kubenodesmith::migrate
