#include "operator/status_page/document.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/status_page/entries.hpp"
#include "report/troubles.hpp"

namespace kubenodesmith::status_page {
namespace {

namespace json = boost::json;
using api::v1alpha1::ClaimPhase;
using report::ClaimFacts;
using report::ClusterReport;

constexpr std::size_t kMostOfAKind = 200;
constexpr std::size_t kMostClaims = 1000;
constexpr std::size_t kMostTroubles = 200;
constexpr std::size_t kMostObjectsOfTrouble = 50;

json::array troubles_in(const ClusterReport& report) {
    json::array troubles;
    for (const auto& trouble : report::troubles_of(report)) {
        if (troubles.size() == kMostTroubles) break;
        json::array objects;
        for (const auto& object : trouble.objects) {
            if (objects.size() == kMostObjectsOfTrouble) break;
            objects.push_back(json::object{{"namespace", object.namespace_}, {"name", object.name}});
        }
        json::object entry{{"kind", trouble.kind},
                           {"reason", trouble.reason},
                           {"message", base::shortened(trouble.message, kLongestMessage)},
                           {"count", trouble.objects.size()},
                           {"objects", std::move(objects)}};
        if (trouble.since) entry["since"] = trouble.since->str();
        troubles.push_back(std::move(entry));
    }
    return troubles;
}

template <class T, class... More>
json::array first_entries(const report::Pointers<T>& all, const More&... more) {
    json::array entries;
    for (std::size_t i = 0; i < all.size() && i < kMostOfAKind; ++i)
        entries.push_back(entry_of(*all[i], more...));
    return entries;
}

// Returns the most interesting claims: Ready ones last, and otherwise younger ones first.
json::array claims_in(const ClusterReport& report) {
    std::vector<const ClaimFacts*> all;
    for (const auto& facts : report.claims) all.push_back(&facts);
    std::ranges::sort(all, [](const ClaimFacts* a, const ClaimFacts* b) {
        const bool a_serves = a->phase() == ClaimPhase::Ready, b_serves = b->phase() == ClaimPhase::Ready;
        if (a_serves != b_serves) return b_serves;
        const auto& [a_began, b_began] =
            std::pair(a->claim->metadata.creationTimestamp, b->claim->metadata.creationTimestamp);
        return a_began != b_began ? a_began > b_began : a->key() < b->key();
    });
    json::array entries;
    for (std::size_t i = 0; i < all.size() && i < kMostClaims; ++i) entries.push_back(entry_of(*all[i]));
    return entries;
}

json::array stays_in(const ClusterReport& report) {
    json::array entries;
    for (const auto& [node, stay] : report.stays) {
        if (entries.size() == kMostOfAKind) break;
        json::object entry{{"node", node},
                           {"kind", controllers::disruption::name_of(stay.kind)},
                           {"reason", stay.blocker.reason},
                           {"message", base::shortened(stay.blocker.message, kLongestMessage)}};
        if (stay.blocker.until) entry["until"] = stay.blocker.until->str();
        entries.push_back(std::move(entry));
    }
    return entries;
}

json::array decisions_in(const DecisionLog& log) {
    json::array entries;
    for (const auto& decision : log.decisions())
        entries.push_back(json::object{{"time", decision.time.str()},
                                       {"warning", decision.type == kube::EventType::warning},
                                       {"about", decision.about},
                                       {"reason", decision.reason},
                                       {"message", decision.message},
                                       {"count", decision.count}});
    return entries;
}

// Returns one array for each value, as a day of objects would be four times as large.
json::object history_in(const Knowledge& known) {
    json::array times, nodes, waiting_pods, price;
    for (const auto& sample : known.history.samples()) {
        times.push_back(static_cast<std::int64_t>(sample.time.at.time_since_epoch().count()));
        nodes.push_back(sample.nodes);
        waiting_pods.push_back(sample.waiting_pods);
        price.push_back(sample.price);
    }
    return {{"intervalSeconds", std::chrono::seconds(report::History::kInterval).count()},
            {"keptBy", known.log ? "operator" : "command"},
            {"times", std::move(times)},
            {"nodes", std::move(nodes)},
            {"waitingPods", std::move(waiting_pods)},
            {"price", std::move(price)}};
}

json::array notes_in(const Knowledge& known) {
    const auto& report = known.report;
    json::array notes;
    if (report.control_planes.empty())
        notes.emplace_back("There is no NodeSmithControlPlane, so no pool creates or removes anything.");
    if (known.log && !report.leading)
        notes.emplace_back("This process does not lead. The leading process makes and shows the decisions.");
    if (known.log && !report.synced) notes.emplace_back("The caches are not synced yet.");
    if (!known.has_nodes)
        notes.emplace_back("You may not list nodes and pods, so waiting pods are not shown.");
    for (const auto& note : known.notes) notes.emplace_back(note);
    return notes;
}

json::value if_known(bool is_known, std::size_t count) {
    return is_known ? json::value(count) : json::value();
}

}  // namespace

json::object document_of(const Knowledge& known) {
    const auto& report = known.report;
    const auto by_host = claims_by_host(report);
    auto document = document_of_kind("StatusPage");
    document["time"] = report.time.str();
    document["program"] = known.program;
    document["leading"] = known.log ? json::value(report.leading) : json::value();
    document["managedNamespaces"] = report.managed.all() ? "" : report.managed.str();
    document["notes"] = notes_in(known);
    document["counts"] = json::object{{"nodes", if_known(known.has_nodes, report.nodes)},
                                      {"pods", if_known(known.has_nodes, report.pods)},
                                      {"waitingPods", if_known(known.has_nodes, report.unschedulable.size())},
                                      {"claims", report.claims.size()}};
    document["troubles"] = troubles_in(report);
    document["controlPlanes"] = first_entries(report.control_planes);
    document["providers"] = first_entries(report.providers, by_host);
    document["pools"] = first_entries(report.pools, report.time);
    document["hosts"] = first_entries(report.hosts);
    document["claims"] = claims_in(report);
    document["stays"] = known.log ? json::value(stays_in(report)) : json::value();
    document["decisions"] = known.log ? json::value(decisions_in(*known.log)) : json::value();
    document["history"] = history_in(known);
    return document;
}

}  // namespace kubenodesmith::status_page
