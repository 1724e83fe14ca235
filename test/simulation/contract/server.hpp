// The Kubernetes API server that the contract is checked against: the one in memory, or, where KUBECONFIG
// names one, a real one. Calls return when they are answered.
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
    json::object body;

    // The text at a path of members: text("metadata", "name"); "" if it is not there.
    template <class... Names>
    std::string text(Names... names) const {
        return text_at({names...});
    }
    std::string text_at(const std::vector<std::string>& path) const;
};

class Server {
public:
    Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    virtual ~Server() = default;

    // `content_type` empty: application/json.
    virtual Answer call(const std::string& method, const std::string& target,
                        const json::value& body = nullptr, const std::string& content_type = "") = 0;
    // The first `count` events of a watch; fewer if no more come within ten seconds.
    virtual std::vector<json::object> watch(const std::string& target, std::size_t count) = 0;
    // Time for controllers.
    virtual void pause() = 0;
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
