#include "migrate/kproximate.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <stdexcept>

#include "migrate/rules.hpp"
#include "migrate/source.hpp"

namespace kubenodesmith::migrate {
namespace {

namespace json = boost::json;
using namespace api::v1alpha1;

constexpr auto kMapped = Outcome::mapped;
constexpr auto kDifferent = Outcome::different;
constexpr auto kNone = Outcome::none;
constexpr std::string_view kNoQueue = "there is no message queue: claims are the queue";
constexpr std::string_view kInManifests = "how the operator itself runs is set in its chart or in config/";
constexpr std::string_view kOnlyPending =
    "machines are created for pods that the scheduler could not place, not for pressure";
constexpr auto kCredentials = "proxmox";
constexpr auto kJoin = "kproximate-join";

NamedSize& size_of(Draft& draft) {
    auto& sizes = draft.pool().spec.machineTemplate.sizes;
    if (sizes.empty()) sizes.push_back({"kproximate", 2, 2048});  // kproximate's default
    return sizes.front();
}

void set_headroom(Draft& draft, Setting& setting) {
    const double given = setting.number();
    const double used = std::clamp(given, 0.2, 0.9);
    if (given < 0.2) setting.remark = "raised to 20 percent, as kproximate does";
    if (given > 0.9) setting.remark = "lowered to 90 percent: more would never remove a node";
    draft.pool().spec.scaleDown.headroomPercent = static_cast<std::int32_t>(used * 100 + 0.5);
}

void set_labels(Draft& draft, Setting& setting) {
    for (const auto& pair : setting.list()) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos)
            throw std::invalid_argument("expected key=value, separated by commas");
        auto value = pair.substr(equals + 1);
        if (const auto start = value.find("{{"); start != std::string::npos) {
            const auto end = value.find("}}", start);
            const auto name = end == std::string::npos ? "" : value.substr(start + 2, end - start - 2);
            if (name.find("argetHost") == std::string::npos) {
                throw std::invalid_argument("the only template value there is {{ .TargetHost }}");
            }
            value.replace(start, end + 2 - start, "{{ .Host }}");
            setting.remark = "{{ .TargetHost }} is called {{ .Host }}";
        }
        draft.pool().spec.machineTemplate.labels[pair.substr(0, equals)] = value;
    }
}

void set_strategy(Draft& draft, Setting& setting) {
    static const std::map<std::string, PlacementStrategy> strategies{
        {"spread", PlacementStrategy::Spread},
        {"max-memory", PlacementStrategy::MaxMemory},
        {"max-cpu", PlacementStrategy::MaxCPU},
        {"balanced", PlacementStrategy::Balanced},
        {"round-robin", PlacementStrategy::RoundRobin}};
    const auto found = strategies.find(setting.text());
    if (found == strategies.end()) setting.remark = "not one of its strategies, so Spread, as there";
    draft.proxmox().placement.strategy =
        found == strategies.end() ? PlacementStrategy::Spread : found->second;
}

void set_max_nodes(Draft& draft, Setting& setting) {
    const auto nodes = setting.integer();
    draft.pool().spec.limits.maxNodes = nodes;
    if (nodes == 0) {
        draft.control_plane.spec.mode = Mode::Paused;
        setting.remark = "0 is unlimited here and none there, so the ControlPlane is Paused";
    }
}

// Returns the seconds, raised to `least` as in kproximate.
api::Duration seconds(Setting& setting, std::int64_t least = 0) {
    if (setting.integer() < least)
        setting.remark = "raised to " + std::to_string(least) + " s, as kproximate does";
    return std::chrono::seconds(std::max(setting.integer(), least));
}

api::Duration minutes(const Setting& setting) {
    return std::chrono::minutes(setting.integer());
}

void set_join_command(Draft& draft, Setting& setting) {
    auto command = setting.text();
    for (auto at = command.find("\\n"); at != std::string::npos; at = command.find("\\n", at)) {
        command.replace(at, 2, "\n");
    }
    draft.secrets[kJoin]["command"] = std::move(command);
}

void set_exec_join(Draft& draft, Setting& setting) {
    if (!setting.boolean()) return;
    auto& bootstrap = draft.bootstrap();
    bootstrap.method = BootstrapMethod::GuestAgent;
    bootstrap.format = BootstrapFormat::Custom;
    bootstrap.commandSecretRef = SecretKeyReference{kJoin, "command"};
}

const Rule kRules[] = {
    {"pmUrl", kMapped, "NodeSmithProvider spec.proxmox.endpoint", "",
     [](Draft& d, Setting& s) { d.proxmox().endpoint = s.text(); }},
    {"pmUserID", kMapped, "Secret proxmox", "PROXMOX_TOKEN_ID or PROXMOX_USERNAME",
     [](Draft& d, Setting& s) {
         const bool is_token = s.text().find('!') != std::string::npos;
         d.secrets[kCredentials][is_token ? "PROXMOX_TOKEN_ID" : "PROXMOX_USERNAME"] = s.text();
     }},
    {"pmToken", kMapped, "Secret proxmox", "PROXMOX_SECRET",
     [](Draft& d, Setting& s) { d.secrets[kCredentials]["PROXMOX_SECRET"] = s.text(); }},
    {"pmPassword", kMapped, "Secret proxmox", "PROXMOX_PASSWORD",
     [](Draft& d, Setting& s) { d.secrets[kCredentials]["PROXMOX_PASSWORD"] = s.text(); }},
    {"pmAllowInsecure", kMapped, "spec.proxmox.tls.insecureSkipVerify",
     "tls.fingerprintSHA256 or tls.caBundle is better",
     [](Draft& d, Setting& s) { d.proxmox().tls.insecureSkipVerify = s.boolean(); }},
    {"pmDebug", kNone, "", "--log-level=debug shows each request, without credentials"},
    {"debug", kNone, "", "--log-level=debug"},
    {"pmExcludeHosts", kMapped, "spec.proxmox.placement.excludedNodes", "",
     [](Draft& d, Setting& s) { d.proxmox().placement.excludedNodes = s.list(); }},
    {"excludedNodes", kDifferent, "spec.proxmox.placement.excludedNodes",
     "never set aside when no other host fits",
     [](Draft& d, Setting& s) { d.proxmox().placement.excludedNodes = s.list(); }},
    {"nodeSelectionStrategy", kDifferent, "spec.proxmox.placement.strategy",
     "by what is committed on a host, not by momentary use", set_strategy},
    {"minAvailableCpuCores", kDifferent, "spec.proxmox.placement.minAvailable.cpuCores",
     "never set aside when no other host fits",
     [](Draft& d, Setting& s) { d.proxmox().placement.minAvailable.cpuCores = s.integer(); }},
    {"minAvailableMemoryMB", kDifferent, "spec.proxmox.placement.minAvailable.memoryMiB",
     "never set aside when no other host fits",
     [](Draft& d, Setting& s) { d.proxmox().placement.minAvailable.memoryMiB = s.integer(); }},
    {"kpNodeTemplateName", kDifferent, "spec.proxmox.template.name",
     "must be the name of exactly one template",
     [](Draft& d, Setting& s) { d.template_of().name = s.text(); }},
    {"kpLocalTemplateStorage", kMapped, "spec.proxmox.template.localStorage", "",
     [](Draft& d, Setting& s) { d.template_of().localStorage = s.boolean(); }},
    {"sshKey", kMapped, "spec.proxmox.cloudInit.sshAuthorizedKeys", "",
     [](Draft& d, Setting& s) {
         if (s.text() != "None") d.cloud_init().sshAuthorizedKeys = {s.text()};
     }},
    {"kpNodeDisableSsh", kMapped, "spec.proxmox.cloudInit.sshAuthorizedKeys", "absent is disabled",
     [](Draft& d, Setting& s) {
         if (s.boolean()) d.cloud_init().sshAuthorizedKeys.clear();
     }},
    {"maxKpNodes", kDifferent, "NodeSmithPool spec.limits.maxNodes",
     "counts machines that are coming, not only Ready nodes", set_max_nodes},
    {"kpNodeCores", kMapped, "spec.machineTemplate.sizes[0].cpuCores", "",
     [](Draft& d, Setting& s) { size_of(d).cpuCores = s.integer(); }},
    {"kpNodeMemory", kMapped, "spec.machineTemplate.sizes[0].memoryMiB", "",
     [](Draft& d, Setting& s) { size_of(d).memoryMiB = s.integer(); }},
    {"kpNodeNamePrefix", kDifferent, "metadata.name",
     "names end in five letters and digits instead of a UUID",
     [](Draft& d, Setting& s) { d.pool().metadata.name = s.text(); }},
    {"kpNodeLabels", kMapped, "spec.machineTemplate.labels", "set when the Node registers", set_labels},
    {"kpQemuExecJoin", kMapped, "spec.bootstrap.method: GuestAgent",
     "false is None: the image joins by itself", set_exec_join},
    {"kpJoinCommand", kMapped, "Secret kproximate-join",
     "with bootstrap.format Kubeadm or K3s no token needs to be kept: each machine gets its own",
     set_join_command},
    {"waitSecondsForProvision", kMapped, "spec.scaleUp.provisionTimeout", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleUp.provisionTimeout = seconds(s, 60); }},
    {"waitSecondsForJoin", kMapped, "spec.scaleUp.registrationTimeout", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleUp.registrationTimeout = seconds(s, 60); }},
    {"workerReplicaCount", kDifferent, "spec.scaleUp.maxConcurrent",
     "machines that may be on their way at the same time; 0 is no bound",
     [](Draft& d, Setting& s) {
         d.pool().spec.scaleUp.maxConcurrent = static_cast<std::int32_t>(s.integer());
     }},
    {"loadHeadroom", kDifferent, "spec.scaleDown.headroomPercent",
     "per resource, of what the remaining nodes offer", set_headroom},
    {"kpLoadHeadroom", kDifferent, "spec.scaleDown.headroomPercent",
     "per resource, of what the remaining nodes offer", set_headroom},
    {"kpNodeHeadroom", kDifferent, "spec.scaleDown.headroomPercent",
     "per resource, of what the remaining nodes offer", set_headroom},
    {"emptyGraceSecondsAfterCreation", kDifferent, "spec.scaleDown.emptyGracePeriod",
     "counts from when the node became empty",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.emptyGracePeriod = seconds(s); }},
    {"scaleDownStabilizationMinutes", kMapped, "spec.scaleDown.stabilizationWindow", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.stabilizationWindow = minutes(s); }},
    {"scaleDownCooldownSeconds", kMapped, "spec.scaleDown.stabilizationWindow", "",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.stabilizationWindow = seconds(s); }},
    {"minNodeAgeMinutes", kDifferent, "spec.scaleDown.minNodeAge",
     "a node that is too young does not keep an older one from going",
     [](Draft& d, Setting& s) { d.pool().spec.scaleDown.minNodeAge = minutes(s); }},
    {"enableAffinityScaling", kNone, "", "selectors and affinity are always part of the decision"},
    {"pollInterval", kNone, "", "nothing is polled: watches say at once what changed"},
    {"rabbitmq|rabbitMQHost|rabbitMQPort|rabbitMQUser|rabbitMQPassword|rabbitMQUseTLS|"
     "rabbitMQContainerName|rabbitMQManagementPort",
     kNone, "", kNoQueue},
    {"enableResourcePressureScaling|cpuUtilizationThreshold|memoryUtilizationThreshold|"
     "enableSchedulingErrorScaling|schedulingErrorThreshold|enableStoragePressureScaling|"
     "diskUtilizationThreshold|minAvailableDiskSpaceGB",
     kNone, "", kOnlyPending},
    {"replicaCount|image|imagePullSecrets|nameOverride|fullnameOverride|podAnnotations|"
     "controllerPodAnnotations|workerPodAnnotations|podSecurityContext|securityContext|resources|"
     "nodeSelector|tolerations|affinity",
     kNone, "", kInManifests},
    {"KUBECONFIG", kNone, "", "the same variable, or --kubeconfig"},
};

// Returns all keys at one level. Helm values have the program's keys below kproximate; later charts have them
// below kproximate.config and .secrets.
json::object flattened(const json::object& source) {
    json::object result;
    for (const auto& [key, value] : source) {
        const bool is_group =
            value.is_object() && (key == "kproximate" || key == "config" || key == "secrets");
        if (!is_group) {
            result[key] = value;
            continue;
        }
        for (const auto& [inner, member] : flattened(value.get_object())) result[inner] = member;
    }
    return result;
}

// Moves kpNodeDisableSsh to the end, as it overrides sshKey wherever it is.
json::object in_order(json::object source) {
    constexpr auto kLast = "kpNodeDisableSsh";
    if (const auto* value = source.if_contains(kLast)) {
        json::value kept = *value;
        source.stable_erase(source.find(kLast));
        source[kLast] = std::move(kept);
    }
    return source;
}

// Notes values that the Secrets need but this source does not have. They may be in other Secrets.
void complete_secrets(Draft& draft, Report& report) {
    auto& credentials = draft.secrets[kCredentials];
    if (!credentials.contains("PROXMOX_SECRET") && !credentials.contains("PROXMOX_PASSWORD")) {
        report.notes.emplace_back(
            "pmToken or pmPassword is not in this source; the Secret proxmox needs it as "
            "PROXMOX_SECRET or PROXMOX_PASSWORD.");
    }
    if (!draft.pool().spec.bootstrap) {
        draft.secrets.erase(kJoin);
    } else if (!draft.secrets.contains(kJoin)) {
        report.notes.emplace_back(
            "kpJoinCommand is not in this source; the Secret kproximate-join needs it under the "
            "key command.");
    }
}

void check_complete(const Draft& draft) {
    const auto provider = draft.providers.find("");
    const auto* proxmox = provider == draft.providers.end() || !provider->second.spec.proxmox
                              ? nullptr
                              : &*provider->second.spec.proxmox;
    if (!proxmox || proxmox->endpoint.empty()) throw std::invalid_argument("pmUrl is missing");
    if (!proxmox->template_ || proxmox->template_->name.empty()) {
        throw std::invalid_argument("kpNodeTemplateName is missing");
    }
}

}  // namespace

Migration migrate_kproximate(std::string_view text, const Names& names) {
    Migration migration;
    auto& [draft, report] = migration;
    draft.pool().spec.limits.maxNodes = 3;
    draft.pool().metadata.name = "kp-node";
    apply_rules(kRules, in_order(flattened(read_settings(text))), draft, report);
    check_complete(draft);

    auto& provider = draft.provider();
    provider.metadata.name = names.name;
    provider.metadata.namespace_ = names.namespace_;
    provider.spec.credentialsSecretRef = SecretReference{kCredentials, ""};
    size_of(draft);
    auto& pool = draft.pool();
    pool.metadata.namespace_ = names.namespace_;
    pool.spec.providerRef = names.name;
    draft.control_plane.metadata.name = "kubenodesmith";
    draft.control_plane.spec.pools = {"*"};
    if (pool.spec.bootstrap) draft.proxmox().vmOptions.push_back({"agent", "1"});
    complete_secrets(draft, report);
    for (const auto& entry : draft.secrets)
        report.notes.push_back(instruction_for(draft, names.namespace_, entry.first));
    report.notes.emplace_back("Give the API token the rights of docs/proxmox.md.");
    report.notes.emplace_back(
        "Machines of kproximate have no claim and are never touched. Stop it, apply these resources, then "
        "drain its "
        "nodes and remove its machines one by one: KubeNodeSmith creates new nodes for the evicted pods.");
    return migration;
}

}  // namespace kubenodesmith::migrate
