#include "controllers/claim/decide/boot_evidence.hpp"

#include "api/v1alpha1/redfish.hpp"
#include "base/text.hpp"

namespace controllers::claim {

using api::v1alpha1::Bootstrap;
using api::v1alpha1::BootstrapDelivery;
using api::v1alpha1::BootstrapMethod;

namespace {

constexpr std::string_view kCloudInit = "cloud-init's data";
constexpr std::string_view kOverHttp = " over HTTP";
constexpr std::string_view kByItself = " (bootstrap.method None)";
constexpr std::string_view kByAgent = "a script that its guest agent runs";

std::string by_itself(const NodeSmithProvider* provider) {
    using api::v1alpha1::BootMethod;
    const auto* redfish = provider && provider->spec.redfish ? &*provider->spec.redfish : nullptr;
    const auto* proxmox = provider && provider->spec.proxmox ? &*provider->spec.proxmox : nullptr;
    std::string what = "its own image";
    if (proxmox && proxmox->template_) what = "its template's own means";
    if (redfish && redfish->boot.method == BootMethod::PXE) what = "the image that it boots by PXE";
    if (redfish && redfish->boot.method == BootMethod::UefiHttp) what = "the image that it boots over HTTP";
    if (redfish && redfish->boot.method == BootMethod::VirtualMedia) what = "its virtual medium";
    return what + std::string(kByItself);
}

std::string document_text(const Bootstrap& bootstrap) {
    using namespace api::v1alpha1;
    if (bootstrap.format == BootstrapFormat::Talos) return "its machine configuration";
    if (bootstrap.userData == BootstrapUserData::Ignition) return "its Ignition configuration";
    return std::string(kCloudInit);
}

// Reports whether cloud-init processes the boot data in the machine.
bool is_by_cloud_init(const api::v1alpha1::ClaimBoot& boot) {
    return boot.delivery.find(kCloudInit) != std::string::npos;
}

std::vector<std::string> sights(const api::v1alpha1::ClaimBoot& boot, const std::string& silence) {
    std::vector<std::string> seen;
    if (boot.startedTime) seen.push_back("it has been running since " + boot.startedTime->str());
    if (boot.fetchedTime) seen.push_back("it fetched its boot data at " + boot.fetchedTime->str());
    if (!boot.fetchedTime && boot.delivery.ends_with(kOverHttp))
        seen.emplace_back("no request for its boot data was seen");
    if (boot.agentTime)
        seen.push_back("its guest agent answered at " + boot.agentTime->str() +
                       (boot.addresses.empty()
                            ? ", without an address"
                            : ", with the addresses " + base::joined(boot.addresses, " ")));
    else if (!silence.empty())
        seen.push_back(silence);
    return seen;
}

std::string story(const ClaimStatus& status, const std::string& silence) {
    if (!status.boot) return {};
    const auto& boot = *status.boot;
    std::vector<std::string> parts;
    if (!boot.delivery.empty())
        parts.push_back("it should have joined " + (boot.apiServer.empty() ? "the cluster" : boot.apiServer) +
                        " by " + boot.delivery);
    for (auto& sight : sights(boot, silence)) parts.push_back(std::move(sight));
    auto text = base::joined(parts, "; ");
    if (!text.empty()) text.front() = 'I';
    return text;
}

// Returns advice about the path to the API server; empty: the machine got no endpoint.
std::string endpoint_advice(const ClaimStatus& status) {
    const auto endpoint = status.boot ? status.boot->apiServer : std::string();
    if (endpoint.empty()) return {};
    if (is_loopback(endpoint))
        return endpoint + " is a loopback address, which on each machine leads to the machine itself: set " +
               "bootstrap.apiServerEndpoint to one that machines can reach";
    return "is " + endpoint + " reachable from its network?";
}

}  // namespace

std::string delivery_of(const Bootstrap& bootstrap, const NodeSmithProvider* provider) {
    if (bootstrap.method == BootstrapMethod::GuestAgent) return std::string(kByAgent);
    if (bootstrap.method == BootstrapMethod::None) return by_itself(provider);
    const auto what = document_text(bootstrap);
    const bool is_by_http = bootstrap.delivery == BootstrapDelivery::HTTP;
    return is_by_http ? what + std::string(kOverHttp) : "an ISO image with " + what;
}

bool is_loopback(std::string_view endpoint) {
    return endpoint.starts_with("127.") || endpoint.starts_with("[::1]") || endpoint == "localhost" ||
           endpoint.starts_with("localhost:");
}

std::string boot_story(const ClaimStatus& status) {
    return story(status, {});
}

std::string awaited_text(const Situation& s) {
    std::string text = "waiting for the machine to join as a Node";
    const auto& boot = s.claim.status.boot;
    // Most users who set no method did not know that they must.
    if (boot && boot->delivery.ends_with(kByItself))
        text += " by " + boot->delivery + "; if it cannot join by itself, set bootstrap.method of the pool";
    return boot && is_loopback(boot->apiServer) ? text + "; " + endpoint_advice(s.claim.status) : text;
}

std::string never_joined_text(const Situation& s, api::Duration timeout) {
    const auto& status = s.claim.status;
    auto text = "no Node of its machine appeared within " + timeout.str();
    if (const auto told = story(status, s.guest_silence); !told.empty()) text += ". " + told;
    text += ". Look at the console of " + machine_text(s);
    if (status.boot && is_by_cloud_init(*status.boot))
        text += " (cloud-init's output: /var/log/cloud-init-output.log)";
    if (const auto advice = endpoint_advice(status); !advice.empty()) text += "; " + advice;
    const bool could_be_kept = s.provider && s.provider->spec.proxmox && s.pool;
    if (could_be_kept && s.pool->spec.scaleUp.keepFailed == 0)
        text += std::string(text.ends_with('?') ? "" : ".") +
                " With scaleUp.keepFailed: 1 the pool keeps the last such machine, stopped, for inspection";
    return text;
}

std::string machine_text(const Situation& s) {
    const auto& status = s.claim.status;
    if (s.provider && s.provider->spec.redfish) return "host " + status.host;
    const bool is_vm = s.provider && s.provider->spec.proxmox;
    return (is_vm ? "VM " : "machine ") + status.machineID + " on host " + status.host;
}

}  // namespace controllers::claim
