// A local copy of all objects of one kind, kept current by list and watch, with indexes. Readers never wait
// and never see a partial copy. An object that cannot be decoded keeps its last good version, or is absent if
// it has none; other objects are not affected. Single-threaded.
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
#include "base/condition_variable.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"
#include "kube/large_objects.hpp"
#include "kube/reflector.hpp"
#include "kube/resource_version.hpp"
#include "kube/store.hpp"
#include "kube/undecodable_objects.hpp"

namespace kube {

// Called for each change, on the loop's thread. `before` is null for an added object, `after` for a deleted
// one. Must not throw.
template <api::Kind T>
using ChangeHandler = std::function<void(const T* before, const T* after)>;

// Removes unneeded parts of an object before it is stored. Must not throw.
template <api::Kind T>
using Transform = std::function<void(T& object)>;

// Reports whether an object belongs into the local copy. It must decide by constant fields such as the
// namespace. Must not throw.
template <api::Kind T>
using Admission = std::function<bool(const T& object)>;
// Returns the places that an undecodable object concerns, from its readable part. It must not throw.
template <api::Kind T>
using Locator = std::function<Places(const T& rest, const api::DecodeError& error)>;
// Called with each version of an object that is not admitted; it is not stored. Must not throw.
template <api::Kind T>
using RefusalHandler = std::function<void(const T& object)>;

// InformerCore has the code shared by informers of all kinds. It is compiled once, as the cost of each
// coroutine grows with the number of types in its file.
class InformerCore : private ReflectorTarget {
public:
    InformerCore(const InformerCore&) = delete;
    InformerCore& operator=(const InformerCore&) = delete;

    bool synced() const { return synced_; }
    asio::awaitable<void> wait_synced();
    // Lists and watches until it is cancelled. Failures are logged, counted and retried with backoff.
    asio::awaitable<void> run() { return reflector_.run(); }
    // Lists anew after the server's data were restored from a backup. The new list replaces everything known.
    void list_anew();
    // Sets the function to call when a list proves such a restore; only before run(). It must not throw.
    void on_restore(std::function<void()> handler) { restore_handler_ = std::move(handler); }
    // Lists the objects in these namespaces (the empty one: in all) once, and observes each.
    asio::awaitable<void> observe_list(Client& client, std::vector<std::string> namespaces);

    // Returns undecodable objects. The store has an older version of them or none, so the operator must not
    // remove anything because of them.
    const UndecodableObjects& undecodable() const { return undecodable_; }
    // Returns objects that were stored without some parts.
    const LargeObjects& large() const { return large_; }
    void report_odd_objects_to(EventRecorder& events) {
        undecodable_.report_to(events);
        large_.report_to(events);
    }
    // Returns the time since the objects were known to be current, see Reflector::last_contact(); nullopt:
    // never. For a quiet, working watch it is below two minutes, or six if the server has no bookmarks.
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
    // Returns a reader that observes each object of a page.
    virtual std::unique_ptr<PageReader> observe_page() = 0;

    api::Resource resource_;
    bool synced_ = false;
    base::Clock& clock_;
    base::ConditionVariable changed_;
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
    // Ignores other objects as if they did not exist: they are in no store and no change. Call it before
    // run().
    void admit_only(Admission<T> admission) { admission_ = std::move(admission); }
    // Sets a function for each stored object, called after it was reduced; only before run(). Must not throw.
    void share_parts(Transform<T> share) { share_ = std::move(share); }
    void on_refusal(RefusalHandler<T> handler) { refusal_ = std::move(handler); }  // only before run()
    void locate_misfits(Locator<T> locator) { locator_ = std::move(locator); }     // only before run()

    // Stores what the API server returned for our own write, so that we read our writes. A newer
    // resourceVersion in the store is kept. Older watch events are ignored afterwards.
    void observe(T written) {
        if (!admits(written)) return;
        // The watch has passed that version, so the store is at least as new.
        if (!heard_.empty() && !is_newer(written.metadata.resourceVersion, heard_)) return;
        if (is_known(written)) return;
        if (const auto excess = excess_of(written)) return keep_last(written, *excess);
        undecodable_.remove(api::key_of(written));
        apply(kept(std::move(written)));
    }

    // Basis is what was known of an object when a write of it was sent.
    struct Basis {
        std::string had;    // its version
        std::string heard;  // the version up to which the watch had reported everything
    };
    // Call it before a write is sent. Returns nullopt if the answer can prove nothing: the object is not
    // known, or only an older version of it.
    std::optional<Basis> before_write(const ObjectKey& key) const {
        const auto known = store_.get(key);
        if (!known || known->metadata.isOutdated) return std::nullopt;
        return Basis{known->metadata.resourceVersion, heard_};
    }
    Basis before_creation() const { return {"", heard_}; }
    // Compares the answer to a successful write with what was known when it was sent. A write makes a version
    // that is newer than all that was heard by then, or leaves the known one if it changes nothing. Another
    // version proves that etcd was restored, and all objects are listed anew. What the watch reported while
    // the write was under way proves nothing.
    void check_answer(const T& answer, const std::optional<Basis>& before) const {
        if (!before || replaces_all_ || is_restored_) return;  // the list that replaces everything is due
        if (is_newer(before->heard, heard_)) return;           // a list has replaced everything meanwhile
        if (went_back(*before, answer.metadata.resourceVersion)) note_restore();
    }

    // Reads the object again, after the API server refused a write because the stored version is not current.
    // If the watch can no longer bring the current one, etcd was restored, and all objects are listed anew.
    // A read that fails is left to the next refusal.
    asio::awaitable<void> recheck(Client& client, ObjectKey key) {
        const auto before = before_write(key);
        if (!before) co_return;
        std::vector<T> live;
        try {
            auto list = co_await client.list<T>(only(key));
            live = std::move(list.objects);
        } catch (const ApiError& error) {
            base::log::debug("Cannot read an object again", {{"object", key.str()}, {"error", error.what()}});
        }
        if (live.size() != 1) co_return;
        if (went_back(*before, live.front().metadata.resourceVersion)) co_return note_restore();
        observe(std::move(live.front()));
    }

private:
    using Pointer = typename Store<T>::Pointer;
    using Sorted = typename Store<T>::Sorted;

    std::unique_ptr<PageReader> observe_page() override {
        return std::make_unique<DecodedPage<T>>(
            [this](T&& item) { observe(std::move(item)); },
            [this](T&& rest, const api::DecodeError& error) {
                // The watch may have seen a later version that it could decode.
                const bool is_news = heard_.empty() || is_newer(rest.metadata.resourceVersion, heard_);
                if (is_news && admits(rest)) keep_last(rest, error);
            });
    }
    // Reports whether the version that the object has now is one that the watch can no longer bring, although
    // it was not known when the API server was asked.
    static bool went_back(const Basis& before, const std::string& has) {
        const bool was_passed = has == before.heard || is_newer(before.heard, has);
        return is_newer(before.had, has) || (was_passed && before.had != has);
    }
    bool admits(const T& object) const { return !admission_ || admission_(object); }
    void refuse(const T& object) const {
        if (refusal_) refusal_(object);
    }

    // Reduces the object before it is stored. Foreign objects may be as large as the API server accepts, so
    // they are cut. Our objects have their own limits, and cut parts of them could be lost.
    Pointer kept(T&& object) {
        if (transform_) transform_(object);
        if constexpr (T::kResource.group != api::kGroup)
            large_.note(object.metadata, api::shorten(object, api::most_of<T>()));
        if (share_) share_(object);
        return std::make_shared<const T>(std::move(object));
    }

    void begin_list() override {
        // A list that fails begins anew.
        if (std::exchange(is_restored_, false)) replaces_all_ = true;
        gathered_.clear();
        misfits_.clear();
    }

    static std::optional<api::DecodeError> excess_of(const T& object) {
        if constexpr (T::kResource.group == api::kGroup)
            return api::excess_of_finalizers(object.metadata);
        else
            return std::nullopt;
    }

    void gather(T&& item) {
        if (!admits(item)) return refuse(item);
        if (const auto excess = excess_of(item)) return gather_misfit(item, *excess);
        gathered_.insert(kept(std::move(item)));
    }
    void gather_misfit(const T& rest, const api::DecodeError& error) {
        // Others may have written any amount into an undecodable object, so only these fields are kept.
        if (admits(rest))
            misfits_[api::key_of(rest)] = {rest.metadata.uid, error.what(), places_of(rest, error)};
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
        // Changes that we know but the backup lacks never happened.
        const bool went_back = replaces_all_ || is_proof;
        heard_ = resource_version;
        std::vector<ObjectKey> gone;
        for (const auto& [key, object] : store_.all()) {
            // Our own later write is not in the list. The watch will show what became of it.
            const bool after_list = is_newer(object->metadata.resourceVersion, resource_version);
            if (misfits.contains(key)) continue;
            if (!listed.contains(object) && (!after_list || went_back)) gone.push_back(key);
        }
        undecodable_.keep_if([&misfits](const ObjectKey& key) { return misfits.contains(key); });
        for (const auto& [key, misfit] : misfits) {
            mark_outdated(key, misfit.uid);
            undecodable_.add(key, misfit.uid, misfit.error, misfit.places);
        }
        for (const auto& key : gone) drop(key);
        for (const auto& object : listed) {
            if (went_back || !is_known(*object)) apply(object);
        }
        set_synced();
        const bool was_known = std::exchange(replaces_all_, false);
        if (is_proof && !was_known) note_restore();
    }

    // Reports whether the list proves a restore from a backup, as otherwise versions only grow. After a
    // restore the whole list may be older than what was heard. If others have written since, an object proves
    // it: it is newer here than in the list, but not newer than the list.
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
        if (!event.misfit) event.misfit = excess_of(event.object);
        if (event.misfit && event.type != api::WatchEventType::Deleted) {
            if (admits(event.object)) keep_last(event.object, *event.misfit);
            return news;
        }
        if (!admits(event.object)) {
            if (event.type != api::WatchEventType::Deleted) refuse(event.object);
            return news;
        }
        if (event.type == api::WatchEventType::Deleted) {
            // observe() may have stored a newer object with that name.
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

    // Keeps the last good version. `rest` is the readable part of a changed object.
    void keep_last(const T& rest, const api::DecodeError& error) {
        const auto key = api::key_of(rest);
        mark_outdated(key, rest.metadata.uid);
        undecodable_.add(key, rest.metadata.uid, error.what(), places_of(rest, error));
    }

    Places places_of(const T& rest, const api::DecodeError& error) const {
        if (locator_) return locator_(rest, error);
        if constexpr (T::kResource.plural == "pods")
            return std::vector{rest.spec.nodeName};
        else
            return std::vector<std::string>();
    }

    // Keeps the known version if its UID matches; otherwise drops it.
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

    // Reports whether that version or a newer one is stored.
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
    Admission<T> admission_;  // empty: all objects
    Locator<T> locator_;
    RefusalHandler<T> refusal_;
    Store<T> store_;
    struct Misfit {
        std::string uid;
        std::string error;
        Places places;
    };
    Sorted gathered_;                      // from the list in progress
    std::map<ObjectKey, Misfit> misfits_;  // from the list in progress
    std::vector<ChangeHandler<T>> handlers_;
    bool replaces_all_ = false;  // for the list in progress
    std::string heard_;          // the watch has reported everything up to this version
};

}  // namespace kube
