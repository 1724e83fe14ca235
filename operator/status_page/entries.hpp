// Entries of single objects in the document of the status page.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/cluster_report.hpp"

namespace kubenodesmith::status_page {

// Messages of others are shortened to this length in bytes.
inline constexpr std::size_t kLongestMessage = 400;

// Claims by the provider's key and the host's name.
using ClaimsByHost =
    std::map<std::pair<api::ObjectKey, std::string>, std::vector<const api::v1alpha1::NodeSmithClaim*>>;
// The pointers live as long as the report.
ClaimsByHost claims_by_host(const report::ClusterReport& report);

boost::json::object entry_of(const api::v1alpha1::NodeSmithControlPlane& plane);
boost::json::object entry_of(const api::v1alpha1::NodeSmithProvider& provider, const ClaimsByHost& claims);
boost::json::object entry_of(const api::v1alpha1::NodeSmithPool& pool, api::Time now);
boost::json::object entry_of(const api::v1alpha1::NodeSmithHost& host);
boost::json::object entry_of(const report::ClaimFacts& facts);

}  // namespace kubenodesmith::status_page
