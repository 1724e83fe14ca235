#include "operator/commands/status.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "api/json.hpp"
#include "base/text.hpp"
#include "controllers/state/course.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/command_line/records.hpp"
#include "report/troubles.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

struct StatusRequest {
    std::vector<std::string> files;
    std::string output;
    bool watch = false;
};

std::string readiness(const api::Conditions& conditions) {
    const auto* ready = api::find_condition(conditions, api::conditions::kReady);
    if (!ready) return "Unknown";
    const auto status = std::string(api::to_string(ready->status));
    const bool is_usual =
        ready->status == api::ConditionStatus::True && !controllers::is_turned_off(ready->reason);
    return is_usual || ready->reason.empty() ? status : status + ", " + ready->reason;
}

template <class T>
std::string shown_name(const T& object, const std::string& namespace_) {
    return namespace_.empty() ? api::key_of(object).str() : object.metadata.name;
}

// StatusTables has a table for each kind, and each table has a key in the document.
class StatusTables {
public:
    StatusTables(const ClusterSnapshot& view, const std::string& namespace_)
        : report_(view.report()), namespace_(namespace_) {
        for (const auto& plane : report_.control_planes)
            if (is_shown(*plane)) add(*plane);
        for (const auto& provider : report_.providers)
            if (is_shown(*provider)) add(*provider);
        for (const auto& pool : report_.pools)
            if (is_shown(*pool)) add(*pool);
        for (const auto& facts : report_.claims)
            if (is_shown(*facts.claim)) add(facts);
        for (const auto& host : report_.hosts)
            if (is_shown(*host)) add(*host);
    }

    std::string text() const {
        std::string all;
        for (const auto* records : {&control_planes_, &providers_, &pools_, &claims_, &hosts_})
            if (!records->empty()) all += "\n" + records->table();
        return all;
    }

    void add_to(json::object& document) const {
        document["controlPlanes"] = control_planes_.objects();
        document["providers"] = providers_.objects();
        document["pools"] = pools_.objects();
        document["claims"] = claims_.objects();
        document["hosts"] = hosts_.objects();
    }

private:
    template <class T>
    bool is_shown(const T& object) const {
        return namespace_.empty() || object.metadata.namespace_ == namespace_;
    }

    void add(const api::v1alpha1::NodeSmithControlPlane& plane) {
        const auto& status = plane.status;
        control_planes_.add({shown_name(plane, namespace_), plane.metadata.namespace_, plane.metadata.name,
                             api::name_of(plane.spec.mode), readiness(status.conditions), status.pools,
                             status.nodes, status.readyNodes, status.pendingNodes});
    }

    void add(const api::v1alpha1::NodeSmithProvider& provider) {
        const auto& status = provider.status;
        providers_.add({shown_name(provider, namespace_), provider.metadata.namespace_,
                        provider.metadata.name, api::name_of(provider.spec.type),
                        readiness(status.conditions), status.version,
                        static_cast<std::int64_t>(status.hosts.size()), status.machines});
    }

    void add(const api::v1alpha1::NodeSmithPool& pool) {
        const auto& status = pool.status;
        const auto most = pool.spec.limits.maxNodes;
        pools_.add({shown_name(pool, namespace_), pool.metadata.namespace_, pool.metadata.name,
                    pool.spec.providerRef, readiness(status.conditions), status.nodes, status.readyNodes,
                    status.pendingNodes, pool.spec.limits.minNodes,
                    most > 0 ? json::value(most) : json::value()});
    }

    void add(const report::ClaimFacts& facts) {
        const auto& claim = *facts.claim;
        const auto& status = claim.status;
        const auto now = report_.time;
        claims_.add({shown_name(claim, namespace_), claim.metadata.namespace_, claim.metadata.name,
                     claim.spec.poolRef, api::name_of(facts.phase()), status.size, status.host,
                     status.nodeName, api::age(claim.metadata.creationTimestamp, now)});
    }

    void add(const api::v1alpha1::NodeSmithHost& host) {
        const auto& status = host.status;
        hosts_.add({shown_name(host, namespace_), host.metadata.namespace_, host.metadata.name,
                    host.spec.providerRef, readiness(status.conditions),
                    status.phase ? json::value(api::name_of(*status.phase)) : json::value(),
                    status.powerState, status.claimRef ? json::value(status.claimRef->name) : json::value()});
    }

    const report::ClusterReport& report_;
    const std::string& namespace_;
    Records control_planes_{{{"CONTROL PLANE", ""},
                             {"", "namespace"},
                             {"", "name"},
                             {"MODE", "mode"},
                             {"READY", "ready"},
                             {"POOLS", "pools"},
                             {"NODES", "nodes"},
                             {"NODES READY", "readyNodes"},
                             {"PENDING", "pendingNodes"}}};
    Records providers_{{{"PROVIDER", ""},
                        {"", "namespace"},
                        {"", "name"},
                        {"TYPE", "type"},
                        {"READY", "ready"},
                        {"VERSION", "version"},
                        {"HOSTS", "hosts"},
                        {"MACHINES", "machines"}}};
    Records pools_{{{"POOL", ""},
                    {"", "namespace"},
                    {"", "name"},
                    {"PROVIDER", "provider"},
                    {"READY", "ready"},
                    {"NODES", "nodes"},
                    {"NODES READY", "readyNodes"},
                    {"PENDING", "pendingNodes"},
                    {"MIN", "minNodes"},
                    {"MAX", "maxNodes"}}};
    Records claims_{{{"CLAIM", ""},
                     {"", "namespace"},
                     {"", "name"},
                     {"POOL", "pool"},
                     {"PHASE", "phase"},
                     {"SIZE", "size"},
                     {"HOST", "host"},
                     {"NODE", "node"},
                     {"AGE", "age"}}};
    Records hosts_{{{"HOST", ""},
                    {"", "namespace"},
                    {"", "name"},
                    {"PROVIDER", "provider"},
                    {"READY", "ready"},
                    {"PHASE", "phase"},
                    {"POWER", "power"},
                    {"CLAIM", "claim"}}};
};

std::string first_lines(const ClusterSnapshot& view, const std::vector<report::Trouble>& troubles) {
    const auto& report = view.report();
    std::string text;
    if (report.control_planes.empty())
        text += "There is no NodeSmithControlPlane, so no pool creates or removes anything.\n";
    if (troubles.empty() && text.empty()) text += "All is well.\n";
    if (!troubles.empty())
        text += base::counted(std::ssize(troubles), "thing") +
                (troubles.size() == 1 ? " needs attention:\n" : " need attention:\n");
    for (const auto& trouble : troubles) text += "  " + report::sentence_of(trouble, report.time) + "\n";
    if (!view.has_nodes()) text += "You may not list nodes and pods, so waiting pods are not shown.\n";
    return text;
}

Answer status_answer(const StatusRequest& request, const ClientOptions& options) {
    const auto view = ClusterSnapshot::open(request.files, options, Reading::ours_and_maybe_nodes);
    const auto namespace_ = options.only_namespace();
    return {printed(
        request.output, [&] { return status_text(*view, namespace_); },
        [&] { return status_document(*view, namespace_); })};
}

// Repeats until the user interrupts it or the cluster cannot be read.
Answer watch_status(const StatusRequest& request, const ClientOptions& options) {
    constexpr std::chrono::seconds kPause{2};
    constexpr const char* kClearScreen = "\x1b[H\x1b[2J";
    while (true) {
        const auto text = status_answer(request, options).text;
        const auto failure = write_out(kClearScreen + text);
        if (!failure.empty()) throw std::runtime_error(failure);
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace

std::string status_text(const ClusterSnapshot& view, const std::string& namespace_) {
    return first_lines(view, report::troubles_of(view.report(), namespace_)) +
           StatusTables(view, namespace_).text();
}

json::object status_document(const ClusterSnapshot& view, const std::string& namespace_) {
    auto document = document_of_kind("Status");
    json::array troubles;
    for (const auto& trouble : report::troubles_of(view.report(), namespace_)) {
        json::array objects;
        for (const auto& object : trouble.objects)
            objects.push_back(json::object{{"namespace", object.namespace_}, {"name", object.name}});
        troubles.push_back(json::object{{"kind", trouble.kind},
                                        {"objects", std::move(objects)},
                                        {"reason", trouble.reason},
                                        {"message", trouble.message},
                                        {"since", trouble.since ? trouble.since->str() : std::string()}});
    }
    document["troubles"] = std::move(troubles);
    document["podsKnown"] = view.has_nodes();
    StatusTables(view, namespace_).add_to(document);
    return document;
}

void add_status_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<StatusRequest>();
    auto* command = app.add_subcommand("status", "Show problems, and pools, providers, claims and hosts");
    command->add_flag("-w,--watch", request->watch, "Refresh every two seconds until Ctrl-C");
    add_file_flag(*command, request->files);
    add_output_flag(*command, request->output);
    add_namespace_flags(*command, options, "Show only this namespace; default: all");
    add_cluster_flags(*command, options);
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("status", [&] {
                return request->watch ? watch_status(*request, given) : status_answer(*request, given);
            });
        };
    });
}

}  // namespace kubenodesmith
