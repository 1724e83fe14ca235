#include "operator/commands/check.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <string_view>

#include "api/core.hpp"
#include "api/names.hpp"
#include "base/text.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/cluster_session.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/command_line/records.hpp"
#include "operator/commands/operator_pods.hpp"
#include "operator/options/options.hpp"
#include "operator/plan/cluster_snapshot.hpp"
#include "report/troubles.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
namespace asio = boost::asio;

constexpr int kOldestMinor = 29;
constexpr int kNewestMinor = 37;
constexpr int kFirstMinorWithPolicies = 30;

struct CheckRequest {
    std::string output;
};

enum class CheckResult { ok, unknown, problem };

struct Finding {
    std::string subject;
    CheckResult verdict = CheckResult::ok;
    std::string message;
};

const char* word_of(CheckResult verdict) {
    switch (verdict) {
        case CheckResult::ok:
            return "ok";
        case CheckResult::unknown:
            return "unknown";
        case CheckResult::problem:
            return "PROBLEM";
    }
    return "";
}

int number_in(std::string_view text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Returns which of our kinds discovery lacks, as plural names.
std::vector<std::string> not_served(const json::value& discovery) {
    using namespace api::v1alpha1;
    std::set<std::string> missing;
    for (const auto& kind : {NodeSmithProvider::kResource, NodeSmithHost::kResource, NodeSmithPool::kResource,
                             NodeSmithClaim::kResource, NodeSmithControlPlane::kResource})
        missing.emplace(kind.plural);
    boost::system::error_code absent;
    const auto* resources = discovery.find_pointer("/resources", absent);
    if (!resources || !resources->is_array()) return {missing.begin(), missing.end()};
    for (const auto& resource : resources->get_array())
        missing.erase(std::string(resource.at("name").as_string()));
    return {missing.begin(), missing.end()};
}

// ClusterCheck asks about the cluster, one question after the other. If the user may not ask a question, that
// is a finding, too.
class ClusterCheck {
public:
    explicit ClusterCheck(ClusterSession& session) : session_(session), client_(session.client()) {}

    std::vector<Finding> run() {
        session_.run(ask_about("Kubernetes", check_version()));
        session_.run(ask_about("CRDs", check_crds()));
        session_.run(ask_about("operator", check_operators()));
        session_.run(ask_about("leader", check_leader()));
        session_.run(ask_about("rights of the operator", check_rights()));
        session_.run(ask_about("admission policies", check_policies()));
        return std::move(findings_);
    }

private:
    asio::awaitable<void> ask_about(std::string subject, asio::awaitable<void> question) {
        subject_ = std::move(subject);
        try {
            co_await std::move(question);
        } catch (const kube::ApiError& error) {
            if (!error.is_forbidden()) throw;
            say(CheckResult::unknown, std::string("you lack the right to check this: ") + error.what());
        }
    }

    void say(CheckResult verdict, std::string message) {
        findings_.push_back({subject_, verdict, std::move(message)});
    }

    asio::awaitable<void> check_version() {
        const auto answer = co_await client_.call("GET", "/version", std::nullopt);
        const std::string text(answer.at("gitVersion").as_string());
        minor_ = number_in(answer.at("minor").as_string());
        const bool is_supported = minor_ >= kOldestMinor && minor_ <= kNewestMinor;
        if (is_supported) {
            say(CheckResult::ok, text);
        } else {
            say(CheckResult::unknown, text + " is not tested; 1." + std::to_string(kOldestMinor) + " to 1." +
                                          std::to_string(kNewestMinor) + " are");
        }
    }

    asio::awaitable<void> check_crds() {
        const auto target = "/apis/" + std::string(api::kGroup) + "/" + std::string(api::kVersion);
        json::value served;
        try {
            served = co_await client_.call("GET", target, std::nullopt);
        } catch (const kube::ApiError& error) {
            if (!error.is_not_found()) throw;
        }
        const auto missing = not_served(served);
        if (missing.empty()) {
            say(CheckResult::ok, "all five kinds are served");
        } else {
            say(CheckResult::problem,
                "not served: " + base::joined(missing) +
                    "; install them: kubectl apply --server-side -k crds, or make install");
        }
    }

    asio::awaitable<void> check_operators() {
        operators_ = co_await find_operators(client_);
        if (operators_.empty())
            say(CheckResult::unknown,
                "no Deployment with the label app.kubernetes.io/name=kubenodesmith can be seen; if the "
                "operator does not run elsewhere, install it");
        for (const auto& found : operators_) {
            const auto text = "Deployment " + found.key.str() + " (" + found.image + ") has " +
                              std::to_string(found.available) + " of " +
                              base::counted(found.replicas, "replica") + " available";
            say(found.available > 0 ? CheckResult::ok : CheckResult::problem, text);
        }
        for (std::size_t i = 0; i < operators_.size(); ++i)
            for (std::size_t k = i + 1; k < operators_.size(); ++k)
                if (overlap(operators_[i], operators_[k]))
                    say(CheckResult::problem, "Deployments " + operators_[i].key.str() + " and " +
                                                  operators_[k].key.str() +
                                                  " manage the same namespace; only one may");
    }

    asio::awaitable<void> check_leader() {
        const api::ObjectKey usual{"kubenodesmith-system", Options().leader_election_id};
        if (operators_.empty()) co_await check_lease(usual);
        for (const auto& found : operators_) {
            if (found.elects_leader)
                co_await check_lease(found.lease);
            else
                say(CheckResult::ok, "Deployment " + found.key.str() + " works without leader election");
        }
    }

    asio::awaitable<void> check_lease(api::ObjectKey key) {
        const auto lease = co_await client_.get<api::Lease>(key);
        if (!lease) {
            say(CheckResult::problem, "there is no Lease " + key.str() + ", so no operator has worked yet");
            co_return;
        }
        const auto& spec = lease->spec;
        const auto age = spec.renewTime
                             ? session_.now().at - std::chrono::floor<base::Seconds>(spec.renewTime->at)
                             : base::Seconds::max();
        constexpr base::Seconds kFresh = std::chrono::seconds{60};
        if (!spec.holderIdentity.empty() && age < kFresh)
            say(CheckResult::ok, spec.holderIdentity + " leads");
        else
            say(CheckResult::problem,
                "Lease " + key.str() +
                    " was not renewed for a minute, so no operator works; look at its log");
    }

    asio::awaitable<void> check_rights() {
        for (const auto& found : operators_) {
            const auto user = "system:serviceaccount:" + found.key.namespace_ + ":" + found.service_account;
            std::vector<std::string> missing;
            for (const auto& right : rights_of_operator()) {
                const bool has_it = co_await may(user, right);
                const auto where = right.group.empty() ? std::string() : "." + right.group;
                if (!has_it) missing.push_back(right.verb + " " + right.resource + where);
            }
            if (missing.empty()) {
                say(CheckResult::ok, user + " has all rights that the operator needs");
            } else {
                say(CheckResult::problem, user + " may not " + base::joined_first(missing, 10) +
                                              "; apply config/rbac, or the chart with rbac.create=true");
            }
        }
        if (operators_.empty())
            say(CheckResult::unknown, "the operator's ServiceAccount is unknown, as no Deployment was found");
    }

    asio::awaitable<bool> may(std::string user, NeededRight right) {
        const auto slash = right.resource.find('/');
        json::object attributes{
            {"verb", right.verb}, {"group", right.group}, {"resource", right.resource.substr(0, slash)}};
        if (slash != std::string::npos) attributes["subresource"] = right.resource.substr(slash + 1);
        const json::value review = json::object{
            {"apiVersion", "authorization.k8s.io/v1"},
            {"kind", "SubjectAccessReview"},
            {"spec", json::object{{"user", user},
                                  {"groups", json::array{"system:serviceaccounts", "system:authenticated"}},
                                  {"resourceAttributes", attributes}}}};
        const auto answer =
            co_await client_.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review);
        co_return answer.at("status").at("allowed").as_bool();
    }

    asio::awaitable<void> check_policies() {
        if (minor_ < kFirstMinorWithPolicies) {
            say(CheckResult::unknown,
                "Kubernetes before 1.30 has none: anybody who may write status can mislead the operator");
            co_return;
        }
        const auto list = co_await client_.call(
            "GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", std::nullopt);
        std::vector<std::string> names;
        for (const auto& item : list.at("items").as_array())
            names.emplace_back(item.at("metadata").at("name").as_string());
        std::vector<std::string> missing;
        for (const auto* part : {"status", "secrets", "role-bindings", "pod-status", "tokens-for-any-node"}) {
            const bool is_there = std::ranges::any_of(names, [&](const std::string& name) {
                return name == std::string("kubenodesmith-") + part ||
                       std::ranges::any_of(operators_, [&](const auto& known) {
                           return name == known.key.name + "-" + part;
                       });
            });
            if (!is_there) missing.emplace_back(part);
        }
        if (missing.empty())
            say(CheckResult::ok, "all five are bound");
        else
            say(CheckResult::problem,
                "not bound: " + base::joined(missing) +
                    "; apply config/admission, or the chart with admissionPolicies=true");
    }

    ClusterSession& session_;
    kube::Client& client_;
    std::string subject_;
    int minor_ = 0;
    std::vector<OperatorDeployment> operators_;
    std::vector<Finding> findings_;
};

void add_troubles(const ClientOptions& options, std::vector<Finding>& findings) {
    const auto view = ClusterSnapshot::open({}, options, Reading::ours);
    const auto& report = view->report();
    if (report.control_planes.empty())
        findings.push_back({"control planes", CheckResult::problem,
                            "there is none, so no pool creates or removes machines"});
    const auto troubles = report::troubles_of(report, options.only_namespace());
    for (const auto& trouble : troubles)
        findings.push_back({trouble.kind, CheckResult::problem, report::sentence_of(trouble, report.time)});
    if (troubles.empty())
        findings.push_back({"objects", CheckResult::ok,
                            base::counted(std::ssize(report.providers), "provider") + ", " +
                                base::counted(std::ssize(report.pools), "pool") + " and " +
                                base::counted(std::ssize(report.claims), "claim") + " have no problems"});
}

Answer check_answer(const CheckRequest& request, const ClientOptions& options) {
    ClusterSession session(options);
    auto findings = ClusterCheck(session).run();
    const bool has_crds = std::ranges::none_of(findings, [](const Finding& finding) {
        return finding.subject == "CRDs" && finding.verdict == CheckResult::problem;
    });
    if (has_crds) add_troubles(options, findings);
    Records records({{"CHECK", "check"}, {"RESULT", "verdict"}, {"DETAILS", "message"}});
    bool is_ready = true;
    for (const auto& finding : findings) {
        records.add({finding.subject, word_of(finding.verdict), finding.message});
        is_ready = is_ready && finding.verdict != CheckResult::problem;
    }
    const auto document = [&] {
        auto made = document_of_kind("Check");
        made["ready"] = is_ready;
        made["findings"] = records.objects();
        return made;
    };
    return {printed(request.output, [&records] { return records.table(); }, document), is_ready ? 0 : 1};
}

}  // namespace

void add_check_command(CLI::App& app, ClientOptions& options, Command& chosen) {
    auto request = std::make_shared<CheckRequest>();
    auto* command =
        app.add_subcommand("check", "Check whether this cluster and the operator in it are ready");
    add_output_flag(*command, request->output);
    add_namespace_flags(*command, options, "Look at the objects of this namespace; default: all");
    add_cluster_flags(*command, options);
    command->footer("\nExit code: 0 ready, 1 something is wrong, 2 a failure.");
    command->callback([&chosen, request] {
        chosen = [request](const ClientOptions& given) {
            return answer("check", [&] { return check_answer(*request, given); });
        };
    });
}

// ---- the rights of the operator
namespace {

struct RoleRule {
    std::string_view group;
    std::vector<std::string_view> resources;
    std::vector<std::string_view> verbs;
};

std::vector<NeededRight> spread_out(const std::vector<RoleRule>& rules) {
    std::vector<NeededRight> all;
    for (const auto& rule : rules)
        for (const auto& resource : rule.resources)
            for (const auto& verb : rule.verbs)
                all.push_back({std::string(verb), std::string(rule.group), std::string(resource)});
    return all;
}

}  // namespace

const std::vector<NeededRight>& rights_of_operator() {
    static const auto all = spread_out({
        {api::kGroup, {"nodesmithproviders", "nodesmithpools"}, {"list", "watch", "patch"}},
        {api::kGroup, {"nodesmithhosts"}, {"get", "list", "watch", "patch"}},
        {api::kGroup, {"nodesmithcontrolplanes"}, {"list", "watch"}},
        {api::kGroup, {"nodesmithclaims"}, {"get", "list", "watch", "create", "patch", "delete", "operate"}},
        {api::kGroup,
         {"nodesmithproviders/status", "nodesmithhosts/status", "nodesmithpools/status",
          "nodesmithcontrolplanes/status", "nodesmithclaims/status"},
         {"patch"}},
        {api::kGroup, {"nodesmithpools/finalizers"}, {"update"}},
        {"",
         {"pods", "namespaces", "limitranges", "persistentvolumes", "persistentvolumeclaims"},
         {"list", "watch"}},
        {"", {"nodes"}, {"get", "list", "watch", "patch", "delete"}},
        {"", {"pods/eviction"}, {"create"}},
        {"", {"pods"}, {"delete"}},
        {"", {"pods/status"}, {"patch"}},
        {"apps", {"daemonsets"}, {"list", "watch"}},
        {"node.k8s.io", {"runtimeclasses"}, {"list", "watch"}},
        {"scheduling.k8s.io", {"podgroups"}, {"get"}},
        {"scheduling.x-k8s.io", {"podgroups"}, {"get"}},
        {"scheduling.volcano.sh", {"podgroups"}, {"get"}},
        {"policy", {"poddisruptionbudgets"}, {"list", "watch"}},
        {"storage.k8s.io",
         {"storageclasses", "csidrivers", "csistoragecapacities", "csinodes", "volumeattachments"},
         {"list", "watch"}},
        {"", {"events"}, {"create", "patch"}},
        {"certificates.k8s.io", {"certificatesigningrequests"}, {"get", "list", "watch"}},
        {"certificates.k8s.io", {"certificatesigningrequests/approval"}, {"patch"}},
        {"networking.k8s.io", {"servicecidrs"}, {"list"}},
        {"authentication.k8s.io", {"tokenreviews"}, {"create"}},
        {"authorization.k8s.io", {"subjectaccessreviews"}, {"create"}},
    });
    return all;
}

}  // namespace kubenodesmith
