#include "operator/command_line/cluster_session.hpp"

#include "kube/transport.hpp"

namespace kubenodesmith {

ClusterSession::ClusterSession(const ClientOptions& options) {
    auto config = kube::load_config(options.cluster);
    url_ = config.http.url;
    if (!config.namespace_.empty()) namespace_name_ = config.namespace_;
    if (!options.namespace_.empty()) namespace_name_ = options.namespace_;
    client_ = std::make_unique<kube::Client>(
        kube::make_transport(loop_.executor(), loop_.clock(), std::move(config)), loop_.clock(), metrics_);
}

ClusterSession::ClusterSession(const Connect& connect)
    : client_(std::make_unique<kube::Client>(connect(loop_.executor(), loop_.clock()), loop_.clock(),
                                             metrics_)) {}

}  // namespace kubenodesmith
