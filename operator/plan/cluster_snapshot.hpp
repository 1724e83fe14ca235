// A picture of a cluster, read once: from the API server or from files. Nothing is ever written.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/time.hpp"
#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"
#include "operator/command_line/client_options.hpp"
#include "operator/command_line/missing_rights.hpp"
#include "report/cluster_report.hpp"

namespace kubenodesmith {

class PriorityClasses;
class WrittenWorld;

struct WrittenFile {
    std::string name;
    std::string text;
};

// The picture cannot be had; what() says of which file or server and why.
struct ViewError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// How much of a live cluster is read.
enum class Reading {
    ours,                  // providers, pools, claims, hosts and control planes
    ours_and_nodes,        // beside them nodes and pods
    ours_and_maybe_nodes,  // the same, but nodes and pods only if this user may read both
    everything,            // all that decisions are made from
};

class ClusterSnapshot {
public:
    using Connect =
        std::function<std::unique_ptr<base::HttpTransport>(boost::asio::any_io_executor, base::Clock&)>;

    // From the files ("-" is standard input), or without any from the API server; as an operator sees it that
    // has this flag --namespaces. Throws ViewError, kube::ConfigError, std::invalid_argument.
    static std::unique_ptr<ClusterSnapshot> open(const std::vector<std::string>& files,
                                                 const ClientOptions& options,
                                                 Reading reading = Reading::everything);
    // Lists each kind once, ours in the managed namespaces only. Throws ViewError, which names all rights
    // that this user lacks.
    static std::unique_ptr<ClusterSnapshot> live(const Connect& connect,
                                                 controllers::ManagedNamespaces managed,
                                                 Reading reading = Reading::everything);
    // From texts as `kubectl get -o yaml` or `-o json` prints them, or as they are applied. Kinds that do not
    // matter are passed over. What is only written down is completed, see written_objects.hpp: a pod without
    // a status counts as one that the scheduler found no node for, and workloads as the pods they would have.
    // Throws ViewError naming the file and the document, also for what costs more than any cluster.
    static std::unique_ptr<ClusterSnapshot> from_files(const std::vector<WrittenFile>& files, api::Time now,
                                                       controllers::ManagedNamespaces managed = {});

    const report::ClusterReport& report() const { return report_; }
    controllers::Informers& informers() { return informers_; }
    kube::Client& client() { return client_; }
    base::Clock& clock() { return *clock_; }
    api::Time now() const { return report_.time; }
    // Sentences about what is not counted as it is: what the files only write down, what cannot be decoded.
    const std::vector<std::string>& notes() const { return notes_; }
    // Nodes and pods were read. Without them nothing can be said of what runs where.
    bool has_nodes() const { return has_nodes_; }
    // Where objects are that were named without a namespace, as with kubectl: of the kubeconfig's context.
    const std::string& context_namespace() const { return context_namespace_; }

    // Those about an object, which is in no namespace if the key names none. Throws ViewError.
    struct Events {
        std::vector<api::Event> events;
        std::string refusal;  // why the API server does not let this reader see them, or empty
    };
    Events events_about(std::string_view kind, const api::ObjectKey& key);

private:
    // still: the time of a picture; nullopt: time goes on.
    ClusterSnapshot(const Connect& connect, controllers::ManagedNamespaces managed,
                    std::optional<api::Time> still);
    void run(boost::asio::awaitable<void> work);
    boost::asio::awaitable<void> read_all(Reading reading);
    boost::asio::awaitable<std::string> who_am_i();
    boost::asio::awaitable<void> read_events(std::string kind, api::ObjectKey key, Events& read);
    void report_at(api::Time now);
    // Takes in an object that is stored. False: nothing is known of its kind.
    bool take(const boost::json::object& object, const PriorityClasses& priorities);
    void take_all(const std::vector<boost::json::object>& objects);
    void take_written(const boost::json::object& object, WrittenWorld& written);

    boost::asio::io_context loop_{1};
    std::unique_ptr<base::Clock> clock_;
    std::unique_ptr<base::Random> random_;
    base::MetricsRegistry metrics_;
    kube::Client client_;
    controllers::Informers informers_;
    bool is_live_;
    std::vector<api::Event> events_;  // of a picture from files
    std::vector<std::string> notes_;
    bool has_nodes_ = true;
    std::string context_namespace_ = "default";
    report::ClusterReport report_;
};

}  // namespace kubenodesmith
