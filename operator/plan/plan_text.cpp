#include "operator/plan/plan_text.hpp"

#include <boost/json/array.hpp>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "base/text.hpp"
#include "operator/command_line/formats.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
using Outlook = WaitingPod::Outlook;

constexpr std::size_t kMostPodsNamed = 5;

std::string names_of(const std::vector<api::ObjectKey>& pods) {
    return base::joined_first(pods | std::views::transform(&api::ObjectKey::str), kMostPodsNamed);
}

const char* word_of(Outlook outlook) {
    switch (outlook) {
        case Outlook::planned_machine:
            // Scripts know this word from earlier releases.
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

json::object object_of(const PlannedMachine& planned_machine) {
    json::array pods;
    for (const auto& pod : planned_machine.pods) pods.emplace_back(pod.str());
    return {{"pool", planned_machine.pool.str()},
            {"cpuCores", planned_machine.cpuCores},
            {"memoryMiB", planned_machine.memoryMiB},
            {"zone", planned_machine.zone},
            {"pods", std::move(pods)},
            {"reason", planned_machine.reason},
            {"observedBy", planned_machine.observed_by}};
}

std::string condition_of(const std::string& observed_by) {
    return observed_by.empty() ? "" : ", if the mode of control plane " + observed_by + " were Active";
}

}  // namespace

std::string sentence_of(const PlannedMachine& planned_machine) {
    auto text = "create a machine in pool " + planned_machine.pool.str() + ": " +
                base::counted(planned_machine.cpuCores, "CPU") + ", " +
                std::to_string(planned_machine.memoryMiB) + " MiB";
    if (!planned_machine.zone.empty()) text += " in zone " + planned_machine.zone;
    text += planned_machine.pods.empty() ? " " + planned_machine.reason
                                         : " for " + names_of(planned_machine.pods);
    return text + condition_of(planned_machine.observed_by);
}

std::string sentence_of(const WaitingPod& pod) {
    const auto name = "pod " + pod.pod.str();
    switch (pod.outlook) {
        case Outlook::planned_machine:
            return name + " waits: a machine of pool " + pod.node + " would be created" +
                   condition_of(pod.observed_by);
        case Outlook::node:
            return name + " waits, and fits node " + pod.node + ": the scheduler has to place it";
        case Outlook::freed_node:
            return name + " waits for room on node " + pod.node + ", where pods are terminating";
        case Outlook::coming_node:
            return name + " waits for node " + pod.node + ", which is not ready yet" +
                   (pod.reasons.empty() ? "" : ": " + base::joined(pod.reasons, "; "));
        case Outlook::held_node:
            return name + " waits for node " + pod.node +
                   ", whose machine could not be created so far: " + base::joined(pod.reasons, "; ");
        case Outlook::nothing:
            return name + " waits, and nothing would be created: " + base::joined(pod.reasons, "; ");
    }
    return name;
}

std::string sentence_of(const PlannedRemoval& node) {
    const auto name = "node " + node.node;
    const auto lost = node.lost.empty() ? std::string() : "; lost with it: " + node.lost;
    if (node.empty && node.possible)
        return "remove " + name + ": empty, and nothing needs it" + lost + condition_of(node.observed_by);
    if (node.possible) return name + " is in use; its pods would fit elsewhere" + lost;
    return "keep " + name + ": " + base::joined(node.reasons, ", and ");
}

// Returns, for example, "these machines cost as much as 80 GiB of memory (a CPU as 4 GiB); no machines for
// the same pods cost less than 78 GiB".
std::string sentence_of(const scheduling::Price& price) {
    const auto amount = [&price](double value) {
        std::ostringstream text;
        if (price.is_stated)
            text << std::setprecision(4) << value;
        else
            text << std::llround(value) << " GiB";
        return text.str();
    };
    auto text =
        price.is_stated
            ? "these machines cost " + amount(price.machines) + " by the prices of their pools; "
            : "these machines cost as much as " + amount(price.machines) + " of memory (a CPU as 4 GiB); ";
    text += "no machines for the same pods cost less than " + amount(price.least);
    if (price.simple > price.machines)
        text += "; machines that are filled one after the other would cost " + amount(price.simple);
    return text;
}

std::string table_of(const Plan& plan) {
    std::string text;
    for (const auto& planned_machine : plan.planned_machines) text += sentence_of(planned_machine) + "\n";
    if (plan.price.machines > 0) text += sentence_of(plan.price) + "\n";
    for (const auto& cut : plan.cuts) text += "fewer machines are created than needed: " + cut + "\n";
    for (const auto& pod : plan.pods) text += sentence_of(pod) + "\n";
    for (const auto& node : plan.nodes) text += sentence_of(node) + "\n";
    for (const auto& pool : plan.closed_pools) {
        text += "pool " + pool.pool.str() + " creates nothing now: " + pool.message + "\n";
    }
    for (const auto& note : plan.notes) text += note + "\n";
    if (!plan.changes_something()) text += "nothing would be created or removed\n";
    if (!plan.managed.all())
        text += "providers, pools, claims, hosts and control planes count only in these namespaces: " +
                plan.managed.str() + "\n";
    return text;
}

json::object json_of(const Plan& plan) {
    json::array planned_machines;
    for (const auto& planned_machine : plan.planned_machines)
        planned_machines.push_back(object_of(planned_machine));
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
                                     {"reasons", array_of(node.reasons)},
                                     {"observedBy", node.observed_by},
                                     {"lost", node.lost}});
    }
    json::array closed;
    for (const auto& pool : plan.closed_pools) {
        closed.push_back(json::object{{"pool", pool.pool.str()}, {"message", pool.message}});
    }
    auto document = document_of_kind("Plan");
    document["changes"] = plan.changes_something();
    document["namespaces"] = plan.managed.str();
    document["launches"] = std::move(planned_machines);
    document["price"] = json::object{{"machines", plan.price.machines},
                                     {"least", plan.price.least},
                                     {"simple", plan.price.simple},
                                     {"stated", plan.price.is_stated}};
    document["pods"] = std::move(pods);
    document["nodes"] = std::move(nodes);
    document["closedPools"] = std::move(closed);
    document["notes"] = array_of(plan.notes);
    document["cuts"] = array_of(plan.cuts);
    return document;
}

}  // namespace kubenodesmith
