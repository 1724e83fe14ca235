#include <boost/json/array.hpp>

#include "base/text.hpp"
#include "operator/plan/plan.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
using Outlook = WaitingPod::Outlook;

constexpr std::size_t kMostPodsNamed = 5;

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
    std::string text;
    for (const auto& part : parts) text += (text.empty() ? "" : between) + part;
    return text;
}

std::string names_of(const std::vector<api::ObjectKey>& pods) {
    std::string text;
    for (std::size_t i = 0; i < pods.size() && i < kMostPodsNamed; ++i)
        text += (i ? ", " : "") + pods[i].str();
    if (pods.size() > kMostPodsNamed)
        text += " and " + std::to_string(pods.size() - kMostPodsNamed) + " more";
    return text;
}

const char* word_of(Outlook outlook) {
    switch (outlook) {
        case Outlook::purchase:
            return "Purchase";
        case Outlook::node:
            return "Node";
        case Outlook::freed_node:
            return "FreedNode";
        case Outlook::coming_node:
            return "ComingNode";
        case Outlook::held_node:
            return "HeldNode";
        case Outlook::nothing:
            return "Nothing";
    }
    return "";
}

json::array array_of(const std::vector<std::string>& texts) {
    json::array array;
    for (const auto& text : texts) array.emplace_back(text);
    return array;
}

json::object object_of(const PlannedPurchase& purchase) {
    json::array pods;
    for (const auto& pod : purchase.pods) pods.emplace_back(pod.str());
    return {{"pool", purchase.pool.str()},       {"cpuCores", purchase.cpuCores},
            {"memoryMiB", purchase.memoryMiB},   {"zone", purchase.zone},
            {"pods", std::move(pods)},           {"reason", purchase.reason},
            {"observedBy", purchase.observed_by}};
}

std::string condition_of(const std::string& observed_by) {
    return observed_by.empty() ? "" : ", if the mode of control plane " + observed_by + " were Active";
}

}  // namespace

std::string sentence_of(const PlannedPurchase& purchase) {
    auto text = "create a machine in pool " + purchase.pool.str() + ": " +
                base::counted(purchase.cpuCores, "CPU") + ", " + std::to_string(purchase.memoryMiB) + " MiB";
    if (!purchase.zone.empty()) text += " in zone " + purchase.zone;
    text += purchase.pods.empty() ? " " + purchase.reason : " for " + names_of(purchase.pods);
    return text + condition_of(purchase.observed_by);
}

std::string sentence_of(const WaitingPod& pod) {
    const auto name = "pod " + pod.pod.str();
    switch (pod.outlook) {
        case Outlook::purchase:
            return name + " waits: a machine of pool " + pod.node + " would be created" +
                   condition_of(pod.observed_by);
        case Outlook::node:
            return name + " waits, and fits node " + pod.node + ": the scheduler has to place it";
        case Outlook::freed_node:
            return name + " waits for room on node " + pod.node + ", where pods are ending";
        case Outlook::coming_node:
            return name + " waits for node " + pod.node + ", which is coming";
        case Outlook::held_node:
            return name + " waits for node " + pod.node +
                   ", whose machine could not be created so far: " + joined(pod.reasons, "; ");
        case Outlook::nothing:
            return name + " waits, and nothing would be created: " + joined(pod.reasons, "; ");
    }
    return name;
}

std::string sentence_of(const PlannedRemoval& node) {
    const auto name = "node " + node.node;
    if (node.empty && node.possible) return "remove " + name + ": empty, and nothing needs it";
    if (node.possible) return name + " is in use; its pods would fit elsewhere";
    return "keep " + name + ": " + joined(node.reasons, ", and ");
}

std::string table_of(const Plan& plan) {
    std::string text;
    for (const auto& purchase : plan.purchases) text += sentence_of(purchase) + "\n";
    for (const auto& cut : plan.cuts) text += "less is created than is needed: " + cut + "\n";
    for (const auto& pod : plan.pods) text += sentence_of(pod) + "\n";
    for (const auto& node : plan.nodes) text += sentence_of(node) + "\n";
    for (const auto& pool : plan.closed_pools) {
        text += "pool " + pool.pool.str() + " creates nothing now: " + pool.message + "\n";
    }
    if (!plan.changes_something()) text += "nothing would be created or removed\n";
    if (!plan.managed.all())
        text += "providers, pools, claims, hosts and control planes count in these namespaces: " +
                plan.managed.str() + "\n";
    return text;
}

json::object json_of(const Plan& plan) {
    json::array purchases;
    for (const auto& purchase : plan.purchases) purchases.push_back(object_of(purchase));
    json::array pods;
    for (const auto& pod : plan.pods) {
        pods.push_back(json::object{{"pod", pod.pod.str()},
                                    {"outlook", word_of(pod.outlook)},
                                    {"node", pod.node},
                                    {"reasons", array_of(pod.reasons)}});
    }
    json::array nodes;
    for (const auto& node : plan.nodes) {
        nodes.push_back(json::object{{"node", node.node},
                                     {"claim", node.claim.str()},
                                     {"empty", node.empty},
                                     {"possible", node.possible},
                                     {"reasons", array_of(node.reasons)}});
    }
    json::array closed;
    for (const auto& pool : plan.closed_pools) {
        closed.push_back(json::object{{"pool", pool.pool.str()}, {"message", pool.message}});
    }
    return {{"changes", plan.changes_something()}, {"namespaces", plan.managed.str()},
            {"purchases", std::move(purchases)},   {"pods", std::move(pods)},
            {"nodes", std::move(nodes)},           {"closedPools", std::move(closed)},
            {"cuts", array_of(plan.cuts)}};
}

}  // namespace kubenodesmith
