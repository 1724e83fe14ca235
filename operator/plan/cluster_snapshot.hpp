// A snapshot of a cluster, read once from the API server or from files. It never writes anything.
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

// ViewError reports that no snapshot could be made. Its what() names the file or server and the cause.
struct ViewError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Reading says which parts of a live cluster are read.
enum class Reading {
    ours,                  // providers, pools, claims, hosts and control planes
    ours_and_nodes,        // also nodes and pods
    ours_and_maybe_nodes,  // also nodes and pods, if this user may read both
    everything,            // all inputs of decisions
};

class ClusterSnapshot {
public:
    using Connect =
        std::function<std::unique_ptr<base::HttpTransport>(boost::asio::any_io_executor, base::Clock&)>;

    // Reads the files ("-" is standard input), or without files the API server. The snapshot contains what an
    // operator with this flag --namespaces would see. Throws ViewError, kube::ConfigError,
    // std::invalid_argument.
    static std::unique_ptr<ClusterSnapshot> open(const std::vector<std::string>& files,
                                                 const ClientOptions& options,
                                                 Reading reading = Reading::everything);
    // Lists each kind once, and our kinds only in the managed namespaces. Throws ViewError that names all
    // rights that this user lacks.
    static std::unique_ptr<ClusterSnapshot> live(const Connect& connect,
                                                 controllers::ManagedNamespaces managed,
                                                 Reading reading = Reading::everything);
    // Reads texts as `kubectl get -o yaml` or `-o json` prints them, or as users apply them. It skips
    // irrelevant kinds and completes written objects, see written_objects.hpp. A pod without a status counts
    // as unschedulable, and a workload as its pods. Throws ViewError that names the file and the object, also
    // if the input exceeds the size of any cluster.
    static std::unique_ptr<ClusterSnapshot> from_files(const std::vector<WrittenFile>& files, api::Time now,
                                                       controllers::ManagedNamespaces managed = {});

    const report::ClusterReport& report() const { return report_; }
    controllers::Informers& informers() { return informers_; }
    kube::Client& client() { return client_; }
    base::Clock& clock() { return *clock_; }
    api::Time now() const { return report_.time; }
    // Returns notes on objects that are left out or counted differently. For example, some objects cannot be
    // decoded.
    const std::vector<std::string>& notes() const { return notes_; }
    // Reports whether nodes and pods were read. Without them it is unknown which pods run where.
    bool has_nodes() const { return has_nodes_; }
    // Returns the namespace of the kubeconfig's context. As with kubectl, it applies to objects that are
    // named without a namespace.
    const std::string& context_namespace() const { return context_namespace_; }

    struct Events {
        std::vector<api::Event> events;
        std::string refusal;  // why the API server refuses to list them; empty: it does not
    };
    // Returns the Events about an object. A key without a namespace names a cluster-wide object. Throws
    // ViewError.
    Events events_about(std::string_view kind, const api::ObjectKey& key);

private:
    // `still` is the fixed time of a snapshot from files; nullopt: time proceeds.
    ClusterSnapshot(const Connect& connect, controllers::ManagedNamespaces managed,
                    std::optional<api::Time> still);
    void run(boost::asio::awaitable<void> work);
    boost::asio::awaitable<void> read_all(Reading reading);
    boost::asio::awaitable<std::string> who_am_i();
    boost::asio::awaitable<void> read_events(std::string kind, api::ObjectKey key, Events& read);
    void report_at(api::Time now);
    // Adds an object, except those that take_written() adds. Returns false if the kind is unknown.
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
    std::vector<api::Event> events_;  // only of a snapshot from files
    std::vector<std::string> notes_;
    bool has_nodes_ = true;
    std::string context_namespace_ = "default";
    report::ClusterReport report_;
};

}  // namespace kubenodesmith
