// Declares the common vocabulary of controllers/: the API's kinds, and the names of conditions and reasons.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <vector>

#include "api/core.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/control_plane.hpp"
#include "api/v1alpha1/host.hpp"
#include "api/v1alpha1/pool.hpp"
#include "api/v1alpha1/provider.hpp"

namespace controllers {

namespace asio = boost::asio;
namespace conditions = api::conditions;
namespace reasons = api::reasons;

using api::ConditionStatus;
using api::v1alpha1::NodeSmithClaim;
using api::v1alpha1::NodeSmithControlPlane;
using api::v1alpha1::NodeSmithHost;
using api::v1alpha1::NodeSmithPool;
using api::v1alpha1::NodeSmithProvider;

// These are the pointers that the caches return.
using ClaimPointer = std::shared_ptr<const NodeSmithClaim>;
using ClaimPointers = std::vector<ClaimPointer>;
using ControlPlanePointer = std::shared_ptr<const NodeSmithControlPlane>;
using HostPointer = std::shared_ptr<const NodeSmithHost>;
using NodePointer = std::shared_ptr<const api::Node>;
using PodPointer = std::shared_ptr<const api::Pod>;
using PodPointers = std::vector<PodPointer>;
using PoolPointer = std::shared_ptr<const NodeSmithPool>;
using ProviderPointer = std::shared_ptr<const NodeSmithProvider>;

}  // namespace controllers
