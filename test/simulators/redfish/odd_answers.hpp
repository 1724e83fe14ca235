// What a BMC answers now and then instead of what it should: refusals, halves of documents, nothing, or the
// right answer too late. Laid over any transport to a BMC, simulated or played.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http_client.hpp"

namespace redfish_simulator {

struct OddAnswer {
    // The requests that are answered so.
    std::function<bool(const base::HttpRequest&)> is_for;
    std::optional<int> times = {};  // nullopt: all of them
    base::Duration delay{};         // before the BMC hears of the request
    // The connection breaks and the BMC never hears of the request, which the client cannot know.
    bool is_lost = false;
    // Without the BMC doing anything; nullopt: it does what it was asked for.
    std::optional<base::HttpResponse> instead = {};
    // What becomes of the BMC's own answer.
    std::function<void(const base::HttpRequest&, base::HttpResponse&)> alter = {};
};

// An answer with an error object; an empty ID: without one.
base::HttpResponse refusal(int status, const std::string& id = "", const std::string& message = "refused");
// Requests of this method ("": any) whose path without slash ends so, with this text in their body.
std::function<bool(const base::HttpRequest&)> requests(std::string method, std::string path_end,
                                                       std::string in_body = "");
// Replaces properties of documents that are answered with 200.
std::function<void(const base::HttpRequest&, base::HttpResponse&)> merging(std::string json_object);

// Compresses what is answered (gzip).
void gzip(const base::HttpRequest& request, base::HttpResponse& response);

// The odd answers of one BMC; of several that match all delays and alterations count, and the first of what
// is answered instead.
class OddAnswers {
public:
    OddAnswer& add(OddAnswer answer);
    void clear() { answers_.clear(); }
    bool is_empty() const { return answers_.empty(); }

private:
    friend class OddTransport;
    std::vector<std::unique_ptr<OddAnswer>> answers_;
};

// All must outlive the transport.
std::unique_ptr<base::HttpTransport> with_odd_answers(std::unique_ptr<base::HttpTransport> to_bmc,
                                                      OddAnswers& answers, base::Clock& clock);

}  // namespace redfish_simulator
