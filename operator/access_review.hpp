// Who may read a page of the operator: the API server knows who a bearer token is (TokenReview) and what that
// user may do (SubjectAccessReview of a non-resource URL), as with the metrics of other operators. What it
// said is remembered for a while.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/http_server.hpp"
#include "kube/client.hpp"

namespace kubenodesmith {

struct GuardedPage {
    // Answers 401 without a valid token, 403 without the right; passes on the rest. Who was never allowed
    // anything waits in a queue apart from those who were. A failure to ask the API server is thrown.
    base::HttpHandler handler;
    // Reports whether the request's token was allowed that page before.
    std::function<bool(const base::HttpRequest&)> was_allowed;
};
// `client` and `clock` must outlive it.
GuardedPage guarded(base::HttpHandler inner, kube::Client& client, base::asio::any_io_executor executor,
                    base::Clock& clock);

// What the API server said of who may read what, remembered for a while: a scrape costs no review, and who
// tries wrong tokens cannot push out what is known of good ones. Tokens are held as digests only.
enum class AccessVerdict { kUnknownToken, kForbidden, kAllowed };

class Verdicts {
public:
    using Key = std::array<unsigned char, 32>;
    static constexpr base::Duration kAllowedFor = std::chrono::seconds{60};
    static constexpr base::Duration kRefusedFor = std::chrono::seconds{10};
    static constexpr std::size_t kMostAllowed = 256;
    static constexpr std::size_t kMostRefused = 1024;

    // For one bearer token that wants to do `verb` with `path`.
    static Key key_of(std::string_view token, std::string_view verb, std::string_view path);

    // nullopt: nothing is known, or not any more.
    std::optional<AccessVerdict> find(const Key& key, base::TimePoint now) const;
    // Whether the last verdict was to allow it, however long ago.
    bool was_allowed(const Key& key) const { return allowed_.find(key) != nullptr; }
    void remember(const Key& key, AccessVerdict verdict, base::TimePoint now);

private:
    struct Entry {
        Key key;
        AccessVerdict verdict;
        base::TimePoint until;
    };
    // At most so many, of which the one that was remembered first goes first.
    class Book {
    public:
        explicit Book(std::size_t most) : most_(most) {}
        const Entry* find(const Key& key) const;
        void put(Entry entry);
        void erase(const Key& key);

    private:
        std::size_t most_;
        std::list<Entry> entries_;  // oldest first
        std::map<Key, std::list<Entry>::iterator> index_;
    };

    Book allowed_{kMostAllowed};
    Book refused_{kMostRefused};
};

}  // namespace kubenodesmith
