#include "controllers/provider_status.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "controllers/cache/condition_update.hpp"
#include "controllers/state/course.hpp"
#include "scheduling/amount_text.hpp"

namespace controllers {

using api::v1alpha1::ProviderCluster;
using api::v1alpha1::ProviderHost;
using api::v1alpha1::ProviderStatus;
using api::v1alpha1::ProviderTemplate;

namespace {

using Update = api::ConditionUpdate;

// The CRD allows this length; a longer message would make the API server refuse the whole status.
constexpr std::size_t kLongestHostMessage = 1024;
constexpr std::size_t kMostMachineIDs = 1024;
constexpr std::size_t kMostHostsNamed = 5;

std::string message_of(const providers::HostOffering& host) {
    return host.why_not + (host.remedy.empty() ? "" : " (" + host.remedy + ")");
}

bool is_about_credentials(const std::string& reason) {
    return reason.starts_with("Secret") || reason.starts_with("Credentials");
}

Update credentials_resolved(const ProviderExamination& examination) {
    if (const auto& why = examination.unavailable) {
        if (is_about_credentials(why->reason))
            return update(conditions::kCredentialsResolved, ConditionStatus::False, why->reason,
                          why->message);
        return update(conditions::kCredentialsResolved, ConditionStatus::Unknown, reasons::kNotReconciled,
                      "not examined: " + why->message);
    }
    const auto& health = examination.health;
    if (health.reachable && !health.credentials_ok)
        return update(conditions::kCredentialsResolved, ConditionStatus::False, health.reason,
                      health.message);
    return update(conditions::kCredentialsResolved, ConditionStatus::True, reasons::kCredentialsResolved,
                  "the Secret has what is needed");
}

Update reachable(const ProviderExamination& examination) {
    if (const auto& why = examination.unavailable)
        return update(conditions::kReachable, ConditionStatus::Unknown, reasons::kNotReconciled,
                      "not examined: " + why->message);
    const auto& health = examination.health;
    if (!health.reachable)
        return update(conditions::kReachable, ConditionStatus::False, health.reason, health.message);
    return update(conditions::kReachable, ConditionStatus::True, reasons::kReachable, "the endpoint answers");
}

Update template_resolved(const ProviderExamination& examination) {
    const auto& health = examination.health;
    // A refused account can neither see nor create templates.
    const bool is_refused = !health.credentials_ok && (health.reason != reasons::kMissingPrivileges ||
                                                       health.template_reason == reasons::kImagePreparing);
    if (examination.unavailable || !health.reachable || is_refused)
        return update(conditions::kTemplateResolved, ConditionStatus::Unknown, reasons::kNotReconciled,
                      "not examined");
    if (!health.template_reason.empty())
        return update(conditions::kTemplateResolved, ConditionStatus::False, health.template_reason,
                      health.template_message);
    return update(conditions::kTemplateResolved, ConditionStatus::True, reasons::kTemplateResolved,
                  "the template exists");
}

// Groups host faults by cause: "pve1, pve2: has no bridge vmbr1 (create it there, ...)".
std::string faults_of_hosts(const std::vector<providers::HostOffering>& hosts) {
    std::map<std::string, std::vector<std::string>> hosts_by_cause;
    for (const auto& host : hosts)
        if (!host.remedy.empty()) hosts_by_cause[message_of(host)].push_back(host.name);
    std::string text;
    for (const auto& [cause, names] : hosts_by_cause) {
        text += text.empty() ? "" : "; ";
        for (std::size_t i = 0; i < names.size() && i < kMostHostsNamed; ++i)
            text += (i > 0 ? ", " : "") + names[i];
        if (names.size() > kMostHostsNamed)
            text += " and " + scheduling::counted(static_cast<std::int64_t>(names.size() - kMostHostsNamed),
                                                  "more host");
        text += ": " + cause;
    }
    return text;
}

Update configuration_valid(const ProviderExamination& examination) {
    const auto& type = conditions::kConfigurationValid;
    if (!examination.good())
        return update(type, ConditionStatus::Unknown, reasons::kNotReconciled, "not examined");
    const auto fault = configuration_fault(examination);
    if (!fault.message.empty())
        return update(type, ConditionStatus::False, reasons::kConfigurationInvalid, fault.message);
    const auto& unseen = examination.health.not_visible;
    return update(type, ConditionStatus::True, reasons::kConfigurationValid,
                  "every host that may be used has what the configuration names" +
                      (unseen.empty() ? "" : "; " + unseen));
}

Update ready(const NodeSmithProvider& provider, const ProviderExamination& examination) {
    if (provider.metadata.deletionTimestamp)
        return update(conditions::kReady, ConditionStatus::False, reasons::kDeleting,
                      examination.left.empty()
                          ? "is being deleted: waiting until no claim has a machine here"
                          : "is being deleted: waiting until this is removed: " + examination.left);
    if (const auto& why = examination.unavailable)
        return update(conditions::kReady, ConditionStatus::False, why->reason, why->message);
    const auto& health = examination.health;
    if (health.reachable && health.credentials_ok && !health.template_reason.empty())
        return update(conditions::kReady, ConditionStatus::False, health.template_reason,
                      health.template_message);
    if (!examination.good())
        return update(conditions::kReady, ConditionStatus::False, health.reason, health.message);
    const auto fault = configuration_fault(examination);
    if (fault.everywhere)
        return update(conditions::kReady, ConditionStatus::False, reasons::kConfigurationInvalid,
                      fault.message);
    return update(conditions::kReady, ConditionStatus::True, reasons::kReady,
                  fault.message.empty() ? "machines can be created"
                                        : "machines can be created, but not on every host: " + fault.message);
}

std::vector<ProviderHost> hosts_of(const std::vector<providers::HostOffering>& offerings) {
    std::vector<ProviderHost> hosts;
    for (const auto& offering : offerings) {
        ProviderHost host;
        host.name = offering.name;
        host.online = offering.usable;
        host.evacuating = offering.evacuate;
        host.cpuCores = offering.cpu_cores;
        host.memoryMiB = offering.memory_mib;
        host.freeCPUCores = offering.free_cpu_cores;
        host.freeMemoryMiB = offering.free_memory_mib;
        if (const auto& largest = offering.largest)
            host.largestMachine = api::v1alpha1::Size{largest->cpu_cores, largest->memory_mib};
        host.machines = std::ssize(offering.machines);
        host.machineIDs = offering.machines;
        if (host.machineIDs.size() > kMostMachineIDs) host.machineIDs.resize(kMostMachineIDs);
        host.message = base::shortened(message_of(offering), kLongestHostMessage);
        hosts.push_back(std::move(host));
    }
    std::ranges::sort(hosts, [](const auto& a, const auto& b) { return a.name < b.name; });
    return hosts;
}

// Updates the known templates. A template that is invisible for a while keeps its last entry.
void note_templates(ProviderStatus& status, const std::map<std::string, std::string>& revisions) {
    using providers::kAllHosts;
    if (revisions.empty()) return;
    const bool one_for_all = revisions.contains(kAllHosts);
    std::erase_if(status.templates, [&](const ProviderTemplate& known) {
        return revisions.contains(known.host) || (known.host == kAllHosts) != one_for_all;
    });
    for (const auto& [host, revision] : revisions) status.templates.push_back({host, revision});
    std::ranges::sort(status.templates, [](const auto& a, const auto& b) { return a.host < b.host; });
}

// Records the backend's cluster. A name that becomes visible later is added, because existing
// providerIDs contain no other name.
void note_cluster(ProviderStatus& status, const NodeSmithProvider& provider,
                  const providers::Health& health) {
    const auto& seen = health.cluster;
    if (seen.id.empty()) return;
    // A refused cluster may be known although none was recorded: the backend remembers its first answer.
    const bool is_first = !status.cluster && health.reason != reasons::kOtherCluster;
    if (is_first || accepts_cluster(provider, seen)) {
        status.cluster = ProviderCluster{seen.name, seen.id};
    } else if (status.cluster && status.cluster->id == seen.id && status.cluster->name.empty()) {
        status.cluster->name = seen.name;
    }
}

// Adds to the message how a person can decide the matter.
std::string with_remedy(const NodeSmithProvider& provider, const providers::Health& health) {
    if (health.reason != reasons::kOtherCluster) return health.message;
    const auto& name = provider.metadata.name;
    return health.message +
           "; until this is settled, no machine is created, removed or replaced. Correct spec.proxmox and "
           "the Secret, or, if the provider really moves to that cluster: kubectl annotate "
           "nodesmithprovider " +
           name + " -n " + provider.metadata.namespace_ + " " +
           std::string(api::annotations::kAcceptCluster) + "=" + health.cluster.id;
}

}  // namespace

bool accepts_cluster(const NodeSmithProvider& provider, const providers::BackendCluster& cluster) {
    const auto* accepted = api::find(provider.metadata.annotations, api::annotations::kAcceptCluster);
    if (!accepted || cluster.id.empty()) return false;
    const auto& recorded = provider.status.cluster;
    // A name that both clusters have does not identify one of them.
    const bool is_named =
        !cluster.name.empty() && *accepted == cluster.name && (!recorded || recorded->name != cluster.name);
    return *accepted == cluster.id || is_named;
}

ConfigurationFault configuration_fault(const ProviderExamination& examination) {
    if (!examination.good()) return {};
    const auto& general = examination.health.configuration_fault;
    if (!general.empty()) return {general, true};
    auto of_hosts = faults_of_hosts(examination.hosts);
    const bool any_usable =
        std::ranges::any_of(examination.hosts, [](const auto& host) { return host.usable; });
    const bool everywhere = !any_usable && !of_hosts.empty();
    return {std::move(of_hosts), everywhere};
}

ProviderStatus next_status(const NodeSmithProvider& provider, const ProviderExamination& found,
                           api::Time now) {
    auto examination = found;
    examination.health.message = with_remedy(provider, examination.health);
    auto status = provider.status;
    status.observedGeneration = provider.metadata.generation;
    std::vector<Update> updates{ready(provider, examination), credentials_resolved(examination),
                                reachable(examination)};
    if (provider.spec.proxmox) updates.push_back(configuration_valid(examination));
    if (provider.spec.proxmox && provider.spec.proxmox->template_) {
        updates.push_back(template_resolved(examination));
        note_templates(status, examination.health.template_revisions);
    } else {
        status.templates.clear();
        std::erase_if(status.conditions, [](const api::Condition& condition) {
            return condition.type == conditions::kTemplateResolved;
        });
    }
    for (const auto& [type, obstacle] :
         {std::pair(conditions::kBootImagesUsable, examination.health.boot_image_obstacle),
          std::pair(conditions::kGuestAgentUsable, examination.health.guest_agent_obstacle)}) {
        if (!obstacle.empty()) {
            updates.push_back(update(type, ConditionStatus::False, reasons::kMissingPrivileges, obstacle));
        } else if (examination.good()) {
            api::remove_condition(status.conditions, type);
        }
    }
    if (const auto& low = examination.health.storage_low; !low.empty()) {
        updates.push_back(update(conditions::kStorageLow, ConditionStatus::True, reasons::kStorageLow, low));
    } else if (examination.good()) {
        api::remove_condition(status.conditions, conditions::kStorageLow);
    }
    note_cluster(status, provider, examination.health);
    const auto& credentials = examination.credentials;
    // A Secret that is deleted together with its provider needs no repair.
    const bool is_meant = provider.metadata.deletionTimestamp && credentials.reason == reasons::kDeleting;
    if (credentials.reason.empty() || is_meant) {
        api::remove_condition(status.conditions, conditions::kCredentialsProtected);
    } else {
        updates.push_back(update(conditions::kCredentialsProtected, ConditionStatus::False,
                                 credentials.reason, credentials.message));
    }
    for (auto& next : updates) {
        next.observedGeneration = provider.metadata.generation;
        api::set_condition(status.conditions, next, now);
    }
    // While a provider does not answer, its last known data is more useful than none.
    if (examination.good()) {
        status.version = examination.health.version;
        status.bootDiskGiB = examination.health.boot_disk_gib;
        status.machines = 0;
        for (const auto& host : examination.hosts) status.machines += std::ssize(host.machines);
        // Bare-metal hosts have separate objects, because a thousand hosts would make this object unwieldy.
        status.hosts = provider.spec.redfish ? std::vector<ProviderHost>() : hosts_of(examination.hosts);
        if (provider.spec.redfish) status.endpoint = base::counted(std::ssize(examination.hosts), "host");
    }
    if (provider.spec.proxmox) status.endpoint = provider.spec.proxmox->endpoint;
    auto after = provider;
    after.status = std::move(status);
    conclude(after, now);
    return after.status;
}

}  // namespace controllers
