// Decodes JSON as it arrives, straight into described structs: no DOM, and what is not described is
// skipped without being stored. For large lists and busy watches; the result is that of decode().
// (Exception: of a key that an object holds twice, the later value is laid over the earlier one.)
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "api/json.hpp"
#include "api/meta.hpp"
#include "api/type.hpp"

namespace api {

// How deep objects and lists are read. managedFields and free-form settings need more than Boost's 32 levels;
// the API server stores far more, but the parser calls itself for each level.
inline constexpr std::size_t kMaxDepth = 512;

// Text that is no JSON document, or not all of one.
struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One document into one object. After an exception the decoder can't be used any more.
class StreamDecoder {
public:
    // `target` points to a default-constructed instance of the type; both outlive the decoder.
    StreamDecoder(void* target, const Type& type);
    ~StreamDecoder();
    StreamDecoder(const StreamDecoder&) = delete;
    StreamDecoder& operator=(const StreamDecoder&) = delete;

    // Chunks may end anywhere. Throws ParseError.
    void write(std::string_view chunk);
    // Throws ParseError if the document is not complete.
    void finish();
    // Returns what was found since the last call.
    DecodeIssues take_issues();

private:
    class Parser;
    std::unique_ptr<Parser> parser_;
};

// A whole document at once. Throws ParseError.
[[nodiscard]] DecodeIssues decode_text_into(std::string_view text, void* target, const Type& type);

// Throws DecodeError and ParseError.
template <class T>
T decode_text(std::string_view text) {
    T result{};
    settle(decode_text_into(text, &result, type_of<T>()), result);
    return result;
}

// The untyped core of ListDecoder.
class ListStream {
public:
    // `next` is called before each item and returns where to decode it to.
    ListStream(const Type& item, void* context, void* (*next)(void* context));
    ListStream(const ListStream&) = delete;
    ListStream& operator=(const ListStream&) = delete;

    void write(std::string_view chunk) { decoder_.write(chunk); }
    ListMeta finish();
    // Returns what was found in the item that is complete, with its place in that item. Called once for each
    // item.
    DecodeIssues take_issues();

private:
    // Keeps what was found outside of items.
    void sort_issues();

    struct Items {
        void* context;
        void* (*next)(void* context);
    };
    struct Envelope {
        ListMeta metadata;
        Items items;
    };

    Envelope envelope_;
    Type items_type_;
    Type envelope_type_;
    StreamDecoder decoder_;
    DecodeIssues of_item_;
    std::optional<DecodeError> of_list_;
};

// A list ({"kind":"PodList","metadata":{...},"items":[...]}), item by item as they become complete.
template <class T>
class ListDecoder {
public:
    using OnItem = std::function<void(T&&)>;
    // Takes what could be read of an item that does not fit its type, and why it does not.
    using OnMisfit = std::function<void(T&&, const DecodeError&)>;

    // Without `on_misfit` such an item ends the list with its DecodeError.
    explicit ListDecoder(OnItem on_item, OnMisfit on_misfit = {})
        : on_item_(std::move(on_item)), on_misfit_(std::move(on_misfit)), stream_(type_of<T>(), this, next) {}

    // Throws DecodeError, ParseError and what the callbacks throw.
    void write(std::string_view chunk) { stream_.write(chunk); }
    // Delivers the last item. Throws ParseError if the document is not complete.
    ListMeta finish() {
        ListMeta metadata = stream_.finish();
        deliver();
        return metadata;
    }

private:
    static void* next(void* context) {
        auto& self = *static_cast<ListDecoder*>(context);
        self.deliver();
        return &self.item_.emplace();
    }
    void deliver() {
        if (!item_) return;
        T item = std::move(*item_);
        item_.reset();
        const auto index = count_++;
        auto issues = stream_.take_issues();
        if (issues.error && on_misfit_) return on_misfit_(std::move(item), *issues.error);
        if (issues.error)
            throw DecodeError("/items/" + std::to_string(index) + issues.error->pointer, issues.error->why);
        settle(std::move(issues), item);
        on_item_(std::move(item));
    }

    OnItem on_item_;
    OnMisfit on_misfit_;
    std::size_t count_ = 0;
    std::optional<T> item_;
    ListStream stream_;
};

enum class WatchEventType { Added, Modified, Deleted, Bookmark, Error, Unrecognized };

template <class T>
struct WatchEvent {
    WatchEventType type = WatchEventType::Error;
    T object{};     // of a Bookmark only metadata.resourceVersion and annotations are meaningful
    Status status;  // of an Error
    // Why the object does not fit its type; it holds what could be read then.
    std::optional<DecodeError> misfit;
};

// Decodes `object` unless the event is an error; fills `status` then. The places of issues are those in the
// object. Throws ParseError.
WatchEventType decode_watch_event_into(std::string_view line, void* object, const Type& type, Status& status,
                                       DecodeIssues& issues);

// One line of a watch ({"type":"ADDED","object":{...}}). Throws ParseError.
template <class T>
WatchEvent<T> decode_watch_event(std::string_view line) {
    WatchEvent<T> event;
    DecodeIssues issues;
    event.type = decode_watch_event_into(line, &event.object, type_of<T>(), event.status, issues);
    event.misfit = std::exchange(issues.error, std::nullopt);
    settle(std::move(issues), event.object);
    return event;
}

}  // namespace api
