// A local copy of all objects of one kind, kept current by list and watch, with indexes.
// Readers never wait and never see a half-filled copy. An object that cannot be decoded keeps its last good
// version, or is absent if it has none; all others go on. Single-threaded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/meta.hpp"
#include "api/names.hpp"
#include "api/size.hpp"
#include "api/stream.hpp"
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"
#include "kube/large_objects.hpp"
#include "kube/reflector.hpp"
#include "kube/resource_version.hpp"
#include "kube/store.hpp"
#include "kube/undecodable_objects.hpp"

namespace kube {

// `before` is null for an added, `after` for a deleted object. Called on the loop's thread, must not throw.
template <api::Kind T>
using ChangeHandler = std::function<void(const T* before, const T* after)>;

// Makes an object smaller before it is kept: what nobody reads need not be held. Must not throw.
template <api::Kind T>
using Transform = std::function<void(T& object)>;

// Whether an object belongs into the local copy, by what never changes of it (its namespace, say). Must not
// throw.
template <api::Kind T>
using Admission = std::function<bool(const T& object)>;
// Told of each version of an object that is not admitted; nothing of it is kept. Must not throw.
template <api::Kind T>
using RefusalHandler = std::function<void(const T& object)>;

// What informers of all kinds do alike, compiled once: each coroutine costs the more the more types its file
// knows.
class InformerCore : private ReflectorTarget {
public:
    InformerCore(const InformerCore&) = delete;
    InformerCore& operator=(const InformerCore&) = delete;

    bool synced() const { return synced_; }
    asio::awaitable<void> wait_synced();
    // Lists and watches until cancelled; failures are logged, counted and retried with backoff.
    asio::awaitable<void> run() { return reflector_.run(); }
    // The server's data was restored from a backup: lists anew, and what is listed takes the place of all
    // that is known.
    void list_anew();
    // Called when a list proves such a restore; only before run(). Must not throw.
    void on_restore(std::function<void()> handler) { restore_handler_ = std::move(handler); }
    // Lists the objects in these namespaces (the empty one: in all) once, and observes each.
    asio::awaitable<void> observe_list(Client& client, std::vector<std::string> namespaces);

    // Nothing may be destroyed on the word of these: the store holds an older version of them, or none.
    const UndecodableObjects& undecodable() const { return undecodable_; }
    // Objects of which a part is left out.
    const LargeObjects& large() const { return large_; }
    void report_odd_objects_to(EventRecorder& events) {
        undecodable_.report_to(events);
        large_.report_to(events);
    }
    // How long ago the objects were known to be current, see Reflector::last_contact(); nullopt: they never
    // were. A quiet watch that works stays below two minutes, and below six where the server has no
    // bookmarks.
    std::optional<base::Duration> age() const;
    const api::Resource& resource() const { return resource_; }

protected:
    InformerCore(Client& client, base::Clock& clock, base::Random& random, asio::any_io_executor executor,
                 api::Resource resource, ListOptions options);
    ~InformerCore() override = default;
    void set_synced();
    void note_restore() const;

    bool is_restored_ = false;  // the next list replaces everything
    UndecodableObjects undecodable_;
    LargeObjects large_;

private:
    class Observer;
    // Reads a page and observes each of its objects.
    virtual std::unique_ptr<PageReader> observe_page() = 0;

    api::Resource resource_;
    bool synced_ = false;
    base::Clock& clock_;
    base::Event changed_;
    Reflector reflector_;
    std::function<void()> restore_handler_;
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
};

template <api::Kind T>
class Informer final : public InformerCore {
public:
    Informer(Client& client, base::Clock& clock, base::Random& random, asio::any_io_executor executor,
             ListOptions options = {}, Transform<T> transform = {})
        : InformerCore(client, clock, random, std::move(executor), T::kResource, std::move(options)),
          transform_(std::move(transform)) {}

    Store<T>& store() { return store_; }
    const Store<T>& store() const { return store_; }
    void on_change(ChangeHandler<T> handler) {
        handlers_.push_back(std::move(handler));
    }  // only before run()
    // What is not admitted is in no store and no change, as if it did not exist; only before run().
    void admit_only(Admission<T> admission) { admission_ = std::move(admission); }
    // Runs on each object that is kept, with what is left of it; only before run(). Must not throw.
    void share_parts(Transform<T> share) { share_ = std::move(share); }
    void on_refusal(RefusalHandler<T> handler) { refusal_ = std::move(handler); }  // only before run()

    // Read-your-writes: puts what the API server returned for our own write into the store at once,
    // unless the store already has a newer resourceVersion. Later watch events older than it are ignored.
    void observe(T written) {
        if (!admits(written)) return;
        // The watch has passed that version: what the store holds, or holds no more, is at least as new.
        if (!heard_.empty() && !is_newer(written.metadata.resourceVersion, heard_)) return;
        if (is_known(written)) return;
        undecodable_.remove(api::key_of(written));
        apply(kept(std::move(written)));
    }

private:
    using Pointer = typename Store<T>::Pointer;
    using Sorted = typename Store<T>::Sorted;

    std::unique_ptr<PageReader> observe_page() override {
        return std::make_unique<DecodedPage<T>>(
            [this](T&& item) { observe(std::move(item)); },
            [this](T&& rest, const api::DecodeError& error) {
                // The watch may have met a later version that it could decode.
                const bool is_news = heard_.empty() || is_newer(rest.metadata.resourceVersion, heard_);
                if (is_news && admits(rest)) keep_last(rest, error);
            });
    }
    bool admits(const T& object) const { return !admission_ || admission_(object); }
    void refuse(const T& object) const {
        if (refusal_) refusal_(object);
    }

    // Of objects of others, which may be as large as the API server takes, so much is kept. Ours have bounds
    // of their own, and what is left out of them could be lost.
    Pointer kept(T&& object) {
        if (transform_) transform_(object);
        if constexpr (T::kResource.group != api::kGroup)
            large_.note(object.metadata, api::shorten(object, api::kMostOfOthers));
        if (share_) share_(object);
        return std::make_shared<const T>(std::move(object));
    }

    void begin_list() override {
        replaces_all_ = std::exchange(is_restored_, false);
        gathered_.clear();
        misfits_.clear();
    }

    void gather(T&& item) {
        if (!admits(item)) return refuse(item);
        gathered_.insert(kept(std::move(item)));
    }
    void gather_misfit(const T& rest, const api::DecodeError& error) {
        // Of what cannot be decoded others may have written as much as they like.
        if (admits(rest)) misfits_[api::key_of(rest)] = {rest.metadata.uid, error.what(), node_of(rest)};
    }
    std::unique_ptr<PageReader> read_page() override {
        return std::make_unique<DecodedPage<T>>(
            [this](T&& item) { gather(std::move(item)); },
            [this](T&& rest, const api::DecodeError& error) { gather_misfit(rest, error); });
    }

    void end_list(const std::string& resource_version) override {
        const auto listed = std::exchange(gathered_, {});
        const auto misfits = std::exchange(misfits_, {});
        const bool is_proof = proves_restore(listed, resource_version);
        // What we know beyond the backup never happened.
        const bool went_back = replaces_all_ || is_proof;
        heard_ = resource_version;
        std::vector<ObjectKey> gone;
        for (const auto& [key, object] : store_.all()) {
            // Our own write after that list was read is not in it: the watch will tell what became of it.
            const bool after_list = is_newer(object->metadata.resourceVersion, resource_version);
            if (misfits.contains(key)) continue;
            if (!listed.contains(object) && (!after_list || went_back)) gone.push_back(key);
        }
        undecodable_.keep_if([&misfits](const ObjectKey& key) { return misfits.contains(key); });
        for (const auto& [key, misfit] : misfits) {
            mark_outdated(key, misfit.uid);
            undecodable_.add(key, misfit.uid, misfit.error, misfit.node);
        }
        for (const auto& key : gone) drop(key);
        for (const auto& object : listed) {
            if (went_back || !is_known(*object)) apply(object);
        }
        set_synced();
        if (is_proof && !replaces_all_) note_restore();
    }

    // Versions only grow, unless the server's data was restored from a backup. Then the whole list is older
    // than what was heard or, where others have written since, an object in it is: one that is newer here
    // than in the list, though not newer than the list.
    bool proves_restore(const Sorted& listed, const std::string& resource_version) const {
        if (is_newer(heard_, resource_version)) return true;
        for (const auto& object : listed) {
            const auto known = store_.get(api::key_of(*object));
            if (!known) continue;
            const auto& version = known->metadata.resourceVersion;
            if (is_newer(version, object->metadata.resourceVersion) && !is_newer(version, resource_version))
                return true;
        }
        return false;
    }

    WatchNews take_event(std::string_view line) override {
        auto event = api::decode_watch_event<T>(line);
        WatchNews news;
        if (event.type == api::WatchEventType::Error) {
            news.error = std::move(event.status);
            return news;
        }
        news.resource_version = event.object.metadata.resourceVersion;
        if (!news.resource_version.empty()) heard_ = news.resource_version;
        if (event.type == api::WatchEventType::Bookmark || event.type == api::WatchEventType::Unrecognized)
            return news;
        if (event.misfit && event.type != api::WatchEventType::Deleted) {
            if (admits(event.object)) keep_last(event.object, *event.misfit);
            return news;
        }
        if (!admits(event.object)) {
            if (event.type != api::WatchEventType::Deleted) refuse(event.object);
            return news;
        }
        if (event.type == api::WatchEventType::Deleted) {
            // A newer object of that name may be there already, by observe().
            const auto key = api::key_of(event.object);
            const auto known = store_.get(key);
            if (known && !is_newer(known->metadata.resourceVersion, heard_)) drop(key);
            undecodable_.remove(key);
        } else {
            undecodable_.remove(api::key_of(event.object));
            if (!is_known(event.object)) apply(kept(std::move(event.object)));
        }
        return news;
    }

    // `rest` is what could be read of an object that changed.
    void keep_last(const T& rest, const api::DecodeError& error) {
        const auto key = api::key_of(rest);
        mark_outdated(key, rest.metadata.uid);
        undecodable_.add(key, rest.metadata.uid, error.what(), node_of(rest));
    }

    // Where a pod is.
    static std::string node_of(const T& object) {
        if constexpr (T::kResource.plural == "pods")
            return object.spec.nodeName;
        else
            return {};
    }

    // Keeps the version that is known of the object with that UID, and drops that of another one.
    void mark_outdated(const ObjectKey& key, const std::string& uid) {
        const auto known = store_.get(key);
        if (!known) return;
        if (known->metadata.uid != uid) return drop(key);
        if (known->metadata.isOutdated) return;
        auto marked = *known;
        marked.metadata.isOutdated = true;
        apply(std::make_shared<const T>(std::move(marked)));
    }

    std::size_t size() const override { return store_.size(); }

    // That version of the object, or a newer one.
    bool is_known(const T& object) const {
        const auto known = store_.get(api::key_of(object));
        if (!known) return false;
        const auto& version = known->metadata.resourceVersion;
        return version == object.metadata.resourceVersion ||
               is_newer(version, object.metadata.resourceVersion);
    }

    void apply(Pointer object) {
        const auto before = store_.put(api::key_of(*object), object);
        for (const auto& handler : handlers_) handler(before.get(), object.get());
    }

    void drop(const ObjectKey& key) {
        large_.remove(key);
        const auto before = store_.remove(key);
        for (const auto& handler : handlers_) handler(before.get(), nullptr);
    }

    Transform<T> transform_;
    Transform<T> share_;
    Admission<T> admission_;  // none: all
    RefusalHandler<T> refusal_;
    Store<T> store_;
    struct Misfit {
        std::string uid;
        std::string error;
        std::string node;
    };
    Sorted gathered_;                      // by the list in progress
    std::map<ObjectKey, Misfit> misfits_;  // of the list in progress
    std::vector<ChangeHandler<T>> handlers_;
    bool replaces_all_ = false;  // the list in progress
    std::string heard_;          // the version up to which the watch has told us everything
};

}  // namespace kube
