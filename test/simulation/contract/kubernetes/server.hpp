// The Kubernetes API server that the contract is checked against. It is the server in memory, or a real one
// that with_cluster.sh started if KUBECONFIG names one. Both know our CRDs. Each call returns when the server
// has answered.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace contract {

namespace json = boost::json;

struct Answer {
    int status = 0;
    json::object body;  // {} if the answer is no JSON object

    // Returns the text at a path of members, such as text("metadata", "name"); "" if it is not there.
    template <class... Names>
    std::string text(Names... names) const {
        return text_at({names...});
    }
    std::string text_at(const std::vector<std::string>& path) const;
};

struct Request {
    std::string method;
    std::string target;
    json::value body;
    std::string content_type;  // empty: application/json
};

struct Watched {
    std::vector<json::object> events;
    bool ended = false;  // the server ended the watch
};

class Server {
public:
    Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    virtual ~Server() = default;

    // Sends a request. A body that is a string is sent unchanged.
    virtual Answer send(const Request& request) = 0;
    Answer call(const std::string& method, const std::string& target, const json::value& body = nullptr,
                const std::string& content_type = "") {
        return send({method, target, body, content_type});
    }
    // Reads until `count` events have come, the server ends the watch, or no event comes for ten seconds.
    // Sends the other requests once the watch is open.
    virtual Watched watch(const std::string& target, std::size_t count,
                          std::vector<Request> meanwhile = {}) = 0;
    // Gives controllers time to act.
    virtual void pause() = 0;
    // Makes the server forget the history of all changes so far.
    virtual void compact() = 0;
    // Makes a PodDisruptionBudget in the namespace default allow so many disruptions. The server in memory
    // writes that number. The other one waits until the disruption controller has counted the budget.
    virtual bool budget_allows(const std::string& name, int disruptions) = 0;
    // Reports whether the condition becomes true in time.
    bool until(const std::function<bool()>& condition);
    // Returns a name that no other object has.
    std::string fresh(const std::string& prefix);

private:
    int names_ = 0;
};

std::unique_ptr<Server> make_server();

}  // namespace contract
