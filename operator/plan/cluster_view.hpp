// A picture of a cluster, read once: from the API server or from files. Nothing is ever written.
#pragma once

#include <boost/asio/io_context.hpp>
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
#include "controllers/informers.hpp"
#include "kube/client.hpp"
#include "kube/config.hpp"

namespace kubenodesmith {

class PriorityClasses;

// The picture cannot be had; what() says of which file or server and why.
struct ViewError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class ClusterView {
public:
    // From the files ("-" is standard input), or without any from the API server.
    static std::unique_ptr<ClusterView> open(const std::vector<std::string>& files,
                                             const kube::ConfigOptions& options);
    // Reads all kinds that the operator watches, and the Events of our kinds, pods and nodes.
    // Throws ViewError, kube::ConfigError.
    static std::unique_ptr<ClusterView> live(const kube::ConfigOptions& options);
    // From texts as `kubectl get -o yaml` or `-o json` prints them, or as they are applied. Kinds that do not
    // matter are passed over. What is only written down is completed, see written_objects.hpp: a pod without
    // a status counts as one that the scheduler found no node for, and workloads as the pods they would have.
    // Throws ViewError naming the document.
    static std::unique_ptr<ClusterView> from_texts(const std::vector<std::string>& texts, api::Time now);

    controllers::Informers& informers() { return informers_; }
    kube::Client& client() { return client_; }
    base::Clock& clock() { return *clock_; }
    const std::vector<api::Event>& events() const { return events_; }
    api::Time now() const { return now_; }

private:
    using Connect = std::unique_ptr<base::HttpTransport> (*)(boost::asio::any_io_executor, base::Clock&,
                                                             const kube::ConfigOptions&);
    // still: the time of a picture; nullopt: time goes on.
    ClusterView(Connect connect, const kube::ConfigOptions& options, std::optional<api::Time> still);
    void read();
    boost::asio::awaitable<void> read_all();
    void take(const boost::json::object& object, const PriorityClasses& priorities);

    boost::asio::io_context loop_{1};
    std::unique_ptr<base::Clock> clock_;
    std::unique_ptr<base::Random> random_;
    base::MetricsRegistry metrics_;
    kube::Client client_;
    controllers::Informers informers_;
    std::vector<api::Event> events_;
    api::Time now_;
};

}  // namespace kubenodesmith
