// Requests to a BMC with our login. All hosts behind it share one session, used for everything; without
// sessions they use Basic.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/gate.hpp"
#include "providers/redfish/bmc/login_guard.hpp"
#include "providers/redfish/bmc/wire.hpp"

namespace providers::redfish {

namespace asio = boost::asio;

// Access is the state shared by all hosts behind one BMC and login. BMCs have few sessions.
struct Access {
    explicit Access(asio::any_io_executor executor) : log_ins(std::move(executor), 1) {}

    enum class Way { undecided, session, basic };

    base::Gate log_ins;
    LoginTrust trust;
    Way way = Way::undecided;
    std::string token;
    std::string session;    // its target
    int kept_sessions = 0;  // times that the BMC was too busy to end the session
    bool sends_context = true;
    bool are_sessions_off = false;  // its session service is switched off
    bool is_basic_refused = false;  // refused though perhaps right: this BMC only accepts sessions
    bool is_service_read = false;   // SessionService was read, as far as Basic may read it
    std::optional<base::TimePoint> basic_until;  // Basic is used until then, as no session was available
    std::set<std::string> forbidden;  // resources that answer 401, although the credentials are right
    std::string suspect;              // the resource whose 401 counted as a refusal of the password last
};

inline constexpr int kReadAttempts = 3;
inline constexpr base::Backoff kReadBackoff{std::chrono::seconds{1}, std::chrono::seconds{4}};
// If a BMC asks for a longer pause, the request fails and the caller retries later.
inline constexpr base::Duration kLongestReadWait = std::chrono::seconds{5};

// Returns a request with the headers that all our requests have.
base::HttpRequest bare_request(std::string method, std::string target);

// BmcAccess sends requests with our login. Every call must be made during a visit to the BMC.
class BmcAccess {
public:
    // Throws std::invalid_argument. `traffic` must outlive this.
    BmcAccess(WireOptions options, Login login, std::shared_ptr<Account> account,
              std::shared_ptr<Access> access, Traffic& traffic);
    void remember(const LoginHistory& history);
    // Reports whether the BMC says that its session service is switched off.
    bool are_sessions_off() const { return access_->are_sessions_off; }
    // Allows another try of refused credentials, on request of a person.
    void try_again();
    // Uses Basic from the start, for BMCs with broken sessions.
    void forgo_sessions() { access_->way = Access::Way::basic; }

    Wire& wire() { return wire_; }
    const Wire& wire() const { return wire_; }
    const Login& login() const { return login_; }
    const std::string& host() const { return wire_.host(); }
    base::Clock& clock() { return wire_.traffic().environment.clock; }

    // Returns the service root, which needs no credentials. It is read once and cached.
    asio::awaitable<json::object> root();
    // Sends once with our login. A RedfishError of kind outcome_unknown means that it may have been done.
    asio::awaitable<base::HttpResponse> send(std::string tried, base::HttpRequest request, Effect effect);
    bool has_session() const { return !access_->token.empty() && !access_->session.empty(); }
    // Reports whether other hosts of this BMC use the same session.
    bool shares_session() const { return access_.use_count() > 2; }
    // Masks this text in later error messages. If there are many such texts, the oldest are dropped.
    void hide(std::string text);
    // Ends our session and ignores failures.
    asio::awaitable<void> log_out();

    // Counts a second attempt that an answer required.
    void note_quirk(const std::string& message);
    // Returns the service's names for itself: Vendor, Product and the keys of Oem. Empty before root().
    const std::string& vendor() const { return vendor_; }
    // Returns the number of consecutive refusals of our credentials.
    int refusals() const { return access_->trust.refusals; }
    // Replaces our secrets and hidden texts.
    void mask(std::string& text) const;
    // Returns what the BMC complains about, masked.
    Complaint complain(const base::HttpResponse& response) const;
    // Returns the body of an answer. Throws RedfishError if it is no object.
    json::object object_of(const std::string& tried, const base::HttpResponse& response) const;

private:
    asio::awaitable<base::HttpResponse> authorized(const std::string& tried, base::HttpRequest request,
                                                   Effect effect);
    asio::awaitable<void> log_in();
    asio::awaitable<void> open_session(std::string target);
    asio::awaitable<bool> are_sessions_switched_off();
    asio::awaitable<void> reconsider_sessions();
    asio::awaitable<void> replace_session(std::string token);
    asio::awaitable<bool> is_session_good();
    asio::awaitable<std::optional<std::string>> session_service();
    // Reads it with Basic.
    asio::awaitable<base::HttpResponse> read_session_service(std::string target);
    asio::awaitable<bool> is_basic_accepted();
    // Returns the error of a resource that answers 401 to a valid login.
    RedfishError forbidden(const std::string& tried) const;
    void note_accepted(const std::string& target);
    asio::awaitable<base::HttpResponse> post_session(std::string target, bool with_context);
    asio::awaitable<void> delete_leaked_sessions(std::string target);
    asio::awaitable<void> delete_if_ours(std::string session);
    asio::awaitable<base::HttpResponse> send_basic(std::string tried, base::HttpRequest request,
                                                   Effect effect);
    base::HttpRequest with_password(base::HttpRequest request) const;
    bool is_basic_a_guess() const;
    void go_without_session();
    void give_up_sessions();
    void authorize(base::HttpRequest& request) const;
    asio::awaitable<base::HttpResponse> authorized_in_turn(const std::string& tried,
                                                           base::HttpRequest request, Effect effect);
    LoginGuard guard() { return {wire_, login_, *account_, access_->trust}; }
    asio::awaitable<void> note_refusal(std::string tried);

    Wire wire_;
    Login login_;
    std::shared_ptr<Account> account_;
    std::shared_ptr<Access> access_;
    std::deque<std::string> hidden_;
    bool asks_root_for_identity_ = true;
    std::optional<json::object> root_;
    std::string vendor_;
};

}  // namespace providers::redfish
