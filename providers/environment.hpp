// What a backend is made from.
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

// One NodeSmithProvider, and what its Secret holds.
struct ProviderConfig {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string cluster_id;
    // The backend's own cluster as it was recorded; empty: none was recorded yet, the first that answers is
    // it.
    BackendCluster backend_cluster;
    api::v1alpha1::ProviderSpec spec;
    std::map<std::string, std::string> credentials;  // the Secret's data, decoded
    std::string credentials_version;                 // "NAME@VERSION" of the Secret
};
// References outlive the provider.
struct ProviderEnvironment {
    asio::any_io_executor executor;
    base::Clock& clock;
    base::Random& random;
    base::MetricsRegistry& metrics;
    // Opens a transport to a backend; production: base::make_http_client, simulation: in-memory.
    std::function<std::unique_ptr<base::HttpTransport>(base::HttpClientOptions)> connect;
    // True while a mutating request may start: the leader lease outlives connecting and writing it.
    std::function<bool()> may_mutate;
    HostInventory* hosts = nullptr;  // for backends of bare metal; outlives the provider
    // Told each time that a backend refuses what the Secret of the provider "namespace/name" holds.
    std::function<void(const std::string& provider)> on_credentials_refused = {};
};

}  // namespace providers
