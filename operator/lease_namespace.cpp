#include "operator/lease_namespace.hpp"

#include <boost/system/system_error.hpp>
#include <stdexcept>
#include <vector>

#include "api/core.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace kubenodesmith {
namespace {

constexpr base::Backoff kBackoff{std::chrono::seconds{2}, std::chrono::seconds{30}};

bool renewed_before(const api::Lease& a, const api::Lease& b) {
    return a.spec.renewTime < b.spec.renewTime;
}

void require_none(const std::vector<std::string>& namespaces) {
    if (namespaces.empty()) return;
    throw std::runtime_error(
        "there are Leases of that name in namespaces that this operator does not manage: " +
        base::joined(namespaces) +
        ". Anyone may have created them; name the operator's own namespace with --leader-election-namespace");
}

kube::asio::awaitable<std::string> look(kube::Client& client, std::string name,
                                        controllers::ManagedNamespaces managed) {
    const kube::ObjectKey in_any_namespace{"", name};
    const auto leases = co_await client.list<api::Lease>(kube::only(in_any_namespace));
    const api::Lease* last = nullptr;
    std::vector<std::string> elsewhere;
    for (const auto& lease : leases.objects) {
        const auto& home = lease.metadata.namespace_;
        const bool counts = home == kSystemNamespace || (!managed.all() && managed.contains(home));
        if (!counts)
            elsewhere.push_back(home);
        else if (!last || renewed_before(*last, lease))
            last = &lease;
    }
    if (last) co_return last->metadata.namespace_;
    require_none(elsewhere);
    const kube::ObjectKey key{"", kSystemNamespace};
    const auto there = co_await client.get<api::Namespace>(key);
    if (!there) {
        api::Namespace made;
        made.metadata.name = kSystemNamespace;
        co_await client.create<api::Namespace>(std::move(made));
        base::log::info("Created a namespace for the Lease", {{"namespace", kSystemNamespace}});
    }
    co_return kSystemNamespace;
}

}  // namespace

kube::asio::awaitable<std::string> find_lease_namespace(kube::Client& client, base::Clock& clock,
                                                        std::string name,
                                                        controllers::ManagedNamespaces managed) {
    std::string said;
    for (int failures = 1;; ++failures) {
        std::string failure;
        try {
            co_return co_await look(client, name, managed);
        } catch (const boost::system::system_error&) {
            throw;  // this process itself is being cancelled
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (failure != said)
            base::log::warning("Cannot find out where the Lease is; set --leader-election-namespace",
                               {{"lease", name}, {"error", failure}});
        said = failure;
        co_await clock.sleep_for(kBackoff.after(failures));
    }
}

}  // namespace kubenodesmith
