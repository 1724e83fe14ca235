// Claims as a timeline of phases over the last hour. Claims that are being created, are being removed or have
// failed come first.
#include <algorithm>

#include "api/json.hpp"
#include "api/names.hpp"
#include "base/text.hpp"
#include "controllers/state/claim_state.hpp"
#include "operator/status_page/sections.hpp"

namespace kubenodesmith::status_page {
namespace {

using api::v1alpha1::ClaimPhase;
using api::v1alpha1::NodeSmithClaim;
using report::ClaimFacts;

constexpr std::size_t kMostClaims = 150;
constexpr std::size_t kLongestMessage = 160;
constexpr std::int64_t kBarWidth = 480;
constexpr std::chrono::seconds kWindow = std::chrono::hours(1);

struct Span {
    Html phase;  // a class of the style sheet
    Html words;
    api::Time begin;
    api::Time end;
};

std::optional<api::Time> became_true(const NodeSmithClaim& claim, std::string_view type) {
    return api::true_since(claim.status.conditions, type);
}

// Returns when the claim's removal began, which ends its earlier phases.
std::optional<api::Time> leaving_since(const NodeSmithClaim& claim) {
    const auto disrupted = became_true(claim, api::conditions::kDisrupted);
    const auto deleted = claim.metadata.deletionTimestamp;
    return disrupted && (!deleted || *disrupted < *deleted) ? disrupted : deleted;
}

std::vector<Span> spans_of(const NodeSmithClaim& claim, api::Time now) {
    std::vector<Span> spans;
    if (!claim.metadata.creationTimestamp) return spans;
    const auto failed = became_true(claim, api::conditions::kFailed);
    const auto left = leaving_since(claim);
    const auto end = std::min({now, failed.value_or(now), left.value_or(now)});
    auto begin = *claim.metadata.creationTimestamp;
    // Adds a stage and reports whether it is over, so that the next one has begun.
    const auto stage = [&](const Html& phase, const Html& words, std::optional<api::Time> reached) {
        const auto until = std::clamp(reached.value_or(end), begin, std::max(begin, end));
        spans.push_back({phase, words, begin, until});
        begin = until;
        return reached.has_value();
    };
    if (stage("launching"_html, "launch"_html, became_true(claim, api::conditions::kLaunched)) &&
        stage("registering"_html, "registration"_html, became_true(claim, api::conditions::kRegistered)) &&
        stage("initializing"_html, "initialization"_html,
              became_true(claim, api::conditions::kInitialized))) {
        stage("ready"_html, "in service"_html, std::nullopt);
    }
    if (failed) spans.push_back({"failed"_html, "failed"_html, *failed, left.value_or(now)});
    if (left) spans.push_back({"leaving"_html, "leaving"_html, *left, now});
    return spans;
}

Html timeline(const std::vector<Span>& spans, api::Time now) {
    const auto start = now.at - kWindow;
    const auto place = [start](api::Time time) {
        return std::clamp<std::int64_t>((time.at - start).count() * kBarWidth / kWindow.count(), 0,
                                        kBarWidth);
    };
    auto html = "<svg width=\"480\" height=\"14\"><rect class=\"track\" width=\"480\" height=\"14\"/>"_html;
    for (const auto& span : spans) {
        if (span.end.at < start || span.end < span.begin) continue;
        html += "<rect class=\""_html + span.phase + "\" x=\""_html +
                number(std::min(place(span.begin), kBarWidth - 1)) + "\" width=\""_html +
                number(std::max<std::int64_t>(1, place(span.end) - place(span.begin))) +
                "\" height=\"14\"><title>"_html + span.words + " "_html +
                duration(span.end.at - span.begin.at) + "</title></rect>"_html;
    }
    return html + "</svg>"_html;
}

Html words(const std::vector<Span>& spans) {
    Html html;
    for (const auto& span : spans) {
        if (!html.empty()) html += ", "_html;
        html += span.words + " "_html + duration(span.end.at - span.begin.at);
    }
    return html;
}

// Returns what it waits for: the message of the first unsettled condition that has one.
Html waits_for(const NodeSmithClaim& claim) {
    for (const auto& condition : claim.status.conditions) {
        const bool settled =
            condition.status == api::ConditionStatus::True && condition.type != api::conditions::kFailed;
        if (settled || condition.type == api::conditions::kReady || condition.message.empty()) continue;
        if (condition.type == api::conditions::kFailed && condition.status != api::ConditionStatus::True)
            continue;
        return text(condition.reason) + ": "_html + text(base::shortened(condition.message, kLongestMessage));
    }
    return {};
}

Html row(const ClaimFacts& facts, api::Time now) {
    const auto& claim = *facts.claim;
    const auto spans = spans_of(claim, now);
    const auto phase = facts.phase();
    auto html = "<tr><td>"_html + text(facts.key().str()) + "<br><span class=\"soft\">"_html +
                text(claim.status.size) + " "_html + text(claim.status.host) + "</span></td><td>"_html;
    html += (phase == ClaimPhase::Failed ? "<span class=\"bad\">"_html : "<span>"_html) +
            text(api::name_of(phase)) + "</span></td><td>"_html + timeline(spans, now) +
            "<span class=\"soft\">"_html + words(spans) + "</span></td><td class=\"free\">"_html;
    return html + (phase == ClaimPhase::Ready ? Html() : waits_for(claim)) + "</td></tr>\n"_html;
}

// Sorts claims: Ready ones last, and otherwise younger ones first.
std::vector<ClaimFacts> in_order(std::vector<ClaimFacts> all) {
    std::ranges::sort(all, [](const ClaimFacts& a, const ClaimFacts& b) {
        const bool a_serves = a.phase() == ClaimPhase::Ready, b_serves = b.phase() == ClaimPhase::Ready;
        if (a_serves != b_serves) return b_serves;
        if (a.claim->metadata.creationTimestamp != b.claim->metadata.creationTimestamp)
            return a.claim->metadata.creationTimestamp > b.claim->metadata.creationTimestamp;
        return a.key() < b.key();
    });
    return all;
}

}  // namespace

Html claims(const ClusterReport& report) {
    const auto all = in_order(report.claims);
    auto html = "<section id=\"claims\"><h2>Claims: the last hour</h2>\n"_html;
    if (all.empty()) return html + "<p class=\"soft\">There is no NodeSmithClaim.</p></section>\n"_html;
    html += "<table><tr><th>Claim, size, host<th>Phase<th>An hour ago … now<th>Waits for</tr>\n"_html;
    for (std::size_t i = 0; i < all.size() && i < kMostClaims; ++i) html += row(all[i], report.time);
    return html + "</table>\n"_html + and_more(all.size(), kMostClaims) + "</section>\n"_html;
}

}  // namespace kubenodesmith::status_page
