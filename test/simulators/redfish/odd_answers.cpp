#include "test/simulators/redfish/odd_answers.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace redfish_simulator {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

std::string path_of(const base::HttpRequest& request) {
    auto path = request.target.substr(0, request.target.find('?'));
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

}  // namespace

base::HttpResponse refusal(int status, const std::string& id, const std::string& message) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    if (id.empty()) return response;
    json::object info{{"MessageId", "Base.1.18." + id}, {"Message", message}};
    json::object error{{"code", "Base.1.18.GeneralError"},
                       {"message", message},
                       {"@Message.ExtendedInfo", json::array{std::move(info)}}};
    response.body = json::serialize(json::object{{"error", std::move(error)}});
    return response;
}

std::function<bool(const base::HttpRequest&)> requests(std::string method, std::string path_end,
                                                       std::string in_body) {
    return [method = std::move(method), path_end = std::move(path_end),
            in_body = std::move(in_body)](const base::HttpRequest& request) {
        const bool is_method = method.empty() || request.method == method;
        return is_method && path_of(request).ends_with(path_end) &&
               request.body.find(in_body) != std::string::npos;
    };
}

std::function<void(const base::HttpRequest&, base::HttpResponse&)> merging(std::string json_object) {
    return [changes = json::parse(json_object).as_object()](const base::HttpRequest&,
                                                            base::HttpResponse& response) {
        if (response.status != 200 || response.body.empty()) return;
        auto document = json::parse(response.body).as_object();
        for (const auto& [name, value] : changes) document[name] = value;
        response.body = json::serialize(document);
    };
}

namespace {

void append_number(std::string& text, std::uint32_t number, int bytes) {
    for (int i = 0; i < bytes; ++i, number >>= 8U) text += static_cast<char>(number & 255U);
}

}  // namespace

// Uses stored blocks (RFC 1951), which every reader of the format accepts.
void gzip(const base::HttpRequest&, base::HttpResponse& response) {
    constexpr std::size_t kMostOfABlock = 65535;
    const auto text = std::move(response.body);
    response.body = std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
    std::size_t at = 0;
    do {
        const auto size = std::min(kMostOfABlock, text.size() - at);
        response.body += at + size == text.size() ? '\1' : '\0';
        append_number(response.body, static_cast<std::uint32_t>(size), 2);
        append_number(response.body, static_cast<std::uint32_t>(~size), 2);
        response.body += text.substr(at, size);
        at += size;
    } while (at < text.size());
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    append_number(response.body, crc.checksum(), 4);
    append_number(response.body, static_cast<std::uint32_t>(text.size()), 4);
    response.headers.set("Content-Encoding", "gzip");
}

OddAnswer& OddAnswers::add(OddAnswer answer) {
    answers_.push_back(std::make_unique<OddAnswer>(std::move(answer)));
    return *answers_.back();
}

class OddTransport final : public base::HttpTransport {
public:
    OddTransport(std::unique_ptr<base::HttpTransport> to_bmc, OddAnswers& answers, base::Clock& clock)
        : to_bmc_(std::move(to_bmc)), answers_(answers), clock_(clock) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest request) override {
        const auto matching = take(request);
        base::Duration delay{};
        const OddAnswer* instead = nullptr;
        for (const auto& answer : matching) {
            delay += answer.delay;
            const bool is_other = answer.is_lost || answer.instead;
            if (!instead && is_other) instead = &answer;
        }
        if (delay >= request.timeout) {
            co_await clock_.sleep_for(request.timeout);
            throw base::TransportError(request.method + " " + request.target + ": timed out", true);
        }
        if (delay > base::Duration::zero()) co_await clock_.sleep_for(delay);
        if (instead && instead->is_lost) throw base::TransportError("connection reset by peer", true);
        if (instead && request.before_writing) request.before_writing();
        auto response = instead ? *instead->instead : co_await to_bmc_->send(request);
        for (const auto& answer : matching) {
            if (answer.alter) answer.alter(request, response);
        }
        co_return response;
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        co_return co_await to_bmc_->open(std::move(request));
    }

private:
    // Returns copies, because the answers may be cleared while a request waits.
    std::vector<OddAnswer> take(const base::HttpRequest& request) {
        std::vector<OddAnswer> matching;
        for (const auto& answer : answers_.answers_) {
            if (answer->times && *answer->times <= 0) continue;
            if (!answer->is_for(request)) continue;
            if (answer->times) --*answer->times;
            matching.push_back(*answer);
        }
        return matching;
    }

    std::unique_ptr<base::HttpTransport> to_bmc_;
    OddAnswers& answers_;
    base::Clock& clock_;
};

std::unique_ptr<base::HttpTransport> with_odd_answers(std::unique_ptr<base::HttpTransport> to_bmc,
                                                      OddAnswers& answers, base::Clock& clock) {
    return std::make_unique<OddTransport>(std::move(to_bmc), answers, clock);
}

}  // namespace redfish_simulator
