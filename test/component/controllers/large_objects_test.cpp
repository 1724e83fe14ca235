// Measures how much memory the largest objects take. Every field that others can write is as large as the API
// server allows, in each watched kind.
#include <malloc.h>

#include <boost/asio/io_context.hpp>

#include "api/size.hpp"
#include "base/condition_variable.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/informers.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"
#include "test/support/virtual_clock.hpp"

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kLargest = 1024 * kKiB;  // nearly as large as an API server accepts
constexpr int kCount = 8;
constexpr std::size_t kMostEach = 50 * kKiB;  // 200 objects then take less than 10 MiB
// Programs give a Node hundreds of labels, and a kubelet can write no other Node than its own.
constexpr std::size_t kMostOfOneNode = 100 * kKiB;

// LargeJson writes JSON of about `size` bytes that fits the type, with other content for each `seed`. It
// leaves out texts with a special form, except quantities of resources.
class LargeJson {
public:
    // `identity` holds the fields of the metadata that identify the object.
    LargeJson(std::string seed, std::string identity, bool has_finalizers = true)
        : seed_(std::move(seed)), identity_(std::move(identity)), has_finalizers_(has_finalizers) {}

    std::string value(const api::Type& type, std::size_t size) {
        switch (type.shape) {
            case api::Shape::Object:
                return object(type, size);
            case api::Shape::List:
                return "[" + elements(type, size, [](const std::string& json) { return json; }) + "]";
            case api::Shape::Map:
                return "{" +
                       elements(type, size,
                                [this](const std::string& json) { return text(20) + ":" + json; }) +
                       "}";
            case api::Shape::Optional:
                return value(*type.element, size);
            case api::Shape::String:
                return text(size);
            case api::Shape::Text:
                return "\"1\"";
            case api::Shape::Boolean:
                return "false";
            case api::Shape::Integer:
                return "1";
            case api::Shape::Enum:
                return '"' + std::string(type.enumerators.front().name) + '"';
            case api::Shape::Any:
                return "null";
        }
        return "null";
    }

    std::string metadata_of_ours(std::size_t size) { return metadata(size); }

private:
    static bool is_left_out(const api::Type& type) {
        const bool wraps = type.shape == api::Shape::Optional || type.shape == api::Shape::List;
        return type.shape == api::Shape::Text || type.shape == api::Shape::Any ||
               (wraps && is_left_out(*type.element));
    }
    static bool is_large(const api::Type& type) {
        switch (type.shape) {
            case api::Shape::Optional:
                return is_large(*type.element);
            case api::Shape::Object:
                return std::ranges::any_of(type.fields, [](const auto& field) {
                    return !is_left_out(*field.type) && is_large(*field.type);
                });
            default:
                return type.shape == api::Shape::List || type.shape == api::Shape::Map ||
                       type.shape == api::Shape::String;
        }
    }
    // Reports whether the field has a given value. The API server limits the fields that identify an object.
    bool is_set(const api::FieldDescriptor& field) const {
        return field.name == "name" || field.name == "namespace" || field.name == "uid" ||
               field.name == "resourceVersion" || (field.name == "finalizers" && !has_finalizers_);
    }
    std::string metadata(std::size_t size) {
        auto json = object(api::type_of<api::ObjectMeta>(), size, true);
        json.back() = ',';
        return json + identity_ + "}";
    }
    std::string object(const api::Type& type, std::size_t size, bool is_metadata = false) {
        const auto is_large_here = [&](const api::FieldDescriptor& field) {
            return !is_left_out(*field.type) && is_large(*field.type) && !(is_metadata && is_set(field));
        };
        const auto large = std::max<std::size_t>(
            1, static_cast<std::size_t>(std::ranges::count_if(type.fields, is_large_here)));
        std::string json;
        for (const auto& field : type.fields) {
            if (is_left_out(*field.type) || (is_metadata && is_set(field))) continue;
            const bool is_own_metadata = field.type == &api::type_of<api::ObjectMeta>();
            json += (json.empty() ? "\"" : ",\"") + std::string(field.name) +
                    "\":" + (is_own_metadata ? metadata(size / large) : value(*field.type, size / large));
        }
        return "{" + json + "}";
    }
    template <class Wrap>
    std::string elements(const api::Type& type, std::size_t size, Wrap wrap) {
        std::string json;
        while (json.size() < size) {
            if (!json.empty()) json += ',';
            // A few elements are long and many are short. Short ones take more memory than their text.
            const std::size_t each = json.size() < size / 2 ? size / 4 : 16;
            json += wrap(value(*type.element, each));
        }
        return json;
    }
    std::string text(std::size_t size) {
        auto text = seed_ + std::to_string(count_++);
        if (text.size() < size) text.append(size - text.size(), 'x');
        return '"' + text + '"';
    }

    std::string seed_;
    std::string identity_;
    bool has_finalizers_;
    std::size_t count_ = 0;
};

// Kind describes one kind. In our own kinds only the metadata is large, because everything else has bounds.
struct Kind {
    std::string plural;
    const api::Type* type;  // null: one of our kinds
    bool is_namespaced;
    bool has_finalizers = true;

    std::string object(int number) const {
        const auto name = "o" + std::to_string(number);
        const auto identity = "\"namespace\":\"" + std::string(is_namespaced ? "default" : "") +
                              "\",\"name\":\"" + name + "\",\"uid\":\"" + name + "\",\"resourceVersion\":\"" +
                              std::to_string(number + 1) + "\"";
        LargeJson json(name + "-", identity, has_finalizers);
        return type ? json.value(*type, kLargest) : "{\"metadata\":" + json.metadata_of_ours(kLargest) + "}";
    }
};

template <class T>
Kind kind() {
    const bool is_ours = T::kResource.group == api::kGroup;
    return {std::string(T::kResource.plural), is_ours ? nullptr : &api::type_of<T>(),
            T::kResource.namespaced};
}

class Pieces final : public base::HttpStream {
public:
    Pieces(asio::any_io_executor executor, std::function<std::optional<std::string>()> next, bool ends)
        : never_(std::move(executor)), next_(std::move(next)), ends_(ends) {
        head_.status = 200;
    }
    const base::HttpResponse& head() const override { return head_; }
    asio::awaitable<std::optional<std::string>> read() override {
        auto piece = next_();
        while (!piece && !ends_) co_await never_.wait();
        co_return piece;
    }

private:
    base::HttpResponse head_;
    base::ConditionVariable never_;
    std::function<std::optional<std::string>()> next_;
    bool ends_;
};

enum class Way { List, Watch };

// LargeCluster serves `kCount` objects of one kind, made while they are read, and no objects of the other
// kinds.
class LargeCluster final : public base::HttpTransport {
public:
    LargeCluster(asio::any_io_executor executor, const Kind& kind, Way way)
        : executor_(std::move(executor)), kind_(kind), way_(way) {}

    asio::awaitable<base::HttpResponse> send(base::HttpRequest) override {
        throw base::TransportError("nothing but lists and watches", false);
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest request) override {
        const auto path = request.target.substr(0, request.target.find('?'));
        const bool is_large = path.substr(path.rfind('/') + 1) == kind_.plural;
        const bool is_watch = request.target.find("watch=1") != std::string::npos;
        const int count = is_large && is_watch == (way_ == Way::Watch) ? kCount : 0;
        auto next = [this, is_watch, count, sent = -1]() mutable -> std::optional<std::string> {
            if (is_watch) {
                if (++sent >= count) return std::nullopt;
                return "{\"type\":\"ADDED\",\"object\":" + kind_.object(sent) + "}\n";
            }
            if (++sent == 0) return "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[";
            if (sent > count + 1) return std::nullopt;
            if (sent == count + 1) return "]}";
            return (sent > 1 ? "," : "") + kind_.object(sent - 1);
        };
        co_return std::make_unique<Pieces>(executor_, std::move(next), !is_watch);
    }

private:
    asio::any_io_executor executor_;
    const Kind& kind_;
    Way way_;
};

std::size_t bytes_in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Calls `each` with the kind of each informer.
template <class Function>
void for_each_kind(Function each) {
    using namespace api;
    using namespace api::v1alpha1;
    each.template operator()<Pod>();
    each.template operator()<Node>();
    each.template operator()<DaemonSet>();
    each.template operator()<Namespace>();
    each.template operator()<LimitRange>();
    each.template operator()<RuntimeClass>();
    each.template operator()<PersistentVolume>();
    each.template operator()<PersistentVolumeClaim>();
    each.template operator()<StorageClass>();
    each.template operator()<CSIDriver>();
    each.template operator()<CSIStorageCapacity>();
    each.template operator()<CSINode>();
    each.template operator()<VolumeAttachment>();
    each.template operator()<PodDisruptionBudget>();
    each.template operator()<NodeSmithProvider>();
    each.template operator()<NodeSmithPool>();
    each.template operator()<NodeSmithClaim>();
    each.template operator()<NodeSmithControlPlane>();
    each.template operator()<NodeSmithHost>();
}

struct Fixture {
    asio::io_context context{1};
    fake::VirtualClock clock;
    base::MetricsRegistry metrics;
    std::unique_ptr<base::Random> random = fake::make_seeded_random(1);
    base::TaskGroup tasks{context.get_executor()};

    std::unique_ptr<kube::Client> client(const Kind& kind, Way way) {
        return std::make_unique<kube::Client>(
            std::make_unique<LargeCluster>(context.get_executor(), kind, way), clock, metrics);
    }
    void stop() {
        tasks.stop();
        while (tasks.size() > 0) clock.run_for(context, 1ms);
    }
};

// Returns the number of objects of all kinds in the metrics.
std::size_t objects_in(const base::MetricsRegistry& metrics) {
    std::size_t count = 0;
    const auto text = metrics.exposition();
    const std::string name = "\nkubenodesmith_informer_objects{";
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
        count += std::stoul(text.substr(text.find("} ", at) + 2));
    return count;
}

template <class Run>
void check_memory(Fixture& fixture, Run run, std::size_t most = kMostEach, int kept = kCount) {
    const auto before = bytes_in_use();
    run();
    fixture.clock.run_for(fixture.context, 2s);
    malloc_trim(0);
    const auto held = bytes_in_use() - std::min(before, bytes_in_use());
    CHECK(objects_in(fixture.metrics) == static_cast<std::size_t>(kept));
    INFO(held / kCount / kKiB << " KiB each");
    CHECK(held < kCount * most);
}

}  // namespace

TEST_CASE("the largest objects of any kind take little memory, listed or watched") {
    for_each_kind([]<class T>() {
        const bool is_ours = T::kResource.group == api::kGroup;
        for (const bool has_finalizers : {true, false}) {
            auto large = kind<T>();
            large.has_finalizers = has_finalizers;
            // Each finalizer must be known to remove one, so an object of ours with too many is not kept.
            const int kept = is_ours && has_finalizers ? 0 : kCount;
            for (const auto way : {Way::List, Way::Watch}) {
                DYNAMIC_SECTION(large.plural << (way == Way::List ? " listed" : " watched")
                                             << (has_finalizers ? " with finalizers" : "")) {
                    Fixture fixture;
                    const auto client = fixture.client(large, way);
                    controllers::Informers informers(*client, fixture.clock, *fixture.random,
                                                     fixture.context.get_executor());
                    const auto most = large.plural == "nodes" ? kMostOfOneNode : kMostEach;
                    check_memory(fixture, [&] { informers.spawn_all(fixture.tasks); }, most, kept);
                    fixture.stop();
                }
            }
        }
    });
}

TEST_CASE("the largest requests for certificates take little memory") {
    using Request = api::CertificateSigningRequest;
    const auto large = kind<Request>();
    for (const auto way : {Way::List, Way::Watch}) {
        DYNAMIC_SECTION((way == Way::List ? "listed" : "watched")) {
            Fixture fixture;
            const auto client = fixture.client(large, way);
            kube::Informer<Request> requests(*client, fixture.clock, *fixture.random,
                                             fixture.context.get_executor(), {},
                                             [](Request& request) { controllers::forget_unread(request); });
            check_memory(fixture, [&] { fixture.tasks.spawn(requests.run()); });
            fixture.stop();
        }
    }
}

TEST_CASE("each kind that is watched is one of these") {
    Fixture fixture;
    const Kind nothing{"none", nullptr, false};
    const auto client = fixture.client(nothing, Way::List);
    controllers::Informers informers(*client, fixture.clock, *fixture.random, fixture.context.get_executor());
    std::set<std::string> watched, known;
    std::istringstream lines(informers.describe_caches());
    for (std::string line; std::getline(lines, line);) watched.insert(line.substr(0, line.find(':')));
    for_each_kind([&known]<class T>() { known.insert(std::string(T::kResource.plural)); });
    CHECK(watched == known);
}
