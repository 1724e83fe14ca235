// Wrong answers that a BMC gives from time to time: refusals, halves of documents, nothing, or the right
// answer too late. They can cover any transport to a BMC, simulated or played.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http_client.hpp"

namespace redfish_simulator {

struct OddAnswer {
    // Selects the requests that get this answer.
    std::function<bool(const base::HttpRequest&)> is_for;
    std::optional<int> times = {};  // nullopt: all matching requests
    base::Duration delay{};         // wait before the request reaches the BMC
    // The connection breaks and the request never reaches the BMC, which the client cannot know.
    bool is_lost = false;
    // The answer, without any action of the BMC; nullopt: the BMC executes the request.
    std::optional<base::HttpResponse> instead = {};
    // Alters the BMC's own answer.
    std::function<void(const base::HttpRequest&, base::HttpResponse&)> alter = {};
};

// Returns an answer with an error object, or without one if the ID is empty.
base::HttpResponse refusal(int status, const std::string& id = "", const std::string& message = "refused");
// Selects requests with this method ("": any), this end of the path (without a final slash) and this text in
// their body.
std::function<bool(const base::HttpRequest&)> requests(std::string method, std::string path_end,
                                                       std::string in_body = "");
// Replaces properties of documents that are answered with 200.
std::function<void(const base::HttpRequest&, base::HttpResponse&)> merging(std::string json_object);

// Compresses the answer (gzip).
void gzip(const base::HttpRequest& request, base::HttpResponse& response);

// OddAnswers holds the odd answers of one BMC. If several match a request, all delays and alterations apply,
// and the first replacement is sent.
class OddAnswers {
public:
    OddAnswer& add(OddAnswer answer);
    void clear() { answers_.clear(); }
    bool is_empty() const { return answers_.empty(); }

private:
    friend class OddTransport;
    std::vector<std::unique_ptr<OddAnswer>> answers_;
};

// All arguments must outlive the transport.
std::unique_ptr<base::HttpTransport> with_odd_answers(std::unique_ptr<base::HttpTransport> to_bmc,
                                                      OddAnswers& answers, base::Clock& clock);

}  // namespace redfish_simulator
