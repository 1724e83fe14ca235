#include "operator/plan/snapshot_lists.hpp"

#include <algorithm>
#include <utility>

#include "base/task_group.hpp"
#include "operator/plan/cluster_snapshot.hpp"

namespace kubenodesmith {
namespace {

namespace asio = boost::asio;

// ToInformer puts listed objects into an informer's store.
template <class T>
class ToInformer final : public kube::ListSink {
public:
    ToInformer(kube::Informer<T>& informer, std::vector<std::string>& notes)
        : informer_(informer), notes_(notes) {}

    void restart() override {}  // objects read so far remain valid
    std::unique_ptr<kube::PageReader> read_page() override {
        return std::make_unique<kube::DecodedPage<T>>(
            [this](T&& object) { informer_.observe(std::move(object)); },
            [this](T&& rest, const api::DecodeError& error) {
                notes_.push_back(std::string(T::kResource.kind) + " " + api::key_of(rest).str() +
                                 " cannot be decoded and does not count: " + error.what());
            });
    }

private:
    kube::Informer<T>& informer_;
    std::vector<std::string>& notes_;
};

}  // namespace

struct SnapshotLists::List {
    api::Resource resource;
    kube::ListOptions options;
    Wanted wanted;
    std::unique_ptr<kube::ListSink> sink;

    Right right() const { return {"list", resource, options.namespace_}; }
};

SnapshotLists::SnapshotLists(kube::Client& client, controllers::Informers& informers,
                             asio::any_io_executor executor)
    : client_(client), informers_(informers), executor_(std::move(executor)) {}

SnapshotLists::~SnapshotLists() = default;

template <class T>
void SnapshotLists::add(kube::Informer<T>& informer, const std::vector<std::string>& namespaces,
                        Wanted wanted, const std::string& field_selector) {
    for (const auto& namespace_ : namespaces) {
        auto list = std::make_unique<List>();
        list->resource = T::kResource;
        list->options.namespace_ = namespace_;
        list->options.field_selector = field_selector;
        list->wanted = wanted;
        list->sink = std::make_unique<ToInformer<T>>(informer, notes_);
        lists_.push_back(std::move(list));
    }
}

void SnapshotLists::add_ours() {
    auto& i = informers_;
    const auto namespaces = i.managed.to_list();
    add(i.providers, namespaces, Wanted::always);
    add(i.pools, namespaces, Wanted::always);
    add(i.claims, namespaces, Wanted::always);
    add(i.control_planes, namespaces, Wanted::always);
    add(i.hosts, namespaces, Wanted::always);
}

void SnapshotLists::add_nodes_and_pods(Wanted wanted) {
    add(informers_.nodes, {""}, wanted);
    // The operator reads pods with the same selector.
    add(informers_.pods, {""}, wanted, "status.phase!=Succeeded,status.phase!=Failed");
}

void SnapshotLists::add_core() {
    auto& i = informers_;
    add_nodes_and_pods(Wanted::always);
    add(i.daemon_sets, {""}, Wanted::always);
    add(i.namespaces, {""}, Wanted::always);
    add(i.limit_ranges, {""}, Wanted::always);
    add(i.runtime_classes, {""}, Wanted::always);
    add(i.persistent_volumes, {""}, Wanted::always);
    add(i.persistent_volume_claims, {""}, Wanted::always);
    add(i.storage_classes, {""}, Wanted::always);
    add(i.csi_drivers, {""}, Wanted::always);
    add(i.csi_storage_capacities, {""}, Wanted::always);
    add(i.csi_nodes, {""}, Wanted::always);
    add(i.volume_attachments, {""}, Wanted::always);
    add(i.pod_disruption_budgets, {""}, Wanted::always);
}

asio::awaitable<void> SnapshotLists::read() {
    base::TaskGroup group(executor_);
    for (auto& list : lists_) group.spawn(read_one(*list));
    co_await group.join();
    if (!failure_.empty()) throw ViewError(failure_);
}

asio::awaitable<void> SnapshotLists::read_one(List& list) {
    std::string failure;
    try {
        co_await client_.list_into(list.resource, list.options, *list.sink);
    } catch (const kube::ApiError& error) {
        if (error.is_forbidden()) {
            (list.wanted == Wanted::always ? missing_ : refused_).push_back(list.right());
        } else {
            failure = error.what();
            const bool is_ours = list.resource.group == api::kGroup;
            if (error.is_not_found() && is_ours)
                failure += " (are the CRDs installed? kubectl apply --server-side -k crds)";
        }
    } catch (const base::TransportError& error) {
        failure = error.what();
    }
    if (failure_.empty()) failure_ = failure;
}

std::vector<Right> SnapshotLists::needed() const {
    std::vector<Right> all;
    for (const auto& list : lists_) all.push_back(list->right());
    return all;
}

bool SnapshotLists::lacks_ours() const {
    return std::ranges::any_of(missing_,
                               [](const Right& right) { return right.resource.group == api::kGroup; });
}

}  // namespace kubenodesmith
