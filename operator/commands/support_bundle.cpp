#include "operator/commands/support_bundle.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <memory>

#include "base/text.hpp"
#include "base/url.hpp"
#include "bootstrap/yaml_writer.hpp"
#include "operator/command_line/answer.hpp"
#include "operator/command_line/formats.hpp"
#include "operator/command_line/private_file.hpp"
#include "operator/commands/operator_pods.hpp"
#include "operator/commands/redaction.hpp"
#include "operator/commands/status.hpp"
#include "operator/commands/tar.hpp"
#include "operator/commands/top.hpp"
#include "operator/plan/plan_text.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
namespace asio = boost::asio;

constexpr const char* kFolder = "kubenodesmith-support/";

constexpr const char* kReadme =
    "What kubenodesmith support-bundle found in a cluster.\n\n"
    "It reads no Secrets and no ConfigMaps, and leaves out the environment, arguments and annotations of "
    "pods.\n"
    "It also leaves out options of VMs, credentials in URLs, and those values in objects of KubeNodeSmith "
    "whose\n"
    "names sound like secrets. It contains addresses, and the names of hosts, nodes, pods and namespaces: "
    "review\n"
    "it before you share it. The operator's log is not in it: kubectl logs deploy/kubenodesmith -n "
    "kubenodesmith-system\n";

struct BundleRequest {
    std::string file;
};

class Bundle {
public:
    Bundle(ClusterSession& session, ClusterSnapshot& view)
        : session_(session), view_(view), tar_(session.now()) {}

    std::string make(const std::string& version) {
        add("version.txt", [&] { return "kubenodesmith " + version + "\n" + server_version(); });
        add("status.txt", [&] { return status_text(view_, ""); });
        add("status.json", [&] { return to_pretty_json(status_document(view_, "")) + "\n"; });
        add("top.txt", [&] { return top_text(view_, ""); });
        add("plan.txt", [&] { return table_of(make_plan(view_)); });
        for (const auto* plural : {"nodesmithproviders", "nodesmithpools", "nodesmithclaims",
                                   "nodesmithcontrolplanes", "nodesmithhosts"})
            add(std::string(plural) + ".yaml", [&] { return ours(plural); });
        add("nodes.yaml", [&] { return excerpts("/api/v1/nodes", excerpt_of_node); });
        add("waiting-pods.yaml",
            [&] { return excerpts("/api/v1/pods?fieldSelector=spec.nodeName%3D", excerpt_of_pod); });
        add("events.yaml", [&] { return events(); });
        tar_.add(std::string(kFolder) + "README.txt",
                 kReadme + (missing_.empty() ? std::string() : "\nCould not be read:\n" + missing_));
        return tar_.str();
    }

private:
    // Adds a file. If that fails, the README lists it, and the other files are still added.
    void add(const std::string& name, const std::function<std::string()>& make_text) {
        try {
            tar_.add(kFolder + name, without_credentials(make_text()));
        } catch (const std::exception& error) {
            missing_ += "  " + name + ": " + error.what() + "\n";
        }
    }

    std::string server_version() {
        const auto answer = session_.run(session_.client().call("GET", "/version", std::nullopt));
        auto text = "Kubernetes " + std::string(answer.at("gitVersion").as_string()) + "\n";
        for (const auto& found : session_.run(find_operators(session_.client())))
            text += "Operator " + found.key.str() + ": " + found.image + "\n";
        return text;
    }

    // Returns all items of the list at `target`, read page by page.
    json::array items(const std::string& target) {
        json::array all;
        std::string token;
        do {
            const auto between = target.find('?') == std::string::npos ? "?" : "&";
            auto page = target + between + "limit=100";
            if (!token.empty()) page += "&continue=" + base::percent_encode(token);
            auto list = session_.run(session_.client().call("GET", page, std::nullopt));
            for (auto& item : list.at("items").as_array()) all.push_back(std::move(item));
            boost::system::error_code absent;
            const auto* next = list.find_pointer("/metadata/continue", absent);
            token = next && next->is_string() ? std::string(next->get_string()) : "";
        } while (!token.empty());
        return all;
    }

    // Returns the items of all managed namespaces.
    json::array items_in_managed(const std::string& group, const std::string& plural) {
        json::array all;
        for (const auto& namespace_ : view_.report().managed.to_list()) {
            const auto target =
                group + (namespace_.empty() ? "" : "/namespaces/" + namespace_) + "/" + plural;
            for (auto& item : items(target)) all.push_back(std::move(item));
        }
        return all;
    }

    static std::string documents(const json::array& all) {
        std::string text;
        for (const auto& item : all) text += "---\n" + bootstrap::to_yaml(item);
        return text;
    }

    std::string ours(const std::string& plural) {
        auto all =
            items_in_managed("/apis/" + std::string(api::kGroup) + "/" + std::string(api::kVersion), plural);
        for (auto& item : all) redact(item);
        return documents(all);
    }

    std::string excerpts(const std::string& target, json::object (*excerpt)(const json::value&)) {
        json::array all;
        for (const auto& item : items(target)) all.push_back(excerpt(item));
        return documents(all);
    }

    // Returns Events that the operator wrote or that are about its objects.
    std::string events() {
        json::array all;
        for (auto& item : items_in_managed("/api/v1", "events")) {
            boost::system::error_code absent;
            const auto* component = item.find_pointer("/source/component", absent);
            const auto* kind = item.find_pointer("/involvedObject/kind", absent);
            const bool is_its = component && *component == json::value("kubenodesmith");
            const bool is_about =
                kind && kind->is_string() && std::string_view(kind->get_string()).starts_with("NodeSmith");
            if (!is_its && !is_about) continue;
            item.get_object()["metadata"].get_object().erase("managedFields");
            all.push_back(std::move(item));
        }
        return documents(all);
    }

    ClusterSession& session_;
    ClusterSnapshot& view_;
    Tar tar_;
    std::string missing_;
};

std::string default_name(api::Time now) {
    auto time = now.str();
    std::erase_if(time, [](char c) { return c == ':' || c == '-'; });
    return "kubenodesmith-support-" + time + ".tar";
}

Answer bundle_answer(const BundleRequest& request, const ClientOptions& options, const std::string& version) {
    ClusterSession session(options);
    const auto view = ClusterSnapshot::open({}, options, Reading::everything);
    const auto archive = make_support_bundle(session, *view, version);
    if (request.file == "-") return {archive};
    const auto file = request.file.empty() ? default_name(session.now()) : request.file;
    PrivateFile(file).write(archive);
    return {"Wrote " + file + " (" + std::to_string(archive.size() / 1024) +
            " KiB). It contains no Secrets, but names and addresses: review it before you share it.\n"};
}

}  // namespace

std::string make_support_bundle(ClusterSession& session, ClusterSnapshot& view, const std::string& version) {
    return Bundle(session, view).make(version);
}

void add_support_bundle_command(CLI::App& app, ClientOptions& options, Command& chosen,
                                const std::string& version) {
    auto request = std::make_shared<BundleRequest>();
    auto* command = app.add_subcommand("support-bundle",
                                       "Pack objects, Events and status, without secrets, into a tar file");
    command
        ->add_option("-f,--file", request->file,
                     "Output file; - for standard output; default: a name with the current time")
        ->option_text("FILE");
    add_managed_flag(*command, options);
    add_cluster_flags(*command, options);
    command->callback([&chosen, request, version] {
        chosen = [request, version](const ClientOptions& given) {
            return answer("support-bundle", [&] { return bundle_answer(*request, given, version); });
        };
    });
}

}  // namespace kubenodesmith
