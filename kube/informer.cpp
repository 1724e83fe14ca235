#include "kube/informer.hpp"

namespace kube {

InformerCore::InformerCore(Client& client, base::Clock& clock, base::Random& random,
                           asio::any_io_executor executor, api::Resource resource, ListOptions options)
    : undecodable_(client.metrics(), resource),
      large_(resource),
      resource_(resource),
      clock_(clock),
      changed_(std::move(executor)),
      reflector_(client, clock, random, resource, std::move(options), *this) {
    auto& family =
        client.metrics().gauge("kubenodesmith_informer_age_seconds",
                               "Time since the objects in memory were known to be current", {"resource"});
    exposition_ = client.metrics().before_exposition([this, &family] {
        if (const auto time = age())
            family.with({std::string(resource_.plural)}).set(std::chrono::duration<double>(*time).count());
    });
}

std::optional<base::Duration> InformerCore::age() const {
    const auto contact = reflector_.last_contact();
    if (!contact) return std::nullopt;
    return clock_.now() - *contact;
}

asio::awaitable<void> InformerCore::wait_synced() {
    while (!synced_) co_await changed_.wait();
}

void InformerCore::list_anew() {
    is_restored_ = true;
    reflector_.list_anew();
}

void InformerCore::note_restore() const {
    if (restore_handler_) restore_handler_();
}

void InformerCore::set_synced() {
    synced_ = true;
    changed_.notify_all();
}

class InformerCore::Observer final : public ListSink {
public:
    explicit Observer(InformerCore& informer) : informer_(informer) {}
    void restart() override {}  // earlier observations are still true
    std::unique_ptr<PageReader> read_page() override { return informer_.observe_page(); }

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
