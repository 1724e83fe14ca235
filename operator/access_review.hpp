// Access control for the operator's pages, as for the metrics of other operators. The API server identifies
// the user of a bearer token (TokenReview). It also checks the user's rights (SubjectAccessReview of a
// non-resource URL). The results are cached.
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
    // Answers 401 without a valid token and 403 without the right; otherwise passes the request on. Callers
    // that were never allowed wait in a separate queue. Throws if the API server cannot be asked.
    base::HttpHandler handler;
    // Reports whether the request's token was allowed that page before.
    std::function<bool(const base::HttpRequest&)> was_allowed;
};
// `client` and `clock` must outlive it.
GuardedPage guarded(base::HttpHandler inner, kube::Client& client, base::asio::any_io_executor executor,
                    base::Clock& clock);

// Verdicts caches the API server's answers, so a scrape needs no review. A caller that tries invalid tokens
// cannot evict the answers for valid ones. Tokens are stored only as digests.
enum class AccessVerdict { kUnknownToken, kForbidden, kAllowed };

class Verdicts {
public:
    using Key = std::array<unsigned char, 32>;
    static constexpr base::Duration kAllowedFor = std::chrono::seconds{60};
    static constexpr base::Duration kRefusedFor = std::chrono::seconds{10};
    static constexpr std::size_t kMostAllowed = 256;
    static constexpr std::size_t kMostRefused = 1024;

    // Returns the key of a bearer token that requests `verb` on `path`.
    static Key key_of(std::string_view token, std::string_view verb, std::string_view path);

    // Returns nullopt if the answer is unknown or expired.
    std::optional<AccessVerdict> find(const Key& key, base::TimePoint now) const;
    // Reports whether the last answer allowed it, however long ago.
    bool was_allowed(const Key& key) const { return allowed_.find(key) != nullptr; }
    void remember(const Key& key, AccessVerdict verdict, base::TimePoint now);

private:
    struct Entry {
        Key key;
        AccessVerdict verdict;
        base::TimePoint until;
    };
    // Book stores a limited number of entries and drops the oldest first.
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
