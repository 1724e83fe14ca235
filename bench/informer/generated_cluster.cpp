#include "bench/informer/generated_cluster.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <functional>
#include <string>

#include "bench/realistic_objects.hpp"

namespace bench {

namespace json = boost::json;

namespace {

constexpr std::string_view kPods = "/api/v1/pods";
constexpr std::string_view kNodes = "/api/v1/nodes";
constexpr int kListed = 10'000'000;  // the version of a list; those of its objects are smaller
constexpr int kUpdatesAtOnce = 1000;

// Returns a number among the parameters of a request's target, 0 if it is absent.
int parameter(std::string_view target, std::string_view name) {
    const auto marker = std::string(name) + "=";
    for (auto place = target.find(marker); place != std::string_view::npos;
         place = target.find(marker, place + 1)) {
        if (target[place - 1] != '?' && target[place - 1] != '&') continue;
        int number = 0;
        const auto text = target.substr(place + marker.size());
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    return 0;
}

base::HttpResponse json_response(std::string body) {
    base::HttpResponse response;
    response.status = 200;
    response.headers.set("Content-Type", "application/json");
    response.body = std::move(body);
    return response;
}

}  // namespace

std::optional<base::HttpResponse> GeneratedCluster::answer(const base::HttpRequest& request) {
    ++requests_;
    const std::string_view target = request.target;
    const auto path = target.substr(0, target.find('?'));
    if (target.find("watch=") != std::string_view::npos) return watch(path);
    return page(path, parameter(target, "continue"), parameter(target, "limit"));
}

base::HttpResponse GeneratedCluster::bookmark() {
    return json_response(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" +
                         std::to_string(kListed) + "\"}}}\n");
}

base::HttpResponse GeneratedCluster::page(std::string_view path, int from, int limit) const {
    const int count = path == kPods ? pods_ : path == kNodes ? nodes_ : 0;
    const int end = limit > 0 ? std::min(count, from + limit) : count;
    const auto next = end < count ? std::to_string(end) : std::string();
    std::string body = R"({"metadata":{"resourceVersion":")" + std::to_string(kListed) + R"(","continue":")" +
                       next + R"("},"items":[)";
    for (int number = from; number < end; ++number) {
        if (number > from) body += ',';
        body += json::serialize(path == kPods ? realistic_pod(number, nodes_) : realistic_node(number));
    }
    return json_response(body + "]}");
}

std::optional<base::HttpResponse> GeneratedCluster::watch(std::string_view path) {
    if (path != kPods || told_ == updates_) return std::nullopt;
    const int end = std::min(updates_, told_ + kUpdatesAtOnce);
    std::string body;
    for (; told_ < end; ++told_) {
        auto pod = realistic_pod(told_ % pods_, nodes_);
        pod.at("metadata").as_object()["resourceVersion"] = std::to_string(kListed + 1 + told_);
        body += json::serialize(json::object{{"type", "MODIFIED"}, {"object", std::move(pod)}}) + "\n";
    }
    return json_response(std::move(body));
}

}  // namespace bench
