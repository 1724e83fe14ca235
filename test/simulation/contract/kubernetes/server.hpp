// The Kubernetes API server that the contract is checked against: the one in memory, or, where KUBECONFIG
// names one, a real one that with_cluster.sh started. Both know our CRDs. Calls return when they are
// answered.
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
    json::object body;  // {} if it is no JSON object

    // The text at a path of members: text("metadata", "name"); "" if it is not there.
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
    bool ended = false;  // by the server
};

class Server {
public:
    Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    virtual ~Server() = default;

    // A body that is a string is sent as it is.
    virtual Answer send(const Request& request) = 0;
    Answer call(const std::string& method, const std::string& target, const json::value& body = nullptr,
                const std::string& content_type = "") {
        return send({method, target, body, content_type});
    }
    // Reads until `count` events have come, the server ends the watch, or nothing comes for ten seconds. The
    // other requests are sent once the watch is open.
    virtual Watched watch(const std::string& target, std::size_t count,
                          std::vector<Request> meanwhile = {}) = 0;
    // Time for controllers.
    virtual void pause() = 0;
    // Forgets the history of all changes so far.
    virtual void compact() = 0;
    // Makes a PodDisruptionBudget in the namespace default allow so many disruptions: in memory by writing
    // that, else by waiting until the disruption controller has come to it.
    virtual bool budget_allows(const std::string& name, int disruptions) = 0;
    // Whether the condition comes true in time.
    bool until(const std::function<bool()>& condition);
    // A name that nothing else has.
    std::string fresh(const std::string& prefix);

private:
    int names_ = 0;
};

std::unique_ptr<Server> make_server();

}  // namespace contract
