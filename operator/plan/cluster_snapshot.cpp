#include "operator/plan/cluster_snapshot.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <exception>
#include <iterator>
#include <set>
#include <type_traits>
#include <utility>

#include "api/json.hpp"
#include "api/yaml.hpp"
#include "base/file.hpp"
#include "kube/transport.hpp"
#include "operator/plan/snapshot_lists.hpp"
#include "operator/plan/strictness.hpp"
#include "operator/plan/written_objects.hpp"
#include "operator/plan/written_world.hpp"

namespace kubenodesmith {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// NoServer refuses all requests, as a snapshot from files has no API server.
class NoServer final : public base::HttpTransport {
public:
    asio::awaitable<base::HttpResponse> send(base::HttpRequest) override {
        return refuse<base::HttpResponse>();
    }
    asio::awaitable<std::unique_ptr<base::HttpStream>> open(base::HttpRequest) override {
        return refuse<std::unique_ptr<base::HttpStream>>();
    }

private:
    template <class T>
    static asio::awaitable<T> refuse() {
        throw base::TransportError("objects from files have no API server to send requests to", false);
        co_return T();
    }
};

std::unique_ptr<base::HttpTransport> connect_to_nothing(asio::any_io_executor, base::Clock&) {
    return std::make_unique<NoServer>();
}

// StillClock always returns the time of a snapshot from files.
class StillClock final : public base::Clock {
public:
    explicit StillClock(api::Time now) : now_(now) {}
    base::TimePoint now() const override { return {}; }
    base::WallTime wall_now() const override { return base::WallTime(now_.at); }
    std::unique_ptr<base::Alarm> call_at(base::TimePoint, std::function<void()>) override {
        return std::make_unique<base::Alarm>();  // never goes off
    }

private:
    api::Time now_;
};

std::unique_ptr<base::Clock> make_clock(const asio::any_io_executor& executor,
                                        const std::optional<api::Time>& still) {
    if (still) return std::make_unique<StillClock>(*still);
    return base::make_steady_clock(executor);
}

bool has_text(const json::object& document, std::string_view key, std::string_view text) {
    const auto* value = document.if_contains(key);
    return value && value->is_string() && value->get_string() == text;
}

template <class T>
bool is_a(const json::object& document) {
    return has_text(document, "kind", T::kResource.kind) &&
           has_text(document, "apiVersion", T::kResource.api_version());
}

// Adds the label that the API server gives each namespace.
void label_with_name(api::Namespace& namespace_) {
    namespace_.metadata.labels->try_emplace("kubernetes.io/metadata.name", namespace_.metadata.name);
}

// Keeps what `kubectl apply` leaves of the stored object: its identity, its status, and what others added to
// its metadata.
template <class T>
void keep_stored(T& written, const T& stored, const json::object& document) {
    auto& metadata = written.metadata;
    const auto& before = stored.metadata;
    metadata.uid = before.uid;
    metadata.generation = before.generation;
    metadata.creationTimestamp = before.creationTimestamp;
    metadata.deletionTimestamp = before.deletionTimestamp;
    if (metadata.ownerReferences.empty()) metadata.ownerReferences = before.ownerReferences;
    if (metadata.finalizers.empty()) metadata.finalizers = before.finalizers;
    for (const auto& [key, value] : before.labels) metadata.labels->try_emplace(key, value);
    for (const auto& [key, value] : before.annotations) metadata.annotations->try_emplace(key, value);
    if constexpr (requires { written.status; })
        if (!document.contains("status")) written.status = stored.status;
    // A store does not take the same version twice.
    metadata.resourceVersion = before.resourceVersion + "+";
}

template <class T>
bool take_into(kube::Informer<T>& informer, const json::object& document, const PriorityClasses& priorities) {
    if (!is_a<T>(document)) return false;
    auto object = decode_object<T>(document);
    if constexpr (std::is_same_v<T, api::Pod>) {
        complete(object);
        priorities.complete(object, document);
    }
    if constexpr (std::is_same_v<T, api::Namespace>) label_with_name(object);
    if (const auto stored = informer.store().get(api::key_of(object)); stored && is_written(document))
        keep_stored(object, *stored, document);
    informer.observe(std::move(object));
    return true;
}

// Sets the kind of an item of a typed list, where the API server leaves it out.
void complete_item(json::value& item, const json::object& list) {
    constexpr std::string_view kSuffix = "List";
    auto* object = item.if_object();
    const auto kind = text_in(list, "kind");
    if (!object || object->contains("kind") || kind == kSuffix || !kind.ends_with(kSuffix)) return;
    (*object)["kind"] = kind.substr(0, kind.size() - kSuffix.size());
    (*object)["apiVersion"] = text_in(list, "apiVersion");
}

// Adds the document itself, or its items if it is a list.
void add_objects(json::value document, std::vector<json::object>& objects) {
    auto* object = document.if_object();
    if (!object) throw ViewError("expected Kubernetes objects, as kubectl get -o yaml prints them");
    auto* items = object->if_contains("items");
    if (!items || !items->is_array()) {
        objects.push_back(std::move(*object));
        return;
    }
    for (auto& item : items->get_array()) {
        complete_item(item, *object);
        add_objects(std::move(item), objects);
    }
}

// Removes written workloads that a later document replaces, as kubectl apply would.
void remove_replaced(std::vector<json::object>& objects) {
    std::set<std::string> later;
    for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
        if (!is_workload(*object) || !is_written(*object)) continue;
        const bool has_name = !text_in(object->at("metadata").get_object(), "name").empty();
        if (has_name && !later.insert(title_of(*object)).second) object->clear();
    }
    std::erase_if(objects, [](const auto& object) { return object.empty(); });
}

// Pods prove that their namespace exists.
void add_namespaces_of_pods(controllers::Informers& informers) {
    for (const auto& [key, pod] : informers.pods.store().all()) {
        api::Namespace namespace_;
        namespace_.metadata.name = key.namespace_;
        label_with_name(namespace_);
        if (!informers.namespaces.store().get(api::key_of(namespace_)))
            informers.namespaces.observe(std::move(namespace_));
    }
}

std::string name_of(const json::object& document) {
    std::string name = "document";
    if (const auto* kind = document.if_contains("kind"); kind && kind->is_string()) name = kind->get_string();
    const auto* metadata = document.if_contains("metadata");
    if (!metadata || !metadata->is_object()) return name;
    const auto* text = metadata->get_object().if_contains("name");
    if (text && text->is_string()) name += " " + std::string(text->get_string());
    return name;
}

// Limits all files together. The objects of the largest clusters need less.
constexpr std::size_t kMostBytes = std::size_t{512} << 20;

// Allows files as large as all objects of a cluster. Limits their cost beyond that size: the nodes that
// aliases stand for, and the brackets. kubectl writes far fewer brackets than one in ten characters.
api::YamlBounds bounds_of(const std::string& text) {
    api::YamlBounds bounds;
    bounds.bytes = std::max(bounds.bytes, text.size());
    bounds.nodes = std::max(bounds.nodes, text.size());
    bounds.brackets = std::max(bounds.brackets, text.size() / 10);
    return bounds;
}

// Tries JSON first. JSON is YAML, too, but its parser is many times faster.
std::vector<json::value> documents_in(const std::string& text) {
    boost::system::error_code is_no_json;
    auto value = json::parse(text, is_no_json);
    if (is_no_json) return api::parse_yaml_documents(text, bounds_of(text));
    return {std::move(value)};
}

std::vector<WrittenFile> read_files(const std::vector<std::string>& names) {
    std::vector<WrittenFile> files;
    std::size_t left = kMostBytes;
    for (const auto& name : names) {
        files.push_back({name == "-" ? "standard input" : name, base::read_input(name, left)});
        left -= files.back().text.size();
    }
    return files;
}

}  // namespace

std::unique_ptr<ClusterSnapshot> ClusterSnapshot::open(const std::vector<std::string>& files,
                                                       const ClientOptions& options, Reading reading) {
    if (files.empty()) {
        const auto config = kube::load_config(options.cluster);
        const auto connect = [&config](asio::any_io_executor executor, base::Clock& clock) {
            return kube::make_transport(std::move(executor), clock, config);
        };
        auto view = live(connect, controllers::managed_namespaces_of(options.namespaces, config), reading);
        if (!config.namespace_.empty()) view->context_namespace_ = config.namespace_;
        return view;
    }
    const kube::ClusterConfig of_no_cluster;
    return from_files(read_files(files), api::Time(std::chrono::system_clock::now()),
                      controllers::managed_namespaces_of(options.namespaces, of_no_cluster));
}

ClusterSnapshot::ClusterSnapshot(const Connect& connect, controllers::ManagedNamespaces managed,
                                 std::optional<api::Time> still)
    : clock_(make_clock(loop_.get_executor(), still)),
      random_(base::make_system_random()),
      client_(connect(loop_.get_executor(), *clock_), *clock_, metrics_),
      informers_(client_, *clock_, *random_, loop_.get_executor(), std::move(managed)),
      is_live_(!still) {}

std::unique_ptr<ClusterSnapshot> ClusterSnapshot::live(const Connect& connect,
                                                       controllers::ManagedNamespaces managed,
                                                       Reading reading) {
    std::unique_ptr<ClusterSnapshot> view(new ClusterSnapshot(connect, std::move(managed), std::nullopt));
    view->run(view->read_all(reading));
    view->report_at(api::Time(view->clock_->wall_now()));
    return view;
}

std::unique_ptr<ClusterSnapshot> ClusterSnapshot::from_files(const std::vector<WrittenFile>& files,
                                                             api::Time now,
                                                             controllers::ManagedNamespaces managed) {
    std::unique_ptr<ClusterSnapshot> view(new ClusterSnapshot(connect_to_nothing, std::move(managed), now));
    std::vector<json::object> objects;
    for (const auto& file : files) {
        try {
            for (auto& document : documents_in(file.text)) add_objects(std::move(document), objects);
        } catch (const std::runtime_error& error) {
            throw ViewError(file.name + ": " + error.what());
        }
    }
    remove_replaced(objects);
    view->take_all(objects);
    view->report_at(now);
    return view;
}

void ClusterSnapshot::run(asio::awaitable<void> work) {
    std::exception_ptr failure;
    loop_.restart();
    asio::co_spawn(loop_, std::move(work), [&failure](const std::exception_ptr& error) { failure = error; });
    loop_.run();
    if (failure) std::rethrow_exception(failure);
}

void ClusterSnapshot::report_at(api::Time now) {
    report_ = report::report_of(informers_, {}, false, now);
}

asio::awaitable<void> ClusterSnapshot::read_all(Reading reading) {
    SnapshotLists lists(client_, informers_, loop_.get_executor());
    lists.add_ours();
    if (reading == Reading::ours_and_nodes) lists.add_nodes_and_pods(Wanted::always);
    if (reading == Reading::ours_and_maybe_nodes) lists.add_nodes_and_pods(Wanted::if_allowed);
    if (reading == Reading::everything) lists.add_core();
    co_await lists.read();
    // One call reads a few groups only, so that the operator's decisions do not wait for all of them.
    if (reading == Reading::everything)
        for (const auto& pod : controllers::unschedulable_pods(informers_)) {
            const controllers::PodPointers one{pod};
            co_await informers_.pod_groups.read(client_, one);
        }
    for (const auto& note : lists.notes()) notes_.push_back(note);
    has_nodes_ = reading != Reading::ours && lists.refused().empty();
    if (lists.missing().empty()) co_return;
    std::string hint;
    if (informers_.managed.all() && lists.lacks_ours())
        hint =
            "If you may read objects of KubeNodeSmith only in some namespaces, name them with --namespaces.";
    throw ViewError(describe_missing(lists.missing(), lists.needed(), co_await who_am_i(), hint));
}

// Returns the user's name at the API server; empty if the server does not say.
asio::awaitable<std::string> ClusterSnapshot::who_am_i() {
    std::string name;
    try {
        const json::value question =
            json::object{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
        const auto answer =
            co_await client_.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", question);
        name = answer.at_pointer("/status/userInfo/username").as_string();
    } catch (const std::exception&) {
        // Older API servers do not support this review. The message then omits the name.
    }
    co_return name;
}

ClusterSnapshot::Events ClusterSnapshot::events_about(std::string_view kind, const api::ObjectKey& key) {
    Events read;
    if (is_live_) {
        run(read_events(std::string(kind), key, read));
        return read;
    }
    std::ranges::copy_if(events_, std::back_inserter(read.events), [&](const api::Event& event) {
        const auto& about = event.involvedObject;
        const bool same_namespace = key.namespace_.empty() || about.namespace_ == key.namespace_;
        return about.kind == kind && about.name == key.name && same_namespace;
    });
    return read;
}

asio::awaitable<void> ClusterSnapshot::read_events(std::string kind, api::ObjectKey key, Events& read) {
    kube::ListOptions options;
    options.namespace_ = key.namespace_.empty() ? "default" : key.namespace_;
    options.field_selector = "involvedObject.kind=" + kind + ",involvedObject.name=" + key.name;
    try {
        auto listed = co_await client_.list<api::Event>(std::move(options));
        read.events = std::move(listed.objects);
    } catch (const kube::ApiError& error) {
        if (!error.is_forbidden()) throw ViewError(error.what());
        read.refusal = error.what();
    } catch (const base::TransportError& error) {
        throw ViewError(error.what());
    }
}

bool ClusterSnapshot::take(const json::object& object, const PriorityClasses& priorities) {
    auto& i = informers_;
    const auto take = [&](auto& informer) { return take_into(informer, object, priorities); };
    if (is_a<api::Event>(object)) {
        events_.push_back(api::decode<api::Event>(object));
        return true;
    }
    if (has_text(object, "kind", "PodGroup") && i.pod_groups.take(json::value(object))) return true;
    if (is_written(object) && (is_a<api::Pod>(object) || is_a<api::PersistentVolumeClaim>(object)))
        return true;  // take_written() adds it
    return take(i.pods) || take(i.nodes) || take(i.daemon_sets) || take(i.namespaces) ||
           take(i.persistent_volumes) || take(i.persistent_volume_claims) || take(i.storage_classes) ||
           take(i.csi_nodes) || take(i.csi_drivers) || take(i.csi_storage_capacities) ||
           take(i.limit_ranges) || take(i.runtime_classes) || take(i.volume_attachments) ||
           take(i.pod_disruption_budgets) || take(i.providers) || take(i.pools) || take(i.claims) ||
           take(i.control_planes) || take(i.hosts);
}

void ClusterSnapshot::take_written(const json::object& object, WrittenWorld& written) {
    if (is_a<api::Pod>(object)) return written.take_pod(object);
    if (!is_a<api::DaemonSet>(object)) return written.take_workload(object);
    written.look_at(decode_object<api::DaemonSet>(object), title_of(object));
}

// Adds all objects, independently of their order in the files. First come objects from a cluster, then volume
// claims, then pods and workloads that use them.
void ClusterSnapshot::take_all(const std::vector<json::object>& objects) {
    PriorityClasses priorities;
    for (const auto& object : objects) priorities.note(object);
    UnknownKinds unknown;
    const auto each = [&objects](const auto& call) {
        for (const auto& object : objects) {
            try {
                call(object);
            } catch (const api::DecodeError& error) {
                throw ViewError(name_of(object) + ": " + error.what());
            }
        }
    };
    // Written objects are applied to the stored ones, in whatever order the files have them.
    for (const bool is_turn_of_written : {false, true})
        each([&](const auto& object) {
            if (is_written(object) != is_turn_of_written) return;
            refuse_misspelt(object);
            if (!take(object, priorities) && !is_workload(object)) unknown.note(object);
        });
    WrittenWorld written(informers_, priorities);
    each([&](const auto& object) {
        if (!is_written(object) || !is_a<api::PersistentVolumeClaim>(object)) return;
        written.take_claim(decode_object<api::PersistentVolumeClaim>(object), title_of(object));
    });
    for (const bool is_turn_of_stateful_sets : {true, false})
        each([&](const auto& object) {
            if (is_written(object) && is_stateful_set(object) == is_turn_of_stateful_sets)
                take_written(object, written);
        });
    add_namespaces_of_pods(informers_);
    notes_ = written.notes();
    for (auto& sentence : unknown.sentences(written.namespaces())) notes_.push_back(std::move(sentence));
}

}  // namespace kubenodesmith
