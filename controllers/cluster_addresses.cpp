#include "controllers/cluster_addresses.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/system/system_error.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

#include "api/network.hpp"
#include "base/name_lookup.hpp"
#include "controllers/services/api_server_hosts.hpp"

namespace controllers {

namespace {

namespace ip = boost::asio::ip;

constexpr base::Duration kAnswerLasts = std::chrono::minutes{1};
constexpr base::Duration kLongestLookup = std::chrono::seconds{10};
// Limits the names that are looked up for one namespace, as each may take as long as a lookup may.
constexpr std::size_t kMostNames = 8;
const kube::ObjectKey kApiServer{"default", "kubernetes"};

}  // namespace

void ClusterAddressFinder::ask(const kube::ObjectKey& asked_for) {
    if (asked_for_.insert(asked_for).second) queue_->add({"", "cluster"});
}

const ClusterAddresses* ClusterAddressFinder::found() const {
    return found_ && clock_.now() < at_ + kAnswerLasts ? &*found_ : nullptr;
}

asio::awaitable<kube::Result> ClusterAddressFinder::reconcile(kube::ObjectKey) {
    try {
        found_ = co_await find();
    } catch (const boost::system::system_error&) {
        throw;  // cancelled
    } catch (const std::exception& error) {
        failure_ = error.what();
        tell_listeners();
        throw;
    }
    failure_.clear();
    at_ = clock_.now();
    tell_listeners();
    if (found_->unknown.empty()) {
        asked_for_.clear();
        co_return kube::Result{};
    }
    // Only the machines of that namespace wait for another look.
    const auto& [namespace_, why] = *found_->unknown.begin();
    throw std::runtime_error("an API server that objects of namespace " + namespace_ + " state: " + why);
}

void ClusterAddressFinder::tell_listeners() {
    for (const auto& key : asked_for_) listener_(key);
}

asio::awaitable<ClusterAddresses> ClusterAddressFinder::find() {
    ClusterAddresses found;
    const auto service = co_await client_.get<api::Service>(kApiServer);
    const auto slice = co_await client_.get<api::EndpointSlice>(kApiServer);
    if (!service) throw std::runtime_error("there is no Service " + kApiServer.str());
    found.api_servers.insert(service->spec.clusterIPs.begin(), service->spec.clusterIPs.end());
    // Some API servers keep no endpoints (--endpoint-reconciler-type=none).
    if (slice)
        for (const auto& endpoint : slice->endpoints)
            found.api_servers.insert(endpoint.addresses.begin(), endpoint.addresses.end());
    try {
        const kube::ListOptions all;
        const auto networks = co_await client_.list<api::ServiceCIDR>(all);
        if (!networks.undecodable.empty()) throw std::runtime_error("a ServiceCIDR cannot be decoded");
        for (const auto& network : networks.objects)
            found.service_networks.insert(found.service_networks.end(), network.spec.cidrs.begin(),
                                          network.spec.cidrs.end());
    } catch (const kube::ApiError& error) {
        if (!error.is_not_found()) throw;
    }
    // Older clusters have no ServiceCIDRs.
    if (found.service_networks.empty())
        for (const auto& address : service->spec.clusterIPs)
            found.service_networks.push_back(service_network_of(address));
    co_await add_stated(found);
    co_return found;
}

asio::awaitable<void> ClusterAddressFinder::add_stated(ClusterAddresses& found) {
    std::map<std::string, Found> by_name;
    for (const auto& [namespace_, hosts] : api_server_hosts(informers_)) {
        std::size_t names = 0;
        for (const auto& host : hosts) {
            boost::system::error_code not_an_address;
            const auto address = ip::make_address(host, not_an_address);
            if (!not_an_address) {
                found.stated[namespace_].insert(address.to_string());
                continue;
            }
            if (++names > kMostNames) {
                found.unknown.emplace(namespace_, "more than " + std::to_string(kMostNames) +
                                                      " names are stated, and no more are looked up");
                continue;
            }
            const auto [entry, is_new] = by_name.try_emplace(host);
            if (is_new) entry->second = co_await try_to_look_up(host);
            const auto& [addresses, failure] = entry->second;
            found.stated[namespace_].insert(addresses.begin(), addresses.end());
            if (!failure.empty()) found.unknown.emplace(namespace_, failure);
        }
    }
}

asio::awaitable<ClusterAddressFinder::Found> ClusterAddressFinder::try_to_look_up(std::string host) {
    try {
        co_return Found{co_await look_up(host), ""};
    } catch (const boost::system::system_error&) {
        throw;  // cancelled
    } catch (const std::exception& error) {
        co_return Found{{}, error.what()};
    }
}

asio::awaitable<std::set<std::string>> ClusterAddressFinder::look_up(std::string host) {
    // A name that does not exist leads no machine to the API server.
    const auto found =
        co_await base::look_up(executor_, clock_, std::move(host), clock_.now() + kLongestLookup);
    std::set<std::string> addresses;
    for (const auto& address : found) addresses.insert(address.to_string());
    co_return addresses;
}

}  // namespace controllers
