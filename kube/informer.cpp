#include "kube/informer.hpp"

namespace kube {

InformerCore::InformerCore(Client& client, base::Clock& clock, base::Random& random,
                           asio::any_io_executor executor, api::Resource resource, ListOptions options)
    : resource_(resource),
      changed_(std::move(executor)),
      reflector_(client, clock, random, resource, std::move(options), *this) {}

asio::awaitable<void> InformerCore::wait_synced() {
    while (!synced_) co_await changed_.wait();
}

void InformerCore::set_synced() {
    synced_ = true;
    changed_.notify_all();
}

class InformerCore::Observer final : public ListSink {
public:
    explicit Observer(InformerCore& informer) : informer_(informer) {}
    void restart() override {}  // what was observed is still true
    void take(const json::value& item) override { informer_.observe_item(item); }

private:
    InformerCore& informer_;
};

asio::awaitable<void> InformerCore::observe_list(Client& client, std::vector<std::string> namespaces) {
    Observer observer(*this);
    for (const auto& namespace_ : namespaces) {
        ListOptions options;
        options.namespace_ = namespace_;
        co_await client.list_into(resource_, std::move(options), observer);
    }
}

}  // namespace kube
