#include "bootstrap/root_ca.hpp"

#include <stdexcept>

namespace bootstrap {

ClusterInfo cluster_info_of_root_ca(const api::ConfigMap& root_ca, const std::string& endpoint) {
    const auto* pem = api::find(root_ca.data, "ca.crt");
    if (!pem || pem->empty()) throw std::invalid_argument("key ca.crt is missing");
    ClusterInfo info;
    info.ca_pem = *pem;
    return with_endpoint(std::move(info), endpoint);
}

}  // namespace bootstrap
