#include "operator/status_page/page.hpp"

#include "base/text.hpp"
#include "operator/status_page/sections.hpp"

namespace kubenodesmith::status_page {
namespace {

Html head() {
    return R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="10">
<meta name="viewport" content="width=device-width"><title>KubeNodeSmith</title><style>
:root{color-scheme:light dark;--ink:#1b2430;--soft:#5b6776;--line:#d5dbe3;--paper:#fff;--track:#e9edf2;--other:#a9b4c2}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9f0;--soft:#9aa7b7;--line:#34404e;--paper:#151b23;--track:#26303c;--other:#5c6979}}
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1150px;margin:1.5em auto;padding:0 1em}
h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:1.8em 0 .5em}p{margin:.3em 0}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3em .8em .3em 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--soft);font-size:.9em}.soft{color:var(--soft)}.bad{color:#c4314b}td.free{overflow-wrap:anywhere}
svg{display:block;overflow:visible}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.track{fill:var(--track)}.other{fill:var(--other)}.used{fill:#3b7dd8}.ours{fill:#3b7dd8;stroke:var(--paper)}.full{fill:#d9822b}
.launching{fill:#e0a526}.registering{fill:#3b7dd8}.initializing{fill:#18a0a0}.ready{fill:#3a9d5d}.leaving{fill:#8a63c9}.failed{fill:#c4314b}
</style></head><body>
)"_html;
}

Html managed(const controllers::ManagedNamespaces& namespaces) {
    if (namespaces.all()) return {};
    return " Only pools, hosts and claims of the managed namespaces are shown: "_html +
           text(namespaces.str()) + "."_html;
}

Html state(const ClusterReport& report, const std::string& version) {
    auto line = "<h1>KubeNodeSmith</h1>\n<p>"_html + text(version) + " at "_html + text(report.time.str());
    line += report.leading ? "; this process leads"_html
                           : "; <strong>this process does not lead</strong>: the leading process makes "
                             "and shows the decisions"_html;
    if (!report.synced) line += "; <strong class=\"bad\">the caches are not synced yet</strong>"_html;
    const auto count = [](std::size_t size) { return number(static_cast<std::int64_t>(size)); };
    return line + ".</p>\n<p class=\"soft\">Nodes: "_html + count(report.nodes) + ", pods: "_html +
           count(report.pods) + ", claims: "_html + count(report.claims.size()) + "."_html +
           managed(report.managed) + "</p>\n"_html;
}

}  // namespace

std::string page(const ClusterReport& report, const DecisionLog& decisions, const std::string& version) {
    const auto html = head() + state(report, version) + waiting_pods(report) + pools(report) + hosts(report) +
                      claims(report) + nodes_that_stay(report) + recent_decisions(decisions, report.time) +
                      "</body></html>\n"_html;
    return html.str();
}

Html duration(std::chrono::seconds value) {
    const auto seconds = std::max<std::int64_t>(0, value.count());
    const auto pair = [](std::int64_t large, const Html& unit, std::int64_t small, const Html& smaller) {
        return number(large) + unit + (small > 0 ? " "_html + number(small) + smaller : Html());
    };
    if (seconds < 60) return number(seconds) + " s"_html;
    if (seconds < 3600) return pair(seconds / 60, " min"_html, seconds % 60, " s"_html);
    if (seconds < 48 * 3600) return pair(seconds / 3600, " h"_html, seconds % 3600 / 60, " min"_html);
    return number(seconds / 86400) + " d"_html;
}

Html ago(std::optional<api::Time> when, api::Time now) {
    return when ? duration(now.at - when->at) + " ago"_html : Html();
}

Html and_more(std::size_t all, std::size_t shown) {
    if (all <= shown) return {};
    return "<p class=\"soft\">and "_html + number(static_cast<std::int64_t>(all - shown)) +
           " more</p>\n"_html;
}

Html memory(std::int64_t mib) {
    return mib % 1024 == 0 ? number(mib / 1024) + "Gi"_html : number(mib) + "Mi"_html;
}

Html readiness(const api::Conditions& conditions) {
    const auto* ready = api::find_condition(conditions, api::conditions::kReady);
    if (!ready) return "<td class=\"soft\">not examined yet</td>"_html;
    if (ready->status == api::ConditionStatus::True) return "<td>Ready</td>"_html;
    return "<td><span class=\"bad\">"_html + text(ready->reason) + "</span><br>"_html +
           text(base::shortened(ready->message, 200)) + "</td>"_html;
}

}  // namespace kubenodesmith::status_page
