// Everything that the operator passes to a backend when it makes one.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/v1alpha1/provider.hpp"
#include "base/clock.hpp"
#include "base/http_client.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "providers/backend_cluster.hpp"

namespace providers {

namespace asio = boost::asio;

class HostInventory;

// ProviderConfig is one NodeSmithProvider with the data of its Secret.
struct ProviderConfig {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string cluster_id;
    // The backend's cluster as recorded before. If it is empty, the first cluster that answers is recorded.
    BackendCluster backend_cluster;
    api::v1alpha1::ProviderSpec spec;
    std::map<std::string, std::string> credentials;  // the Secret's decoded data
    std::string credentials_version;                 // "NAME@VERSION" of the Secret
};
// RemovalHold says why nothing of a provider may be destroyed now.
struct RemovalHold {
    std::string why;            // a sentence without its end; empty: it may be destroyed
    bool needs_person = false;  // another operator of the same machines was found
};
// ProviderEnvironment holds the services that a backend uses. Its references outlive the provider.
struct ProviderEnvironment {
    asio::any_io_executor executor;
    base::Clock& clock;
    base::Random& random;
    base::MetricsRegistry& metrics;
    // Opens a transport to a backend. In production this is base::make_http_client, in the simulation it is
    // in-memory.
    std::function<std::unique_ptr<base::HttpTransport>(base::HttpClientOptions)> connect;
    // Returns true if a mutating request may start, i.e. the leader lease lasts longer than connecting and
    // sending.
    std::function<bool()> may_mutate;
    HostInventory* hosts = nullptr;  // used by bare-metal backends; outlives the provider
    // Called each time that a backend refuses the credentials of the provider "namespace/name".
    std::function<void(const std::string& provider)> on_credentials_refused = {};
    // Returns why nothing of the provider with this UID may be destroyed now. Unset: it may be.
    std::function<RemovalHold(const std::string& provider_uid)> why_not_destroy = {};
};

}  // namespace providers
