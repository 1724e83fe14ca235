// Pending pods, and pools with their limits.
#include <algorithm>

#include "api/names.hpp"
#include "base/text.hpp"
#include "operator/status_page/sections.hpp"

namespace kubenodesmith::status_page {
namespace {

constexpr std::size_t kMostPods = 20;
constexpr std::size_t kMostPools = 100;
constexpr std::size_t kLongestMessage = 240;
constexpr std::int64_t kBarWidth = 150;

// Draws the use of a limit. Without a limit it writes "no limit".
Html bar(std::int64_t used, std::int64_t limit, const Html& words) {
    if (limit <= 0) return words + "<br><span class=\"soft\">no limit</span>"_html;
    const auto width = std::clamp<std::int64_t>(used * kBarWidth / limit, 0, kBarWidth);
    return words +
           "<svg width=\"150\" height=\"8\"><rect class=\"track\" width=\"150\" height=\"8\" rx=\"2\"/><rect class=\""_html +
           (used >= limit ? "full"_html : "used"_html) + "\" width=\""_html + number(width) +
           "\" height=\"8\" rx=\"2\"/></svg>"_html;
}

Html of(const Html& used, std::int64_t limit, const Html& shown_limit) {
    return limit > 0 ? used + " of "_html + shown_limit : used;
}

Html row(const api::v1alpha1::NodeSmithPool& pool, api::Time now) {
    const auto& [limits, status] = std::tie(pool.spec.limits, pool.status);
    const auto& used = status.reserved;
    auto html = "<tr><td>"_html + text(api::key_of(pool).str()) + "<br><span class=\"soft\">"_html +
                text(pool.spec.providerRef) + "</span></td>"_html + readiness(status.conditions);
    auto nodes = of(number(used.nodes), limits.maxNodes, number(limits.maxNodes));
    if (limits.minNodes > 0) nodes += ", at least "_html + number(limits.minNodes);
    html += "<td>"_html + bar(used.nodes, limits.maxNodes, nodes) + "</td><td>"_html +
            number(status.readyNodes) + " ready<br>"_html + number(status.pendingNodes) +
            " coming</td><td>"_html;
    html += bar(used.cpuCores, limits.cpuCores,
                of(number(used.cpuCores), limits.cpuCores, number(limits.cpuCores))) +
            "</td><td>"_html;
    html += bar(used.memoryMiB, limits.memoryMiB,
                of(memory(used.memoryMiB), limits.memoryMiB, memory(limits.memoryMiB))) +
            "</td><td>"_html;
    if (status.lastScaleUpTime) html += "grew "_html + ago(status.lastScaleUpTime, now) + "<br>"_html;
    if (status.lastScaleDownTime) html += "shrank "_html + ago(status.lastScaleDownTime, now) + "<br>"_html;
    if (status.nextRetryTime && *status.nextRetryTime > now) {
        html += "<span class=\"bad\">"_html + number(status.consecutiveFailures) +
                (status.consecutiveFailures == 1 ? " failure"_html : " failures"_html) +
                "; creates machines again in "_html + duration(status.nextRetryTime->at - now.at) +
                "</span>"_html;
    }
    return html + "</td></tr>\n"_html;
}

}  // namespace

Html waiting_pods(const ClusterReport& report) {
    const auto& pods = report.unschedulable;
    if (pods.empty()) return {};
    auto html =
        "<section id=\"pods\"><h2>Pods that wait for a node</h2>\n<table><tr><th>Pod<th>The scheduler says</tr>\n"_html;
    for (std::size_t i = 0; i < pods.size() && i < kMostPods; ++i) {
        const auto* scheduled =
            api::find_condition(pods[i]->status.conditions, api::conditions::kPodScheduled);
        html += "<tr><td>"_html + text(api::key_of(*pods[i]).str()) + "</td><td class=\"free\">"_html +
                text(base::shortened(scheduled ? scheduled->message : "", kLongestMessage)) +
                "</td></tr>\n"_html;
    }
    return html + "</table>\n"_html + and_more(pods.size(), kMostPods) + "</section>\n"_html;
}

Html pools(const ClusterReport& report) {
    auto html = "<section id=\"pools\"><h2>Pools</h2>\n"_html;
    if (report.pools.empty())
        return html + "<p class=\"soft\">There is no NodeSmithPool.</p></section>\n"_html;
    html +=
        "<table><tr><th>Pool, provider<th>State<th>Counted nodes<th>Nodes<th>CPU cores<th>Memory<th>Changes</tr>\n"_html;
    std::size_t shown = 0;
    for (const auto& pool : report.pools) {
        if (shown++ == kMostPools) break;
        html += row(*pool, report.time);
    }
    return html + "</table>\n"_html + and_more(report.pools.size(), kMostPools) + "</section>\n"_html;
}

}  // namespace kubenodesmith::status_page
