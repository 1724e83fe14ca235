// What the cluster lets whoever has a bootstrap token of ours do: too little, and no machine joins; too much,
// a certificate for whatever Node is asked for, and the token is good for more than its claim's Node,
// whatever the operator approves.
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
    // The cluster itself approves a certificate of any Node; nullopt: the API server refuses to tell.
    std::optional<bool> cluster_approves;
    // What a join does first that they may not, as "create certificatesigningrequests"; empty: they may all
    // of it, or the API server refuses to tell.
    std::string forbidden;
};

class TokenRightsReview {
public:
    static constexpr base::Duration kAskedEvery = std::chrono::minutes{10};
    // While machines cannot join: somebody is about to mend it.
    static constexpr base::Duration kAskedAgain = std::chrono::minutes{1};

    TokenRightsReview(kube::Client& client, base::Clock& clock) : client_(client), clock_(clock) {}

    // What SubjectAccessReviews said of a requester with such a token, not longer ago than ask_after().
    // Throws base::TransportError.
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
