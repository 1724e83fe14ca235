// The latest decisions with their reasons, and why nodes are kept.
#include "base/text.hpp"
#include "operator/status_page/sections.hpp"

namespace kubenodesmith::status_page {
namespace {

constexpr std::size_t kMostNodes = 50;
constexpr std::size_t kLongestMessage = 300;

}  // namespace

Html nodes_that_stay(const ClusterReport& report) {
    if (report.stays.empty()) return {};
    auto html =
        "<section id=\"stays\"><h2>Nodes that could be removed, and why they are kept</h2>\n"
        "<table><tr><th>Node<th>Could be removed as<th>Kept because</tr>\n"_html;
    std::size_t shown = 0;
    for (const auto& [node, stay] : report.stays) {
        if (shown++ == kMostNodes) break;
        html += "<tr><td>"_html + text(node) + "</td><td>"_html +
                text(controllers::disruption::name_of(stay.kind)) + "</td><td class=\"free\">"_html +
                text(stay.blocker.reason) + ": "_html +
                text(base::shortened(stay.blocker.message, kLongestMessage));
        if (stay.blocker.until) html += ", until "_html + text(stay.blocker.until->str());
        html += "</td></tr>\n"_html;
    }
    return html + "</table>\n"_html + and_more(report.stays.size(), kMostNodes) + "</section>\n"_html;
}

Html recent_decisions(const DecisionLog& log, api::Time now) {
    auto html = "<section id=\"decisions\"><h2>Recent decisions of this process</h2>\n"_html;
    if (log.decisions().empty())
        return html + "<p class=\"soft\">None since it started.</p></section>\n"_html;
    html += "<table><tr><th>When<th>About<th>What and why</tr>\n"_html;
    for (const auto& decision : log.decisions()) {
        html += "<tr><td>"_html + ago(decision.time, now) + "</td><td>"_html + text(decision.about) +
                "</td><td class=\"free\">"_html;
        html += decision.type == kube::EventType::warning ? "<span class=\"bad\">"_html : "<span>"_html;
        html += text(decision.reason) + "</span>: "_html + text(decision.message);
        if (decision.count > 1)
            html += " <span class=\"soft\">("_html + number(decision.count) + " times)</span>"_html;
        html += "</td></tr>\n"_html;
    }
    return html + "</table>\n</section>\n"_html;
}

}  // namespace kubenodesmith::status_page
