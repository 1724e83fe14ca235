// Determines what the cluster allows the holder of our bootstrap token. With too few rights, no machine
// joins. With too many, the token yields a certificate for any requested Node. It is then valid for more than
// its claim's Node, whatever the operator approves.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"

namespace controllers {

struct TokenRights {
    // The cluster itself approves a certificate of any Node; nullopt: the API server refuses to answer.
    std::optional<bool> cluster_approves;
    // First right that a join lacks, such as "create certificatesigningrequests"; empty: it has them all, or
    // the API server refuses to answer.
    std::string forbidden;
};

class TokenRightsReview {
public:
    static constexpr base::Duration kAskedEvery = std::chrono::minutes{10};
    // Used while machines cannot join, because someone will repair that soon.
    static constexpr base::Duration kAskedAgain = std::chrono::minutes{1};

    TokenRightsReview(kube::Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // Returns what SubjectAccessReviews said about a requester with such a token, no older than
    // ask_after(). Throws base::TransportError.
    asio::awaitable<TokenRights> ask();
    base::Duration ask_after() const { return rights_.forbidden.empty() ? kAskedEvery : kAskedAgain; }

private:
    asio::awaitable<std::optional<bool>> may(boost::json::object what);

    kube::Client& client_;
    base::Clock& clock_;
    std::optional<base::TimePoint> asked_;
    TokenRights rights_;
};

}  // namespace controllers
