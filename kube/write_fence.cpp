#include "kube/write_fence.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace kube {

namespace {

// API groups whose objects do not describe machines or pods.
constexpr std::array<std::string_view, 3> kUnfenced = {
    "/apis/coordination.k8s.io/", "/apis/authentication.k8s.io/", "/apis/authorization.k8s.io/"};
// Namespaces may be created for the Lease of a process that was started by hand.
constexpr std::string_view kNamespaces = "/api/v1/namespaces";

bool is_fenced(const base::HttpRequest& request) {
    if (request.method == "GET" || (request.method == "POST" && request.target == kNamespaces)) return false;
    for (const auto prefix : kUnfenced) {
        if (request.target.starts_with(prefix)) return false;
    }
    return true;
}

class WriteFence final : public base::HttpTransport {
public:
    WriteFence(std::unique_ptr<base::HttpTransport> transport, std::function<bool()> may_write)
        : transport_(std::move(transport)), may_write_(std::move(may_write)) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        if (is_fenced(request)) {
            const auto what = request.method + " " + request.target.substr(0, request.target.find('?'));
            require_leadership(what);
            // This check is repeated before writing, as the request may wait for a connection and the process
            // be stopped meanwhile.
            request.before_writing = [this, what] { require_leadership(what); };
        }
        co_return co_await transport_->send(std::move(request));
    }

    // Opens watches and streamed lists, which write nothing.
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_return co_await transport_->open(std::move(request));
    }

private:
    void require_leadership(const std::string& what) const {
        if (!may_write_())
            throw FencedWriteError(what + ": not sent, this process may no longer be the leader", false);
    }

    std::unique_ptr<base::HttpTransport> transport_;
    std::function<bool()> may_write_;
};

}  // namespace

std::unique_ptr<base::HttpTransport> make_write_fence(std::unique_ptr<base::HttpTransport> transport,
                                                      std::function<bool()> may_write) {
    return std::make_unique<WriteFence>(std::move(transport), std::move(may_write));
}

}  // namespace kube
