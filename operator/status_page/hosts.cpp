// Hosts and their use. Each virtualization host shows its committed memory and CPU, machine by machine. Each
// bare-metal host shows its power and its claim.
#include <algorithm>
#include <boost/json/value.hpp>

#include "api/json.hpp"
#include "base/text.hpp"
#include "operator/status_page/sections.hpp"

namespace kubenodesmith::status_page {
namespace {

using api::v1alpha1::NodeSmithClaim;
using ClaimPointer = kube::Store<NodeSmithClaim>::Pointer;
// Claims by provider ("namespace/name") and host.
using ClaimsByHost = std::map<std::pair<std::string, std::string>, std::vector<ClaimPointer>>;

constexpr std::size_t kMostHosts = 100;
constexpr std::size_t kMostMachines = 40;
constexpr std::int64_t kBarWidth = 420;

ClaimsByHost claims_by_host(const ClusterReport& report) {
    ClaimsByHost all;
    for (const auto& [claim, pool, node] : report.claims) {
        if (claim->status.host.empty()) continue;
        all[{claim->metadata.namespace_ + "/" + claim->status.providerRef, claim->status.host}].push_back(
            claim);
    }
    return all;
}

std::int64_t share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? std::clamp<std::int64_t>(part * kBarWidth / whole, 0, kBarWidth) : 0;
}

Html rectangle(const Html& kind, std::int64_t from, std::int64_t to, const Html& title) {
    return "<rect class=\""_html + kind + "\" x=\""_html + number(from) + "\" width=\""_html +
           number(std::max<std::int64_t>(1, to - from)) + "\" height=\"16\"><title>"_html + title +
           "</title></rect>"_html;
}

// Draws our machines one by one, then the commitments of others; the rest is free. With overcommitted CPUs,
// more than the host's capacity may be free.
Html bar(const std::vector<ClaimPointer>& claims, std::int64_t capacity, std::int64_t free,
         std::int64_t api::v1alpha1::Size::* amount) {
    auto html = "<svg width=\"420\" height=\"16\"><rect class=\"track\" width=\"420\" height=\"16\"/>"_html;
    std::int64_t at = 0;
    for (const auto& claim : claims) at += claim->spec.requirements.*amount;
    const auto whole = std::max(capacity, at + free);
    at = 0;
    for (std::size_t i = 0; i < claims.size() && i < kMostMachines; ++i) {
        const auto size = claims[i]->spec.requirements.*amount;
        const auto title = text(claims[i]->metadata.name) + " "_html + text(claims[i]->status.size);
        html += rectangle("ours"_html, share(at, whole), share(at + size, whole), title);
        at += size;
    }
    const auto committed = whole - free;
    if (committed > at) {
        html += rectangle("other"_html, share(at, whole), share(committed, whole),
                          "other guests and reserve"_html);
    }
    return html + "</svg>"_html;
}

Html row(const std::string& provider, const api::v1alpha1::ProviderHost& host,
         const std::vector<ClaimPointer>& claims) {
    using api::v1alpha1::Size;
    auto html = "<tr><td>"_html + text(host.name) + "<br><span class=\"soft\">"_html + text(provider) +
                "</span></td><td>"_html;
    html += host.online ? "online"_html : "<span class=\"bad\">offline</span>"_html;
    if (host.evacuating) html += "<br>its nodes are being evacuated"_html;
    html += "</td><td>"_html + bar(claims, host.memoryMiB, host.freeMemoryMiB, &Size::memoryMiB) +
            "<span class=\"soft\">memory: "_html + memory(host.freeMemoryMiB) +
            " to give, the host has "_html + memory(host.memoryMiB) + "</span>"_html;
    html += bar(claims, host.cpuCores, host.freeCPUCores, &Size::cpuCores) +
            "<span class=\"soft\">CPU: "_html + number(host.freeCPUCores) + " to give, the host has "_html +
            text(base::counted(host.cpuCores, "core")) + "</span></td><td class=\"free\">"_html;
    for (std::size_t i = 0; i < claims.size() && i < kMostMachines; ++i) {
        html += (i > 0 ? ", "_html : ""_html) + text(claims[i]->metadata.name);
    }
    return html + and_more(claims.size(), kMostMachines) + "</td></tr>\n"_html;
}

Html row(const api::v1alpha1::NodeSmithHost& host) {
    const auto& status = host.status;
    auto html = "<tr><td>"_html + text(api::key_of(host).str()) + "<br><span class=\"soft\">"_html +
                text(host.spec.providerRef) + "</span></td>"_html + readiness(status.conditions) +
                "<td>"_html;
    html +=
        text(status.phase ? api::name_of(*status.phase) : "") + "</td><td>"_html + text(status.powerState);
    html += "</td><td>"_html;
    if (status.capacity) {
        html += text(base::counted(status.capacity->cpuCores, "core")) + ", "_html +
                memory(status.capacity->memoryMiB);
    }
    return html + "</td><td>"_html + text(status.claimRef ? status.claimRef->name : "") + "</td></tr>\n"_html;
}

Html virtualization_hosts(const ClusterReport& report) {
    const auto claims = claims_by_host(report);
    static const std::vector<ClaimPointer> kNone;
    Html rows;
    std::size_t all = 0;
    for (const auto& provider : report.providers) {
        const auto key = api::key_of(*provider).str();
        for (const auto& host : provider->status.hosts) {
            if (all++ >= kMostHosts) continue;
            const auto found = claims.find({key, host.name});
            rows += row(key, host, found == claims.end() ? kNone : found->second);
        }
    }
    if (rows.empty()) return {};
    return "<table><tr><th>Host, provider<th>State<th>Committed (claims, others)"
           "<th>Machines of claims</tr>\n"_html +
           rows + "</table>\n"_html + and_more(all, kMostHosts);
}

Html bare_metal_hosts(const ClusterReport& report) {
    if (report.hosts.empty()) return {};
    auto html = "<table><tr><th>Host, provider<th>State<th>Phase<th>Power<th>Capacity<th>Claim</tr>\n"_html;
    std::size_t shown = 0;
    for (const auto& host : report.hosts) {
        if (shown++ == kMostHosts) break;
        html += row(*host);
    }
    return html + "</table>\n"_html + and_more(report.hosts.size(), kMostHosts);
}

}  // namespace

Html hosts(const ClusterReport& report) {
    auto html = virtualization_hosts(report) + bare_metal_hosts(report);
    if (html.empty()) html = "<p class=\"soft\">No provider has reported a host.</p>"_html;
    return "<section id=\"hosts\"><h2>Hosts</h2>\n"_html + html + "</section>\n"_html;
}

}  // namespace kubenodesmith::status_page
