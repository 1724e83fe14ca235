// Whether the cluster itself approves a certificate for whatever Node is asked for, if only the requester has
// a bootstrap token: then a token of ours is good for more than its claim's Node, whatever the operator
// approves.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "base/clock.hpp"
#include "kube/client.hpp"

namespace controllers {

namespace asio = boost::asio;

class ClusterApproval {
public:
    static constexpr base::Duration kAskedEvery = std::chrono::minutes{10};

    // Both must outlive this.
    ClusterApproval(kube::Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // What a SubjectAccessReview said of a requester with such a token, not longer ago than kAskedEvery.
    // nullopt: the API server refuses to tell. Throws base::TransportError.
    asio::awaitable<std::optional<bool>> ask();

private:
    kube::Client& client_;
    base::Clock& clock_;
    std::optional<base::TimePoint> asked_;
    std::optional<bool> answer_;
};

}  // namespace controllers
